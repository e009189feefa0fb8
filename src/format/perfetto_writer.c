/* SPDX-License-Identifier: Apache-2.0 */
/* Writes traces of Perfetto: the streams of captures, one capture after another. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "base/room.h"
#include "format/perfetto_lane.h"
#include "format/source_buffer.h"

struct ct_perfetto_writer {
    struct ct_out out;
    struct ct_perfetto_write_options options;
    struct ct_perfetto_capture of;    /* the current capture */
    const struct ct_capture *capture; /* NULL: none was begun */
    bool ended;
    struct ct_perfetto_lane **lanes; /* by stream number; NULL without events */
    size_t lane_count;
};

int ct_perfetto_writer_new(struct ct_ctx *ctx, const struct ct_perfetto_write_options *options,
                           ct_write_fn *write, void *user, struct ct_perfetto_writer **out)
{
    struct ct_perfetto_write_options o;
    CT_REQUIRE_OUT(ctx, out, write);
    int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_perfetto_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return ct_fail_nomem(ctx, "trace");
    writer->options = o;
    writer->of.ctx = ctx;
    writer->of.lines.ctx = ctx;
    writer->of.lines.programs = o.programs;
    rc = ct_out_open(&writer->out, ctx, write, user);
    if (!rc)
        rc = ct_perfetto_open(&writer->of.to, ctx, writer->out.file, o.max_size);
    if (rc) {
        ct_perfetto_writer_free(writer);
        writer = NULL;
    }
    *out = writer;
    return rc;
}

/* Frees the streams of a capture, and the names of its functions. */
static void forget(struct ct_perfetto_writer *writer)
{
    struct ct_perfetto_capture *of = &writer->of;
    for (size_t i = 0; i < writer->lane_count; i++)
        ct_perfetto_lane_free(writer->lanes[i]);
    free(writer->lanes);
    writer->lanes = NULL;
    writer->lane_count = 0;
    of->first_name += of->told_count;
    free(of->told);
    of->told = NULL;
    of->told_count = 0;
    of->watches = NULL;
    of->notes = NULL;
    of->note_count = 0;
}

/* Ends what the captures of one system share: writes the arrows. CT_ERR_NOMEM. */
static int end_system(struct ct_perfetto_writer *writer)
{
    struct ct_perfetto_capture *of = &writer->of;
    const int rc = ct_perfetto_flows_write(&of->flows, &of->to) ? ct_fail_nomem(of->ctx, "flows") : CT_OK;
    ct_pair_map_free(&of->tasks);
    ct_perfetto_flows_free(&of->flows);
    return rc;
}

void ct_perfetto_writer_free(struct ct_perfetto_writer *writer)
{
    if (!writer)
        return;
    forget(writer);
    ct_pair_map_free(&writer->of.tasks);
    ct_perfetto_flows_free(&writer->of.flows);
    (void)ct_perfetto_close(&writer->of.to);
    ct_named_lines_free(&writer->of.lines);
    if (writer->out.file)
        ct_out_close(&writer->out, CT_OK);
    free(writer);
}

/* Notes how much was written. Returns the error of writing, if any. */
static int result(struct ct_perfetto_writer *writer, int rc)
{
    const struct ct_perfetto *to = &writer->of.to;
    writer->of.seen.size = to->size + to->packets.size;
    writer->of.seen.slices = to->slices;
    writer->of.seen.left_out = to->full ? to->slices - to->kept : 0;
    writer->of.seen.full = to->full;
    if (!rc && (to->packets.failed || to->packed.failed))
        rc = ct_fail_nomem(writer->of.ctx, "trace");
    return rc ? rc : writer->out.result;
}

/* Refuses a call of `function` after the end, or between captures. Returns CT_ERR_ARG. */
static int refuse(const struct ct_perfetto_writer *writer, const char *function)
{
    return ct_fail(writer->of.ctx, CT_ERR_ARG, "%s: %s, so nothing was written; %s", function,
                   writer->ended ? "the trace has ended" : "no capture was begun",
                   writer->ended ? "make a new writer" : "call ct_perfetto_writer_begin first");
}

int ct_perfetto_writer_begin(struct ct_perfetto_writer *writer, const struct ct_capture *capture,
                             const char *run)
{
    CT_REQUIRE(writer ? writer->of.ctx : NULL, writer, capture);
    if (writer->ended)
        return refuse(writer, __func__);
    struct ct_perfetto_capture *of = &writer->of;
    forget(writer);
    const int rc = run || of->root ? end_system(writer) : CT_OK;
    of->first_name = of->first_name ? of->first_name : 1; /* number 0 means no name */
    writer->capture = capture;
    of->clock = capture->maps ? capture->maps->clock : (struct ct_clock){0};
    of->frequency = writer->options.frequency;
    of->root = run ? ct_perfetto_track(&of->to, 0, run) : 0;
    return result(writer, rc);
}

int ct_perfetto_writer_watch(struct ct_perfetto_writer *writer, struct ct_watches *watches,
                             const struct ct_perfetto_note *notes, size_t count)
{
    CT_REQUIRE(writer ? writer->of.ctx : NULL, writer, !count || notes);
    if (!writer->capture)
        return refuse(writer, __func__);
    writer->of.watches = watches;
    writer->of.notes = notes;
    writer->of.note_count = count;
    return CT_OK;
}

/* Finds a stream by its number, or makes it. Returns NULL when out of memory. */
static struct ct_perfetto_lane *find_lane(struct ct_perfetto_writer *writer, const struct ct_stream *stream,
                                          uint32_t number)
{
    if (!CT_MAKE_ZEROED_ROOM(writer->lanes, writer->lane_count, (size_t)number + 1)) {
        (void)ct_fail_nomem(writer->of.ctx, "streams");
        return NULL;
    }
    if (!writer->lanes[number])
        writer->lanes[number] =
            ct_perfetto_lane_new(&writer->of, ct_source_buffer(writer->capture, stream->source), stream);
    return writer->lanes[number];
}

int ct_perfetto_writer_add(struct ct_perfetto_writer *writer, const struct ct_stream *stream,
                           const struct ct_step_batch *batch, uint32_t number, const struct ct_stacks *stacks)
{
    size_t count;
    CT_REQUIRE(writer ? writer->of.ctx : NULL, writer, stream, batch, stacks);
    if (!writer->capture)
        return refuse(writer, __func__);
    const struct ct_stack_move *moves = ct_stacks_moves(stacks, &count);
    writer->of.stacks = stacks;
    struct ct_perfetto_lane *lane = find_lane(writer, stream, number);
    if (!lane)
        return result(writer, CT_ERR_NOMEM);
    int rc = count && ct_named_lines_find(&writer->of.lines) == CT_ERR_NOMEM ? CT_ERR_NOMEM : CT_OK;
    lane->counts_cycles |= batch->cycles != NULL;
    if (!rc)
        rc = ct_perfetto_notes_take(lane, batch);
    for (size_t i = 0; i < count && !rc; i++)
        rc = ct_perfetto_lane_take(lane, &moves[i],
                                   moves[i].kind == CT_STACK_MARK ? &batch->marks[moves[i].of] : NULL);
    if (!rc)
        rc = ct_perfetto_notes_flush(lane, NULL);
    return result(writer, rc);
}

int ct_perfetto_writer_finish(struct ct_perfetto_writer *writer, const struct ct_stacks *stacks)
{
    size_t count;
    CT_REQUIRE(writer ? writer->of.ctx : NULL, writer, stacks);
    if (!writer->capture)
        return refuse(writer, __func__);
    const struct ct_stack_move *moves = ct_stacks_moves(stacks, &count);
    int rc = CT_OK;
    writer->of.stacks = stacks;
    for (size_t i = 0; i < count && !rc; i++)
        if (moves[i].lane < writer->lane_count && writer->lanes[moves[i].lane])
            rc = ct_perfetto_lane_take(writer->lanes[moves[i].lane], &moves[i], NULL);
    for (size_t i = 0; i < writer->lane_count && !rc; i++)
        if (writer->lanes[i])
            rc = ct_perfetto_lane_end(writer->lanes[i]);
    forget(writer);
    writer->capture = NULL;
    return result(writer, rc);
}

int ct_perfetto_writer_end(struct ct_perfetto_writer *writer)
{
    CT_REQUIRE(NULL, writer);
    if (writer->ended)
        return refuse(writer, __func__);
    writer->ended = true;
    writer->capture = NULL;
    const int ended = end_system(writer);
    const int rc = ct_perfetto_close(&writer->of.to);
    fflush(writer->out.file);
    return result(writer, rc ? rc : ended);
}

const struct ct_perfetto_seen *ct_perfetto_writer_seen(const struct ct_perfetto_writer *writer)
{
    return writer ? &writer->of.seen : NULL;
}
