# SPDX-License-Identifier: Apache-2.0
"""Writes the page that compares the figures with the paper. It needs no other file."""
import re
from html import escape

STYLE = """
:root { color-scheme: light dark; --text: #222; --back: #fff; --soft: #666; --line: #ddd; --head: #f3f3f3 }
@media (prefers-color-scheme: dark) {
  :root { --text: #ddd; --back: #16181c; --soft: #9a9a9a; --line: #3a3d44; --head: #22252b } }
* { box-sizing: border-box }
body { font: 16px/1.5 sans-serif; color: var(--text); background: var(--back); margin: 0 auto;
  max-width: 60rem; padding: 1rem }
h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2.2rem }
p, figcaption { max-width: 46rem } figcaption, .soft { color: var(--soft); font-size: .9rem }
figure { margin: 1rem 0 }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px }
figure .wide { background: #fff; color: #222 }
figure svg { display: block; min-width: 640px; width: 100%; height: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-bottom: 1px solid var(--line) }
thead th { background: var(--head) }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media (max-width: 700px) {
  table.claims thead { display: none }
  table.claims, table.claims tbody, table.claims tr, table.claims td { display: block }
  table.claims tr { border-bottom: 2px solid var(--line); padding: .5rem 0 }
  table.claims td { border: 0; padding: .15rem .4rem }
  table.claims td::before { content: attr(data-is) ": "; color: var(--soft) }
}
"""


def picture(path, text):
    """Returns a figure as part of the page: an SVG as wide as the page allows."""
    svg = re.sub(r' width="\d+" height="\d+"', "", path.read_text(), count=1)
    return (f'<figure><div class="wide" tabindex="0" role="img" aria-label="{escape(text)}">{svg}</div>'
            f"<figcaption>{escape(text)}</figcaption></figure>")


def claims(numbers):
    heads = ["In the paper", "It says", "Here", "Why"]
    rows = "".join("<tr>" + "".join(f'<td data-is="{head}">{escape(cell)}</td>'
                                    for head, cell in zip(heads, row)) + "</tr>\n" for row in numbers)
    return ('<div class="wide"><table class="claims"><thead><tr>' +
            "".join(f"<th>{head}</th>" for head in heads) + f"</tr></thead><tbody>\n{rows}</tbody></table>"
            "</div>")


def times(rows):
    """Returns the data of Fig. 2 as a table."""
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(size)}</td><td class=n>{none / 1.3e6:.2f}</td>" +
        "".join(f"<td class=n>+{100 * (value / none - 1):.3f} %</td>" for value in cycles) + "</tr>\n"
        for name, size, none, *cycles in rows)
    return ('<div class="wide"><table><thead><tr><th>workload</th><th>size</th><th class=n>no PL, ms</th>'
            "<th class=n>PL coherent</th><th class=n>tracing, log in BRAM</th>"
            "<th class=n>tracing, log in DRAM</th></tr></thead>"
            f"<tbody>\n{body}</tbody></table></div>")


def page(out, numbers, rows, heat, sizes):
    """Returns the page. Its pictures are read from the folder `out`."""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>FRACTAL: the paper's figures</title>
<style>{STYLE}</style></head><body>
<h1>FRACTAL: the paper’s figures, beside what comes out here</h1>
<p>Ciraolo et al., <cite>FRACTAL: Fast Reverse Address translation over Coherence for Tracing And
Logging</cite>, measured a Kria KV260. Here the same machine, as software, listens to a model of that
board on which Arm programs run. Times are the model’s predictions: compare ratios and shapes.</p>
<h2>What the paper says, and what comes out here</h2>
{claims(numbers)}
<p class="soft">The text of the paper gives no numbers for the bars of Fig. 2, so none stand here.</p>
<h2>Fig. 2: what tracing costs</h2>
{picture(out / "fig2.svg", "Four workloads, sizes " + ", ".join(sizes) + ". The number above a group is its "
         "last bar, in per cent. Data: fig2.tsv.")}
{times(rows)}
<h2>Fig. 3: the progress of canny</h2>
{picture(out / "fig3.svg", f"Five runs on an image of size {sizes[-1]}, traced over the text section. Each "
         "mark is an instruction line that missed the last-level cache; the red lines are runs that the "
         "report found. Data: fig3.tsv.")}
<h2>Heatmaps</h2>
<p>All memory of one run of canny, size {escape(sizes[0])}: {heat["events"]} of {heat["misses"]} last-level
misses, with the virtual and the physical address of each (Sec. II and III of the paper name heatmaps as a
use; it shows none). Data: heat.tsv.</p>
{picture(out / "heat-pages.svg", "By page, over time, with the object or region that the page belongs to.")}
{picture(out / "heat-sets.svg", "By set of the last-level cache, over time: what page colouring "
         "would change.")}
{picture(out / "heat-lines.svg", "The lines of the page with the most misses, over time.")}
</body></html>
"""
