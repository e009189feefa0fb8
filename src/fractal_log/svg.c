/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a FRACTAL log as SVG: function timeline, heatmaps. */
#include <math.h>

#include "base/bytes.h"
#include "base/printable.h"
#include "coretap/format.h"
#include "fractal_log/label.h"
#include "fractal_log/names.h"
#include "fractal_log/report.h"

#define LEFT        230
#define RIGHT       (LEFT + REPORT_COLUMNS)
#define TOP         34
#define ROW         15
#define ADDRESS_ROW 7u /* height of a row of a page or line, of which every second one has its address */
#define BOTTOM      40
#define SHADES      5

#define ROW_LETTERS  34 /* characters of a name that fit into LEFT */
#define PAGE_LETTERS 21 /* the same with an address after it */

void ct_fractal_put_xml(FILE *out, const char *text)
{
    (void)ct_text_write(text, CT_TEXT_XML, ct_write_file, out);
}

double ct_fractal_report_ms(const struct ct_fractal_report *r, uint64_t time)
{
    const bool early = time < r->start; /* times of commands, which may precede the first event */
    const double cycles = early ? -(double)(r->start - time) : (double)(time - r->start);
    return r->info->clock_hz ? cycles * 1e3 / (double)r->info->clock_hz : cycles;
}

/* Colours of text, background, stripes, axis and runs, and five shades of two scales, from few misses to
 * many: b of blue, h of heat. On a dark background more is brighter. */
static const char style[] =
    "<style>.ct{font:11px sans-serif;fill:#222}.ct .bg{fill:#fff}.ct .st{fill:#f6f6f6}.ct .ax{stroke:#888}"
    ".ct .rn{fill:#b3261e}.ct .rl{stroke:#b3261e;stroke-dasharray:3 3}.ct .b1{fill:#9ecae1}.ct "
    ".b2{fill:#6baed6}"
    ".ct .b3{fill:#4292c6}.ct .b4{fill:#2171b5}.ct .b5{fill:#08519c}.ct .h1{fill:#feb24c}.ct "
    ".h2{fill:#fd8d3c}"
    ".ct .h3{fill:#f25a25}.ct .h4{fill:#c9141d}.ct .h5{fill:#800026}\n@media(prefers-color-scheme:dark){"
    ".ct{fill:#e5e8ed}.ct .bg{fill:#14181d}.ct .st{fill:#1d2229}.ct .rn{fill:#ff8a80}.ct .rl{stroke:#ff8a80}"
    ".ct .b1{fill:#1f4f80}.ct .b2{fill:#2b6cac}.ct .b3{fill:#4292c6}.ct .b4{fill:#7fbbe0}.ct "
    ".b5{fill:#cfe5f5}"
    ".ct .h1{fill:#7a3d12}.ct .h2{fill:#b4530f}.ct .h3{fill:#ee7a1c}.ct .h4{fill:#feb24c}"
    ".ct .h5{fill:#fff1b8}}</style>\n";

/* Explains the shades at the right of the title. */
static void legend(FILE *out, char shade, uint32_t most)
{
    const unsigned x = RIGHT - 170, width = 14;
    fprintf(out, "<text x=\"%u\" y=\"18\" text-anchor=\"end\">1</text>", x - 4);
    for (unsigned i = 0; i < SHADES; i++)
        fprintf(out, "<rect x=\"%u\" y=\"9\" width=\"%u\" height=\"10\" class=\"%c%u\"/>", x + i * width,
                width, shade, i + 1);
    fprintf(out, "<text x=\"%u\" y=\"18\">%u %s</text>\n", x + SHADES * width + 4, most,
            most == 1 ? "miss" : "misses");
}

static void open_picture(FILE *out, const char *title, uint32_t rows, uint32_t row_height)
{
    const unsigned width = RIGHT + 20, height = TOP + rows * row_height + BOTTOM;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" "
            "class=\"ct\" role=\"img\" aria-label=\"",
            width, height, width, height);
    ct_fractal_put_xml(out, title);
    fprintf(out,
            "\">\n%s<rect width=\"100%%\" height=\"100%%\" class=\"bg\"/>\n"
            "<text x=\"%d\" y=\"18\" style=\"font-size:13px\">",
            style, LEFT);
    ct_fractal_put_xml(out, title);
    fputs("</text>\n", out);
}

/* Writes a name in at most `most` characters; a shortened name gets the whole text as a tooltip. */
static void put_name(FILE *out, const char *name, size_t most)
{
    char label[4 * LEFT];
    if (!ct_fractal_label(name, most, label, sizeof label)) {
        ct_fractal_put_xml(out, name);
        return;
    }
    ct_fractal_put_xml(out, label);
    fputs("<title>", out);
    ct_fractal_put_xml(out, name);
    fputs("</title>", out);
}

/* Returns the distance of ticks: 1, 2 or 5 times a power of ten, so that the span has at most five. */
static double tick_step(double span)
{
    const double least = span / 5, power = pow(10, floor(log10(least)));
    return least <= power       ? power
           : least <= 2 * power ? 2 * power
           : least <= 5 * power ? 5 * power
                                : 10 * power;
}

static void tick(FILE *out, double x, uint32_t y, double value, int decimals)
{
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%u\" x2=\"%.1f\" y2=\"%u\" class=\"ax\"/><text x=\"%.1f\" y=\"%u\" "
            "text-anchor=\"%s\">%.*f</text>\n",
            x, y, x, y + 4, x, y + 17, x > RIGHT - 40 ? "end" : "middle", decimals, value);
}

/* Draws a line where each run begins, with the number of the run where there is room. */
static void run_lines(const struct ct_fractal_report *r, FILE *out, uint32_t base)
{
    const unsigned letters = 44; /* width of "run 64" */
    const double span = r->end > r->start ? (double)(r->end - r->start) : 1;
    double free = LEFT;
    for (unsigned i = 0; i < r->runs && r->runs > 1; i++) {
        const double x = LEFT + REPORT_COLUMNS * (double)(r->run_start[i] - r->start) / span;
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" class=\"rl\"/>", x, TOP - 10, x,
                base);
        const double at = x + letters > RIGHT + 20 ? x - letters : x + 3;
        if (at >= free) {
            fprintf(out, "<text x=\"%.1f\" y=\"%d\" class=\"rn\">run %u</text>", at, TOP - 3, i + 1);
            free = at + letters;
        }
        fputc('\n', out);
    }
}

/* Draws the axis of time below the picture, and the runs. */
static void axis(const struct ct_fractal_report *r, FILE *out, uint32_t rows, uint32_t row_height)
{
    const uint32_t base = TOP + rows * row_height;
    const double span = ct_fractal_report_ms(r, r->end);
    const double step = span > 0 ? tick_step(span) : 1;
    const int decimals = step < 1 ? (int)ceil(-log10(step)) : 0;
    for (unsigned i = 0; i * step <= span * (1 + 1e-9); i++)
        tick(out, LEFT + (span > 0 ? REPORT_COLUMNS * i * step / span : 0), base, i * step, decimals);
    fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"middle\">time in %s</text>\n",
            LEFT + REPORT_COLUMNS / 2, base + 32, r->info->clock_hz ? "ms" : "cycles");
    run_lines(r, out, base);
}

static uint32_t largest(const struct ct_fractal_map *m)
{
    uint32_t most = 1;
    for (size_t i = 0; i < (size_t)m->rows * REPORT_COLUMNS; i++)
        most = m->cell[i] > most ? m->cell[i] : most;
    return most;
}

/* Returns the shade of a count, from 1 to SHADES on a logarithmic scale; 0 for none. */
static unsigned level_of(uint32_t count, double scale)
{
    return count ? 1 + (unsigned)((SHADES - 0.01) * log1p((double)count) / scale) : 0;
}

/* Draws the cells of a row; neighbours of the same shade are joined. */
static void cells(FILE *out, const uint32_t *row, uint32_t y, uint32_t height, double scale, char shade)
{
    for (unsigned x = 0; x < REPORT_COLUMNS;) {
        const unsigned level = level_of(row[x], scale);
        unsigned end = x + 1;
        while (end < REPORT_COLUMNS && level_of(row[end], scale) == level)
            end++;
        if (level)
            fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" class=\"%c%u\"/>\n", LEFT + x, y,
                    end - x, height, shade, level);
        x = end;
    }
}

/* Begins a picture of counts. Returns the logarithm of the largest, for cells(). */
static double open_map(FILE *out, const struct ct_fractal_map *m, const char *title, uint32_t row_height,
                       char shade)
{
    const uint32_t most = largest(m);
    open_picture(out, title, m->rows, row_height);
    legend(out, shade, most);
    return log1p((double)most);
}

void ct_fractal_report_svg_timeline(const struct ct_fractal_report *r, FILE *out)
{
    const struct ct_fractal_map *m = &r->timeline;
    const double scale = open_map(out, m, "Functions over time: last-level misses in each", ROW, 'b');
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * ROW;
        if (i % 2)
            fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" class=\"st\"/>\n", LEFT, y,
                    REPORT_COLUMNS, ROW);
        fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 6, y + 11);
        put_name(out, m->name[i]->text, ROW_LETTERS);
        fputs("</text>\n", out);
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y + 2, ROW - 4, scale, 'b');
    }
    axis(r, out, m->rows, ROW);
    fputs("</svg>\n", out);
}

static void address_map(const struct ct_fractal_report *r, FILE *out, const struct ct_fractal_map *m,
                        const char *title)
{
    const double scale = open_map(out, m, title, ADDRESS_ROW, 'h');
    const struct ct_fractal_name *before = NULL;
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * ADDRESS_ROW;
        const struct ct_fractal_name *name = ct_fractal_names_at(r->names, m->page[i]);
        /* labels a row if there is room, and names it when the name changes */
        if (i % 2 == 0) {
            fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 6, y + ADDRESS_ROW + 2);
            if (name != before)
                put_name(out, name->text, PAGE_LETTERS);
            fprintf(out, " 0x%llx</text>\n",
                    (unsigned long long)(m->page[i] & ct_mask64(CT_FRACTAL_KEY_BITS)));
            before = name;
        }
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y, ADDRESS_ROW, scale, 'h');
    }
    axis(r, out, m->rows, ADDRESS_ROW);
    fputs("</svg>\n", out);
}

void ct_fractal_report_svg_heat(const struct ct_fractal_report *r, FILE *out)
{
    address_map(r, out, &r->heat, "Pages over time: last-level misses in each");
}

void ct_fractal_report_svg_lines(const struct ct_fractal_report *r, FILE *out)
{
    address_map(r, out, &r->lines, "Lines of the page with the most misses");
}

void ct_fractal_report_svg_sets(const struct ct_fractal_report *r, FILE *out)
{
    enum {
        HEIGHT = 7
    };
    const struct ct_fractal_map *m = &r->sets;
    const uint32_t of_row = r->set_count / m->rows;
    const double scale =
        open_map(out, m, "Sets of the last-level cache over time: misses in each", HEIGHT, 'h');
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * HEIGHT;
        if (i % 4 == 0)
            fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">set %u</text>\n", LEFT - 6,
                    y + HEIGHT + 2, i * of_row);
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y, HEIGHT, scale, 'h');
    }
    axis(r, out, m->rows, HEIGHT);
    fputs("</svg>\n", out);
}
