/* SPDX-License-Identifier: Apache-2.0 */
#include "format/svg_hist.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "format/number.h"
#include "format/xml.h"

#define TICKS       12      /* most ticks of an axis */
#define LETTER      7.5     /* width of a letter of a label with its space to the next */
#define LEAST_SHORT 10000   /* means from here on are abbreviated, as the extremes are */
#define LEAST_CUT   1000000 /* with a maximum from here on all numbers are abbreviated, else none */
#define LEAST_PART                                                                                           \
    1e-12 /* the least width of the axis, as a part of its end: a double tells both ends                     \
             apart */

/* The layout of a plot, in pixels. */
struct plot {
    double width, height;
    double left, right, top, bottom; /* margins */
    bool inside;                     /* part of a page that has the style */
    /* the axis of cycles is logarithmic */
    bool is_log;
    bool whole; /* numbers of cycles are written in full */
    double low, high;
    uint32_t most;   /* height of the highest bar */
    double labelled; /* end of the last label of the axis */
};

static double on_axis(const struct plot *p, double value)
{
    return p->is_log ? log2(value + 1) : value;
}

static double x_of(const struct plot *p, double value)
{
    const double part = (on_axis(p, value) - p->low) / (p->high - p->low);
    return p->left + part * (p->width - p->left - p->right);
}

/* Returns the y coordinate of the line on which bars stand. */
static double base(const struct plot *p)
{
    return p->height - p->bottom;
}

static void find_axis(struct plot *p, const struct ct_dist *d)
{
    p->is_log = d->max / 4 > d->min;
    p->whole = d->max < LEAST_CUT;
    p->low = on_axis(p, (double)d->min);
    p->high = on_axis(p, (double)d->max + 1);
    /* gives a single value some width, which does not vanish beside a large value */
    const double least = fmax(p->is_log ? 1 : 8, p->high * LEAST_PART);
    if (p->high - p->low < least) {
        const double more = (least - (p->high - p->low)) / 2;
        p->low = p->low > more ? p->low - more : 0;
        p->high += more;
    }
    p->most = 1;
    for (unsigned i = 0; i < d->buckets; i++)
        if (d->histogram[i] > p->most)
            p->most = d->histogram[i];
}

/* ---- parts ---- */

/* Writes a number of cycles: in full, or abbreviated if large, the same in all of a plot. */
static const char *cycles(char text[CT_NUMBER_SIZE], const struct plot *p, uint64_t value)
{
    return p->whole ? ct_number_count(text, value) : ct_number_short(text, value);
}

/* Writes a number below the axis. One from 1000 on is as short as one from 10000 on. */
static const char *label(char text[CT_NUMBER_SIZE], const struct plot *p, uint64_t value)
{
    if (p->whole || value < 1000 || value >= LEAST_SHORT)
        return cycles(text, p, value);
    snprintf(text, CT_NUMBER_SIZE, "%.2f k", (double)value / 1000);
    return text;
}

static void bar(FILE *out, const struct plot *p, const struct ct_dist *d, unsigned bucket)
{
    const uint64_t start = ct_dist_bucket_start(bucket);
    const uint64_t end = bucket + 1 < CT_DIST_BUCKETS ? ct_dist_bucket_start(bucket + 1) - 1 : UINT64_MAX;
    const uint64_t from = start < d->min ? d->min : start;
    const uint64_t to = end > d->max ? d->max : end;
    const double x = x_of(p, (double)from);
    const double width = x_of(p, (double)to + 1) - x;
    const double exact = (base(p) - p->top) * d->histogram[bucket] / p->most;
    const double height = exact < 1.5 ? 1.5 : exact; /* keeps the smallest bars visible */
    char text[3][CT_NUMBER_SIZE];
    ct_number_count(text[0], from);
    ct_number_count(text[1], to);
    ct_number_count(text[2], d->histogram[bucket]);
    fprintf(out, "<rect class=\"plot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x,
            base(p) - height, width > 1.5 ? width - 0.5 : 1.0, height);
    if (p->inside)
        fprintf(out, " data-tip=\"%s to %s cycles: %s times\"/>\n", text[0], text[1], text[2]);
    else
        fprintf(out, "><title>%s to %s cycles: %s times</title></rect>\n", text[0], text[1], text[2]);
}

/* Writes a tick. Omits its label when that would overlap the previous one. */
static void tick(FILE *out, struct plot *p, uint64_t value)
{
    char text[CT_NUMBER_SIZE];
    const double x = x_of(p, (double)value);
    const double width = LETTER * (double)strlen(label(text, p, value));
    const bool is_near_end = x > p->width - p->right - 18;
    const double end = is_near_end ? p->width : x + width / 2;
    fprintf(out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, base(p),
            base(p) + 4);
    if (end - width >= p->labelled) {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", is_near_end ? end : x,
                base(p) + 17, is_near_end ? "end" : "middle", text);
        p->labelled = end;
    }
    putc('\n', out);
}

static bool is_within(const struct plot *p, uint64_t value)
{
    return on_axis(p, (double)value) >= p->low && on_axis(p, (double)value) <= p->high;
}

/* Writes ticks at distances of 1, 2 or 5 times a power of ten, so that there are few. */
static void even_ticks(FILE *out, struct plot *p)
{
    const double wanted = (p->high - p->low) / 4;
    uint64_t step = 1;
    for (unsigned i = 0; (double)step < wanted && step < UINT64_MAX / 10; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    uint64_t value = (uint64_t)ceil(p->low / (double)step) * step;
    for (unsigned i = 0; i < TICKS && is_within(p, value); i++, value += step)
        tick(out, p, value);
}

/* Writes ticks at powers of ten and, when these are few, at two and five times them. */
static void log_ticks(FILE *out, struct plot *p)
{
    static const unsigned factors[] = {1, 2, 5};
    const unsigned used = p->high - p->low < 8 ? 3 : 1;
    const uint64_t step = p->high - p->low > 30 ? 100 : 10;
    for (uint64_t power = 1; power < UINT64_MAX / 500; power *= step)
        for (unsigned i = 0; i < used; i++)
            if (is_within(p, factors[i] * power))
                tick(out, p, factors[i] * power);
}

static void mean(FILE *out, const struct plot *p, const struct ct_dist *d)
{
    const double x = x_of(p, ct_dist_mean(d));
    char mean[CT_NUMBER_SIZE], deviation[CT_NUMBER_SIZE];
    ct_number_mean(mean, ct_dist_mean(d));
    fprintf(out, "<line class=\"mean\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"", x, x, p->top,
            base(p));
    if (p->inside)
        fprintf(out, " data-tip=\"mean %s cycles, deviation %s\"/>\n", mean,
                ct_number_mean(deviation, ct_dist_deviation(d)));
    else
        fprintf(out, "><title>mean: %s cycles</title></line>\n", mean);
}

/* Returns how wide a letter of a title can be in a bold font without serifs. */
static double title_letter(unsigned char letter)
{
    return letter >= 0xe0                             ? 13.0 /* the first byte of a CJK letter and others */
           : strchr("MWmw@%<>+=~", letter)            ? 14.0
           : strchr("Iijlftr.,:;'|!()[]{} -", letter) ? 5.5
           : letter == '_'                            ? 6.5
           : letter >= 'A' && letter <= 'Z'           ? 9.5
                                                      : 8.5;
}

/* Writes the title, truncated before the text on its right, which has `taken` letters. */
static void write_title(FILE *out, const struct plot *p, const char *title, size_t taken)
{
    double room = p->width - p->left - p->right - ((double)taken + 1) * LETTER - 12.0; /* of the ellipsis */
    size_t end = 0;
    fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"18\"", p->left);
    while (title[end] && (room -= title_letter((unsigned char)title[end])) > 0)
        for (end++; (title[end] & 0xc0) == 0x80;) /* further bytes of a UTF-8 letter have the upper bits 10 */
            end++;
    if (title[end]) {
        fputs(p->inside ? " data-tip=\"" : "><title>", out);
        ct_xml_text(out, title);
        fputs(p->inside ? "\"" : "</title", out);
    }
    fputc('>', out);
    ct_xml_bytes(out, title, end);
    fputs(title[end] ? "\u2026</text>\n" : "</text>\n", out);
}

static void caption(FILE *out, const struct plot *p, const struct ct_dist *d)
{
    char text[3][CT_NUMBER_SIZE];
    const double mean = ct_dist_mean(d);
    ct_number_mean(text[2], mean);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">min %s, mean %s, max %s cycles", p->left, p->height - 8,
            cycles(text[0], p, d->min), mean < LEAST_SHORT ? text[2] : cycles(text[2], p, (uint64_t)mean),
            cycles(text[1], p, d->max));
    if (!p->inside)
        fprintf(out, ", deviation %s", ct_number_mean(text[0], ct_dist_deviation(d)));
    fputs("</text>\n", out);
}

/* `core` is NULL for times of several cores. */
static void draw(FILE *out, struct plot *p, const char *title, const char *core, const struct ct_dist *d)
{
    char text[CT_NUMBER_SIZE];
    find_axis(p, d);
    ct_number_count(text, d->count);
    write_title(out, p, title, strlen(text) + strlen(" times") + (core ? strlen(" on ") + strlen(core) : 0));
    fprintf(out, "<text x=\"%.1f\" y=\"18\" text-anchor=\"end\">%s times%s", p->width - p->right, text,
            core ? " on " : "");
    ct_xml_text(out, core ? core : "");
    fputs("</text>\n", out);
    for (unsigned half = 1; half <= 2; half++) {
        const double y = base(p) - (base(p) - p->top) * half / 2;
        fprintf(out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", p->left,
                p->width - p->right, y, y);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", p->left - 6, p->top + 4,
            ct_number_short(text, p->most));
    for (unsigned i = 0; i < d->buckets; i++)
        if (d->histogram[i])
            bar(out, p, d, i);
    fprintf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", p->left,
            p->width - p->right, base(p), base(p));
    mean(out, p, d);
    if (p->is_log)
        log_ticks(out, p);
    else
        even_ticks(out, p);
    caption(out, p, d);
}

#define WIDTH  640
#define HEIGHT 260

void ct_svg_histograms_begin(FILE *out, size_t count)
{
    const size_t height = count * HEIGHT;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" "
        "role=\"img\" aria-label=\"Histograms of times\">\n"
        "<style>svg{--back:#fff;--text:#16191d;--soft:#565e69;--bar:#2f6fd6;--rule:#dde1e6;--axis:#7d8794}"
        "@media(prefers-color-scheme:dark){svg{--back:#1a1d21;--text:#e5e8ed;--soft:#9ba5b2;--bar:#5f97f0;--"
        "rule:#2d333b}}"
        "text{font:12px sans-serif;fill:var(--soft)}.title{font-weight:bold;fill:var(--text)}"
        ".plot{fill:var(--bar)}.tick{stroke:var(--rule)}.axis{stroke:var(--axis)}"
        ".mean{stroke:var(--text);stroke-dasharray:4 3}.back{fill:var(--back)}</style>\n"
        "<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n",
        WIDTH, height, WIDTH, height);
}

void ct_svg_histogram(FILE *out, size_t row, const char *title, const char *core, const struct ct_dist *d)
{
    struct plot p = {.width = WIDTH, .height = HEIGHT, .left = 60, .right = 16, .top = 38, .bottom = 48};
    fprintf(out, "<svg y=\"%zu\" width=\"%d\" height=\"%d\">\n", row * HEIGHT, WIDTH, HEIGHT);
    draw(out, &p, title, core, d);
    fputs("</svg>\n", out);
}

void ct_svg_histograms_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void ct_svg_histogram_inside(FILE *out, const char *title, const struct ct_dist *d)
{
    struct plot p = {
        .width = 380, .height = 182, .left = 44, .right = 8, .top = 34, .bottom = 44, .inside = true};
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Times of ", p.width, p.height);
    ct_xml_text(out, title);
    fputs("\">\n", out);
    draw(out, &p, title, NULL, d);
    fputs("</svg>\n", out);
}
