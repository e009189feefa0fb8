/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a FRACTAL log as SVG: function timeline, heatmaps. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/printable.h"
#include "coretap/format.h"
#include "fractal_log/names.h"
#include "fractal_log/report.h"

#define LEFT   230
#define TOP    34
#define ROW    15
#define BOTTOM 34

#define ROW_LETTERS  34 /* characters of a name that fit into LEFT */
#define PAGE_LETTERS 28 /* the same in a smaller font, with an address after it */

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

static const char *unit(const struct ct_fractal_report *r)
{
    return r->info->clock_hz ? "ms" : "cycles";
}

static void open_picture(const struct ct_fractal_report *r, FILE *out, const char *title, uint32_t rows,
                         uint32_t row_height)
{
    const unsigned width = LEFT + REPORT_COLUMNS + 20, height = TOP + rows * row_height + BOTTOM;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"18\" font-size=\"13\">",
            width, height, width, height, LEFT);
    ct_fractal_put_xml(out, title);
    fputs("</text>\n", out);
    (void)r;
}

/* Writes a name, cut to `most` bytes; a cut name gets the whole text as a tooltip. */
static void put_name(FILE *out, const char *name, size_t most)
{
    char cut[LEFT];
    if (strlen(name) <= most) {
        ct_fractal_put_xml(out, name);
        return;
    }
    while (most > 1 && ((unsigned char)name[most - 1] & 0xc0) == 0x80) /* does not cut inside a UTF-8
                                                                        * character */
        most--;
    snprintf(cut, sizeof cut, "%.*s\u2026", (int)most - 1, name);
    ct_fractal_put_xml(out, cut);
    fputs("<title>", out);
    ct_fractal_put_xml(out, name);
    fputs("</title>", out);
}

/* Draws five ticks below the picture, and a line where each run begins. */
static void axis(const struct ct_fractal_report *r, FILE *out, uint32_t rows, uint32_t row_height,
                 uint64_t from, uint64_t to)
{
    const uint32_t base = TOP + rows * row_height;
    for (unsigned i = 0; i <= 4; i++) {
        const double x = LEFT + REPORT_COLUMNS * (double)i / 4;
        fprintf(
            out,
            "<line x1=\"%.1f\" y1=\"%u\" x2=\"%.1f\" y2=\"%u\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%u\" "
            "text-anchor=\"%s\">%.4g%s%s</text>\n",
            x, base, x, base + 4, x, base + 17, i == 4 ? "end" : "middle",
            ct_fractal_report_ms(r, from + ct_fractal_part(to - from, i, 4)), i == 4 ? " " : "",
            i == 4 ? unit(r) : "");
    }
    for (unsigned i = 0; i < r->runs && r->runs > 1; i++) {
        const double x =
            LEFT + REPORT_COLUMNS * (double)(r->run_start[i] - from) / (double)(to - from ? to - from : 1);
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" stroke=\"#c33\" stroke-dasharray=\"3 3\"/>"
                "<text x=\"%.1f\" y=\"%d\" fill=\"#c33\" font-size=\"10\">run %u</text>\n",
                x, TOP - 10, x, base, x + 3, TOP - 3, i + 1);
    }
}

static uint32_t largest(const struct ct_fractal_map *m)
{
    uint32_t most = 1;
    for (size_t i = 0; i < (size_t)m->rows * REPORT_COLUMNS; i++)
        most = m->cell[i] > most ? m->cell[i] : most;
    return most;
}

/* Draws the cells of a row; neighbours of the same shade are joined. `shade` has 6 steps at most, on a
 * logarithmic scale. */
static void cells(FILE *out, const uint32_t *row, uint32_t y, uint32_t height, double scale,
                  const char *const *shade)
{
    for (unsigned x = 0; x < REPORT_COLUMNS;) {
        const unsigned level = row[x] ? 1 + (unsigned)(4.99 * log1p((double)row[x]) / scale) : 0;
        unsigned end = x + 1;
        while (end < REPORT_COLUMNS &&
               (row[end] ? 1 + (unsigned)(4.99 * log1p((double)row[end]) / scale) : 0) == level)
            end++;
        if (level)
            fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"/>\n", LEFT + x, y,
                    end - x, height, shade[level - 1]);
        x = end;
    }
}

static const char *const blues[] = {"#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c"};
static const char *const heat[] = {"#fed976", "#feb24c", "#fd8d3c", "#e31a1c", "#800026"};

void ct_fractal_report_svg_timeline(const struct ct_fractal_report *r, FILE *out)
{
    const struct ct_fractal_map *m = &r->timeline;
    open_picture(r, out, "Functions over time: last-level misses in each", m->rows, ROW);
    const double scale = log1p((double)largest(m));
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * ROW;
        if (i % 2)
            fprintf(out, "<rect x=\"%d\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n", LEFT, y,
                    REPORT_COLUMNS, ROW);
        fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 6, y + 11);
        put_name(out, m->name[i]->text, ROW_LETTERS);
        fputs("</text>\n", out);
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y + 2, ROW - 4, scale, blues);
    }
    axis(r, out, m->rows, ROW, r->start, r->end);
    fputs("</svg>\n", out);
}

static void address_map(const struct ct_fractal_report *r, FILE *out, const struct ct_fractal_map *m,
                        const char *title, unsigned row)
{
    open_picture(r, out, title, m->rows, row);
    const double scale = log1p((double)largest(m));
    const struct ct_fractal_name *before = NULL;
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * row;
        const struct ct_fractal_name *name = ct_fractal_names_at(r->names, m->page[i]);
        /* labels a row if there is room, and names it when the name changes */
        if (i % 2 == 0) {
            fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\" font-size=\"9\">", LEFT - 6, y + row);
            if (name != before)
                put_name(out, name->text, PAGE_LETTERS);
            fprintf(out, " 0x%llx</text>\n",
                    (unsigned long long)(m->page[i] & ct_mask64(CT_FRACTAL_KEY_BITS)));
            before = name;
        }
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y, row, scale, heat);
    }
    axis(r, out, m->rows, row, r->start, r->end);
    fputs("</svg>\n", out);
}

void ct_fractal_report_svg_heat(const struct ct_fractal_report *r, FILE *out)
{
    address_map(r, out, &r->heat, "Pages over time: last-level misses, darker is more", 7);
}

void ct_fractal_report_svg_lines(const struct ct_fractal_report *r, FILE *out)
{
    address_map(r, out, &r->lines, "Lines of the page with the most misses", 7);
}

void ct_fractal_report_svg_sets(const struct ct_fractal_report *r, FILE *out)
{
    enum {
        HEIGHT = 7
    };
    const struct ct_fractal_map *m = &r->sets;
    const uint32_t of_row = r->set_count / m->rows;
    open_picture(r, out, "Sets of the last-level cache over time: misses, darker is more", m->rows, HEIGHT);
    const double scale = log1p((double)largest(m));
    for (uint32_t i = 0; i < m->rows; i++) {
        const uint32_t y = TOP + i * HEIGHT;
        if (i % 4 == 0)
            fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\" font-size=\"9\">set %u</text>\n",
                    LEFT - 6, y + HEIGHT, i * of_row);
        cells(out, m->cell + (size_t)i * REPORT_COLUMNS, y, HEIGHT, scale, heat);
    }
    axis(r, out, m->rows, HEIGHT, r->start, r->end);
    fputs("</svg>\n", out);
}
