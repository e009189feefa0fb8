#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the monitors of the live page in Chromium: the display of each specification, editing with errors
under the lines and places to choose from, exchange while trace arrives, a list of 256, and the end of the
run; on a desktop and a phone, light and dark. Prints TAP.

usage: test_live_page.py CORETAP"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402  pylint: disable=wrong-import-position
from live import Feeder, Live, Stream, missing  # noqa: E402  pylint: disable=wrong-import-position
from parts import missing_parts  # noqa: E402  pylint: disable=wrong-import-position
from tap import check, finish  # noqa: E402  pylint: disable=wrong-import-position

RATE = 1e5
COST = """in call: Events[Unit]
in ret: Events[Unit]
def @unit(u: String)
def cost = runtime(call, ret)
@unit("cycles") out cost
out cost < 8000 as fast
"""
BOOM = "in call: Events[Unit]\ndef n = count(call)\nout 100 / (n - 5) as left\n"
FAULTY = "in call: Events[Unit]\ndef n = count(cal)\nout n\nout call + 1 as y"
RIGHT = "in call: Events[Unit]\ndef n = count(call)\nout n"


class Page:
    """The live page in a browser."""

    def __init__(self, live, width, dark=False):
        self.browser = browser.Browser(width, 900, dark)
        self.browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                         mobile=width < 500)
        self.browser.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if width < 500:
            self.browser.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        self.browser.open(f"http://127.0.0.1:{live.port()}/")
        self.browser.value(f"window.row = name => [...document.querySelectorAll('.monitor')]"
                           ".find(r => r.querySelector('.what').textContent === name)")

    def wait(self, script):
        return self.browser.wait(script)

    def value(self, script):
        return self.browser.value(script)

    def type(self, text):
        """Replaces the whole text of the editor: types the first line, and pastes the others."""
        first, *rest = text.split("\n", 1)
        self.value("(() => { const e = document.querySelector('.edit'); e.focus(); "
                   "getSelection().selectAllChildren(e); })()")
        self.browser.ask("Input.insertText", text=first)
        self.value(f"""(() => {{
            const data = new DataTransfer();
            data.setData("text/plain", {json.dumps("".join(chr(10) + line for line in rest))});
            document.querySelector(".edit").dispatchEvent(new ClipboardEvent("paste",
                {{clipboardData: data, bubbles: true, cancelable: true}}));
          }})()""")

    def fits(self):
        return self.value("document.documentElement.scrollWidth <= innerWidth && "
                          "[...document.querySelectorAll('#monitor-section *, #report *')].every(e => "
                          "e.closest('svg') || e.closest('.high') || "
                          "e.getBoundingClientRect().right <= innerWidth + 1)")

    def close(self):
        self.browser.close()


def click(selector):
    return f"document.querySelector({json.dumps(selector)}).click()"


# ---- content ----


def shows(page):
    check("monitors stand first on the page", page.wait(
        "document.querySelectorAll('.monitor').length === 2 && "
        "document.querySelector('#monitors').getBoundingClientRect().top < "
        "document.querySelector('#cards').getBoundingClientRect().top"))
    check("… each with its state", page.wait(
        "row('cost.tessla').querySelector('.badge').textContent === 'violated' && "
        "row('boom.tessla').querySelector('.badge').textContent === 'failed'"))
    check("… and room for the longest counts", page.value(
        "(() => { const c = row('cost.tessla').querySelector('.count'), text = c.innerHTML; "
        "c.innerHTML = '<b>999.9 k</b> violations in 999.9 k results'; "
        "const fits = c.scrollWidth <= c.clientWidth; c.innerHTML = text; return fits; })()"))
    check("… with the last values of its outputs", page.wait(
        "/cost = \\d+ cycles; fast = (true|false)/"
        ".test(row('cost.tessla').querySelector('.values').textContent)"))
    check("… and its violations", page.value(
        "/[1-9]\\d* violations? in [\\d.,]+( k)? results/"
        ".test(row('cost.tessla').querySelector('.count').textContent)"))
    check("one that failed says why", page.wait(
        "row('boom.tessla').querySelector('.why')?.textContent.includes('Division by zero')"),
        page.value("row('boom.tessla').innerText"))
    inside = "row('cost.tessla').querySelector('.body')"
    check("inside are plots of each number, over time and by size", page.wait(
        f"{inside}.querySelectorAll('svg polyline').length === 1 && "
        f"{inside}.querySelectorAll('svg rect.plot').length > 3"))
    check("… with their units", page.value(f"{inside}.querySelector('figcaption').textContent"
                                           ".startsWith('cost in cycles')"))
    check("… the last violations with their places", page.wait(
        f"/fast = false\\s+sort \\(live_work.c:\\d+\\)/.test({inside}.innerText)"),
        page.value(f"{inside}.innerText"))
    check("… the text, and what feeds it", page.value(
        f"[...{inside}.querySelectorAll('.text span')].map(s => s.textContent).join('\\n') + '\\n'")
        == COST and page.value(f"{inside}.innerText.includes('call = entry:sort, ret = return:sort')"))
    before = page.value(f"{inside}.querySelector('.outputs td.num').textContent")
    check("… and all of it goes on by itself", page.wait(
        f"{inside}.querySelector('.outputs td.num').textContent !== {json.dumps(before)}"))
    check("a run without restarts says nothing of the order of its cores", page.wait(
        "document.querySelector('#order').hidden && document.querySelectorAll('#streams tr').length > 0"))
    check("… and one with them says which core's results are uncertain", page.value(
        "(() => { drawOrder({ restarts: [{ id: '10', core: 'cpu0', times: 2 }], not_waited_for: "
        "[{ id: '12', times: 1, late: 3 }] }); const o = document.querySelector('#order'); "
        "return !o.hidden && o.innerText; })()") ==
        "ID 10 (cpu0): its timestamps went back 2 times, as when the target starts again; results that look "
        "back beyond that are uncertain. ID 12: other sources did not wait for its timestamps, and 3 of its "
        "events came too late.")
    check("nothing is wider than the window", page.fits())


# ---- editing ----


def edits(page):
    page.value(click("#monitor-new"))
    page.type(FAULTY)
    check("what is wrong comes while one types",
          page.wait("document.querySelectorAll('.edit .fault').length === 2"))
    lines = page.value("""(() => {
        const range = document.createRange(), edit = document.querySelector(".edit");
        const top = text => {
          const walk = document.createTreeWalker(edit, NodeFilter.SHOW_TEXT);
          for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const at = node.data.indexOf(text);
            if (at < 0) continue;
            range.setStart(node, at);
            range.setEnd(node, at + text.length);
            return range.getBoundingClientRect().top;
          }
          return null;
        };
        const fault = line => document.querySelector(`.fault[data-line="${line}"]`)
            .getBoundingClientRect().top;
        return [top("count(cal)"), fault(2), top("out n"), top("out call"), fault(4)];
      })()""")
    check("… under the line that it is in", lines == sorted(lines) and lines[1] - lines[0] < 24, lines)
    check("… with a mark under the place", page.value(
        "document.querySelector('.fault').dataset.say.split('\\n')[0]") == " " * 14 + "^^^",
        page.value("document.querySelector('.fault').dataset.say"))
    check("… and in words", page.value("document.querySelector('.editor .said').textContent")
          .startswith("2 errors: line 2, Undefined variable cal"))
    check("… and is no part of the text", page.value("editor.source()") == FAULTY,
          page.value("editor.source()"))
    page.value(click(".run-it"))
    check("a specification with errors does not run", page.wait(
        "!document.querySelector('.run-it').disabled && document.querySelectorAll('.fault').length === 2")
        and page.value("document.querySelectorAll('.monitor').length") == 2)
    page.type(RIGHT)
    check("when they are gone, so is what stands under the lines", page.wait(
        "document.querySelectorAll('.fault').length === 0 && !!document.querySelector('.binds input')"))
    page.value("document.querySelector('.editor input').value = 'mine'; "
               "(() => { const f = document.querySelector('.binds input'); f.focus(); f.value = 'entry:so'; "
               "f.dispatchEvent(new InputEvent('input', {bubbles: true})); })()")
    check("places to bind to are offered", page.wait(
        "[...document.querySelectorAll('#choices option')].some(o => o.value === 'entry:sort')"))
    page.value(click(".run-it"))
    check("a binding that is wrong is said", page.wait(
        "document.querySelector('.editor .said.bad')?.textContent.includes('no program has a function')"),
        page.value("document.querySelector('.editor .said').textContent"))
    page.value("(() => { const f = document.querySelector('.binds input'); f.value = 'entry:sort'; "
               "f.dispatchEvent(new InputEvent('input', {bubbles: true})); })()")
    page.value(click(".run-it"))
    check("a right one runs", page.wait("row('mine') && /n = \\d+/.test(row('mine').innerText)"),
          page.value("document.querySelector('.editor')?.innerText"))
    check("… and the editor closes", page.value("document.querySelector('.editor') === null"))


def exchanges(page):
    page.value("row('mine').querySelector('.head').click()")
    check("it opens", page.wait("!!row('mine').querySelector('.edit-it')"))
    page.value("row('mine').querySelector('.edit-it').click()")
    check("Edit has its text and bindings", page.wait(
        f"editor.source() === {json.dumps(RIGHT)} && "
        "document.querySelector('.binds input')?.value === 'entry:sort'"))
    page.type(RIGHT.replace("out n", "out n * 1000 as thousands"))
    page.value(click(".run-it"))
    check("it is exchanged while trace comes", page.wait(
        "/thousands = \\d+000/.test(row('mine').querySelector('.values').textContent)"))
    check("… and the page shows the new text", page.wait(
        "row('mine').querySelector('.text').textContent.includes('thousands')"))
    # Both clicks happen in one script, because an unanswered question disappears after a while.
    check("Remove asks first", page.value("""(() => {
        row("mine").querySelector(".remove-it").click();
        return new Promise(done => setTimeout(() => {
          const there = row("mine");
          there?.querySelector(".remove-it").click();
          done(!!there);
        }, 600));
      })()"""))
    check("… and then removes", page.wait("!row('mine')"))


# ---- many specifications, and the end ----


def many(live, page):
    for i in range(254):
        live.ask("/api/monitors", {"action": "add", "name": f"many{i:03}", "text": RIGHT,
                                   "bind": {"call": "entry:fib" if i % 2 else "entry:sort"}})
    check("256 monitors are a list", page.wait("document.querySelectorAll('.monitor').length === 256"))
    check("… of closed rows", page.value(
        "document.querySelectorAll('.monitor .head[aria-expanded=true]').length") <= 2)
    visible = "[...document.querySelectorAll('.monitor')].filter(r => !r.hidden).length"
    page.value("(() => { const f = document.querySelector('#monitor-filter'); f.value = 'many01'; "
               "f.dispatchEvent(new InputEvent('input')); })()")
    check("… filtered by name", page.wait(f"{visible} === 10"))
    page.value("(() => { const f = document.querySelector('#monitor-filter'); f.value = ''; "
               "f.dispatchEvent(new InputEvent('input')); })()")
    page.value(click("#chips [data-state=failed]"))
    check("… and by state", page.wait(f"{visible} === 1 && !row('boom.tessla').hidden"))
    page.value(click("#chips [data-state='']"))
    page.value(click("#fold"))
    check("… and closed at once", page.value(
        "document.querySelectorAll('.monitor .head[aria-expanded=true]').length") == 0)
    check("… nothing is wider than the window", page.fits())


def telephone(live):
    for dark in (False, True):
        page = Page(live, 390, dark)
        try:
            name = "dark" if dark else "light"
            page.wait("document.querySelectorAll('.monitor').length === 2")
            page.value("for (const h of document.querySelectorAll('.head[aria-expanded=false]')) h.click()")
            page.wait("document.querySelectorAll('.monitor svg').length >= 2")
            page.value(click(".edit-it"))
            page.wait("!!document.querySelector('.binds input')")
            check(f"on a telephone, {name}, nothing is wider than the window", page.fits(), page.value(
                "[document.documentElement.scrollWidth, "
                "...[...document.querySelectorAll('#monitor-section *')]"
                ".filter(e => !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)"
                ".slice(0, 5).map(e => e.outerHTML.slice(0, 90))]"))
            small = page.value("[...document.querySelectorAll('button, input')]"
                               ".filter(e => e.offsetParent && e.offsetHeight < 44)"
                               ".map(e => e.outerHTML.slice(0, 80))")
            check("… and what is touched is large enough", small == [], small)
            cut = page.value("[...document.querySelectorAll('.byname td:first-child')].filter(cell => "
                             "cell.offsetWidth < 200).map(cell => cell.textContent)")
            check("… and names have the width of their table", page.wait(
                "document.querySelectorAll('#edges .first').length > 3") and cut == [], cut)
            check("… in the scheme of the device", page.value(
                "matchMedia('(prefers-color-scheme: dark)').matches && "
                "getComputedStyle(document.body).backgroundColor") == ("rgb(16, 19, 23)" if dark else False))
        finally:
            page.close()


def ends(live, feeder, page, out):
    feeder.over.set()  # the input ends
    live.end()
    check("the page says when the run has ended", page.wait(
        "document.querySelector('#state').textContent === 'the run has ended' && "
        "!document.querySelector('#report').hidden"))
    report = page.value("document.querySelector('#report').innerText")
    check("… with totals, losses and what was dropped", all(word in report for word in
          ("violations", "0 gaps", "lost bytes", "0 bytes dropped")), report)
    check("… what came of each specification", "1 failed" in report and "1 violated" in report and
          page.value("document.querySelectorAll('#report tbody tr').length") == 256, report[:600])
    check("… and links to the files", page.wait(
        f"[...document.querySelectorAll('#report a')].some(a => a.href === 'file://{out}/live.json')"),
        report)
    check("nothing can be changed any more", page.value(
        "document.querySelector('#monitor-new').disabled && document.querySelector('#stop').disabled"))
    check("… and nothing came from elsewhere", page.value(
        "performance.getEntriesByType('resource').every(r => r.name.startsWith(location.origin))"))


def run(coretap, folder):
    stream = Stream(coretap, folder)
    out = stream.folder.resolve() / "out"
    specs = []
    for name, text in (("cost", COST), ("boom", BOOM)):
        path = stream.folder / f"{name}.tessla"
        path.write_text(text)
        specs += ["--spec", path]
    live = Live(coretap, stream, "--http", "0", "--ring", "1", *specs, "--bind", "call=entry:sort", "--bind",
                "ret=return:sort", "-o", out)
    feeder = Feeder(stream, live.child.stdin, RATE)
    feeder.start()
    telephone(live)
    page = Page(live, 1280)
    try:
        shows(page)
        edits(page)
        exchanges(page)
        many(live, page)
        ends(live, feeder, page, out)
    finally:
        page.close()


def main():
    coretap = sys.argv[1]
    without = missing_parts(coretap).get("live")
    if missing() or without or not browser.PROGRAM:
        reason = without or (f"{' and '.join(missing())} not there" if missing() else "chromium is not there")
        print(f"1..0 # SKIP {reason}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        run(coretap, folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
