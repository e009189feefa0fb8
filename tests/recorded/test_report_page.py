#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the report in Chromium like a reader, on a desktop and a phone. Prints TAP.

usage: test_report_page.py CORETAP EXAMPLES     the folder of the recorded examples"""
import collections
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position
import browser  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

CORETAP, EXAMPLES = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")


def record(folder, source, *options):
    """Records an example. Returns the capture."""
    folder.mkdir()
    shutil.copy(EXAMPLES / source, folder)
    program = folder / "program"
    run("aarch64-linux-gnu-gcc", "-g", "-O1", "-fno-inline", "-static", "-pthread", "-o", program,
        folder / source)
    run(CORETAP, "record", "-q", "-o", folder / "capture", *options, "--", program)
    return folder / "capture"


class Page:
    """A report in a browser, which also collects the browser's complaints."""

    def __init__(self, path, width=1280):
        self.browser = browser.Browser(width, 900)
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                         mobile=width < 500)
        self.browser.ask("Page.addScriptToEvaluateOnNewDocument", source="""
            window.wrong = []; addEventListener("error", event => wrong.push(event.message));""")
        self.browser.open(f"file://{path}")

    def value(self, script):
        return self.browser.value(f"(() => {{ {script} }})()")

    def close(self):
        check("scripts do not fail", self.value("return wrong.length") == 0, self.value("return wrong"))
        self.browser.close()


def check_narrow(path):
    """Checks that on a phone the name of each row is above its numbers, and that nothing overflows."""
    page = Page(path, 390)
    wrong = page.value("""
        return [...document.querySelectorAll(".byname tbody tr")].filter(row => row.offsetParent)
          .filter(row => {
            const name = row.querySelector(".first").getBoundingClientRect();
            return [...row.querySelectorAll(".num, .wide:not(:empty, .first)")].some(cell =>
              cell.getBoundingClientRect().top < name.bottom - 1 ||
              cell.getBoundingClientRect().right > innerWidth);
          }).map(row => row.textContent)""")
    rows = page.value('return document.querySelectorAll("#functions tbody tr").length')
    check("narrow: names stand first", not wrong and rows > 20, (wrong[:3], rows))
    cut = page.value("""
        return [...document.querySelectorAll(".byname .badge")].filter(badge =>
          badge.getBoundingClientRect().right > badge.closest(".panel").getBoundingClientRect().right)
          .map(badge => badge.textContent)""")
    check("narrow: no badge is cut", cut == [], cut)
    bars = page.value("""
        const bars = [...document.querySelectorAll("#coverage .panel:not(.scroll) > table .bar")];
        return [bars.length, bars.filter(bar => bar.offsetParent).length]""")
    check("narrow: sums of coverage have no bars, for which there is no room", bars[0] > 3 and not bars[1],
          bars)
    check("narrow: the page does not scroll sideways",
          page.value("return document.documentElement.scrollWidth <= innerWidth"))
    page.value("""
        const ways = document.querySelectorAll(".nav a");
        ways[ways.length - 1].click();""")
    way = page.browser.wait("""(() => {
        const ways = document.querySelectorAll(".nav a"), last = ways[ways.length - 1];
        return last.hasAttribute("aria-current") && last.getBoundingClientRect().right; })()""")
    check("narrow: the way to what is read is in sight", way and way <= 390, way)
    page.value("scrollTo(0, 0)")
    check("the way to the first section is marked at the top", page.browser.wait(
        "document.querySelector('.nav a').getAttribute('aria-current') === 'true'", 10))
    lines = page.value("""
        const link = document.querySelector("#functions .link");
        link.textContent = "std::map<std::string, std::vector<int>> ".repeat(40);
        return link.offsetHeight / parseFloat(getComputedStyle(link).lineHeight);""")
    check("a long name takes three lines of its table", 2 <= lines < 3.5, lines)
    page.close()


def check_cards(path):
    """Checks that the longest possible number fits into a card."""
    for width in 390, 1280:
        page = Page(path, width)
        wrong = page.value("""
            return [...document.querySelectorAll(".card .value")].filter(value => {
              value.innerHTML = "888,888 <small>cycles</small>";
              const range = document.createRange();
              range.selectNodeContents(value);
              return range.getBoundingClientRect().right > value.getBoundingClientRect().right ||
                value.offsetHeight > 40;
            }).length""")
        check(f"cards: {width} pixels have room for their numbers", wrong == 0, wrong)
        page.close()


def percent(part, whole):
    """Returns a percentage as the page writes it."""
    return "<0.1 %" if 0 < part * 1000 < whole else f"{part * 1000 // whole / 10:.1f} %"


def callers_of(capture, function):
    """Returns the cycles of a function, and name -> cycles of its callers and of their callers, from `coretap
    profile`."""
    whole, first, second = 0, collections.Counter(), collections.Counter()
    for line in run(CORETAP, "profile", "-q", "--weight", "cycles", capture).splitlines():
        stack, cycles = line.rsplit(" ", 1)
        names = stack.split(";")
        if function not in names:
            continue
        at = names.index(function)
        whole += int(cycles)
        if at > 0:
            first[names[at - 1]] += int(cycles)
        if at > 1:
            second[names[at - 1], names[at - 2]] += int(cycles)
    return whole, first, second


def check_search(page, known):
    """Checks that the search finds functions beyond the table, and that clearing it restores all rows."""
    rows = 'return [...document.querySelectorAll("#functions tbody tr")].map(row => row.textContent)'
    before = page.value(rows)
    found = page.value("""
        const input = document.querySelector(".find input");
        input.value = "VFPRINTF"; input.oninput();
        return [...document.querySelectorAll("#functions tbody tr")]
          .map(row => [...row.cells].map(cell => cell.dataset.v ?? cell.textContent))""")
    wanted = [f for f in known if "vfprintf" in f["name"].lower()]
    check("search: all functions of the name", found and len(found) == len(wanted) and
          {row[5].split()[0] for row in found} == {f["name"] for f in wanted}, found)
    check("search: with their cycles", {row[5].split()[0]: int(row[2]) for row in found} ==
          {f["name"]: f["cycles"] for f in wanted}, found)
    told = page.value('return document.querySelector(".find span").textContent')
    check("search: it says how many there are", re.fullmatch(rf"{len(wanted)} of [\d,]+ functions", told),
          told)
    none = page.value("""
        const input = document.querySelector(".find input");
        input.value = "no such function"; input.oninput();
        return document.querySelectorAll("#functions tbody tr").length""")
    after = page.value("""
        const input = document.querySelector(".find input");
        input.value = ""; input.oninput();""" + rows)
    check("search: nothing is found, and all comes back", none == 0 and after == before, none)


def choose(page, name):
    """Chooses a function in the table."""
    page.value(f"""
        const input = document.querySelector(".find input");
        input.value = "{name}"; input.oninput();
        [...document.querySelectorAll("#functions .link")]
          .find(link => link.textContent === "{name}").click();
        input.value = ""; input.oninput();""")


TREE = """
    const read = list => [...list.children].map(item => {
      const line = item.querySelector("summary") ?? item;
      return [line.querySelector("code").textContent, line.querySelector("b").textContent];
    });
    return read(document.querySelector("#function > .tree"))"""


def check_callers(page, capture, name):
    """Checks that the callers are those of the stacks, and their callers when one is opened."""
    whole, first, second = callers_of(capture, name)
    choose(page, name)
    told = page.value(TREE)
    check(f"{name}: callers are those of coretap profile",
          dict(told) == {caller: percent(n, whole) for caller, n in first.items()} and
          [n for _, n in told] == [percent(n, whole) for _, n in first.most_common()], (told, first))
    opened = page.browser.value("""new Promise(done => {
        const first = document.querySelector("#function > .tree details");
        first.addEventListener("toggle", () => setTimeout(() => done([
          first.querySelector("summary code").textContent,
          ...[...first.querySelector(".tree").children].map(item => [item.querySelector("code").textContent,
            item.querySelector("b").textContent])])));
        first.open = true;
      })""")
    wanted = {b: percent(n, whole) for (a, b), n in second.items() if a == opened[0]}
    check(f"{name}: and so are theirs", dict(opened[1:]) == wanted and wanted, (opened, wanted))


def check_function(page):
    """Checks the links from a function to its source and its bars in the charts, and from a bar to the
    function."""
    choose(page, "noise")
    line = page.value("""
        const link = document.querySelector("#function a");
        link.click();
        const row = document.querySelector(link.hash);
        return [link.textContent, row.cells[1].textContent, row.closest("details").open,
                row.textContent.includes("noise(")]""")
    check("a function leads to its source",
          line[0].startswith("control.c:") and line[2:] == [True, True], line)
    for chart in ("time", "timeline"):
        found = page.value(f"""
            const box = document.querySelector("#{chart} .lanes");
            const before = box.querySelector(".where").textContent;
            const label = "{chart}" === "time" ? "In the stacks" : "In the timeline";
            [...document.querySelectorAll("#function button")].find(b => b.textContent === label).click();
            const names = new Set([...box.querySelectorAll(".chosen")].map(bar =>
              box.chart.data.names[box.chart.bars[bar.dataset.bar].name]));
            return [before !== box.querySelector(".where").textContent, ...names]""")
        check(f"a function leads to its bars in the chart: {chart}", found == [True, "noise"], found)
    marks = page.value("""
        const box = document.querySelector("#time .lanes"), before = box.querySelectorAll(".chosen").length;
        box.querySelector("button[aria-label='Show all']").click();
        return [before, box.querySelectorAll(".chosen, .other").length]""")
    check("all bars are as before when all are shown", marks[0] > 0 and marks[1] == 0, marks)
    name = page.value("""
        const bars = [...document.querySelectorAll("#time .lanes rect[data-bar]")];
        const bar = bars[bars.length - 1];
        const chart = document.querySelector("#time .lanes").chart;
        const name = chart.data.names[chart.bars[bar.dataset.bar].name];
        for (const type of ["pointerdown", "pointerup"])
          bar.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, clientX: 9}));
        return [name, document.querySelector("#function h3").textContent]""")
    check("a bar leads to its function", name[0] == name[1], name)


def check_print(path):
    """Checks that no row or column is cut off in print, where nothing scrolls."""
    page = Page(path, 718)
    page.browser.ask("Emulation.setEmulatedMedia", media="print")
    cut = page.value("""
        return [...document.querySelectorAll("body *")].filter(e => {
          const style = getComputedStyle(e);
          return style.overflow !== "visible" && style.display !== "inline" && e.clientHeight &&
            (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1);
        }).map(e => e.className)""")
    check("print: nothing is cut", not cut, cut)
    wide = page.value("return [...document.querySelectorAll('td')].filter(e => e.offsetParent && "
                      "e.getBoundingClientRect().right > innerWidth).length")
    check("print: tables are as wide as the paper", wide == 0, wide)
    page.close()


def check_functions(path, capture):
    known = json.loads(run(CORETAP, "timing", "-q", "--format", "json", capture))[0]["functions"]
    page = Page(path)
    check_search(page, known)
    for name in ("noise", "crc8"):
        check_callers(page, capture, name)
    choose(page, "main")
    check("an outermost function is said to be one",
          page.value('return document.querySelector("#function").textContent.includes("outermost")'))
    check_function(page)
    page.close()


def check_in_sight(path):
    """Checks that a function leads to its longest bar, also in a chart that is higher than the window."""
    page = Page(path)
    choose(page, "work")
    for label, chart in (("In the stacks", "time"), ("In the timeline", "timeline")):
        found = page.value(f"""
            const buttons = [...document.querySelectorAll("#function button")];
            buttons.find(button => button.textContent === "{label}").click();
            const bars = [...document.querySelectorAll("#{chart} .chosen")]
              .map(bar => bar.getBoundingClientRect());
            const longest = bars.reduce((a, b) => b.width > a.width ? b : a);
            return [longest.top, longest.bottom, innerHeight]""")
        check(f"the bar that a function leads to is in sight: {chart}", 40 < found[0] < found[1] <= found[2],
              found)
    page.close()


def bars_of(page, name):
    """Returns (begin, core) of the bars of a function in the visible timeline, by begin."""
    return sorted((begin, core) for begin, core in page.value(f"""
        const chart = document.querySelector("#timeline .lanes").chart;
        return chart.data.lanes.flatMap(lane => {{
          const found = [];
          for (let i = 0; i < lane.bars.length; i += 4)
            if (chart.data.names[lane.bars[i]] === "{name}") found.push([lane.bars[i + 2], lane.core]);
          return found;
        }})"""))


def shown(page):
    """Returns the titles of the visible lanes."""
    return page.value('return [...document.querySelectorAll("#timeline svg .title")].map(t => t.textContent)')


def check_times(page, capture):
    """Checks that the lanes of all cores are on one time axis, that of coretap decode --merge."""
    rows = [line.split("\t") for line in run(CORETAP, "decode", "-q", "--merge", "-f", "csv",
                                             capture).replace('"', "").replace(",", "\t").splitlines()]
    wanted = [(int(row[0]), f"cpu_{row[1][-1]}") for row in rows[1:] if row[4] == "Br" and row[7] == "work"]
    first = min(int(row[0]) for row in rows[1:] if row[0])
    found = bars_of(page, "work")
    wrong = [(mine, truth) for mine, truth in zip(found, wanted)
             if mine[1] != truth[1] or abs(mine[0] + first - truth[0]) > 100]
    check("time: the same of all cores", len(found) == len(wanted) == 12 and not wrong, (wrong, first))
    check("time: the page says so", page.value(
        'return document.querySelector("#timeline").textContent.includes("the same for all lanes")') and
        page.value('return document.querySelector("#timeline .where").textContent').endswith(" ticks"))


def check_lanes(page):
    """Checks the choice of cores and threads."""
    pick = """
        const select = document.querySelector("#timeline select[aria-label='%s']");
        select.value = "%s"; select.dispatchEvent(new Event("change"));
        return [...select.options].map(option => option.value)"""
    count = """
        const {bars, data} = document.querySelector("#timeline .lanes").chart;
        const mine = data.lanes.filter(lane => lane.core === "cpu_2").map(lane => lane.bars.length / 4);
        return [bars.length, mine.reduce((a, b) => a + b, 0)]"""
    every = shown(page)
    cores = page.value(pick % ("Core", "cpu_2"))
    of_core = shown(page)
    bars = page.value(count)
    thread = of_core[-1].split(", ")[1]
    page.value(pick % ("Thread", thread))
    of_both = shown(page)
    page.value(pick % ("Core", ""))
    of_thread = shown(page)
    check("cores can be chosen", cores == [""] + [f"cpu_{i}" for i in range(5)] and
          of_core == [title for title in every if title.startswith("cpu_2, ")] and len(of_core) > 0,
          (cores, of_core))
    check("only the bars of the core are there", bars[0] == bars[1] > 0, bars)
    check("threads can be chosen", of_both == of_thread == [f"cpu_2, {thread}"], (of_both, of_thread))
    page.value(pick % ("Thread", ""))
    check("all come back", shown(page) == every and len(every) > 5, every)


def took(capture, *part):
    """Returns the cycles of each function alone, and of each outermost function, from `coretap profile` of a
    part."""
    alone, stacks = collections.Counter(), collections.Counter()
    for line in run(CORETAP, "profile", "-q", "--weight", "cycles", *part, capture).splitlines():
        stack, cycles = line.rsplit(" ", 1)
        alone[stack.split(";")[-1]] += int(cycles)
        stacks[stack.split(";")[0]] += int(cycles)
    return alone, stacks


def check_parts(page, capture):
    """Checks that stacks and tables of a core, a thread or both equal `coretap profile` of that part."""
    tables = """
        const rows = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row =>
          [row.querySelector(".name").textContent.trim(), row.cells[2].dataset.v]);
        return [rows("functions"), rows("modules")]"""
    def pick(where, key, value):
        page.value(f"""
            const list = document.querySelector("{where} select[aria-label='{key}']");
            list.value = "{value}"; list.dispatchEvent(new Event("change"));""")
    before = page.value(tables)
    threads = page.value("""
        const list = document.querySelector("#time .find select[aria-label='Thread']");
        return [...list.options].map(option => option.value).filter(value => value)""")
    check("parts: threads to choose from", len(threads) > 8, threads)
    thread = threads[-1]
    number = thread.split("0x")[1].rstrip(")")
    for where, key, value, part in (("#time .lanes", "Core", "cpu_2", ("--core", "cpu_2")),
                                    ("#time .find", "Core", "", None),
                                    ("#time .find", "Thread", thread, ("--context", number))):
        pick(where, key, value)
        if not part:
            check("parts: all comes back", page.value(tables) == before)
            continue
        alone, stacks = took(capture, *part)
        names, modules = page.value(tables)
        got = {name.split()[0]: int(cycles) for name, cycles in names}
        check(f"parts: functions of {value}", {name: n for name, n in got.items() if n} ==
              {name: n for name, n in alone.items() if n} and len(got) > 3,
              (set(got.items()) ^ set(alone.items())))
        check(f"parts: the module of {value}", not modules or
              sum(int(cycles) for _, cycles in modules) == sum(alone.values()), modules)
        bars = page.value("""
            const {bars, data, row} = document.querySelector("#time .lanes").chart;
            return bars.filter(bar => bar.y === bars[0].y)
              .map(bar => [data.names[bar.name], bar.to - bar.from])""")
        large = {name: n for name, n in stacks.items() if 100 * n > sum(stacks.values())}
        check(f"parts: the outermost bars of {value}",
              {name: n for name, n in bars if name in large} == large, (bars, stacks))
        whole = page.value('return document.querySelector("#time .where").textContent')
        check(f"parts: all of {value}", whole == f"{sum(alone.values()):,} cycles", whole)
    other = page.value("""
        return [...document.querySelectorAll("#time .lanes select")].map(list => list.value)""")
    check("parts: both lists say the same", other == ["", thread], other)
    choose(page, "work")
    about = page.value('return document.querySelector("#function").textContent')
    check("parts: what is told of a function is of the thread", f"{alone['work']:,} cycles alone" in about and
          f"calls, of {thread}" in about, about)
    pick("#time .find", "Core", "cpu_0")
    nothing = page.value('return [document.querySelector("#time .where").textContent, '
                         'document.querySelectorAll("#functions tbody tr").length]')
    check("parts: a thread that was never on a core", nothing == ["0 cycles", 0], nothing)
    pick("#time .lanes", "Core", "")
    pick("#time .lanes", "Thread", "")
    check("parts: all comes back at last", page.value(tables) == before)
    left_out = page.value("""
        const box = document.createElement("div");
        document.body.append(box);
        drawLanes(box, {kind: "weight", unit: "cycles", names: ["f"], colours: [0],
          lanes: [{weight: 100, bars: [0, 0, 24, 90]}]});
        box.remove();
        return box.querySelector(".where").textContent""")
    check("parts: all includes what is too narrow for a bar", left_out == "100 cycles", left_out)


def check_names(path, capture):
    """Checks that threads have the names that the capture gives them."""
    with open(capture / "snapshot.ini", "a", encoding="utf-8") as file:
        file.write("\n[context]\nthe boss=0x1\n")
    run(CORETAP, "report", "-q", "-o", path, capture)
    page = Page(path)
    titles = shown(page)
    named = [title for title in titles if title.endswith(", the boss (0x1)")]  # its core varies
    check("threads have names", len(named) == 1 and len(titles) > 5 and
          all(", context 0x" in title for title in titles if title not in named), titles)
    page.close()


def check_modules(path, captures):
    """Checks the cycles of each program."""
    run(CORETAP, "report", "-q", "-o", path, *captures)
    wanted = {}
    for capture in captures:
        times = json.loads(run(CORETAP, "timing", "-q", "--format", "json", capture))
        wanted[str(capture.parent / "program")] = sum(one["totals"]["edges"] for one in times)
    page = Page(path)
    found = dict(page.value("""
        return [...document.querySelectorAll("#modules tbody tr")].map(row =>
          [row.querySelector(".name").dataset.tip, Number(row.cells[2].dataset.v)])"""))
    check("modules have the cycles of their programs", found == wanted, (found, wanted))
    said = page.value('return [document.title, document.querySelector("h1").textContent]')
    check("several programs: the page is of the first capture and those besides",
          said == [f"{captures[0].name} and 1 more: trace report", f"{captures[0].name} and 1 more"], said)
    whole, first, _ = callers_of(captures[0], "noise")
    choose(page, "noise")
    told = page.value(TREE)
    check("several captures: callers of a function of one of them",
          dict(told) == {caller: percent(n, whole) for caller, n in first.items()}, (told, first))
    page.close()


def check_parts_of_several(path, captures):
    """Checks that each core of several captures can be chosen and equals `coretap profile`. The second
    capture is there twice."""
    run(CORETAP, "report", "-q", "-o", path, *captures, captures[1])
    page = Page(path)
    cores = page.value("""
        const list = document.querySelector("#time .find select[aria-label='Core']");
        return [...list.options].map(option => option.value).filter(value => value)""")
    check("several captures: cores of all of them", len(cores) == len(set(cores)) == 11, cores)
    for capture, core in ((captures[0], next(one for one in cores if "2)" not in one and "cpu_0" in one)),
                          (captures[1], next(one for one in cores if "cpu_2" in one)),
                          (captures[1], [one for one in cores if "cpu_2" in one][-1])):
        page.value(f"""
            const list = document.querySelector("#time .find select[aria-label='Core']");
            list.value = "{core}"; list.dispatchEvent(new Event("change"));""")
        alone, _ = took(capture, "--core", core.split(": ")[1])
        got = dict(page.value("""
            return [...document.querySelectorAll("#functions tbody tr")].map(row =>
              [row.querySelector(".name button").textContent, Number(row.cells[2].dataset.v)])"""))
        whole = page.value('return document.querySelector("#time .where").textContent')
        check(f"several captures: functions of {core}", {name: n for name, n in got.items() if n} ==
              {name: n for name, n in alone.items() if n} and len(got) > 3, (got, alone))
        check(f"several captures: all of {core}", whole == f"{sum(alone.values()):,} cycles", whole)
    page.close()


def check_together(path, capture):
    """Checks that two captures of one system have their lanes on one axis, like one capture of all cores."""
    run(CORETAP, "report", "-q", "-o", path, capture)
    page = Page(path)
    want = sorted((begin, core) for begin, core in bars_of(page, "work"))
    page.close()
    parts = []
    for name, numbers in (("a", (0, 1)), ("b", (2, 3, 4))):
        part = capture.parent / name
        shutil.copytree(capture, part)
        text = (part / "trace.ini").read_text(encoding="utf-8")
        text = re.sub("^buffers=.*", "buffers=" + ",".join(f"buffer{i}" for i in numbers), text, flags=re.M)
        (part / "trace.ini").write_text(text, encoding="utf-8")
        parts.append(part)
    for how, same in (((), True), (("--captures", "apart"), False)):
        run(CORETAP, "report", "-q", "-o", path, *how, *parts)
        page = Page(path)
        found = sorted((begin, core.split(": ")[1]) for begin, core in bars_of(page, "work"))
        said = page.value('return document.querySelector("header").textContent.includes("from one system")')
        check(f"two captures of one system {' '.join(how)}", (found == want) == same == said, (found, want))
        page.close()


def check_saved(path, capture):
    """Checks that saved stacks have functions and callers, that saved times have neither, and that scripts
    work with both."""
    for command in ("profile", "timing"):
        saved = path.with_name(command)
        run(CORETAP, command, "-q", "--format", "data", "-o", saved, capture)
        run(CORETAP, "report", "-q", "-o", path, saved)
        page = Page(path)
        check(f"a saved result of {command}: there is a search where there are functions",
              page.value('return Boolean(document.querySelector(".find"))') == (command == "profile"))
        if command == "profile":
            choose(page, "noise")
            check("saved stacks: callers", len(page.value(TREE)) == 2, page.value(TREE))
        page.close()


def check_without_lines(path, capture):
    """Checks a program without debug information: places inside a function are distinct, and a long table of
    functions scrolls by itself and is sorted by the part of instructions that ran."""
    program = capture.parent / "program"
    run("aarch64-linux-gnu-strip", "-g", program)
    run(CORETAP, "report", "-q", "-o", path, capture)
    page = Page(path)
    ways = page.value("""
        return [...document.querySelectorAll("#edges tbody tr")].map(row =>
          [...row.querySelectorAll(".first")].map(cell => cell.textContent).join(" "))""")
    check("without lines: each of the hottest ways is told from the others", len(ways) > 20 and
          len(set(ways)) == len(ways), collections.Counter(ways).most_common(3))
    heights = page.value("""
        const table = [...document.querySelectorAll("#coverage table")].find(one =>
          one.tHead?.textContent.includes("Runs") && one.rows.length > 20);
        return [table.offsetHeight, table.parentNode.offsetHeight, innerHeight]""")
    check("without lines: the functions have room of their own", heights[0] > 2 * heights[1] and
          heights[1] < heights[2], heights)
    parts = page.value("""
        const table = [...document.querySelectorAll("#coverage table")].find(one =>
          one.tHead?.textContent.includes("Runs"));
        [...table.querySelectorAll("button")].find(one => one.textContent === "Instructions")?.click();
        return [...table.tBodies[0].rows].map(row =>
          parseFloat(row.cells[1].textContent.replace("<", "")))""")
    check("without lines: functions are sorted by the part that ran",
          parts[0] == 100 > parts[-1] and parts == sorted(parts, reverse=True), parts[:20])
    page.close()


def check_sources(path, capture):
    """Checks that a long table of trace sources scrolls by itself."""
    run(CORETAP, "report", "-q", "-o", path, *[capture] * 6)
    page = Page(path)
    rows, whole, seen = page.value("""
        const table = document.querySelector("#sources");
        return [table.tBodies[0].rows.length, table.offsetHeight, table.parentNode.offsetHeight]""")
    check("many sources: their table has room of its own", rows >= 18 and seen < whole and seen <= 440,
          (rows, whole, seen))
    page.close()


def check_uncounted(path, capture):
    """Checks a trace that ends before its first cycle count: the page says why its chart is empty."""
    run(CORETAP, "report", "-q", "-o", path, capture, codes=(1,))  # no function of the program ran
    text = path.read_text(encoding="utf-8")
    check("a trace without a count: the card and the chart say so", "the trace has no count" in text and
          "No cycles were counted, so the chart has no bars." in text and "smaller stack" not in text)


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)] + ([] if browser.PROGRAM else ["chromium"])
    if missing:
        print(f"1..0 # SKIP {', '.join(missing)} missing")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = record(folder / "control", "control.c", "--start", "main", "--cycle-count=1")
        path = folder / "control.html"
        entry = [] if re.search("^cbc .*missing:", run(CORETAP, "--version"), re.MULTILINE) else \
            ["--entry", "control_round"]
        run(CORETAP, "report", "-q", *entry, "-o", path, capture)
        check_narrow(path)
        check_cards(path)
        check_print(path)
        check_functions(path, capture)
        threads = record(folder / "threads", "threads.c", "--cycle-count", "--context-id", "--timestamps")
        run(CORETAP, "report", "-q", "-o", path, threads)
        page = Page(path)
        check_times(page, threads)
        check_lanes(page)
        check_parts(page, threads)
        page.close()
        check_in_sight(path)
        check_names(path, threads)
        check_modules(path, [capture, threads])
        check_parts_of_several(path, [capture, threads])
        check_together(path, threads)
        check_saved(path, capture)
        check_sources(path, threads)
        check_uncounted(path, record(folder / "few", "control.c", "--cycle-count=4095",
                                     "--max-instructions", "40"))
        check_without_lines(path, capture)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
