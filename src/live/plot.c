/* SPDX-License-Identifier: Apache-2.0 */
#include "live/plot.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LEAST_EXPONENT (-32)
#define SPREAD         100 /* ratio of the largest to the smallest value from which bars are logarithmic */

/* ---- over time ---- */

static void add_point(struct ct_live_point *to, const struct ct_live_point *some)
{
    if (!some->count)
        return;
    to->low = to->count && to->low < some->low ? to->low : some->low;
    to->high = to->count && to->high > some->high ? to->high : some->high;
    to->sum += some->sum;
    to->count += some->count;
}

/* Merges pairs of columns, so that each lasts twice as long. */
static void halve(struct ct_live_plot *p)
{
    for (size_t i = 0; i < PLOT_POINTS / 2; i++) {
        struct ct_live_point both = p->points[2 * i];
        add_point(&both, &p->points[2 * i + 1]);
        p->points[i] = both;
    }
    memset(&p->points[PLOT_POINTS / 2], 0, PLOT_POINTS / 2 * sizeof *p->points);
    p->shift++;
}

static void add_in_time(struct ct_live_plot *p, uint64_t time, double value)
{
    const struct ct_live_point one = {value, value, value, 1};
    const uint64_t past = time > p->begin ? time - p->begin : 0;
    while (past >> p->shift >= PLOT_POINTS)
        halve(p);
    add_point(&p->points[past >> p->shift], &one);
}

/* ---- bars ---- */

/* Doubles the width of the linear bars. `left`: extends their range to the left, else to the right. */
static void widen(struct ct_live_plot *p, bool left)
{
    uint64_t bars[PLOT_LINEAR] = {0};
    const size_t from = left ? PLOT_LINEAR / 2 : 0;
    for (size_t i = 0; i < PLOT_LINEAR; i++)
        bars[from + i / 2] += p->linear[i];
    memcpy(p->linear, bars, sizeof bars);
    if (left)
        p->bar_low -= p->bar_width * PLOT_LINEAR;
    p->bar_width *= 2;
}

static void add_linear(struct ct_live_plot *p, double value)
{
    if (p->count == 1) {
        p->bar_low = floor(value);
        p->bar_width = fabs(value) < 0x1p52 ? 1.0 / PLOT_LINEAR : fabs(value) * 0x1p-50;
    }
    while (isfinite(p->bar_width) && value < p->bar_low)
        widen(p, true);
    while (isfinite(p->bar_width) && value >= p->bar_low + p->bar_width * PLOT_LINEAR)
        widen(p, false);
    const double at = (value - p->bar_low) / p->bar_width;
    p->linear[at > 0 && at < PLOT_LINEAR ? (size_t)at : 0]++;
}

/* Returns the lower end of a logarithmic bar. */
static double bar_begin(size_t bar)
{
    return ldexp(bar % 2 ? 1.5 : 1, (int)(bar / 2) + LEAST_EXPONENT);
}

static void add_logarithmic(struct ct_live_plot *p, double value)
{
    int exponent;
    if (value < bar_begin(0)) {
        p->zeros += value >= 0;
        return;
    }
    const double part = frexp(value, &exponent); /* in [0.5, 1) */
    const int octave = exponent - 1 - LEAST_EXPONENT;
    const size_t bar = 2 * (size_t)octave + (part >= 0.75);
    p->logarithmic[bar < PLOT_LOG ? bar : PLOT_LOG - 1]++;
}

void ct_live_plot_add(struct ct_live_plot *p, uint64_t time, double value)
{
    if (!p->count++) {
        p->low = p->high = value;
        p->begin = time;
    }
    p->low = value < p->low ? value : p->low;
    p->high = value > p->high ? value : p->high;
    p->sum += value;
    add_in_time(p, time, value);
    add_linear(p, value);
    add_logarithmic(p, value);
}

/* ---- JSON ---- */

/* Writes a number. Limits infinite sums, because JSON has only finite numbers. */
static void put_real(struct ct_json *j, const char *key, double value)
{
    ct_json_real(j, key, isfinite(value) ? value : value > 0 ? DBL_MAX : -DBL_MAX);
}

static void put_points(struct ct_json *j, const struct ct_live_plot *p)
{
    ct_json_array(j, "points");
    for (size_t i = 0; i < PLOT_POINTS; i++) {
        const struct ct_live_point *point = &p->points[i];
        if (!point->count)
            continue;
        ct_json_array(j, NULL);
        ct_json_number(j, NULL, p->begin + ((uint64_t)i << p->shift));
        put_real(j, NULL, point->low);
        put_real(j, NULL, point->sum / (double)point->count);
        put_real(j, NULL, point->high);
        ct_json_number(j, NULL, point->count);
        ct_json_array_end(j);
    }
    ct_json_array_end(j);
}

static void put_bar(struct ct_json *j, double from, double to, uint64_t count)
{
    if (!count)
        return;
    ct_json_array(j, NULL);
    put_real(j, NULL, from);
    put_real(j, NULL, to);
    ct_json_number(j, NULL, count);
    ct_json_array_end(j);
}

/* Returns whether linear bars would hide the small values. */
static bool is_spread(const struct ct_live_plot *p)
{
    size_t least = 0;
    while (least < PLOT_LOG && !p->logarithmic[least])
        least++;
    return p->low >= 0 && least < PLOT_LOG && p->high > SPREAD * bar_begin(least);
}

static void put_bars(struct ct_json *j, const struct ct_live_plot *p, bool logarithmic)
{
    ct_json_array(j, "histogram");
    if (logarithmic)
        put_bar(j, 0, bar_begin(0), p->zeros);
    for (size_t i = 0; logarithmic && i < PLOT_LOG; i++)
        put_bar(j, bar_begin(i), bar_begin(i + 1), p->logarithmic[i]);
    for (size_t i = 0; !logarithmic && i < PLOT_LINEAR; i++)
        put_bar(j, p->bar_low + p->bar_width * (double)i, p->bar_low + p->bar_width * (double)(i + 1),
                p->linear[i]);
    ct_json_array_end(j);
}

void ct_live_plot_json(struct ct_json *j, const char *key, const struct ct_live_plot *p)
{
    const bool logarithmic = is_spread(p);
    ct_json_object(j, key);
    ct_json_number(j, "count", p->count);
    put_real(j, "low", p->low);
    put_real(j, "mean", p->count ? p->sum / (double)p->count : 0);
    put_real(j, "high", p->high);
    ct_json_number(j, "width", UINT64_C(1) << p->shift);
    put_points(j, p);
    ct_json_bool(j, "logarithmic", logarithmic);
    put_bars(j, p, logarithmic);
    ct_json_object_end(j);
}
