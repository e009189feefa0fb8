/* SPDX-License-Identifier: Apache-2.0 */
/* Checks events: their cycle counts, targets that come later, gaps and what was lost in them. */
#include <string.h>

#include "coretap/decode.h"
#include "coretap/event.h"
#include "support/unit.h"

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

/* A count belongs to the last P0 element before it and to everything between the two. */
TEST(counts_belong_to_what_is_before_them)
{
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

TEST(an_attached_count_is_of_the_timestamp_alone)
{
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

TEST(targets_are_told_by_what_comes_next)
{
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

/* A stale range is listed but need not have run: neither start nor target is taken from it. */
TEST(stale_ranges_tell_nothing)
{
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

TEST(gaps_say_how_much_was_lost)
{
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

TEST(many_events_without_a_count_are_not_held)
{
    static struct ct_elem elems[200];
    for (size_t i = 0; i < SIZE(elems); i++)
        elems[i] = (struct ct_elem){.kind = CT_ELEM_EVENT, .n = (uint8_t)(i % 15 + 1)};
    struct got got;
    from_elems(elems, SIZE(elems), &got);
    assert_true(got.count >= SIZE(elems) / 2);
    for (size_t i = 0; i < got.count; i++)
        assert_event(&got.events[i], CT_EVENT_HARDWARE, 0, i % 15 + 1);
}

/* A PTM repeats its context in each i-sync; exceptions and branches change the security state and Hyp
 * mode. */
TEST(contexts_that_repeat_make_no_event)
{
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

/* Branches with their cycles, and marks with the number of branches before them. */
struct said {
    uint64_t targets[20000], cycles[20000];
    struct ct_event_mark marks[20000];
    size_t count, mark_count;
};

struct both {
    struct ct_events *events[128]; /* made of records by this test */
    struct said records[128];      /* by trace ID */
    struct said given[128];
};

static void say(struct said *said, const struct ct_event *event)
{
    assert_true(said->count < 20000 && said->mark_count < 20000);
    if (event->type == CT_EVENT_BRANCH && !event->unknown) {
        said->targets[said->count] = event->value;
        said->cycles[said->count++] = event->cycle;
    } else {
        said->marks[said->mark_count++] = (struct ct_event_mark){.event = *event, .before = said->count};
    }
}

static int on_records(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    static struct ct_event made[CT_EVENTS_MIN];
    struct both *both = user;
    struct ct_events **events = &both->events[stream->id];
    if (!*events)
        assert_int_equal(ct_events_new(NULL, stream->source, events), CT_OK);
    ct_events_set_memory(*events, batch->memory);
    for (size_t done = 0, count; done < batch->count;) {
        done += ct_events_from_flow(*events, batch->records + done, batch->count - done, made, CT_EVENTS_MIN,
                                    &count);
        for (size_t i = 0; i < count; i++)
            say(&both->records[stream->id], &made[i]);
    }
    return 0;
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    struct said *said = &((struct both *)user)->given[stream->id];
    assert_true(said->count + batch->count <= 20000 && said->mark_count + batch->mark_count <= 20000);
    for (size_t i = 0; i < batch->mark_count; i++) {
        said->marks[said->mark_count] = batch->marks[i];
        said->marks[said->mark_count++].before += said->count;
    }
    memcpy(said->targets + said->count, batch->targets, batch->count * sizeof *said->targets);
    memcpy(said->cycles + said->count, batch->cycles, batch->count * sizeof *said->cycles);
    said->count += batch->count;
    return 0;
}

/* From level FLOW on, a receiver of events gets all branches, whatever the trace unit reports of them, at
 * each level, with any number of threads, with and without a receiver of records. */
TEST(along_the_program_no_branch_is_missing)
{
    static struct both wanted, got;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    const struct ct_chain_sink records = {.user = &wanted, .flow = on_records};
    const struct ct_chain_sink events = {.user = &got, .events = on_events};
    size_t branches = 0;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    struct ct_chain *chain;
    assert_int_equal(ct_chain_new(ctx, capture->buffers, &options, &records, &chain), CT_OK);
    assert_int_equal(ct_chain_run(chain), CT_OK);
    ct_chain_free(chain);
    for (unsigned how = 0; how < 4; how++) {
        memset(&got, 0, sizeof got);
        options.level = how & 1 ? CT_LEVEL_STEPS : CT_LEVEL_FLOW;
        options.threads = how & 2 ? 2 : 1;
        assert_int_equal(ct_chain_new(ctx, capture->buffers, &options, &events, &chain), CT_OK);
        assert_int_equal(ct_chain_run(chain), CT_OK);
        ct_chain_free(chain);
        for (unsigned id = 0; id < 128; id++) {
            const struct said *a = &wanted.records[id], *b = &got.given[id];
            assert_int_equal(a->count, b->count);
            assert_int_equal(a->mark_count, b->mark_count);
            assert_memory_equal(a->targets, b->targets, sizeof a->targets);
            assert_memory_equal(a->cycles, b->cycles, sizeof a->cycles);
            assert_memory_equal(a->marks, b->marks, sizeof a->marks);
            branches += a->count;
        }
    }
    assert_true(branches > 4000);
    options.engine = CT_ENGINE_FAST;
    assert_int_equal(ct_chain_new(ctx, capture->buffers, &options, &events, &chain), CT_ERR_ARG);
    for (unsigned id = 0; id < 128; id++)
        ct_events_free(wanted.events[id]);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
}
