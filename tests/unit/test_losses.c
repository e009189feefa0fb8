/* SPDX-License-Identifier: Apache-2.0 */
/* Checks regions without memory, of which a table keeps the lowest. */

#include "coretap/losses.h"
#include "support/unit.h"

/* More regions than a table holds, each of which occurs many times. */
#define TIMES   1000u
#define REGIONS 97u

static struct ct_hole time_number(unsigned i)
{
    const uint64_t addr = ((uint64_t)(i * 31 % REGIONS) << 16) + i % 4096;
    return (struct ct_hole){addr, addr, 1};
}

static void add_times(struct ct_holes *holes, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const struct ct_hole hole = time_number(i);
        ct_holes_add(holes, &hole);
    }
}

/* Cuts a trace into two parts anywhere, and takes either part first. */
TEST(parts_add_up_to_the_whole)
{
    struct ct_holes whole = {.count = 0};
    add_times(&whole, 0, TIMES);
    for (unsigned cut = 0; cut <= TIMES; cut += 50) {
        struct ct_holes first = {.count = 0};
        struct ct_holes second = {.count = 0};
        add_times(&first, 0, cut);
        add_times(&second, cut, TIMES);
        struct ct_holes turned = second;
        ct_holes_merge(&turned, &first);
        ct_holes_merge(&first, &second);
        assert_memory_equal(first.all, whole.all, whole.count * sizeof *whole.all);
        assert_memory_equal(turned.all, whole.all, whole.count * sizeof *whole.all);
        assert_int_equal(first.count, whole.count);
        assert_int_equal(turned.count, whole.count);
        assert_int_equal(first.others, whole.others);
        assert_int_equal(turned.others, whole.others);
    }
}

TEST(all_times_are_counted)
{
    struct ct_holes holes = {.count = 0};
    add_times(&holes, 0, TIMES);
    uint64_t times = holes.others;
    for (uint64_t i = 0; i < holes.count; i++) {
        assert_true(i == 0 || holes.all[i - 1].high < holes.all[i].low);
        times += holes.all[i].count;
    }
    assert_int_equal(times, TIMES);
}
