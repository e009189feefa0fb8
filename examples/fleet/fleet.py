# SPDX-License-Identifier: Apache-2.0
"""Common parts of the examples: the command, the week's manifest, and HTML pages with pictures."""
import hashlib
import html
import json
import pathlib
import re
import subprocess
import tempfile

MOST = 2 ** 64 - 1  # counts saturate here

# The style of coretap's own pages (src/format/page.css).
STYLE = """
:root { color-scheme: light dark; --back: #f5f6f8; --panel: #fff; --rule: #dde1e6; --text: #16191d;
  --soft: #565e69; --bar: #2f6fd6; --rest: #e3e7ec; --bad: #b83232; --good: #2f7d32; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --back: #101317; --panel: #181c21; --rule: #2d333b;
  --text: #e5e8ed; --soft: #9ba5b2; --bar: #5f97f0; --rest: #2d333b; --bad: #f28b82; --good: #7cc67f;
  --on: #0d1014 } }
* { box-sizing: border-box }
body { margin: 0; padding: 24px 16px 48px; background: var(--back); color: var(--text);
  print-color-adjust: exact;
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
main { max-width: 900px; margin: 0 auto }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px } h2 { font-size: 17px; margin: 28px 0 8px }
p { margin: 4px 0 12px; color: var(--soft); max-width: 75ch; overflow-wrap: anywhere }
code { font: .92em ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
.panel { background: var(--panel); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px;
  overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 4px 8px; text-align: left; vertical-align: middle }
th { font-weight: 500; font-size: 13px; color: var(--soft) }
td code { overflow-wrap: normal }
td.number, th.number { text-align: right; white-space: nowrap }
td.cell { min-width: 3.4em; border: 2px solid var(--panel) } td.cell, th.cell { text-align: center }
td.cell div { border-radius: 4px } td.wide { width: 40% } td.note { white-space: nowrap }
.grid td:first-child, .grid th:first-child { position: sticky; left: 0; background: var(--panel) }
.tall th { vertical-align: bottom }
.tall th.cell span { writing-mode: vertical-rl; transform: rotate(180deg); max-height: 14em;
  overflow: hidden }
pre { margin: 4px 0 12px; padding: 8px 12px; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere }
.bad { color: var(--bad) } .good { color: var(--good) } .soft { color: var(--soft) }
.track { background: var(--rest); border-radius: 4px; height: 14px; min-width: 90px; overflow: hidden }
.fill { background: var(--bar); height: 100%; min-width: 1px }
.fill.bad { background: var(--bad) } .fill.faint { opacity: .45 } .track + .track { margin-top: 3px }
@media (max-width: 600px) { body { padding: 20px 10px 40px } .panel { padding: 10px 8px }
  th, td { padding: 4px; font-size: 13px } td.cell { min-width: 2.6em } td.wide { width: 30% }
  .track { min-width: 24px } td.note { white-space: normal } }
"""


class Fleet:
    """A week: the command, its captures, and the folder that keeps the pieces of each capture, so that no
    question decodes a capture twice."""

    def __init__(self, coretap, manifest):
        self.coretap, self.manifest = coretap, pathlib.Path(manifest).resolve()
        lines = self.manifest.read_text(encoding="utf-8").splitlines()
        self.captures = [json.loads(line) for line in lines]
        self.pieces = self.manifest.with_suffix(".pieces")
        self.folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self.folder.name)
        self.failures, self.failed, self.damaged = set(), 0, 0

    def run(self, *words):
        """Runs the command and returns its output. Exit code 1 means that captures are damaged or unreadable:
        the results that there are count, and the message of the command is kept."""
        done = subprocess.run([self.coretap, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(done.stderr)
        return done

    def name(self, text):
        """Returns the path of a file for a machine or a test, whose name may have any letters and any
        length."""
        return self.work / hashlib.sha256(text.encode()).hexdigest()

    def sum(self, command, captures, name):
        """Returns the file with the sum of captures, which 'coretap map' makes or finds among the pieces."""
        result = self.name(f"{name}.{command}")
        part = self.name(f"{name}.jsonl")
        part.write_text("".join(json.dumps(capture) + "\n" for capture in captures), encoding="utf-8")
        done = self.run("map", command, "--manifest", part, "--state", self.pieces, "--resume", "-o", result)
        self.failures |= {line.removeprefix("coretap:").strip() for line in done.stderr.splitlines()
                          if line.startswith("coretap:   ")}
        told = re.search(r", (\d+) of them damaged, (\d+) more that could not be read", done.stderr)
        self.damaged, self.failed = (max(before, int(now)) for before, now in
                                     zip((self.damaged, self.failed), told.groups() if told else (0, 0)))
        return result

    def by(self, key):
        """Returns captures by machine, test or build ID."""
        groups = {}
        for capture in self.captures:
            values = capture["build_ids"] if key == "build_id" else [capture[key]]
            groups.setdefault(values[0] if values and values[0] else "unknown", []).append(capture)
        return dict(sorted(groups.items()))

    def builds(self):
        """Returns build ID and path of each program in the folder of the week, oldest version first."""
        found = {}
        for program in sorted(self.manifest.parent.glob("builds/*/*")):
            said = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
            found[said.stdout.split("Build ID: ")[1].split()[0]] = program
        return found

    def in_order(self):
        """Returns the build IDs of the captures, oldest version first: in the order of the week's folder,
        else by the time of their first capture."""
        groups = self.by("build_id")
        groups.pop("unknown", None)
        known = list(self.builds())
        return sorted(groups, key=lambda name: (known.index(name) if name in known else len(known),
                                                min(capture["time"] or "" for capture in groups[name])))

    def json(self, *words):
        return json.loads(self.run(*words).stdout)


def text(value):
    return html.escape(str(value))


def code(name):
    """Returns a name as HTML that may wrap after each underscore."""
    return f"<code>{text(name).replace('_', '_<wbr>')}</code>"


def several(count, noun):
    return f"{count} {noun}" + ("" if count == 1 else "s")


def bar(part, kind=""):
    return f'<div class="track"><div class="fill {kind}" style="width:{100 * part:.1f}%"></div></div>'


def row(*cells):
    """Returns a row of a table. Fields are texts, or pairs of a class and a text, which is HTML."""
    return "<tr>" + "".join(f'<td class="{cell[0]}">{cell[1]}</td>' if isinstance(cell, tuple)
                            else f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"


def number(count):
    return "2⁶⁴ − 1 or more" if count == MOST else f"{count:,}"


def table(heads, rows, kind=""):
    """Returns a table. Heads that begin with '#' are for numbers, those with '=' for fields."""
    kinds = {"#": ' class="number"', "=": ' class="cell"'}
    cells = "".join(f"<th{kinds[head[0]]}><span>{text(head[1:])}</span></th>" if head[:1] in kinds
                    else f"<th>{text(head)}</th>" for head in heads)
    return f'<div class="panel"><table class="{kind}"><tr>{cells}</tr>{"".join(rows)}</table></div>'


def first(rows, most, rest):
    """Returns the first rows, and one that gives the number of the others."""
    left = len(rows) - most
    return rows if left <= 0 else [*rows[:most], row(("soft", text(f"{left:,} more, {rest}")))]


def write_page(path, title, lead, *parts, week=None):
    """Writes a page that needs no other file. It also lists what of the week's captures could not be read."""
    missing = sorted(week.failures) if week else []
    if week and week.damaged:
        missing.append(f"What could not be decoded of {several(week.damaged, 'capture')} with damage.")
    if missing:
        items = "".join(f"<p>{text(line)}</p>" for line in missing)
        parts = (*parts, f"<h2>Not in the numbers</h2>{items}")
    pathlib.Path(path).write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(title)}</title><style>{STYLE}</style><main><h1>{text(title)}</h1><p>{lead}</p>"
        f"{''.join(parts)}</main></html>\n", encoding="utf-8")
