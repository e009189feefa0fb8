#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the report of a recorded program: its numbers equal those of the other commands, nothing in it is
taken for markup, it loads nothing, and in a browser it draws, sorts and zooms, and is readable in light
and dark. Prints TAP.

usage: test_report.py CORETAP EXAMPLES WHERE     the folder of the recorded examples, and what the demo reads
                                                with"""
import collections
import concurrent.futures
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import run  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish, skip  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
CORETAP, EXAMPLES, WHERE = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
SECTIONS = ("summary", "time", "timing", "timeline", "worst", "coverage")
EVIL = '</script><script>document.title="taken"</script><img src=x onerror=alert(1)>'


def record(folder, source, *options):
    program = folder / "program"
    run("aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-static", "-o", program, source)
    run(CORETAP, "record", "-q", "-o", folder / "capture", "--start", "main", *options, "--", program)
    return folder / "capture"


def report(*captures_and_options, codes=(0,)):
    return run(CORETAP, "report", "-q", *captures_and_options, codes=codes).stdout


class Page(html.parser.HTMLParser):
    """The contents of a page: IDs, links, what it would load, and data of charts; and whether all tags are
    closed."""
    VOID = {"meta", "line", "rect", "br", "img", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.open, self.wrong, self.data = [], [], [], [], [], []
        self.in_data = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        self.loads += [tag] if "src" in attrs or tag in ("link", "img", "iframe", "object", "embed") else []
        self.in_data = attrs.get("type") == "application/json"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")
        self.in_data = False

    def handle_data(self, data):
        found = json.loads(data) if self.in_data else {}
        if "lanes" in found:
            self.data.append(found)


def bars(chart):
    """Yields (name, depth, from, to) of all bars of a chart."""
    for lane in chart["lanes"]:
        flat = lane["bars"]
        yield from ((chart["names"][flat[i]], *flat[i + 1:i + 4]) for i in range(0, len(flat), 4))


def number_after(text, label):
    """Returns the number of a card."""
    return re.search(rf"<dt>{label}</dt><dd class=\"value\">([^<]*?) ?(?:<|$)", text)[1]


def check_page(name, text):
    page = Page(text)
    check(f"{name}: tags are closed", not page.wrong and page.open == [], (page.wrong, page.open))
    check(f"{name}: an id stands once", len(page.ids) == len(set(page.ids)))
    missing = [link for link in page.links if not link.startswith("#") or link[1:] not in page.ids]
    check(f"{name}: links lead to places in it", not missing, missing)
    rest = text.replace("http://www.w3.org/2000/svg", "")  # the name of a language, not an address to load
    found = page.loads + re.findall(r"https?:|@import|url\(", rest)
    check(f"{name}: it loads nothing", not found and "default-src 'none'" in text, found)
    return page


def functions_of(text):
    """Returns the names and own cycles in the table of functions."""
    table = text.split('id="functions"')[1].split("</table>")[0]
    names = [html.unescape(name) for name in re.findall(r'data-tip="([^"\n]*)\n', table)]
    return names, [int(n) for n in re.findall(r'data-v="(\d+)"', table)][1::4]


def check_plots(name, text):
    """Checks that the bars of each plot add up to its number of runs."""
    wrong = []
    for plot in re.findall(r"<svg.*?</svg>", part_of(text, "timing"), re.S):
        runs = int(re.search(r">([\d,]+) times<", plot)[1].replace(",", ""))
        told = [int(n.replace(",", "")) for n in re.findall(r"cycles: ([\d,]+) times", plot)]
        wrong += [(runs, told)] if sum(told) != runs else []
    check(f"{name}: bars of plots are all runs", not wrong, wrong)


def check_numbers(capture, text, page):
    timing = json.loads(run(CORETAP, "timing", "-q", "--format", "json", capture).stdout)[0]
    cover = json.loads(run(CORETAP, "cover", "-q", "--format", "json", capture).stdout)["programs"][0]
    wcet = json.loads(run(CORETAP, "wcet", "-q", "--entry", "control_round", "--format", "json",
                          capture).stdout)
    names, alone = functions_of(text)
    total = timing["totals"]["cycles"]
    stacks, timeline = page.data
    outermost = [bar for bar in bars(stacks) if bar[1] == 0]
    check("the stacks are all cycles", sum(to - start for _, _, start, to in outermost) == total,
          (outermost, total))
    check("the functions are all cycles", sum(alone) == total, (sum(alone), total))
    own = {f["name"]: f["cycles"] for f in timing["functions"]}
    wrong = [(n, c, own.get(n)) for n, c in zip(names, alone) if n in own and own[n] != c]
    check("cycles of functions are those of coretap timing", len(names) > 20 and not wrong, wrong)
    rounds = [to - start for name, _, start, to in bars(timeline) if name == "control_round"]
    runs = next(f for f in timing["functions"] if f["name"] == "control_round")["inclusive"]
    check("the timeline has each run, as long as coretap timing says", len(rounds) == runs["count"] == 40 and
          (min(rounds), max(rounds), sum(rounds)) == (runs["min"], runs["max"], runs["sum"]),
          (rounds, runs["count"]))
    lines = cover["sums"]["lines"] if "sums" in cover else cover["lines"]
    check("lines are those of coretap cover", f"{lines['seen']} of {lines['all']}<" in text, lines)
    check("the longest path is that of coretap wcet", f"{wcet['wcet_cycles']:,} cycles" in text and
          f"{wcet['observed_max_cycles']:,} cycles" in text
          and wcet["wcet_cycles"] > wcet["observed_max_cycles"] > 0, wcet)
    row = re.search(r'<td class="c">(\d+)</td><td class="s"><details><summary>        sum \+= '
                    r'weights.*?</details>', text, re.S)
    instruction = "madd" if "capstone" not in missing_parts(CORETAP) else r"\.inst +0x1b"
    check("a line has its count and opens into its instructions",
          row and row[1] == "320" and re.search(rf"^ *320  .*{instruction}", row[0], re.MULTILINE),
          row and row[0])


def check_cores(folder):
    """Checks a capture with a buffer for each thread: functions come from each core's own program graph."""
    program = folder / "threads"
    run("aarch64-linux-gnu-gcc", "-g", "-O2", "-static", "-pthread", "-o", program, EXAMPLES / "threads.c")
    run(CORETAP, "record", "-q", "-o", folder / "capture", "--cycle-count", "--context-id", "--", program)
    times = collections.Counter()
    for core in json.loads(run(CORETAP, "timing", "-q", "--format", "json", folder / "capture").stdout):
        for function in core["functions"]:
            times[function["name"]] += function["cycles"]
    folded = collections.Counter()
    for line in run(CORETAP, "profile", "-q", "--weight", "cycles", folder / "capture").stdout.splitlines():
        stack, cycles = line.rsplit(" ", 1)
        folded[stack.split(";")[-1]] += int(cycles)
    text = report(folder / "capture")
    names, alone = functions_of(text)
    check("several cores: stacks have the cycles that coretap timing says", times["take_turns"] > 1000 and
          all(folded[name] == times[name] for name in times if name != "[unknown]"), folded.most_common(5))
    check("several cores: so has the report",
          len(names) > 50 and all(times[name] == n for name, n in zip(names, alone)
                                  if name != "[unknown]"), list(zip(names, alone))[:5])
    titles = [lane["title"] for lane in Page(text).data[1]["lanes"]]
    check("several cores: a lane for each",
          sorted({title.split(",")[0] for title in titles}) == [f"cpu_{i}" for i in range(5)] and
          len({re.fullmatch(r"cpu_\d, context (0x\w+)", title)[1] for title in titles}) == len(titles),
          titles)


def check_perf(folder, capture, text):
    """Checks the same trace as perf.data, in which mapped memory tells the programs."""
    run(CORETAP, "export", "-q", "--perf", folder / "perf.data", capture)
    same = report(folder / "perf.data", "--entry", "control_round")
    check("perf.data: the same functions, times and longest path",
          functions_of(same) == functions_of(text) and
          number_after(same, "Longest path") == number_after(text, "Longest path") and
          same.count("<svg") == text.count("<svg") > 5, functions_of(same)[1][:5])


def part_of(text, section):
    return text.split(f'<section id="{section}"')[1].split("</section>")[0]


def edges_of(text):
    return text.split('id="edges"')[1].split("</table>")[0]


def check_saved(folder, capture, other, both):
    """Checks saved results in place of a capture: their sums, and sections that say that they have no
    data."""
    for command in ("cover", "timing", "profile"):
        run(CORETAP, command, "-q", "--format", "data", "-o", folder / f"{command}.data", other)
    files = [folder / f"{command}.data" for command in ("cover", "timing", "profile")]
    mixed, turned = report(capture, *files), report(*reversed(files), capture)
    check_page("a capture and saved results", mixed)
    found = dict(zip(*functions_of(mixed)))
    check("saved results: functions have the cycles of their capture",
          found == dict(zip(*functions_of(both))) and len(found) > 50)
    plots = [re.findall(r"<svg.*?</svg>", part_of(text, "timing"), re.S) for text in (mixed, both, turned)]
    check("saved results: so have the times of runs", plots[0] == plots[1] == plots[2] and len(plots[0]) > 5)
    check("saved results: the same in the other order", functions_of(mixed) == functions_of(turned) and
          Page(mixed).data[0] == Page(turned).data[0] and
          edges_of(mixed) == edges_of(turned))
    check("saved results: the page says what it is made of",
          all(str(path) in part_of(mixed, "summary") for path in (capture, *files)))
    told = {"cover": ("coverage",), "timing": ("timing", "time"), "profile": ("time",)}
    for path, (command, sections) in zip(files, told.items()):
        text = report(path)
        check_page(f"{command} alone", text)
        silent = {part for part in ("time", "timing", "timeline", "coverage") if
                  "has data for this section" in part_of(text, part)}
        wanted = {"time", "timing", "timeline", "coverage"} - (set(sections) - {"time"})
        check(f"{command} alone: sections that it does not tell say so", silent == wanted, (silent, wanted))
    said = run(CORETAP, "spec", "--timing", folder / "timing.data", codes=(2,)).stderr
    check("spec says why it takes no saved times",
          "timing.data" in said and "the order of starts" in said, said)
    bad = folder / "bad.data"
    bad.write_text((folder / "timing.data").read_text()[:-40])
    result = run(CORETAP, "report", capture, bad, codes=(2,))
    check("a file that is cut off is refused by name", str(bad) in result.stderr and not result.stdout,
          result.stderr)


def check_several(folder, capture, source):
    """Checks two runs of one program: sums are those of both. The second run is first undamaged, then
    damaged."""
    other = folder / "other" / "capture"
    other.parent.mkdir()
    run(CORETAP, "record", "-q", "-o", other, "--cycle-count=1", "--", capture.parent / "program")
    both, turned = report(capture, other), run(CORETAP, "report", "-q", other, capture).stdout
    check_page("two captures", both)
    check_plots("two captures", both)
    sums = collections.Counter()
    for one in (capture, other):
        sums.update(dict(zip(*functions_of(report(one)))))
    found = dict(zip(*functions_of(both)))
    wrong = {name: (n, sums[name]) for name, n in found.items() if sums[name] != n}
    check("two captures: cycles of functions are those of both", len(found) > 50 and not wrong, wrong)
    check("two captures: the same in the other order", found == dict(zip(*functions_of(turned))))
    charts = [Page(text).data for text in (both, turned)]
    for stacks, _ in charts:  # the first lane is the whole; the lanes of the captures follow
        parts = [sum(to - start for _, depth, start, to in bars({**stacks, "lanes": [lane]}) if not depth)
                 for lane in stacks["lanes"]]
        check("two captures: their parts are the whole", len(parts) == 3 and parts[0] == sum(parts[1:]),
              parts)
        stacks["lanes"] = stacks["lanes"][:1]
    outermost = [sum(to - start for _, depth, start, to in bars(stacks) if not depth) for stacks, _ in charts]
    check("two captures: so are the stacks", outermost == [sum(sums.values())] * 2, outermost)
    trees = [sorted((name, depth, to - start) for name, depth, start, to in bars(stacks))
             for stacks, _ in charts]
    check("two captures: and what is in them", trees[0] == trees[1] and len(trees[0]) > 20)
    titles = {lane["title"] for lane in charts[0][1]["lanes"]}
    check("two captures: lanes of each", any(t.startswith("capture (1): ") for t in titles) and
          any(t.startswith("capture (2): ") for t in titles), titles)
    check("two captures: the page names both",
          all(f">{one}</td><td class=\"keep\">snapshot<" in both for one in (capture, other)) and
          " from 2 captures.<" in both)
    ways = set(re.findall(r'<td class="keep first">([a-z ]+)<', edges_of(both)))
    check("two captures: ways are of all kinds", {"call", "return", "taken", "not taken"} <= ways, ways)
    cover = json.loads(run(CORETAP, "cover", "-q", "--format", "json", capture, other).stdout)
    lines = cover["programs"][0]["sums"]["lines"]
    check("two captures: coverage is that of both",
          f"{lines['seen']} of {lines['all']}<" in both and lines["seen"] > 0, lines)
    saved = folder / "cover.data"
    run(CORETAP, "cover", "-q", "--format", "data", "-o", saved, other)
    mixed = report(capture, saved)
    check("a coverage file adds to the coverage alone",
          f"{lines['seen']} of {lines['all']}<" in mixed and
          functions_of(mixed) == functions_of(report(capture)))
    check_saved(folder, capture, other, both)
    plain = record(folder / "plain", source) if (folder / "plain").mkdir() is None else ""
    result = run(CORETAP, "report", capture, plain, codes=(2,))
    check("cycles and instructions are not added up",
          str(plain) in result.stderr and "times cannot be added" in result.stderr and not result.stdout,
          result.stderr)
    text = report(plain)
    check_page("without cycle counts", text)
    check("without cycle counts there is no section of times",
          'id="timing"' not in text and "#timing" not in text and 'id="functions"' in text)
    trace = next(other.glob("trace_*.bin"))
    data = bytearray(trace.read_bytes())
    data[len(data) // 2:len(data) // 2 + 64] = bytes([5] * 64)
    trace.write_bytes(data)
    result = run(CORETAP, "report", capture, other, codes=(1,))
    check("what a capture lost is told of it and on the page",
          f"{other}: losses: " in result.stderr and
          ">none<" not in result.stdout.split("Gaps in the trace")[1][:60],
          result.stderr)


def check_window(capture, total):
    text = report(capture, "--from", "5000", "--to", "9000")
    timeline = Page(text).data[1]
    found = list(bars(timeline))
    check("--from and --to cut the timeline",
          found and min(b[2] for b in found) == 5000 and max(b[3] for b in found) == 9000, found[:3])
    soon = report(capture, "--to", "100insn")
    check("a window that ends soon has its stream and a timeline",
          len(list(bars(Page(soon).data[1]))) > 0 and "cpu_0" in part_of(soon, "summary"))
    check("without --entry there is no section of the worst case",
          'id="worst"' not in text and "#worst" not in text and 'id="coverage"' in text)
    few = report(capture, "--from", str(total * 2))
    check("an empty window says so", "No execution of a function is in this window" in few)


def check_bad(folder, capture):
    said = run(CORETAP, "report", "--entry", "no_such", capture, codes=(2,)).stderr
    check("an unknown entry is an error", "no_such" in said and "coretap graph" in said, said)
    said = run(CORETAP, "report", "-o", folder / "no" / "page.html", capture, codes=(2,)).stderr
    check("a file that cannot be written is an error", "cannot be written" in said, said)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CORETAP, "report", "-q", capture], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=300)
    check("a full disk is named as the reason", done.returncode == 2 and "No space left" in done.stderr,
          done.stderr)
    page = folder / "without-longest-path.html"
    result = run(CORETAP, "report", "-q", "--entry", "abort", "-o", page, capture, codes=(2,))
    worst = page.read_text().split('id="worst"')[1]
    check("a longest path that cannot be found leaves its reason", "What was assumed" not in worst and
          html.escape(result.stderr.split(": ", 1)[1].strip().splitlines()[0], quote=False)[:40] in worst,
          result.stderr)


def check_left_out(capture):
    """Checks that a path is no bound when it leaves out loops and recursion that never ran and that nothing
    limits, like those of the library that main calls."""
    wcet = json.loads(run(CORETAP, "wcet", "-q", "--entry", "main", "--format", "json", capture).stdout)
    kinds = collections.Counter(a["kind"] for a in wcet["assumed"])
    loops, functions = kinds["left out"], kinds["uncalled"]
    worst = report(capture, "--entry", "main").split('id="worst"')[1]
    check("what never ran is no bound, and is told",
          wcet["is_bound"] is False and loops > 10 and functions > 10 and
          f"{wcet['wcet_cycles']:,} cycles" in worst and ">no bound</span>" in worst and
          f"no bound: {loops} loops, {functions} functions that call themselves." in worst,
          (wcet["is_bound"], kinds))
    alone = report(capture, "--entry", "control_round").split('id="worst"')[1]
    check("where all ran nothing is left out", "The path leaves out code" not in alone, "")


def in_browser(browser, folder, text, scheme=1, width=1280):
    """Opens a page in a browser. Returns its DOM after the scripts ran, the browser's complaints, and the
    addresses that the page requested. Nothing leaves this machine, because no name resolves."""
    folder.mkdir()
    page = folder / "probed.html"
    page.write_text(text)
    log = folder / "net.json"
    result = run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking",
                 "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/profile",
                 f"--log-net-log={log}",
                 f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},900",
                 "--enable-logging=stderr", "--log-level=0", "--dump-dom", f"file://{page}")
    said = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    asked = set()
    for event in json.loads(log.read_text())["events"]:
        request = event.get("params", {})
        # The browser's own requests have no origin.
        if request.get("initiator", "not an origin") != "not an origin":
            asked.add(request.get("url", ""))
    return result.stdout, said, {url for url in asked if not url.startswith(("file:", "data:"))}


def browse(browser, folder, text, scheme, width=1280):
    """Opens a page with the probe added. Returns the probe's answers, the complaints, and the requested
    addresses."""
    end = text.rindex("</body>")
    probed = f"{text[:end]}<script>{(HERE / 'probe.js').read_text()}</script>{text[end:]}"
    dom, said, asked = in_browser(browser, folder, probed, scheme, width)
    answer = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    return json.loads(html.unescape(answer[1])) if answer else {}, said, asked


def check_browser(browser, folder, text):
    bad = '<!DOCTYPE html><title>bad</title><script>missing()</script><img src="http://127.0.0.1:9/x.png">'
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        windows = {"light": pool.submit(browse, browser, folder / "light", text, 1, 1280),
                   "dark, narrow": pool.submit(browse, browser, folder / "dark", text, 0, 420)}
        caught = pool.submit(in_browser, browser, folder / "bad", bad)
    seen = {}
    for name, window in windows.items():
        seen[name], said, asked = window.result()
        found = seen[name]
        check(f"{name}: no complaint", found and not said, said)
        check(f"{name}: nothing is asked of a network", not asked, asked)
        check(f"{name}: each text has a contrast of 4.5 at least",
              found.get("seen", 0) > 500 and not found["low"], "\n".join(found.get("low", [])))
        check(f"{name}: charts have bars", len(found["bars"]) == 2 and min(found["bars"]) > 10,
              found.get("bars"))
        check(f"{name}: nothing sticks out", found.get("wide") == [], found.get("wide"))
    found = seen["light"]
    check("light and dark differ", found["back"] != seen["dark, narrow"]["back"], found["back"])
    down, up = found["down"], found["up"]
    check("a table sorts", down == sorted(down, reverse=True) and up == sorted(up) and down[0] == 738,
          (down[:3], up[:3]))
    check("a bar says what it is", re.match(r"\w+\n[\d,]+ cycles, from [\d,]+$", found["tip"]), found["tip"])
    views = [found[key] for key in ("all", "zoomed", "farther", "closer", "dragged")]
    check("a click, keys and dragging zoom and move", found["all"] == found["again"] and len(set(views)) == 5,
          views)
    _, said, asked = caught.result()
    check("a page that asks a network or has a mistake would be found out",
          asked == {"http://127.0.0.1:9/x.png"} and
          any("missing is not defined" in line for line in said), (asked, said))


def check_demo(folder):
    page = folder / "demo.html"
    said = run(EXAMPLES / "demo", CORETAP, WHERE, page).stdout
    check("the demo ends with a report and says where it is",
          str(page) in said.splitlines()[-1] and "crc8" in said and
          all(section in Page(page.read_text()).ids for section in SECTIONS), said[-400:])


def check_evil(folder, browser):
    """Checks names, paths and source that look like markup."""
    source = folder / "a<b>&'c.c"
    source.write_text(f'''int evil(int n) __asm__("\\"x</script><b onclick=1>\\"");
int evil(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += i; return s; }} // {EVIL}
int main(void) {{ return evil(3) + evil(5) - 13; }}
''')
    capture = record(folder, source, "--cycle-count=1")
    text = report(capture, "--entry", "main", codes=(0, 2))
    check_page("names like markup", text)
    check("names like markup: shown as they are",
          "x&lt;/script&gt;&lt;b onclick=1&gt;" in text and html.escape(EVIL[:20]) in text
          and "a&lt;b&gt;&amp;'c.c" in text)
    check("names like markup: none is markup",
          "<img" not in text and "<b onclick" not in text and text.count("<script") == 6)
    if browser:
        seen, said, _ = browse(browser, folder / "seen", text, 0)
        check("names like markup: no script of theirs runs",
              not said and seen["title"] == "program: trace report", said)


def check_many_ways(folder):
    source = folder / "ways.c"
    source.write_text("volatile int n;\nint main(void)\n{\n" + "    if (n & 1)\n        n += 3;\n" * 1200 +
                      "    return 0;\n}\n")
    said = re.findall(r'class="more">([^ ]*) more are left out: <code>coretap timing --edges',
                      report(record(folder, source, "--cycle-count=1")))
    check("many ways: thousands have a comma", len(said) == 1 and re.fullmatch(r"\d,\d{3}", said[0]), said)


def check_many_threads(folder):
    """Checks that of the threads of two captures those with most time can be chosen."""
    program = folder / "started"
    run("aarch64-linux-gnu-gcc", "-O2", "-static", "-pthread", "-o", program, HERE / "started.c")
    captures = [folder / name for name in ("one", "two")]
    for capture in captures:
        run(CORETAP, "record", "-q", "--threads", "contexts", "--context-id", "-o", capture, "--", program,
            40, 0)

    def times(*given):
        text = report(*given)
        left_out = re.search(r">(\d+) more threads, with less time, cannot be chosen", text)
        return ([int(time) for time in re.findall(r'"thread":"[^"]*","all":(\d+)', text)],
                int(left_out[1]) if left_out else 0)
    each, both = [times(capture) for capture in captures], times(*captures)
    every = sorted(each[0][0] + each[1][0])
    check("threads: those with most time of all captures",
          each[0][1] == each[1][1] == 0 and both[1] == len(every) - 64 > 0 and
          sorted(both[0]) == every[-64:], (each, both))


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    browser = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "control.c"
        shutil.copy(EXAMPLES / "control.c", source)
        capture = record(folder, source, "--cycle-count=1", "--timestamps")
        page = folder / "report.html"
        run(CORETAP, "report", "-q", "--entry", "control_round", "-o", page, capture)
        text = page.read_text()
        parsed = check_page("report", text)
        check("all sections are there", all(section in parsed.ids for section in SECTIONS), parsed.ids[:20])
        check("the same page each time", text == report(capture, "--entry", "control_round"))
        check_numbers(capture, text, parsed)
        check_plots("report", text)
        check_perf(folder, capture, text)
        check_window(capture, 200000)
        check_bad(folder, capture)
        check_left_out(capture)
        check_page("wcet",
                   run(CORETAP, "wcet", "-q", "--entry", "control_round", "--format", "html", capture).stdout)
        check_several(folder, capture, source)
        check_demo(folder)
        (folder / "ways").mkdir()
        check_many_ways(folder / "ways")
        (folder / "threads").mkdir()
        check_many_threads(folder / "threads")
        (folder / "cores").mkdir()
        check_cores(folder / "cores")
        (folder / "evil").mkdir()
        check_evil(folder / "evil", browser)
        if browser:
            check_browser(browser, folder, text)
        else:
            skip("in a browser", "chromium is missing")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
