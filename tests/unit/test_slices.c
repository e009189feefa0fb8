/* SPDX-License-Identifier: Apache-2.0 */
/* Checks executions kept for a timeline: the longest ones, at most as many as fit, in any order. */
#include "coretap/base.h"
#include "format/slices.h"
#include "support/unit.h"

static struct ct_slices filled(size_t most, uint64_t count, uint64_t step)
{
    struct ct_slices slices = {.most = most, .end = UINT64_MAX};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t length =
            1 + i * step % count; /* each from 1 to count once, when step and count are coprime */
        const struct ct_slice slice = {
            .lane = (uint32_t)(length % 3), .from = 10 * length, .to = 11 * length};
        assert_int_equal(ct_slices_add(&slices, &slice), CT_OK);
        assert_true(slices.count < 2 * most);
    }
    ct_slices_end(&slices);
    return slices;
}

TEST(test_few)
{
    struct ct_slices slices = filled(100, 50, 7);
    assert_int_equal(slices.count, 50);
    assert_int_equal(slices.left_out, 0);
    ct_slices_free(&slices);
}

TEST(test_many)
{
    struct ct_slices one = filled(100, 10000, 7);
    struct ct_slices other = filled(100, 10000, 9999);
    assert_int_equal(one.count + one.left_out, 10000);
    assert_true(one.count <= 100 && one.count > 50);
    assert_int_equal(one.shortest, 10000 - one.count + 1);
    for (size_t i = 0; i < one.count; i++) {
        const struct ct_slice *slice = &one.slices[i];
        assert_true(slice->to - slice->from >= one.shortest);
        if (i)
            assert_true(slice->lane > slice[-1].lane ||
                        (slice->lane == slice[-1].lane && slice->from > slice[-1].from));
    }
    assert_true(other.count <= 100 && other.count + other.left_out == 10000);
    ct_slices_free(&one);
    ct_slices_free(&other);
}

/* Which of several equal ones would stay is random, so none does. */
TEST(test_equal)
{
    struct ct_slices slices = {.most = 4, .end = UINT64_MAX};
    for (unsigned i = 0; i < 20; i++)
        ct_slices_add(&slices, &(struct ct_slice){.from = i, .to = i + (i == 3 ? 9 : 2)});
    ct_slices_end(&slices);
    assert_int_equal(slices.count, 1);
    assert_int_equal(slices.slices[0].to, 12);
    assert_int_equal(slices.left_out, 19);
    assert_int_equal(slices.shortest, 3);
    ct_slices_free(&slices);
}

TEST(test_window)
{
    struct ct_slices slices = {.most = 10, .begin = 100, .end = 200};
    ct_slices_add(&slices, &(struct ct_slice){.from = 0, .to = 100});
    ct_slices_add(&slices, &(struct ct_slice){.from = 200, .to = 300});
    ct_slices_add(&slices, &(struct ct_slice){.from = 150, .to = 300});
    ct_slices_add(&slices, &(struct ct_slice){.from = 0, .to = 1000});
    ct_slices_end(&slices);
    assert_int_equal(slices.count, 2);
    assert_int_equal(slices.slices[0].from, 100);
    assert_int_equal(slices.slices[0].to, 200);
    assert_int_equal(slices.slices[1].from, 150);
    assert_int_equal(slices.left_out, 0);
    ct_slices_free(&slices);
}
