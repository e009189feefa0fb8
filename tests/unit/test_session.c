/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a session gives each analysis what it takes, of each stream separately, for any number of
 * threads, and that it can be ended. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/session.h"
#include "support/ctx_fixture.h"

enum {
    LANES = 1024,
    STOP = 17,
};

/* Counts what it receives. */
struct counter {
    struct ct_analysis analysis;
    uint64_t steps[LANES];  /* received as steps, by lane */
    uint64_t counts[LANES]; /* received as counts */
};

static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct counter *c = (struct counter *)analysis;
    assert_true(batch->lane < LANES);
    if (batch->input == CT_INPUT_STEPS)
        c->steps[batch->lane] += batch->steps->count;
    else
        c->counts[batch->lane] += ct_edges_totals(batch->edges).steps;
    return CT_OK;
}

static const struct ct_analysis_kind both = {.size = sizeof both,
                                             .name = "both",
                                             .version = 1,
                                             .inputs = CT_INPUT_STEPS | CT_INPUT_CYCLES,
                                             .take = take};
static const struct ct_analysis_kind counts = {
    .size = sizeof counts, .name = "counts", .version = 1, .inputs = CT_INPUT_COUNTS, .take = take};

static struct ct_capture *quickstart(struct ct_ctx *ctx)
{
    struct ct_capture *capture;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    return capture;
}

static void run(struct ct_ctx *ctx, struct counter *counter, uint16_t threads, unsigned times)
{
    const struct ct_session_options options = {.size = sizeof options, .threads = threads};
    struct ct_capture *capture = quickstart(ctx);
    struct ct_session *session;
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter->analysis), CT_OK);
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(ct_session_seen(session)->instructions, 939 + 3671);
    assert_true(ct_session_seen(session)->ran && ct_session_seen(session)->has_trace);
    assert_int_equal(counter->analysis.captures.known, times);
    ct_analysis_free(&counter->analysis);
    ct_session_free(session);
    ct_capture_free(capture);
}

static unsigned lanes_of(const uint64_t *steps)
{
    unsigned count = 0;
    for (unsigned i = 0; i < LANES; i++)
        count += steps[i] != 0;
    return count;
}

TEST_WITH(streams_are_told_apart, ctx)
{
    struct counter one = {.analysis = {.kind = &both, .ctx = ctx}}, many = one, twice = one;
    run(ctx, &one, 1, 1);
    run(ctx, &many, 3, 1);
    run(ctx, &twice, 1, 2);
    assert_int_equal(lanes_of(one.steps), 2); /* the trace IDs of the example */
    assert_memory_equal(one.steps, one.counts, sizeof one.steps);
    assert_memory_equal(one.steps, many.steps, sizeof one.steps);
    assert_memory_equal(one.counts, many.counts, sizeof one.counts);
    assert_int_equal(lanes_of(twice.steps), 4);
}

TEST_WITH(counts_alone_come_once, ctx)
{
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}},
                   other = {.analysis = {.kind = &both, .ctx = ctx}};
    run(ctx, &counter, 1, 1);
    run(ctx, &other, 1, 1);
    assert_int_equal(lanes_of(counter.steps), 0);
    assert_memory_equal(counter.counts, other.counts, sizeof counter.counts);
}

static int stop(void *user, uint64_t bytes)
{
    (void)bytes;
    return ++*(int *)user > 0 ? STOP : 0;
}

TEST_WITH(ends_when_it_is_told, ctx)
{
    struct ct_capture *capture = quickstart(ctx);
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}};
    struct ct_session *session;
    int calls = 0;
    const struct ct_session_options options = {.size = sizeof options, .user = &calls, .progress = stop};
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter.analysis), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), STOP);
    assert_int_equal(calls, 1);
    assert_int_equal(counter.analysis.captures.known, 0);
    assert_true(ct_session_seen(session)->bytes > 0); /* what was decoded before the end */
    ct_session_free(session);
    ct_capture_free(capture);
}

struct again {
    struct ct_session *session;
    const struct ct_capture *capture;
    int rc; /* result of a run from inside of the first one */
};

static int run_again(void *user, uint64_t bytes)
{
    struct again *a = user;
    (void)bytes;
    a->rc = ct_session_run(a->session, a->capture, a->capture->buffers, a->capture->buffer_count);
    return CT_OK;
}

TEST_WITH(calls_come_in_their_order, ctx)
{
    struct ct_capture *capture = quickstart(ctx);
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}}, late = counter;
    struct again again = {.capture = capture};
    const struct ct_session_options options = {.size = sizeof options, .user = &again, .progress = run_again};
    assert_int_equal(ct_session_new(ctx, &options, &again.session), CT_OK);
    assert_int_equal(ct_session_add(again.session, &counter.analysis), CT_OK);
    assert_int_equal(ct_session_add(again.session, &counter.analysis), CT_ERR_ARG);
    assert_int_equal(ct_session_run(again.session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(again.rc, CT_ERR_ARG);
    assert_int_equal(counter.analysis.captures.known, 1);
    assert_int_equal(ct_session_add(again.session, &late.analysis), CT_ERR_ARG);
    ct_analysis_free(&counter.analysis);
    ct_session_free(again.session);
    ct_capture_free(capture);
}

/* A batch without what its input requires is refused. */
TEST(batches_are_whole)
{
    struct ct_analysis_kind kind = {.size = sizeof kind, .name = "kind", .take = take};
    struct counter counter = {.analysis = {.kind = &kind}};
    struct ct_analysis_batch batch = {.input = CT_INPUT_COUNTS};
    for (; batch.input <= CT_INPUT_TOTALS; batch.input = (enum ct_analysis_input)(batch.input * 2)) {
        kind.inputs = batch.input;
        assert_int_equal(ct_analysis_take(&counter.analysis, &batch), CT_ERR_ARG);
    }
}

/* ---- streams in turn ---- */

struct turns {
    uint8_t ids[8]; /* in the order of their turns */
    unsigned count;
    unsigned at;       /* the turn that is being decoded */
    uint64_t steps[8]; /* by turn */
    uint64_t packets[8];
    unsigned ended, parts;
    uint8_t level;
    bool other; /* the second stream has only packets */
    bool brief; /* only the first steps of a stream are wanted */
};

static int turn_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct turns *t = user;
    assert_int_equal(stream->id, t->ids[t->at]);
    t->steps[t->at] += batch->count;
    return t->brief ? CT_SESSION_NEXT : CT_OK;
}

static int turn_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct turns *t = user;
    assert_int_equal(stream->id, t->ids[t->at]);
    t->packets[t->at] += batch->count;
    return CT_OK;
}

/* Creates a part. Parts of a stream share the data of the whole, which is safe with one thread at a time. */
static void *turn_part(void *user, const struct ct_stream *stream)
{
    struct turns *part = calloc(1, sizeof *part);
    assert_non_null(part);
    *part = *(struct turns *)user;
    memset(part->packets, 0, sizeof part->packets);
    assert_int_equal(stream->id, part->ids[part->at]);
    return part;
}

static int turn_join(void *user, const struct ct_stream *stream, void *part, int keep)
{
    struct turns *t = user;
    (void)stream;
    if (keep)
        t->packets[t->at] += ((struct turns *)part)->packets[t->at];
    t->parts++;
    free(part);
    return CT_OK;
}

static int begin_turn(void *user, struct ct_session_turn *turn)
{
    struct turns *t = user;
    assert_true(t->count < 8);
    assert_int_equal(turn->source->trace_id, turn->id);
    t->at = t->count;
    t->ids[t->count++] = turn->id;
    if (t->other && t->count > 1) {
        turn->level = CT_LEVEL_PACKET;
        turn->sink.packets = turn_packets;
        turn->sink.part_new = turn_part;
        turn->sink.part_end = turn_join;
        return CT_OK;
    }
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = turn_steps;
    return CT_OK;
}

static int end_turn(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct turns *t = user;
    size_t count;
    (void)buffer;
    assert_int_equal(ct_chain_streams(chain, &count)[0].id, t->ids[t->at]);
    t->ended++;
    return CT_OK;
}

static int run_turns(struct ct_ctx *ctx, struct turns *t, uint16_t threads, const struct ct_filter *filter)
{
    const struct ct_session_options options = {.size = sizeof options,
                                               .threads = threads,
                                               .user = t,
                                               .begin = begin_turn,
                                               .decoded = end_turn,
                                               .filter = filter};
    struct ct_capture *capture = quickstart(ctx);
    struct ct_session *session;
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    const int rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    if (!rc && !t->other)
        assert_int_equal(ct_session_seen(session)->instructions, 939 + 3671);
    assert_int_equal(ct_session_sieved(session)->left, t->brief || filter);
    if (!rc)
        assert_int_equal(ct_session_seen(session)->losses.gaps, 0);
    ct_session_free(session);
    ct_capture_free(capture);
    return rc;
}

TEST_WITH(streams_come_in_their_turn, ctx)
{
    struct counter all = {.analysis = {.kind = &both, .ctx = ctx}};
    struct turns t = {0}, many = {0};
    run(ctx, &all, 1, 1);
    assert_int_equal(run_turns(ctx, &t, 1, NULL), CT_OK);
    assert_int_equal(run_turns(ctx, &many, 3, NULL), CT_OK);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.ended, 2);
    assert_true(t.ids[0] < t.ids[1]);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(t.steps[i], all.steps[t.ids[i]]);
    assert_memory_equal(t.steps, many.steps, sizeof t.steps);
}

/* Each stream has its own receivers, and threads have the parts that these create. */
TEST_WITH(each_turn_says_who_takes, ctx)
{
    struct turns one = {.other = true}, many = {.other = true};
    assert_int_equal(run_turns(ctx, &one, 1, NULL), CT_OK);
    assert_int_equal(run_turns(ctx, &many, 2, NULL), CT_OK);
    assert_true(one.steps[0] && one.packets[1] && !one.steps[1] && !one.packets[0]);
    assert_memory_equal(one.packets, many.packets, sizeof one.packets);
}

/* A receiver that ends a stream gets the next one, whose turn begins as usual. */
TEST_WITH(streams_can_be_left, ctx)
{
    struct turns t = {.brief = true}, all = {0};
    assert_int_equal(run_turns(ctx, &all, 1, NULL), CT_OK);
    assert_int_equal(run_turns(ctx, &t, 1, NULL), CT_OK);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.ended, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_true(t.steps[i] && t.steps[i] <= all.steps[i]);
}

/* Steps can be filtered; other records cannot, and no analyses can be added. */
TEST_WITH(turns_are_filtered, ctx)
{
    const struct ct_filter window = {.size = sizeof window,
                                     .to = {.kind = CT_POINT_INSTRUCTIONS, .value = 100}};
    const struct ct_session_options options = {.size = sizeof options, .begin = begin_turn};
    struct counter counter = {.analysis = {.kind = &counts, .ctx = ctx}};
    struct turns t = {0}, all = {0}, other = {.other = true};
    struct ct_session *session;
    assert_int_equal(run_turns(ctx, &all, 1, NULL), CT_OK);
    assert_int_equal(run_turns(ctx, &t, 1, &window), CT_OK);
    assert_true(t.steps[0] && t.steps[0] < all.steps[0] && t.steps[1] < all.steps[1]);
    assert_int_equal(run_turns(ctx, &other, 1, &window), CT_ERR_ARG);
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, &counter.analysis), CT_ERR_ARG);
    ct_session_free(session);
}

/* The text of an earlier failure does not stay when a pointer is missing. */
TEST_WITH(null_has_a_text, ctx)
{
    struct ct_capture *capture = quickstart(ctx);
    struct ct_session *session;
    assert_int_equal(ct_session_new(ctx, NULL, &session), CT_OK);
    ct_ctx_fail(ctx, CT_ERR_IO, "earlier");
    assert_int_equal(ct_session_add(session, NULL), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx),
                        "ct_session_add: wrong argument; nothing was done; 'analysis' must not be NULL or 0");
    assert_int_equal(ct_session_run(session, capture, NULL, 1), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx),
                        "ct_session_run: wrong argument; nothing was done; 'buffers || !count' must hold");
    ct_session_free(session);
    ct_capture_free(capture);
}

/* A table may come from an older header, without `cut`: members beyond its size are not read. */
TEST_WITH(kinds_have_their_size, ctx)
{
    struct ct_analysis_kind older = {
        .size = offsetof(struct ct_analysis_kind, cut) - 1, .name = "older", .take = take};
    const struct ct_analysis_captures none = {0};
    struct counter counter = {.analysis = {.kind = &older, .ctx = ctx}};
    assert_int_equal(ct_analysis_add_captures(&counter.analysis, &none), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "size"));
    assert_int_equal(ct_analysis_end(&counter.analysis, 0), CT_ERR_ARG);
    older.size++;
    assert_int_equal(ct_analysis_end(&counter.analysis, 0), CT_OK);
}

/* Members beyond the size of shorter options, of an older program, are zero. */
TEST(arguments_are_checked)
{
    struct ct_session *session;
    const struct ct_session_options older = {.size = offsetof(struct ct_session_options, user),
                                             .progress = stop};
    const struct ct_session_options none = {.size = 0};
    assert_int_equal(ct_session_new(NULL, NULL, NULL), CT_ERR_ARG);
    assert_int_equal(ct_session_new(NULL, &none, &session), CT_ERR_ARG);
    assert_int_equal(ct_session_new(NULL, &older, &session), CT_OK);
    assert_int_equal(ct_session_add(session, NULL), CT_ERR_ARG);
    assert_int_equal(ct_session_run(session, NULL, NULL, 0), CT_ERR_ARG);
    struct ct_capture *capture = quickstart(NULL);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    ct_capture_free(capture);
    ct_session_free(session);
    ct_session_free(NULL);
}

/* A capture is damaged when its file is incomplete, no framing was found, or there are gaps. Overflows and
 * code without memory count when that is requested, or when nothing ran. */
TEST(damage_is_told_from_loss)
{
    const struct ct_capture whole = {0}, cut = {.damage_count = 1};
    const struct ct_seen fine = {.ran = 1}, misframed = {.ran = 1, .misframed = 1}, nothing = {0};
    const struct ct_seen gap = {.ran = 1, .losses = {.gaps = 1}};
    const struct ct_seen overflow = {.ran = 1, .losses = {.gaps = 1, .overflows = 1}};
    const struct ct_seen no_access = {.ran = 1, .losses = {.no_access = 1}};
    const struct ct_seen blind = {.losses = {.no_access = 1}};
    for (int strict = 0; strict < 2; strict++) {
        assert_false(ct_seen_is_damaged(&fine, &whole, strict));
        assert_false(ct_seen_is_damaged(&nothing, &whole, strict));
        assert_true(ct_seen_is_damaged(&fine, &cut, strict));
        assert_true(ct_seen_is_damaged(&misframed, &whole, strict));
        assert_true(ct_seen_is_damaged(&gap, &whole, strict));
        assert_true(ct_seen_is_damaged(&blind, &whole, strict));
        assert_int_equal(!!ct_seen_is_damaged(&overflow, &whole, strict), strict);
        assert_int_equal(!!ct_seen_is_damaged(&no_access, &whole, strict), strict);
    }
}
