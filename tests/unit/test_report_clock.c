/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the axis of timestamps in a report: times between and outside of timestamps, pauses, more timestamps
 * than are kept. */
#include "format/report_clock.h"
#include "support/unit.h"

/* Takes a step of `cycles` cycles, then a timestamp. */
static void take(struct ct_report_clock *clock, uint32_t cycles, uint64_t time)
{
    const uint32_t edge = 0;
    const struct ct_step_mark mark = {
        .kind = CT_MARK_ELEM, .at = 1, .elem = {.kind = CT_ELEM_TIMESTAMP, .v = time}};
    const struct ct_step_batch batch = {
        .edge = &edge, .cycles = &cycles, .count = 1, .marks = &mark, .mark_count = 1};
    assert_int_equal(ct_report_clock_take(clock, &batch, true), CT_OK);
}

TEST(test_between)
{
    struct ct_report_clock clock = {0};
    take(&clock, 10, 1000);
    assert_false(ct_report_clock_is_known(&clock));
    take(&clock, 10, 1020);
    take(&clock, 20, 1080);
    assert_true(ct_report_clock_is_known(&clock));
    assert_int_equal(ct_report_clock_time(&clock, 15, false), 1010);
    assert_int_equal(ct_report_clock_time(&clock, 20, false), 1020);
    assert_int_equal(ct_report_clock_time(&clock, 20, true), 1020);
    assert_int_equal(ct_report_clock_time(&clock, 30, true), 1050);
    assert_int_equal(ct_report_clock_time(&clock, 0, false), 980);
    assert_int_equal(ct_report_clock_time(&clock, 50, true), 1110);
    ct_report_clock_free(&clock);
}

/* Nothing runs between three timestamps. What began there is placed after them, and what ended there,
 * before. */
TEST(test_pause)
{
    struct ct_report_clock clock = {0};
    take(&clock, 10, 1000);
    take(&clock, 10, 1010);
    take(&clock, 0, 3000);
    take(&clock, 0, 5000);
    take(&clock, 10, 5010);
    assert_int_equal(ct_report_clock_time(&clock, 20, true), 1010);
    assert_int_equal(ct_report_clock_time(&clock, 20, false), 5000);
    assert_int_equal(ct_report_clock_time(&clock, 19, false), 1009);
    assert_int_equal(ct_report_clock_time(&clock, 21, true), 5001);
    ct_report_clock_free(&clock);
}

/* The pause is the first or the last known time. */
TEST(test_pause_at_ends)
{
    struct ct_report_clock clock = {0};
    take(&clock, 10, 1000);
    take(&clock, 0, 2000);
    assert_false(ct_report_clock_is_known(&clock));
    take(&clock, 10, 2010);
    take(&clock, 0, 9000);
    assert_int_equal(ct_report_clock_time(&clock, 10, true), 1000);
    assert_int_equal(ct_report_clock_time(&clock, 10, false), 2000);
    assert_int_equal(ct_report_clock_time(&clock, 20, true), 2010);
    assert_int_equal(ct_report_clock_time(&clock, 20, false), 9000);
    ct_report_clock_free(&clock);
}

TEST(test_backwards)
{
    struct ct_report_clock clock = {0};
    take(&clock, 10, 1000);
    take(&clock, 10, 900);
    take(&clock, 10, 1020);
    assert_int_equal(ct_report_clock_time(&clock, 20, false), 1010);
    assert_int_equal(ct_report_clock_time(&clock, 0, false), 990);
    ct_report_clock_free(&clock);
}

/* A time before 0 becomes 0, and one after all timestamps becomes the last one. */
TEST(test_limits)
{
    struct ct_report_clock clock = {0};
    take(&clock, 1000, 10);
    take(&clock, 1, UINT64_MAX - 5);
    assert_int_equal(ct_report_clock_time(&clock, 0, false), 0);
    assert_true(ct_report_clock_time(&clock, UINT64_MAX, true) == UINT64_MAX);
    ct_report_clock_free(&clock);
}

/* Memory is bounded, and times near the first and the last timestamp stay exact. */
TEST(test_many)
{
    struct ct_report_clock clock = {0};
    const uint64_t count = 300000;
    for (uint64_t i = 1; i <= count; i++)
        take(&clock, 2, 7 + 6 * i);
    assert_true(clock.count <= 65536 && clock.count > 30000);
    for (uint64_t at = 2; at <= 2 * count; at += 997)
        assert_int_equal(ct_report_clock_time(&clock, at, false), 7 + 3 * at);
    ct_report_clock_free(&clock);
}
