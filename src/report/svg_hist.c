#include "report/svg_hist.h"

#include <inttypes.h>
#include <math.h>

#define WIDTH  640
#define HEIGHT 240
#define LEFT   56
#define RIGHT  16
#define TOP    34
#define BOTTOM 46

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            if ((unsigned char)*text >= 0x20)
                fputc(*text, out);
            break;
        }
}

struct axis {
    double low, high; /* logarithms */
    uint32_t most;    /* the highest bar */
};

static double x_of(const struct axis *axis, uint64_t value)
{
    double part = (log2((double)value + 1) - axis->low) / (axis->high - axis->low);
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static struct axis find_axis(const struct ct_dist *d)
{
    struct axis axis = {.low = log2((double)d->min + 1), .high = log2((double)d->max + 2), .most = 1};
    for (unsigned i = 0; d->histogram && i < CT_DIST_BUCKETS; i++)
        if (d->histogram[i] > axis.most)
            axis.most = d->histogram[i];
    if (axis.high - axis.low < 1) {
        axis.low = axis.low > 0.5 ? axis.low - 0.5 : 0;
        axis.high += 0.5;
    }
    return axis;
}

static void bars(FILE *out, const struct ct_dist *d, const struct axis *axis)
{
    double room = HEIGHT - TOP - BOTTOM;
    for (unsigned i = 0; d->histogram && i < CT_DIST_BUCKETS; i++) {
        if (!d->histogram[i])
            continue;
        uint64_t from = ct_dist_bucket_start(i);
        uint64_t to = i + 1 < CT_DIST_BUCKETS ? ct_dist_bucket_start(i + 1) : UINT64_MAX;
        double x = x_of(axis, from < d->min ? d->min : from);
        double end = x_of(axis, to > d->max ? d->max + 1 : to);
        double height = room * d->histogram[i] / axis->most;
        fprintf(out,
                "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%" PRIu64
                " to %" PRIu64 " cycles: %" PRIu32 "</title></rect>\n",
                x, HEIGHT - BOTTOM - height, end - x > 1.5 ? end - x - 0.5 : 1.0, height, from, to - 1,
                d->histogram[i]);
    }
}

/* Powers of two, of ten where there are many. */
static void ticks(FILE *out, const struct axis *axis)
{
    unsigned step = axis->high - axis->low > 12 ? 10 : 2;
    for (uint64_t value = 1; value < 1000000000000000000; value *= step) {
        double at = log2((double)value + 1);
        if (at > axis->high)
            break;
        if (at < axis->low)
            continue;
        double x = x_of(axis, value);
        fprintf(out,
                "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%" PRIu64 "</text>\n",
                x, x, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 4, x, HEIGHT - BOTTOM + 16, value);
    }
}

void ct_svg_histogram(FILE *out, const char *title, const struct ct_dist *d)
{
    struct axis axis = find_axis(d);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "role=\"img\">\n"
            "<style>svg{--ink:#222;--bar:#2b6cb0;--line:#999}@media(prefers-color-scheme:dark){svg{--ink:#"
            "ddd;--bar:#63b3ed;"
            "--line:#777}}text{font:12px "
            "sans-serif;fill:var(--ink)}.bar{fill:var(--bar)}.tick{stroke:var(--line)}"
            "</style>\n<text x=\"%d\" y=\"20\" style=\"font-weight:bold\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    put_text(out, title);
    fprintf(out, "</text>\n<line class=\"tick\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT,
            WIDTH - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%" PRIu32 "</text>\n", LEFT - 6, TOP + 6,
            axis.most);
    bars(out, d, &axis);
    ticks(out, &axis);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">%" PRIu64 " times; cycles: min %" PRIu64 ", mean %.1f, max %" PRIu64
            ", deviation %.1f</text>\n</svg>\n",
            LEFT, HEIGHT - 8, d->count, d->min, ct_dist_mean(d), d->max, ct_dist_deviation(d));
}
