# SPDX-License-Identifier: Apache-2.0
"""Draws Fig. 2 as SVG: a group of bars for each workload and size, relative to the run without fabric."""
from xml.sax.saxutils import escape

SERIES = [("PL coherent", "#4292c6"), ("tracing, log in BRAM", "#e6792b"),
          ("tracing, log in DRAM", "#7a4fa3")]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 850, 330, 60, 60, 64


def ceiling(most):
    """Returns a round percentage above all bars."""
    for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if 5 * step >= most:
            return 5 * step
    return most


def frame(top):
    plot = HEIGHT - TOP - BOTTOM
    for i in range(6):
        y = HEIGHT - BOTTOM - plot * i / 5
        yield (f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 10}" y2="{y:.1f}" stroke="#ddd"/>'
               f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * i / 5:.3g} %</text>')


def legend():
    for i, (name, colour) in enumerate(SERIES):
        yield (f'<rect x="{LEFT + 190 * i}" y="30" width="12" height="12" fill="{colour}"/>'
               f'<text x="{LEFT + 190 * i + 18}" y="40">{name}</text>')


def group(row, number, width, top):
    """Draws the bars of one workload and size, with the number above the last bar."""
    name, size, none, *cycles = row
    plot, left = HEIGHT - TOP - BOTTOM, LEFT + number * width
    bar = width * 0.8 / len(SERIES)
    for i, value in enumerate(cycles):
        share = 100 * (value / none - 1)
        height = plot * share / top
        yield (f'<rect x="{left + width * 0.1 + i * bar:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" '
               f'width="{bar * 0.9:.1f}" height="{height:.1f}" fill="{SERIES[i][1]}">'
               f'<title>{escape(name)} {escape(size)}, {SERIES[i][0]}: +{share:.3f} %</title></rect>')
    yield (f'<text x="{left + width / 2:.1f}" y="{HEIGHT - BOTTOM - height - 5:.1f}" text-anchor="middle" '
           f'font-size="10">{share:.2f}</text>'
           f'<text x="{left + width / 2:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{escape(size)}'
           '</text>')


def names(rows, width):
    """Draws the name of each workload below its groups."""
    for name in dict.fromkeys(row[0] for row in rows):
        places = [i for i, row in enumerate(rows) if row[0] == name]
        x = LEFT + width * (places[0] + places[-1] + 1) / 2
        yield (f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 38}" text-anchor="middle" font-size="13">'
               f'{escape(name)}</text>')


def bars(rows):
    """Draws the picture. Rows are: workload, size, cycles without fabric, and cycles of each series."""
    top = ceiling(max(100 * (value / row[2] - 1) for row in rows for value in row[3:]))
    width = (WIDTH - LEFT - 10) / len(rows)
    parts = [*frame(top), *legend(), *names(rows, width)]
    for number, row in enumerate(rows):
        parts += group(row, number, width, top)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="{LEFT}" y="18" font-size="14">Run time beyond that without PL in the coherence domain'
            '</text>\n' + "\n".join(parts) + "\n</svg>\n")
