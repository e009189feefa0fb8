/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the times of events between timestamps that arrive after them. */
#include "coretap/timeline.h"
#include "support/unit.h"

#define SIZE(a) (sizeof(a) / sizeof *(a))
#define MOST    32

#define BRANCH(c)                                                                                            \
    {                                                                                                        \
        .type = CT_EVENT_BRANCH, .cycle = (c)                                                                \
    }
#define STAMP(t, c)                                                                                          \
    {                                                                                                        \
        .type = CT_EVENT_TIMESTAMP, .value = (t), .cycle = (c)                                               \
    }
#define END                                                                                                  \
    {                                                                                                        \
        .type = CT_EVENT_END                                                                                 \
    }

static void assert_times(const struct ct_event *events, size_t size, const uint64_t *wanted)
{
    struct ct_timeline *t;
    struct ct_timed_event got[MOST];
    assert_int_equal(ct_timeline_new(NULL, &t), CT_OK);
    assert_int_equal(ct_timeline_push(t, events, size), size);
    assert_int_equal(ct_timeline_fetch(t, got, MOST), size);
    for (size_t i = 0; i < size; i++)
        assert_true(got[i].time == wanted[i]);
    assert_int_equal(ct_timeline_fetch(t, got, MOST), 0);
    ct_timeline_free(t);
}

TEST(what_comes_before_a_timestamp_lies_before_it)
{
    const struct ct_event events[] = {BRANCH(0), STAMP(100, 0), BRANCH(0), BRANCH(0), STAMP(200, 0), END};
    const uint64_t times[] = {100, 100, 200, 200, 200, 200};
    assert_times(events, SIZE(events), times);
}

TEST(cycles_say_where_between)
{
    const struct ct_event events[] = {STAMP(1000, 100), BRANCH(110), BRANCH(150),
                                      STAMP(1200, 200), BRANCH(210), {.type = CT_EVENT_END, .cycle = 250}};
    const uint64_t times[] = {1000, 1020, 1100, 1200, 1220, 1300};
    assert_times(events, SIZE(events), times);
}

TEST(null_gives_nothing)
{
    const struct ct_event events[] = {BRANCH(0), END};
    struct ct_timeline *t;
    assert_int_equal(ct_timeline_new(NULL, &t), CT_OK);
    assert_int_equal(ct_timeline_push(t, NULL, SIZE(events)), 0);
    assert_int_equal(ct_timeline_push(NULL, events, SIZE(events)), 0);
    assert_int_equal(ct_timeline_push(t, events, SIZE(events)), SIZE(events));
    assert_int_equal(ct_timeline_fetch(t, NULL, MOST), 0);
    ct_timeline_free(t);
}

TEST(large_numbers_do_not_overflow)
{
    const uint64_t big = UINT64_C(1) << 62;
    const struct ct_event events[] = {STAMP(big, 0), BRANCH(big / 2), STAMP(big + big / 2, big), END};
    const uint64_t times[] = {big, big + big / 4, big + big / 2, big + big / 2};
    assert_times(events, SIZE(events), times);
}

/* A timestamp that counts cycles itself comes after events that have no count for these yet. */
TEST(what_a_timestamp_counts_is_not_counted_again)
{
    const struct ct_event events[] = {STAMP(1000, 107), BRANCH(100), BRANCH(116), STAMP(1100, 207)};
    const uint64_t times[] = {1000, 1000, 1009, 1100};
    assert_times(events, SIZE(events), times);
}

TEST(time_never_runs_back)
{
    const struct ct_event events[] = {STAMP(500, 10), BRANCH(20),     STAMP(400, 30),
                                      BRANCH(40),     STAMP(600, 50), END};
    struct ct_timeline *t;
    struct ct_timed_event got[MOST];
    assert_int_equal(ct_timeline_new(NULL, &t), CT_OK);
    assert_int_equal(ct_timeline_push(t, events, SIZE(events)), SIZE(events));
    size_t count = ct_timeline_fetch(t, got, MOST);
    assert_int_equal(count, SIZE(events));
    for (size_t i = 1; i < count; i++)
        assert_true(got[i].time >= got[i - 1].time);
    ct_timeline_free(t);
}

TEST(a_timestamp_that_does_not_come_is_not_waited_for)
{
    struct ct_timeline *t;
    struct ct_timed_event got[MOST];
    assert_int_equal(ct_timeline_new(NULL, &t), CT_OK);
    const struct ct_event branch = BRANCH(1);
    size_t pushed = 0;
    size_t fetched = 0;
    for (size_t i = 0; i < 4 * CT_TIMELINE_WAITING;) {
        size_t taken = ct_timeline_push(t, &branch, 1);
        i += taken;
        pushed += taken;
        for (size_t n; !taken && (n = ct_timeline_fetch(t, got, MOST));)
            fetched += n;
    }
    assert_true(fetched >= 3 * CT_TIMELINE_WAITING - CT_TIMELINE_WAITING / 2);
    assert_true(pushed - fetched <= CT_TIMELINE_WAITING);
    ct_timeline_free(t);
}
