/* SPDX-License-Identifier: Apache-2.0 */
/* Shards as files: a saved file of a separate kind, followed by the results of an analysis. */
#define _GNU_SOURCE /* memmem */
#include "session/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/graph.h"

/* Contexts of a stream that edge statistics distinguish: beyond it, further ones would be counted
 * together. */
#define CONTEXTS_MOST 256u

static struct ct_shard *of(struct ct_analysis *analysis)
{
    return (struct ct_shard *)analysis;
}

static void free_streams(struct ct_shard *s)
{
    for (size_t i = 0; i < s->stream_count; i++) {
        free(s->streams[i].contexts);
        free(s->streams[i].begin);
        free(s->streams[i].end);
    }
    free(s->streams);
    s->streams = NULL;
    s->stream_count = 0;
}

static void free_shard(struct ct_analysis *analysis)
{
    free_streams(of(analysis));
    free(of(analysis)->starts);
    free(analysis);
}

static int part(const struct ct_analysis *whole, struct ct_analysis **out)
{
    struct ct_shard *shard = NULL;
    const int rc = ct_shard_new(whole->ctx, 0, ((const struct ct_shard *)whole)->count, &shard);
    *out = rc ? NULL : &shard->analysis;
    return rc;
}

/* Refuses batches: a session records the contents of a shard. */
static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    (void)analysis, (void)batch;
    return CT_ERR_ARG;
}

/* ---- merging ---- */

static int misfit(const struct ct_shard *s, const char *why)
{
    return ct_fail(s->analysis.ctx, CT_ERR_NOT_FOUND,
                   "the shards of a capture cannot be joined: %s; decode the capture as a whole", why);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Returns whether the streams of `from` that begin inside of the trace continue where those of `into`
 * ended. */
static bool fits(const struct ct_shard *into, const struct ct_shard *from)
{
    for (size_t i = 0; i < from->stream_count; i++) {
        const struct ct_shard_stream *s = &from->streams[i];
        const struct ct_shard_stream *before = ct_shard_find(into, s->buffer, s->id);
        if (!before != !s->begin || (before && !is_same(before->end, s->begin)))
            return false;
    }
    return true;
}

/* Adds the new part of a stream. The texts of `from` move to the sum. */
static int add_stream(struct ct_shard *into, struct ct_shard_stream *from)
{
    const bool is_new = !ct_shard_find(into, from->buffer, from->id);
    struct ct_shard_stream *s = ct_shard_stream(into, from->buffer, from->id);
    int rc = s ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < from->context_count && !rc; i++)
        rc = ct_shard_add_context(into, s, &from->contexts[i]);
    if (rc)
        return rc;
    s->nodes += from->nodes;
    s->edges += from->edges;
    free(s->end);
    s->end = from->end;
    from->end = NULL;
    if (is_new) {
        s->begin = from->begin;
        from->begin = NULL;
    }
    return CT_OK;
}

/* Returns whether a stream reached a limit, or may have reached it if it had been decoded without a cut. */
static bool is_limited(const struct ct_shard_stream *s)
{
    bool limited = s->nodes > CT_GRAPH_MAX || s->edges > CT_GRAPH_MAX || s->context_count >= CONTEXTS_MOST;
    for (size_t i = 0; i < s->context_count; i++)
        limited |= s->contexts[i].others;
    return limited;
}

static int add(struct ct_shard *into, struct ct_shard *from)
{
    int rc = CT_OK;
    if (into->first && !fits(into, from))
        return misfit(into, "the state of the decoder at the end of a shard differs from that at the start "
                            "of the next");
    for (size_t i = 0; i < from->stream_count && !rc; i++)
        rc = add_stream(into, &from->streams[i]);
    for (size_t i = 0; i < into->stream_count && !rc; i++)
        if (is_limited(&into->streams[i]))
            rc = misfit(into, "together they have more contexts or edges than can be counted separately");
    into->first = into->first ? into->first : from->first;
    into->last = from->last;
    into->has_trace |= from->has_trace;
    into->ran |= from->ran;
    into->damaged |= from->damaged;
    return rc;
}

static int merge(struct ct_analysis *analysis, struct ct_analysis *other)
{
    struct ct_shard *into = of(analysis), *from = of(other);
    if (!from->first)
        return CT_OK;
    if (*from->why)
        return misfit(into, from->why);
    if (into->count != from->count || (into->first && from->first != into->last + 1))
        return misfit(into, "a shard between them is missing");
    return add(into, from);
}

/* ---- lines ---- */

static void save_stream(struct ct_save *to, const struct ct_shard_stream *s)
{
    ct_save_line(to, "stream %" PRIu32 " %u %" PRIu64 " %" PRIu64, s->buffer, s->id, s->nodes, s->edges);
    for (size_t i = 0; i < s->context_count; i++) {
        const struct ct_edge_context *c = &s->contexts[i];
        ct_save_line(to, "context %x %" PRIx32 " %" PRIx32 " %x %x", c->known, c->ctxt, c->vmid, c->el_sec,
                     c->others);
    }
    if (s->begin)
        ct_save_line(to, "from %s", s->begin);
    if (s->end)
        ct_save_line(to, "to %s", s->end);
}

static int save(struct ct_analysis *analysis, struct ct_save *to)
{
    const struct ct_shard *s = of(analysis);
    ct_save_line(to, "shards %" PRIu32 " %" PRIu32 " %" PRIu32, s->first, s->last, s->count);
    if (*s->why)
        ct_save_line(to, "refused %s", s->why);
    for (size_t i = 0; i < s->stream_count; i++)
        save_stream(to, &s->streams[i]);
    return ct_save_line(to, "seen %d %d %d", s->has_trace, s->ran, s->damaged);
}

/* Reads the numbers of a line, which must be below `limit`. Returns false when they are malformed. */
static bool read_numbers(const struct ct_load *from, unsigned base, size_t count, uint64_t limit,
                         uint64_t *numbers)
{
    bool good = from->word_count == count + 1;
    for (size_t i = 0; i < count && good; i++)
        good = ct_load_number(from, i + 1, base, &numbers[i]) && numbers[i] < limit;
    return good;
}

static int read_shards(struct ct_shard *s, struct ct_load *from)
{
    uint64_t n[3];
    if (!read_numbers(from, 10, 3, CT_SHARD_MAX + 1, n) || !n[0] || n[1] < n[0] || n[2] < n[1])
        return ct_load_bad(from, "a line of shard numbers must be 'shards FIRST LAST COUNT'");
    s->first = (uint32_t)n[0];
    s->last = (uint32_t)n[1];
    s->count = (uint32_t)n[2];
    return CT_OK;
}

static int read_seen(struct ct_shard *s, struct ct_load *from)
{
    uint64_t n[3];
    if (!read_numbers(from, 10, 3, 2, n))
        return ct_load_bad(from, "a 'seen' line must be 'seen TRACE RAN DAMAGED', each 0 or 1");
    s->has_trace = n[0];
    s->ran = n[1];
    s->damaged = n[2];
    return CT_OK;
}

static int read_stream(struct ct_shard *s, struct ct_load *from)
{
    uint64_t n[4];
    if (!read_numbers(from, 10, 4, UINT32_MAX, n) || n[1] > UINT8_MAX ||
        ct_shard_find(s, (uint32_t)n[0], (uint8_t)n[1]))
        return ct_load_bad(from, "a stream must be 'stream BUFFER ID NODES EDGES', and each stream may "
                                 "appear only once");
    struct ct_shard_stream *stream = ct_shard_stream(s, (uint32_t)n[0], (uint8_t)n[1]);
    if (!stream)
        return CT_ERR_NOMEM;
    stream->nodes = n[2];
    stream->edges = n[3];
    return CT_OK;
}

static int read_context(struct ct_shard *s, struct ct_shard_stream *stream, struct ct_load *from)
{
    uint64_t n[5];
    if (!read_numbers(from, 16, 5, UINT64_C(1) << 32, n))
        return ct_load_bad(from, "a context must be 'context KNOWN CTXT VMID EL OTHERS' in hexadecimal");
    const struct ct_edge_context context = {.known = (uint8_t)n[0],
                                            .ctxt = (uint32_t)n[1],
                                            .vmid = (uint32_t)n[2],
                                            .el_sec = (uint8_t)n[3],
                                            .others = n[4] != 0};
    return ct_shard_add_context(s, stream, &context);
}

/* Tells whether the rest of the line, which is its second word, is a text. */
static bool has_text(const struct ct_load *from)
{
    return from->word_count == 2 && !memchr(from->words[1].text, 0, from->words[1].size);
}

/* Reads the start or end of a stream. */
static int read_state(const struct ct_shard *s, char **state, struct ct_load *from)
{
    ct_load_split(from, 2);
    if (!has_text(from) || *state)
        return ct_load_bad(from, "a stream must have one 'from' and one 'to' line at most, each with a "
                                 "text");
    *state = strndup(from->words[1].text, from->words[1].size);
    return *state ? CT_OK : ct_fail_nomem(s->analysis.ctx, "shard");
}

/* Reads why the capture cannot be cut. */
static int read_refused(struct ct_shard *s, struct ct_load *from)
{
    ct_load_split(from, 2);
    const struct ct_load_word *why = &from->words[1];
    if (!has_text(from) || !why->size || why->size >= sizeof s->why)
        return ct_load_bad(from, "a reason must be 'refused TEXT'");
    memcpy(s->why, why->text, why->size);
    return CT_OK;
}

static int read_line(struct ct_shard *s, struct ct_load *from)
{
    struct ct_shard_stream *stream = s->stream_count ? &s->streams[s->stream_count - 1] : NULL;
    if (ct_load_is(from, 0, "shards"))
        return read_shards(s, from);
    if (ct_load_is(from, 0, "seen"))
        return read_seen(s, from);
    if (ct_load_is(from, 0, "refused"))
        return read_refused(s, from);
    if (ct_load_is(from, 0, "stream"))
        return read_stream(s, from);
    if (stream && ct_load_is(from, 0, "context"))
        return read_context(s, stream, from);
    if (stream && ct_load_is(from, 0, "from"))
        return read_state(s, &stream->begin, from);
    if (stream && ct_load_is(from, 0, "to"))
        return read_state(s, &stream->end, from);
    return ct_load_bad(from, "the line must begin with shards, seen, refused, stream, context, from or to");
}

static int load(struct ct_analysis *analysis, struct ct_load *from)
{
    struct ct_shard *s = of(analysis);
    int rc = CT_OK;
    while (!rc && ct_load_line(from))
        rc = read_line(s, from);
    return rc || s->first ? rc : ct_load_bad(from, "the line 'shards FIRST LAST COUNT' is missing");
}

static const struct ct_analysis_kind kind = {.size = sizeof kind,
                                             .name = "shard",
                                             .writer = "coretap merge --shard K/N",
                                             .version = 1,
                                             .part = part,
                                             .take = take,
                                             .merge = merge,
                                             .save = save,
                                             .load = load,
                                             .free = free_shard};

/* ---- the object ---- */

int ct_shard_new(struct ct_ctx *ctx, uint32_t number, uint32_t count, struct ct_shard **out)
{
    CT_REQUIRE_OUT(ctx, out);
    if (!count || count > CT_SHARD_MAX || number > count)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ct_shard_new: shard %" PRIu32 " of %" PRIu32 " does not exist; the number must be "
                       "from 1 to the count, and the count at most %d",
                       number, count, CT_SHARD_MAX);
    struct ct_shard *shard = calloc(1, sizeof *shard);
    if (!shard)
        return ct_fail_nomem(ctx, "shard");
    *shard = (struct ct_shard){
        .analysis = {.kind = &kind, .ctx = ctx}, .first = number, .last = number, .count = count};
    *out = shard;
    return CT_OK;
}

void ct_shard_free(struct ct_shard *shard)
{
    ct_analysis_free(shard ? &shard->analysis : NULL);
}

int ct_shard_save(struct ct_shard *shard, struct ct_analysis *analysis, ct_write_fn *write, void *user)
{
    CT_REQUIRE(NULL, shard, analysis, write);
    return ct_analysis_save(&shard->analysis, write, user) ?: ct_analysis_save(analysis, write, user);
}

/* Returns the size of the saved shard at the start of a file. */
static size_t size_of_shard(const void *data, size_t size)
{
    static const char end[] = "\nend ";
    const char *found = memmem(data, size, end, sizeof end - 1);
    const char *newline =
        found ? memchr(found + 1, '\n', size - (size_t)(found + 1 - (const char *)data)) : NULL;
    return newline ? (size_t)(newline + 1 - (const char *)data) : size;
}

int ct_shard_load(struct ct_shard *all, struct ct_analysis *analysis, const char *name, const void *data,
                  size_t size)
{
    CT_REQUIRE(NULL, all, analysis, name, data);
    const size_t first = size_of_shard(data, size);
    const int rc = ct_analysis_load(&all->analysis, name, data, first);
    return rc ? rc : ct_analysis_load(analysis, name, (const char *)data + first, size - first);
}

int ct_shard_end(struct ct_shard *all, struct ct_analysis *analysis)
{
    CT_REQUIRE(NULL, all, analysis);
    const struct ct_seen seen = {.losses = all->analysis.captures.losses, .ran = all->ran};
    const struct ct_capture capture = {.damage_count = all->damaged};
    const struct ct_analysis_captures one = {
        .known = 1, .damaged = ct_seen_is_damaged(&seen, &capture, 0) ? 1 : 0, .losses = seen.losses};
    const char *run = ct_analysis_run(&all->analysis, 0);
    if (all->first != 1 || all->last != all->count)
        return misfit(all, "the first or the last shard is missing");
    if (!all->has_trace || !all->ran)
        return misfit(all, "nothing ran in any shard");
    for (size_t i = 0; i < all->stream_count; i++)
        if (all->streams[i].end)
            return misfit(all, "a stream continues after the last shard");
    const int rc = ct_analysis_add_captures(analysis, &one);
    return rc || !run ? rc : ct_analysis_add_run(analysis, run);
}
