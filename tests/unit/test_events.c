/* SPDX-License-Identifier: Apache-2.0 */
/* Events: which cycle count an event has, targets that are told later, gaps with what was lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "coretap/event.h"

#define MOST    (2 * CT_EVENTS_MIN + 200)
#define SIZE(a) (sizeof(a) / sizeof *(a))

static const struct ct_source source = {.name = "etm", .protocol = CT_PROTOCOL_ETM4};

struct got {
    struct ct_event events[MOST];
    size_t count;
};

static void from_elems(const struct ct_elem *elems, size_t size, struct got *got)
{
    struct ct_events *ev;
    assert_int_equal(ct_events_new(NULL, &source, &ev), CT_OK);
    size_t done = 0;
    got->count = 0;
    while (done < size) {
        size_t count;
        done += ct_events_from_elems(ev, elems + done, size - done, 1000, got->events + got->count,
                                     MOST - got->count, &count);
        got->count += count;
    }
    ct_events_free(ev);
}

static void from_flow(const struct ct_flow *records, size_t size, struct got *got)
{
    struct ct_events *ev;
    assert_int_equal(ct_events_new(NULL, &source, &ev), CT_OK);
    assert_int_equal(ct_events_from_flow(ev, records, size, got->events, MOST, &got->count), size);
    ct_events_free(ev);
}

static void assert_event(const struct ct_event *e, unsigned type, uint64_t cycle, uint64_t value)
{
    assert_int_equal(e->type, type);
    assert_true(e->cycle == cycle);
    assert_true(e->value == value);
}

/* A count belongs to the last P0 element before it and to what stands between them. */
static void counts_belong_to_what_is_before_them(void **state)
{
    (void)state;
    const struct ct_elem elems[] = {
        {.kind = CT_ELEM_TRACE_ON},
        {.kind = CT_ELEM_ADDRESS, .v = 0x100},
        {.kind = CT_ELEM_ATOMS, .n = 1, .v = 1},
        {.kind = CT_ELEM_ADDRESS, .v = 0x200},
        {.kind = CT_ELEM_EVENT, .n = 4},
        {.kind = CT_ELEM_CYCLES, .v = 10},
        {.kind = CT_ELEM_EVENT, .n = 2},
        {.kind = CT_ELEM_ATOMS, .n = 1, .v = 1},
        {.kind = CT_ELEM_ADDRESS, .v = 0x300},
        {.kind = CT_ELEM_CYCLES, .v = 5},
        {.kind = CT_ELEM_END, .n = CT_GAP_END},
    };
    struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_int_equal(got.count, 7);
    assert_event(&got.events[0], CT_EVENT_TRACE_ON, 0, 0);
    assert_event(&got.events[1], CT_EVENT_START, 0, 0x100);
    assert_event(&got.events[2], CT_EVENT_BRANCH, 10, 0x200);
    assert_event(&got.events[3], CT_EVENT_HARDWARE, 10, 4);
    assert_event(&got.events[4], CT_EVENT_HARDWARE, 10, 2);
    assert_event(&got.events[5], CT_EVENT_BRANCH, 15, 0x300);
    assert_event(&got.events[6], CT_EVENT_END, 15, 0);
}

static void an_attached_count_is_of_the_timestamp_alone(void **state)
{
    (void)state;
    const struct ct_elem elems[] = {{.kind = CT_ELEM_TIMESTAMP, .v = 77},
                                    {.kind = CT_ELEM_CYCLES, .v = 2, .n = 1},
                                    {.kind = CT_ELEM_CYCLES, .v = 3},
                                    {.kind = CT_ELEM_EVENT, .n = 1},
                                    {.kind = CT_ELEM_END, .n = CT_GAP_END}};
    struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_event(&got.events[0], CT_EVENT_TIMESTAMP, 2, 77);
    assert_event(&got.events[1], CT_EVENT_HARDWARE, 3, 1);
}

static void targets_are_told_by_what_comes_next(void **state)
{
    (void)state;
    const struct ct_flow records[] = {
        {.kind = CT_FLOW_RANGE, .start = 0x100, .end = 0x110, .type = CT_INSN_BR, .exec = 1},
        {.kind = CT_FLOW_ELEM, .elem = {.kind = CT_ELEM_CYCLES, .v = 4}},
        {.kind = CT_FLOW_RANGE, .start = 0x200, .end = 0x210, .type = CT_INSN_BR, .exec = 0},
        {.kind = CT_FLOW_RANGE, .start = 0x210, .end = 0x220, .type = CT_INSN_IBR, .exec = 1},
        {.kind = CT_FLOW_ELEM,
         .elem = {.kind = CT_ELEM_EXCEPTION, .aux = 14, .v = 0x300, .n = CT_EXCEPTION_HAS_RET}},
        {.kind = CT_FLOW_RANGE, .start = 0x800, .end = 0x810, .type = CT_INSN_IBR, .exec = 1},
        {.kind = CT_FLOW_NO_ACCESS, .start = 0x900},
        {.kind = CT_FLOW_ELEM, .elem = {.kind = CT_ELEM_END, .n = CT_GAP_END}},
    };
    struct got got;
    from_flow(records, SIZE(records), &got);
    assert_int_equal(got.count, 8);
    assert_event(&got.events[0], CT_EVENT_START, 0, 0x100);
    assert_event(&got.events[1], CT_EVENT_BRANCH, 4, 0x200);
    assert_int_equal(got.events[1].unknown, 0);
    assert_int_equal(got.events[2].type, CT_EVENT_BRANCH);
    assert_int_equal(got.events[2].unknown, 1);
    assert_event(&got.events[3], CT_EVENT_EXCEPTION, 4, 14);
    assert_event(&got.events[4], CT_EVENT_START, 4, 0x800);
    assert_event(&got.events[5], CT_EVENT_BRANCH, 4, 0x900);
    assert_event(&got.events[6], CT_EVENT_NO_ACCESS, 4, 0x900);
}

/* Listed, but nothing says that it ran: no start and no target comes from it. */
static void stale_ranges_tell_nothing(void **state)
{
    (void)state;
    const struct ct_flow records[] = {
        {.kind = CT_FLOW_RANGE, .start = 0x100, .end = 0x110, .type = CT_INSN_IBR, .exec = 1},
        {.kind = CT_FLOW_RANGE, .start = 0x110, .end = 0x900, .stale = 1, .exec = 1},
        {.kind = CT_FLOW_ELEM,
         .elem = {.kind = CT_ELEM_EXCEPTION, .aux = 2, .v = 0x900, .n = CT_EXCEPTION_HAS_RET}},
        {.kind = CT_FLOW_ELEM, .elem = {.kind = CT_ELEM_END, .n = CT_GAP_END}},
    };
    struct got got;
    from_flow(records, SIZE(records), &got);
    assert_int_equal(got.count, 4);
    assert_int_equal(got.events[1].unknown, 1);
    assert_int_equal(got.events[2].type, CT_EVENT_EXCEPTION);
}

static void gaps_say_how_much_was_lost(void **state)
{
    (void)state;
    const struct ct_elem elems[] = {
        {.kind = CT_ELEM_GAP, .n = CT_GAP_INIT, .pos = 5},
        {.kind = CT_ELEM_SYNC, .n = 1, .v = 0},
        {.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_PACKET, .pos = 9},
        {.kind = CT_ELEM_SYNC, .n = 1, .v = 38},
        {.kind = CT_ELEM_END, .n = CT_GAP_END, .aux = CT_GAP_DISCARD + 1, .v = 7, .pos = 60},
    };
    struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_int_equal(got.count, 3);
    assert_event(&got.events[0], CT_EVENT_GAP, 0, 38);
    assert_int_equal(got.events[0].a, CT_GAP_BAD_PACKET);
    assert_true(got.events[0].offset == 9);
    assert_event(&got.events[1], CT_EVENT_GAP, 0, 7);
    assert_int_equal(got.events[1].a, CT_GAP_DISCARD);
}

static void many_events_without_a_count_are_not_held(void **state)
{
    (void)state;
    static struct ct_elem elems[200];
    for (size_t i = 0; i < SIZE(elems); i++)
        elems[i] = (struct ct_elem){.kind = CT_ELEM_EVENT, .n = (uint8_t)(i % 15 + 1)};
    struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_true(got.count >= SIZE(elems) / 2);
    for (size_t i = 0; i < got.count; i++)
        assert_event(&got.events[i], CT_EVENT_HARDWARE, 0, i % 15 + 1);
}

/* A PTM repeats its context in each i-sync; exceptions and branches change
 * the security state and Hyp mode. */
static void contexts_that_repeat_make_no_event(void **state)
{
    (void)state;
    const struct ct_elem elems[] = {
        {.kind = CT_ELEM_CONTEXT, .n = 0x10, .aux = CT_CONTEXT_CTXT, .v = 1},
        {.kind = CT_ELEM_CONTEXT, .n = 0x10, .aux = CT_CONTEXT_CTXT | CT_CONTEXT_SILENT, .v = 1},
        {.kind = CT_ELEM_CONTEXT, .n = 0x12, .aux = CT_CONTEXT_CTXT | CT_CONTEXT_SILENT, .v = 1},
        {.kind = CT_ELEM_CONTEXT, .n = 0x12, .aux = CT_CONTEXT_CTXT, .v = 1},
        {.kind = CT_ELEM_END},
    };
    static struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_int_equal(got.count, 4);
    assert_int_equal(got.events[0].a, 0x10);
    assert_int_equal(got.events[1].a, 0x12);
    assert_event(&got.events[2], CT_EVENT_CONTEXT, 0, 1);
    assert_int_equal(got.events[3].type, CT_EVENT_END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_that_repeat_make_no_event),
        cmocka_unit_test(counts_belong_to_what_is_before_them),
        cmocka_unit_test(an_attached_count_is_of_the_timestamp_alone),
        cmocka_unit_test(targets_are_told_by_what_comes_next),
        cmocka_unit_test(stale_ranges_tell_nothing),
        cmocka_unit_test(gaps_say_how_much_was_lost),
        cmocka_unit_test(many_events_without_a_count_are_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
