/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a live run keeps of the results of a specification: each number is in its plot, for any
 * numbers, in constant memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/text.h"
#include "live/view.h"
#include "support/rng.h"
#include "support/ctx_fixture.h"

/* ---- plots ---- */

static struct ct_live_plot plot;

static void clear_plot(void)
{
    memset(&plot, 0, sizeof plot);
}

/* Returns a number of any size and sign, or a small one. */
static double any_number(struct rng *rng)
{
    const double value = (double)rng_below(rng, 1 << 20) * ldexp(1, (int)rng_below(rng, 120) - 70);
    const uint64_t kind = rng_below(rng, 4);
    return kind == 0 ? (double)rng_below(rng, 10) : kind == 1 ? -value : value;
}

static uint64_t sum(const uint64_t *counts, size_t size)
{
    uint64_t all = 0;
    for (size_t i = 0; i < size; i++)
        all += counts[i];
    return all;
}

/* Checks that the plot has each of the values in its place. */
static void compare(const double *values, size_t count, uint64_t from_zero)
{
    double low = values[0], high = values[0];
    uint64_t points = 0;
    for (size_t i = 1; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t i = 0; i < PLOT_POINTS; i++) {
        const struct ct_live_point *p = &plot.points[i];
        points += p->count;
        if (p->count)
            assert_true(p->low >= low && p->high <= high && p->low <= p->high);
    }
    assert_true(plot.low == low && plot.high == high);
    assert_int_equal(plot.count, count);
    assert_int_equal(points, count);
    assert_int_equal(sum(plot.linear, PLOT_LINEAR), count);
    assert_int_equal(plot.zeros + sum(plot.logarithmic, PLOT_LOG), from_zero);
    assert_true(plot.bar_low <= low && high < plot.bar_low + plot.bar_width * PLOT_LINEAR);
}

TEST(each_value_is_there)
{
    static double values[3000];
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rng rng = {seed};
        uint64_t time = rng_below(&rng, 1000), from_zero = 0;
        const size_t count = 1 + (size_t)rng_below(&rng, 3000);
        clear_plot();
        for (size_t i = 0; i < count; i++) {
            values[i] = seed % 2 ? any_number(&rng) : (double)rng_below(&rng, 1 + seed * 20);
            from_zero += values[i] >= 0;
            ct_live_plot_add(&plot, time, values[i]);
            time += rng_below(&rng, 1 + (UINT64_C(1) << rng_below(&rng, 40)));
        }
        compare(values, count, from_zero);
    }
}

/* Checks bars of known values. */
TEST(bars_are_where_the_values_are)
{
    clear_plot();
    for (int i = 0; i < 64; i++)
        ct_live_plot_add(&plot, (uint64_t)i, 100 + i);
    assert_true(plot.bar_low == 100);
    assert_true(plot.bar_width == 1);
    for (size_t i = 0; i < PLOT_LINEAR; i++)
        assert_int_equal(plot.linear[i], 1);
    assert_int_equal(plot.logarithmic[2 * (6 + 32) + 1], 28); /* 96 to 128, of which 100 to 127 came */
    assert_int_equal(plot.logarithmic[2 * (7 + 32)], 36);     /* 128 to 192 */
    for (size_t i = 0; i < 64; i++)
        assert_true(plot.points[i].low == (double)(100 + i));
}

/* The largest numbers and times are handled, and the output is JSON. */
TEST(ends_of_the_range)
{
    static const double values[] = {1.7e308, -1.7e308, 0, 5e-324, 1.7e308, 0x1p63, -0x1p63};
    struct ct_live_text text = {0};
    struct ct_json *json;
    for (int same = 0; same < 2; same++) {
        clear_plot();
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            ct_live_plot_add(&plot, i % 2 ? INT64_MAX : i, same ? 1.7e308 : values[i]);
        assert_int_equal(sum(plot.linear, PLOT_LINEAR), sizeof values / sizeof *values);
        assert_int_equal(ct_json_new(NULL, NULL, ct_live_text_write, &text, &json), CT_OK);
        ct_live_plot_json(json, NULL, &plot);
        assert_int_equal(ct_json_flush(json), CT_OK);
        ct_json_free(json);
        assert_null(strstr(text.text, "inf"));
        assert_null(strstr(text.text, "nan"));
        ct_live_text_rewind(&text);
    }
    ct_live_text_free(&text);
}

static bool is_logarithmic(void)
{
    struct ct_live_text text = {0};
    struct ct_json *json;
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    assert_int_equal(ct_json_new(NULL, &options, ct_live_text_write, &text, &json), CT_OK);
    ct_live_plot_json(json, NULL, &plot);
    ct_json_free(json);
    const bool found = strstr(text.text, "\"logarithmic\":true") != NULL;
    ct_live_text_free(&text);
    return found;
}

TEST(the_spread_decides)
{
    clear_plot();
    ct_live_plot_add(&plot, 0, 10);
    ct_live_plot_add(&plot, 1, 500);
    assert_false(is_logarithmic());
    ct_live_plot_add(&plot, 2, 2000);
    assert_true(is_logarithmic());
    ct_live_plot_add(&plot, 3, -1); /* no logarithm */
    assert_false(is_logarithmic());
}

/* ---- views ---- */

static struct ct_monitor_spec *compile(struct ct_ctx *ctx, const char *text)
{
    struct ct_monitor_spec *spec;
    assert_int_equal(ct_monitor_compile(ctx, "spec", text, strlen(text), NULL, &spec), CT_OK);
    return spec;
}

static struct ct_verify_result result_of(uint32_t output, uint64_t time, const char *value)
{
    return (struct ct_verify_result){.time = time,
                                     .name = "n",
                                     .value = value,
                                     .output = output,
                                     .type = CT_MONITOR_INT,
                                     .number = {.i = atoll(value)}};
}

TEST_WITH(units_are_found, ctx)
{
    static const char text[] = "in x: Events[Unit]\ndef @unit(u: String)\ndef n = count(x)\n"
                               "@unit(\"us\") out n\n@unit(\"a unit that is too long\") out n + 1 as more\n"
                               "-- @unit(\"B\")\nout n + 2 as bytes\nout n + 3 as none @unit(\"";
    /* the last line is cut off, as any text may be */
    struct ct_monitor_spec *spec =
        compile(ctx, "in x: Events[Unit]\ndef n = count(x)\nout n\nout n + 1 as more\nout n + 2 as bytes\n"
                     "out n + 3 as none\n");
    struct ct_live_view *view = ct_live_view_new(spec);
    assert_true(ct_live_view_text(view, text, sizeof text - 1));
    assert_string_equal(view->text, text);
    assert_string_equal(view->outputs[0].unit, "us");
    assert_string_equal(view->outputs[1].unit, "");
    assert_string_equal(view->outputs[2].unit, "B");
    assert_string_equal(view->outputs[3].unit, "");
    ct_live_view_free(view);
    ct_monitor_spec_free(spec);
}

TEST_WITH(doubt_has_a_begin, ctx)
{
    struct ct_monitor_spec *spec = compile(ctx, "in x: Events[Unit]\nout count(x) as a\nout count(x) as b\n");
    struct ct_live_view *view = ct_live_view_new(spec);
    uint64_t since;
    const struct {
        uint32_t output;
        uint64_t time;
        bool uncertain;
        uint64_t since; /* 0: there is no doubt */
    } steps[] = {{0, 10, false, 0},  {0, 20, true, 20}, {1, 30, true, 20}, {0, 40, true, 20},
                 {0, 50, false, 30}, {1, 60, false, 0}, {1, 70, true, 70}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct ct_verify_result r = result_of(steps[i].output, steps[i].time, "1");
        r.uncertain = steps[i].uncertain;
        ct_live_view_add(view, &r, 0x10, i + 1, true);
        assert_int_equal(ct_live_view_doubt(view, &since), steps[i].since != 0);
        if (steps[i].since)
            assert_int_equal(since, steps[i].since);
    }
    ct_live_view_free(view);
    ct_monitor_spec_free(spec);
}

/* There are more outputs than are shown, and texts are cut in the middle of a character. */
TEST_WITH(limits_hold, ctx)
{
    char text[2000] = "in x: Events[Unit]\n", value[100];
    for (unsigned i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "out count(x) + %u as o%u\n", i, i);
    struct ct_monitor_spec *spec = compile(ctx, text);
    struct ct_live_view *view = ct_live_view_new(spec);
    assert_int_equal(view->output_count, VIEW_OUTPUTS);
    assert_int_equal(view->all_outputs, 20);
    for (uint32_t i = 0; i < 200; i++) {
        struct ct_verify_result r = result_of(i % 20, i, "7");
        r.violation = i % 2;
        ct_live_view_add(view, &r, 0x10, i + 1, true);
    }
    assert_int_equal(view->plots, VIEW_PLOTS);
    assert_int_equal(view->last_count, 200);
    assert_int_equal(view->bad_count, 100);
    assert_int_equal(view->last[199 % VIEW_LAST].serial, 200);
    assert_int_equal(view->bad[99 % VIEW_BAD].serial, 200);
    memset(value, 'x', sizeof value);
    memcpy(value + 62, "\xe2\x82\xac", 4);
    const struct ct_verify_result r = result_of(0, 1000, value);
    ct_live_view_add(view, &r, 0x10, 201, true);
    assert_int_equal(strlen(view->outputs[0].value), 62);
    char *large = calloc(1, VIEW_TEXT + 1);
    memset(large, 'x', VIEW_TEXT + 1);
    assert_true(ct_live_view_text(view, large, VIEW_TEXT + 1));
    assert_null(view->text);
    free(large);
    ct_live_view_free(view);
    ct_monitor_spec_free(spec);
}
