/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the time per byte: it is measured only where the stream continued step by step in one thread. */
#include "etm4/hops_pace.h"
#include "support/unit.h"

#define MIB (UINT64_C(1) << 20)

/* Works until the processor time of the thread has certainly advanced. */
static void work(void)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 200000; i++)
        sum = sum + i;
}

TEST(test_measures)
{
    struct ct_hops_pace p = {0};
    ct_hops_pace_begin(&p, 1000);
    work();
    ct_hops_pace_see(&p, 1000 + MIB / 2);
    ct_hops_pace_see(&p, 1000 + MIB);
    assert_true(ct_hops_pace_end(&p, 1000 + MIB) > 0);
    assert_true(ct_hops_pace_end(&p, 1000 + 2 * MIB) == 0);
}

TEST(test_needs_bytes_and_a_beginning)
{
    struct ct_hops_pace p = {0};
    assert_true(ct_hops_pace_end(&p, 5) == 0);
    ct_hops_pace_begin(&p, 1000);
    work();
    assert_true(ct_hops_pace_end(&p, 1000) == 0);
}

TEST(test_is_nothing_across_a_jump)
{
    const uint64_t to[] = {0, 999, 1001 + MIB, 1000 + 100 * MIB};
    for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
        struct ct_hops_pace p = {0};
        ct_hops_pace_begin(&p, 1000);
        work();
        ct_hops_pace_see(&p, to[i]);
        ct_hops_pace_see(&p, to[i] + 10);
        assert_true(ct_hops_pace_end(&p, to[i] + 10) == 0);
    }
}

static void *end_elsewhere(void *pace)
{
    work();
    return ct_hops_pace_end(pace, 1000 + MIB) == 0 ? pace : NULL;
}

TEST(test_is_nothing_in_another_thread)
{
    struct ct_hops_pace p = {0};
    pthread_t thread;
    void *result;
    ct_hops_pace_begin(&p, 1000);
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &p), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &p);
}
