/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a chain removes from a stream: elements by their context, while clocks continue, wherever
 * batches are cut. */
#include <string.h>

#include "chain/narrow.h"
#include "support/unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct ct_elem elem(unsigned kind, uint64_t v)
{
    return (struct ct_elem){.kind = (uint8_t)kind, .v = v};
}

static struct ct_elem context(unsigned level, uint32_t id)
{
    return (struct ct_elem){
        .kind = CT_ELEM_CONTEXT, .n = (uint8_t)level, .aux = CT_CONTEXT_EL | CT_CONTEXT_CTXT, .v = id};
}

/* Kinds and values of the elements that are kept. */
struct followed {
    struct ct_elem elems[64];
    size_t count;
};

static void put(struct followed *to, const struct ct_elem *elems, size_t count)
{
    memcpy(to->elems + to->count, elems, count * sizeof *elems);
    to->count += count;
}

/* Sifts a batch like a stream, without the clocks at its end. */
static void sift(struct ct_narrow *n, const struct ct_elem *elems, size_t count, struct followed *to)
{
    struct ct_elem before[CT_NARROW_BEFORE];
    for (size_t at = 0; at < count;) {
        const struct ct_narrow_span s = ct_narrow_next(n, elems, at, count);
        if (s.goes_on)
            put(to, before, ct_narrow_before(n, 0, true, before));
        put(to, elems + s.from, s.to - s.from);
        assert_true(s.next > at);
        at = s.next;
    }
}

static void is(const struct followed *got, const struct ct_elem *want, size_t count)
{
    assert_int_equal(got->count, count);
    for (size_t i = 0; i < count; i++)
        if (got->elems[i].kind != want[i].kind || got->elems[i].v != want[i].v)
            fail_msg("element %zu: kind %u, v %llx", i, got->elems[i].kind,
                     (unsigned long long)got->elems[i].v);
}

TEST(levels_are_left_out)
{
    struct ct_elem count = elem(CT_ELEM_CYCLES, 5), own = elem(CT_ELEM_CYCLES, 100);
    own.n = CT_CYCLES_ATTACHED; /* belongs to the timestamp before it */
    const struct ct_elem in[] = {elem(CT_ELEM_ATOMS, 1),
                                 context(0, 7),
                                 elem(CT_ELEM_ADDRESS, 0x10),
                                 elem(CT_ELEM_ATOMS, 2),
                                 elem(CT_ELEM_EXCEPTION, 9),
                                 context(1, 7),
                                 elem(CT_ELEM_ADDRESS, 0x20),
                                 elem(CT_ELEM_ATOMS, 3),
                                 count,
                                 elem(CT_ELEM_TIMESTAMP, 50),
                                 own,
                                 elem(CT_ELEM_EVENT, 1),
                                 count,
                                 elem(CT_ELEM_TIMESTAMP, 60),
                                 context(0, 8),
                                 elem(CT_ELEM_ATOMS, 4),
                                 elem(CT_ELEM_ADDRESS, 0x30),
                                 elem(CT_ELEM_ATOMS, 5),
                                 elem(CT_ELEM_TIMESTAMP, 70)};
    const struct ct_elem want[] = {in[0],
                                   in[1],
                                   in[2],
                                   in[3],
                                   in[4],
                                   in[5],
                                   in[11], /* a mark, not a clock */
                                   elem(CT_ELEM_CYCLES, 10),
                                   in[13],
                                   elem(CT_ELEM_TRACE_ON, 0),
                                   in[14],
                                   in[16], /* the atoms before it are left out */
                                   in[17],
                                   in[18]};
    for (size_t cut = 0; cut <= COUNT(in); cut++) {
        struct ct_narrow n = {.want = {.levels = 1}, .by_context = true};
        struct followed got = {0};
        sift(&n, in, cut, &got);
        sift(&n, in + cut, COUNT(in) - cut, &got);
        is(&got, want, COUNT(want));
        assert_false(n.out);
    }
}

TEST(contexts_are_left_out)
{
    const struct ct_elem in[] = {context(0, 7), elem(CT_ELEM_ADDRESS, 0x10), elem(CT_ELEM_ATOMS, 1),
                                 context(0, 8), elem(CT_ELEM_ADDRESS, 0x20), elem(CT_ELEM_ATOMS, 2)};
    const struct ct_elem want[] = {in[0], elem(CT_ELEM_TRACE_ON, 0), in[3], in[4], in[5]};
    struct ct_narrow n = {.want = {.contexts = {8, 9}, .context_count = 2}, .by_context = true};
    struct followed got = {0};
    sift(&n, in, COUNT(in), &got);
    is(&got, want, COUNT(want));
}

TEST(a_widened_stream_waits_for_an_address)
{
    const struct ct_elem in[] = {elem(CT_ELEM_ATOMS, 1), elem(CT_ELEM_GAP, 2), elem(CT_ELEM_ADDRESS, 0x10),
                                 elem(CT_ELEM_ATOMS, 3)};
    const struct ct_elem want[] = {in[1], elem(CT_ELEM_TRACE_ON, 0), in[2], in[3]};
    struct ct_narrow n = {.out = true, .waits = true};
    struct followed got = {0};
    assert_true(ct_narrow_sifts(&n));
    sift(&n, in, COUNT(in), &got);
    is(&got, want, COUNT(want));
    assert_false(ct_narrow_sifts(&n));
    ct_narrow_note(&n, 17);
    assert_true(n.resumed && !n.waits && n.resumed_at == 17);
    ct_narrow_note(&n, 18); /* the chain was told */
    assert_int_equal(n.resumed_at, 17);
}

TEST(clocks_go_on)
{
    const struct ct_elem in[] = {elem(CT_ELEM_ATOMS, 1), elem(CT_ELEM_CYCLES, 3), elem(CT_ELEM_TIMESTAMP, 9)};
    struct ct_narrow n = {.unwanted = true};
    struct followed got = {0};
    struct ct_elem before[CT_NARROW_BEFORE];
    sift(&n, in, COUNT(in), &got);
    assert_int_equal(got.count, 0);
    assert_int_equal(ct_narrow_before(&n, 0, false, before), 2);
    assert_true(before[0].kind == CT_ELEM_CYCLES && before[0].n == CT_CYCLES_LEFT_OUT && before[0].v == 3);
    assert_true(before[1].kind == CT_ELEM_TIMESTAMP && before[1].v == 9);
    assert_int_equal(ct_narrow_before(&n, 0, false, before), 0);
}
