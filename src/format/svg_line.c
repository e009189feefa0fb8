/* SPDX-License-Identifier: Apache-2.0 */
#include "format/svg_line.h"

#include <math.h>

#include "format/number.h"
#include "format/xml.h"

/* the layout of a plot, in pixels */
#define WIDTH  380.0
#define HEIGHT 182.0
#define LEFT   56.0
#define RIGHT  8.0
#define TOP    34.0
#define BOTTOM 30.0
#define BASE   (HEIGHT - BOTTOM)

/* The axes. */
struct axes {
    double begin, end;  /* time */
    double least, most; /* values */
};

static double x_of(const struct axes *a, uint64_t time)
{
    return LEFT + ((double)time - a->begin) / (a->end - a->begin) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *a, double value)
{
    /* halves, because the difference of the largest doubles overflows */
    return BASE - (value / 2 - a->least / 2) / (a->most / 2 - a->least / 2) * (BASE - TOP);
}

static struct axes find_axes(const struct ct_svg_line *l)
{
    struct axes a = {.begin = (double)l->begin,
                     .end = l->end > l->begin ? (double)l->end : (double)l->begin + 1,
                     .least = l->points[0].least,
                     .most = l->points[0].most};
    for (size_t i = 1; i < l->count; i++) {
        a.least = fmin(a.least, l->points[i].least);
        a.most = fmax(a.most, l->points[i].most);
    }
    a.least = isinf(a.least) ? -1e308 : a.least;
    a.most = isinf(a.most) ? 1e308 : a.most;
    if (a.least >= a.most) { /* a constant value is in the middle */
        const double room = fmax(fabs(a.least) / 2, 1);
        a.least -= room;
        a.most += room;
    }
    return a;
}

/* Writes a number on a plot. */
static void label(FILE *out, double x, double y, const char *anchor, double value)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.4g</text>\n", x, y, anchor, value);
}

static void grid(FILE *out, const struct axes *a)
{
    for (unsigned third = 0; third <= 2; third++) {
        const double y = TOP + (BASE - TOP) * third / 2;
        fprintf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                third == 2 ? "axis" : "tick", LEFT, WIDTH - RIGHT, y, y);
        label(out, LEFT - 6, y + 4, "end", a->most - (a->most / 2 - a->least / 2) * third);
    }
}

static double held(const struct axes *a, double value)
{
    return fmin(fmax(value, a->least), a->most);
}

/* Writes the line. Each value holds until the next one. */
static void curve(FILE *out, const struct ct_svg_line *l, const struct axes *a)
{
    fputs("<path class=\"line\" d=\"", out);
    for (size_t i = 0; i < l->count; i++) {
        const struct ct_report_point *p = &l->points[i];
        const double x = x_of(a, p->from);
        fprintf(out, i ? "H%.1fV%.1f" : "M%.1f %.1f", x, y_of(a, held(a, p->least)));
        if (p->most > p->least)
            fprintf(out, "V%.1fH%.1f", y_of(a, held(a, p->most)), x_of(a, p->to));
    }
    fprintf(out, "H%.1f\"/>\n", x_of(a, l->end));
}

void ct_svg_line(FILE *out, const struct ct_svg_line *l)
{
    char text[CT_NUMBER_SIZE];
    if (!l->count)
        return;
    const struct axes a = find_axes(l);
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    ct_xml_text(out, l->title);
    fprintf(out, " over time\">\n<text class=\"title\" x=\"%.1f\" y=\"18\">", LEFT);
    ct_xml_text(out, l->title);
    fprintf(out, "</text>\n<text x=\"%.1f\" y=\"18\" text-anchor=\"end\">%s</text>\n", WIDTH - RIGHT,
            l->note);
    grid(out, &a);
    curve(out, l, &a);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT, BASE + 18, ct_number_short(text, l->begin));
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s %s</text>\n</svg>\n", WIDTH - RIGHT,
            BASE + 18, ct_number_short(text, l->end), l->unit);
}
