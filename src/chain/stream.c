/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/stream.h"

#include <string.h>

#include "base/ctx.h"
#include "losses/losses.h"

/* Makes the object that decodes straight to edge counts, if the protocol has one and steps are not wanted. */
static int add_hops(struct ct_stream_chain *c, struct ct_ctx *ctx)
{
    const struct ct_follow *follow = c->follow;
    if (!c->fast || !c->ops->hops_new || !follow->fast || !follow->gives_counts)
        return CT_OK;
    return c->ops->hops_new(ctx, c->fast, follow->fast, &c->hops);
}

int ct_stream_chain_init(struct ct_stream_chain *c, struct ct_ctx *ctx, const struct ct_source *source,
                         uint8_t id, const struct ct_chain_options *options, bool wants_steps,
                         const struct ct_memory *memory)
{
    *c = (struct ct_stream_chain){.stream = {.source = source, .id = id}, .fresh = true};
    c->ops = options->bytewise
                 ? ct_protocol_ops_bytewise((enum ct_protocol)source->protocol, options->bytewise)
                 : ct_protocol_ops((enum ct_protocol)source->protocol);
    int rc = CT_OK;
    if (options->level >= CT_LEVEL_PACKET)
        rc = c->ops->decoder_new(ctx, source, &c->decoder);
    if (!rc && options->level >= CT_LEVEL_PACKET) /* losses are counted from elements */
        rc = c->ops->resolver_new(ctx, source, &c->resolver);
    if (!rc && options->level >= CT_LEVEL_PACKET && c->ops->fast_new)
        rc = c->ops->fast_new(ctx, c->decoder, c->resolver, &c->fast);
    if (!rc && options->level >= CT_LEVEL_FLOW)
        rc = ct_follow_new(ctx, source, options, wants_steps, memory, &c->follow);
    if (!rc && options->level >= CT_LEVEL_FLOW)
        rc = add_hops(c, ctx);
    if (!rc && options->level >= CT_LEVEL_STEPS) {
        c->stream.graph = ct_follow_graph(c->follow);
        c->stream.edges = options->edges ? c->follow->edges : NULL;
    }
    return rc;
}

int ct_stream_chain_want_events(struct ct_stream_chain *c, struct ct_ctx *ctx)
{
    const int rc = c->resolver ? ct_stream_events_new(ctx, c->stream.source, &c->events) : CT_OK;
    if (c->follow)
        c->follow->events = c->events;
    return rc;
}

void ct_stream_chain_tune(struct ct_stream_chain *c)
{
    if (c->hops)
        c->ops->hops_tune(c->hops);
}

void ct_stream_chain_deinit(struct ct_stream_chain *c)
{
    if (c->hops)
        c->ops->hops_free(c->hops);
    if (c->fast)
        c->ops->fast_free(c->fast);
    if (c->decoder)
        c->ops->decoder_free(c->decoder);
    if (c->resolver)
        c->ops->resolver_free(c->resolver);
    ct_stream_events_free(c->events);
    ct_follow_free(c->follow);
}

int ct_stream_chain_sync(struct ct_stream_chain *c)
{
    int rc = c->hops ? c->ops->hops_sync(c->hops, &c->stream.stats) : CT_OK;
    return c->follow && !rc ? ct_follow_sync(c->follow, &c->stream.stats) : rc;
}

void ct_stream_chain_reset(struct ct_stream_chain *c, bool whole)
{
    const bool was_fresh = c->fresh;
    c->fresh = true;
    /* If trace was lost before and no byte came since, the loss counts. */
    c->whole = whole && (c->whole || !c->started || !was_fresh);
    if (c->decoder)
        c->ops->decoder_reset(c->decoder);
    if (c->resolver)
        c->ops->resolver_reset(c->resolver);
    if (c->fast)
        c->ops->fast_reset(c->fast);
}

void ct_stream_chain_seam(const struct ct_stream_chain *c, struct ct_seam *seam)
{
    seam->count = 0;
    seam->overflow = false;
    ct_seam_put(seam, c->started);
    c->ops->decoder_seam(c->decoder, seam);
    if (c->resolver)
        c->ops->resolver_seam(c->resolver, seam);
    if (c->follow)
        ct_follow_seam(c->follow, seam);
}

/* Computes the offsets in the capture of packets, whose positions ascend through the spans of a run. */
static void find_offsets(const struct ct_stream_chain *c, const struct ct_run *run, const uint8_t *packets,
                         size_t count, uint64_t *offsets)
{
    const size_t stride = c->ops->packet_size, type_at = c->ops->type_at;
    const struct ct_span *only = run->spans;
    const bool straight = run->span_count == 1 && !(only->place & CT_SPAN_FRAMES);
    const uint64_t distance = straight ? ct_span_offset(only, only->pos) - only->pos : 0;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < count; i++, packets += stride) {
        uint64_t pos;
        memcpy(&pos, packets, sizeof pos);
        if (packets[type_at] == 0) {
            /* Its bytes may no longer be in the run. There is at most one such packet, at the start. */
            offsets[i] = c->start_offset;
            continue;
        }
        if (straight) {
            offsets[i] = pos + distance;
            continue;
        }
        if (at == SIZE_MAX)
            at = ct_run_span(run, pos);
        while (at + 1 < run->span_count && run->spans[at + 1].pos <= pos)
            at++;
        offsets[i] = ct_span_offset(&run->spans[at], pos);
    }
}

static void count_packets(struct ct_stream_chain *c, const uint8_t *packets, size_t count)
{
    struct ct_stream_stats *stats = &c->stream.stats;
    const size_t stride = c->ops->packet_size;
    const uint8_t *type = packets + c->ops->type_at;
    stats->packets += count;
    for (size_t i = 0; i < count; i++, type += stride)
        stats->packet_types[*type]++;
}

/* Replaces the positions of packets by their offsets in the capture. */
static void place_packets(const struct ct_stream_chain *c, uint8_t *packets, const uint64_t *offsets,
                          size_t count)
{
    const size_t stride = c->ops->packet_size;
    for (size_t i = 0; i < count; i++, packets += stride)
        memcpy(packets, &offsets[i], sizeof *offsets);
}

/* Follows the elements that replace excluded ones; `end` as for ct_elem_offset. */
static int follow_left_out(struct ct_stream_chain *c, uint32_t pos, bool goes_on, uint64_t end,
                           const struct ct_chain_sink *sink)
{
    struct ct_elem before[CT_NARROW_BEFORE];
    const size_t count = ct_narrow_before(&c->narrow, pos, goes_on, before);
    return count ? ct_follow_run(c->follow, &c->stream, before, count, end, sink) : 0;
}

/* Follows elements along the program, except excluded ones. Where tracing continues after excluded elements,
 * a TRACE_ON marks it, as if the trace unit had filtered; clocks continue meanwhile. */
static int follow_sifted(struct ct_stream_chain *c, const struct ct_elem_batch *batch,
                         const struct ct_chain_sink *sink)
{
    const struct ct_elem *elems = batch->elems;
    int rc = 0;
    for (size_t at = 0; !rc && at < batch->count;) {
        const struct ct_narrow_span s = ct_narrow_next(&c->narrow, elems, at, batch->count);
        if (s.goes_on) {
            ct_narrow_note(&c->narrow, ct_elem_offset(&elems[s.from], batch->end));
            rc = follow_left_out(c, elems[s.from].pos, true, batch->end, sink);
        }
        if (!rc && s.to > s.from)
            rc = ct_follow_run(c->follow, &c->stream, elems + s.from, s.to - s.from, batch->end, sink);
        at = s.next;
    }
    const uint32_t last = elems[batch->count - 1].pos;
    return !rc && c->narrow.out ? follow_left_out(c, last, false, batch->end, sink) : rc;
}

int ct_stream_chain_follow(struct ct_stream_chain *c, const struct ct_elem_batch *batch,
                           const struct ct_chain_sink *sink)
{
    if (batch->count && ct_narrow_sifts(&c->narrow))
        return follow_sifted(c, batch, sink);
    return ct_follow_run(c->follow, &c->stream, batch->elems, batch->count, batch->end, sink);
}

/* Passes the first `count` elements of the batch to all who want them. */
static int give_elems(struct ct_stream_chain *c, size_t count, struct ct_batches *batches,
                      const struct ct_chain_sink *sink)
{
    struct ct_elem_batch batch = {.elems = batches->elems, .count = count, .end = c->last_offset};
    int rc = sink->elems && count ? sink->elems(sink->user, &c->stream, &batch) : 0;
    if (!rc && c->events && !c->follow)
        rc = ct_stream_events_add(c->events, &c->stream, &batch, sink);
    return !rc && c->follow && !c->apart ? ct_stream_chain_follow(c, &batch, sink) : rc;
}

/* Passes the buffered steps to the receivers at the end of a run. */
static int flush(struct ct_stream_chain *c, const struct ct_chain_sink *sink)
{
    return c->follow && !c->apart ? ct_follow_flush(c->follow, &c->stream, sink) : 0;
}

static struct ct_work begin_work(const struct ct_stream_chain *c, const struct ct_run *run,
                                 enum ct_behind behind)
{
    return (struct ct_work){.run = run,
                            .behind = behind,
                            .whole = c->whole,
                            .start_offset = c->start_offset,
                            .last_offset = c->last_offset};
}

/* Decodes bytes straight to events, when nothing else is wanted. */
static int run_events(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                      const struct ct_chain_sink *sink, size_t *used)
{
    struct ct_work work = begin_work(c, run, behind);
    int rc;
    do {
        c->ops->fast_events(c->fast, &work, c->events->events, &c->events->columns, &c->stream.stats);
        c->last_offset = work.last_offset;
        rc = ct_stream_events_give(c->events, &c->stream, sink);
    } while (!rc && work.more);
    *used = work.at;
    return rc;
}

/* Counts bytes in the statistics, when nothing else is wanted. */
static void run_count(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                      size_t *used)
{
    struct ct_work work = begin_work(c, run, behind);
    c->ops->fast_count(c->fast, &work, &c->stream.stats);
    c->last_offset = work.last_offset;
    *used = work.at;
}

/* Number of elements between two tries of hops. A try that decodes fewer than WORTH bytes doubles it, so that
 * hops are tried less often where they do not help. */
#define HOP_ELEMS 48u
#define WORTH     128u

/* Decodes bytes to elements, when packets are not wanted. */
static int run_fast(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                    enum ct_level level, struct ct_batches *batches, const struct ct_chain_sink *sink,
                    size_t *used)
{
    struct ct_work work = begin_work(c, run, behind);
    const bool hops = c->hops && !sink->elems && !c->events;
    size_t cap = hops ? HOP_ELEMS : CT_BATCH_ELEMS;
    bool limited;
    do {
        if (hops) {
            size_t before = work.at;
            int rc = c->ops->hops_run(c->hops, &work);
            if (rc)
                return rc;
            c->hopped += work.at - before;
            if (work.at - before >= WORTH)
                cap = HOP_ELEMS;
            else
                cap = cap < CT_BATCH_ELEMS / 2 ? cap * 2 : CT_BATCH_ELEMS;
        }
        struct ct_run part = *run;
        limited = work.until > work.at;
        if (limited) { /* stop where hops want to continue */
            part.size = work.until;
            work.run = &part;
            work.behind = CT_BEHIND_MORE;
        }
        size_t count = c->ops->fast_run(c->fast, &work, batches->elems, cap, &c->stream.stats);
        work.run = run;
        work.behind = behind;
        c->last_offset = work.last_offset;
        int rc = level >= CT_LEVEL_ELEMENT ? give_elems(c, count, batches, sink) : CT_OK;
        if (rc)
            return rc;
    } while (work.more || limited);
    *used = work.at;
    return flush(c, sink);
}

/* Packets that are resolved between two tries to skip the resolver. */
#define PASS_STEP 8u

/* Resolves the `size` packets of the batch only to count losses. */
static void pass_elems(struct ct_stream_chain *c, size_t size, bool final, struct ct_batches *batches)
{
    const size_t stride = c->ops->packet_size;
    size_t done = 0;
    size_t count;
    do {
        done += c->ops->pass(c->resolver, batches->packets + done * stride, size - done, &c->stream.stats);
        const size_t step = size - done < PASS_STEP ? size - done : PASS_STEP;
        const bool last = final && done + step == size;
        done += c->ops->resolve(c->resolver, batches->packets + done * stride, step, last, batches->elems,
                                CT_BATCH_ELEMS, &count);
        ct_losses_count_elems(&c->stream.stats, c->whole, batches->elems, count);
    } while (done < size || count > CT_BATCH_ELEMS - CT_RESOLVE_MIN);
}

/* Resolves the `size` packets of the batch to elements and delivers them. */
static int run_elems(struct ct_stream_chain *c, size_t size, bool final, enum ct_level level,
                     struct ct_batches *batches, const struct ct_chain_sink *sink)
{
    place_packets(c, batches->packets, batches->offsets, size);
    if (size)
        c->last_offset = batches->offsets[size - 1];
    if (level == CT_LEVEL_PACKET && c->ops->pass) {
        pass_elems(c, size, final, batches);
        return 0;
    }
    size_t done = 0;
    size_t count;
    do {
        done += c->ops->resolve(c->resolver, batches->packets + done * c->ops->packet_size, size - done,
                                final, batches->elems, CT_BATCH_ELEMS, &count);
        ct_losses_count_elems(&c->stream.stats, c->whole, batches->elems, count);
        int rc = level >= CT_LEVEL_ELEMENT ? give_elems(c, count, batches, sink) : CT_OK;
        if (rc)
            return rc;
    } while (done < size || count > CT_BATCH_ELEMS - CT_RESOLVE_MIN);
    return 0;
}

/* Decodes packets of the run from byte `at` on. Returns the number of bytes consumed. */
static size_t decode_packets(struct ct_stream_chain *c, const struct ct_run *run, size_t at, bool final,
                             enum ct_level level, void *packets, size_t *count)
{
    /* A run that only ends the stream has no bytes, and may have a null pointer. */
    const uint8_t *data = run->data ? run->data + at : NULL;
    if (c->fast && level == CT_LEVEL_PACKET)
        return c->ops->fast_packets(c->fast, data, run->size - at, run->pos + at, final, packets,
                                    CT_BATCH_PACKETS, count);
    return c->ops->decode(c->decoder, data, run->size - at, run->pos + at, final, packets, CT_BATCH_PACKETS,
                          count);
}

/* Returns whether there may be more packets than those in the batch. */
static bool is_full(size_t count)
{
    return count > CT_BATCH_PACKETS - CT_PACKETS_STEP;
}

int ct_stream_chain_run(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                        enum ct_level level, struct ct_batches *batches, const struct ct_chain_sink *sink,
                        size_t *used)
{
    bool final = behind != CT_BEHIND_MORE;
    *used = run->size;
    if (c->fresh && run->size) {
        c->started = true;
        c->fresh = false;
        c->start_offset = ct_run_offset(run, run->pos);
    }
    if (level < CT_LEVEL_PACKET || !c->started)
        return 0;
    if (c->fast && c->events && !c->follow && !sink->packets && !sink->elems)
        return run_events(c, run, behind, sink, used);
    if (c->fast && level == CT_LEVEL_PACKET && !sink->packets) {
        run_count(c, run, behind, used);
        return 0;
    }
    if (c->fast && !sink->packets)
        return run_fast(c, run, behind, level, batches, sink, used);
    size_t at = 0;
    size_t count;
    do {
        at += decode_packets(c, run, at, final, level, batches->packets, &count);
        find_offsets(c, run, batches->packets, count, batches->offsets);
        count_packets(c, batches->packets, count);
        struct ct_packet_batch batch = {.packets = batches->packets,
                                        .stride = c->ops->packet_size,
                                        .count = count,
                                        .protocol = c->stream.source->protocol,
                                        .offsets = batches->offsets,
                                        .run = run};
        int rc = sink->packets && count ? sink->packets(sink->user, &c->stream, &batch) : 0;
        bool last = behind == CT_BEHIND_END && !is_full(count);
        if (!rc)
            rc = run_elems(c, count, last, level, batches, sink);
        if (rc)
            return rc;
    } while (is_full(count));
    *used = at;
    return flush(c, sink);
}

int ct_stream_chain_run_part(struct ct_stream_chain *c, const struct ct_run *run, size_t *at, size_t to,
                             enum ct_behind behind, enum ct_level level, struct ct_batches *batches,
                             const struct ct_chain_sink *sink)
{
    struct ct_run part = *run;
    size_t used = 0;
    part.data = run->data ? run->data + *at : NULL;
    part.size = to - *at;
    part.pos += *at;
    const int rc = ct_stream_chain_run(c, &part, behind, level, batches, sink, &used);
    *at += used;
    return rc;
}
