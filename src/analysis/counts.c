/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by name: the object and its operations of the contract of analyses. */
#include "analysis/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saved.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "base/search.h"

static struct ct_counts *of(struct ct_analysis *analysis)
{
    return (struct ct_counts *)analysis;
}

static int no_memory(const struct ct_counts *c)
{
    return ct_fail_nomem(c->analysis.ctx, c->analysis.kind->name);
}

int ct_counts_new(struct ct_ctx *ctx, const struct ct_analysis_kind *kind, const struct ct_counts_way *way,
                  struct ct_counts **out)
{
    if (!out)
        return ct_fail_argument(ctx, kind->name, "out", 1);
    *out = NULL;
    struct ct_counts *c = calloc(1, sizeof *c);
    if (!c)
        return ct_fail_nomem(ctx, kind->name);
    c->analysis = (struct ct_analysis){.kind = kind, .ctx = ctx};
    c->way = way;
    *out = c;
    return CT_OK;
}

static void free_stream(const struct ct_counts *c, struct ct_counts_stream *stream)
{
    if (c->way->free)
        c->way->free(stream);
    free(stream);
}

void ct_counts_free(struct ct_counts *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->stream_count; i++)
        free_stream(c, c->streams[i]);
    for (size_t i = 0; i < c->count; i++)
        free((char *)(uintptr_t)c->all[i].name);
    for (size_t i = 0; i < c->place_count; i++)
        free(c->places[i]);
    ct_runs_free(&c->analysis);
    free(c->streams);
    free(c->all);
    free(c->places);
    free(c);
}

struct ct_analysis *ct_counts_analysis(struct ct_counts *c)
{
    return c ? &c->analysis : NULL;
}

/* ---- names ---- */

/* Returns the index of `name`, or the index at which to insert it. */
static size_t find(const struct ct_counts *c, const char *name)
{
    return CT_COUNT_WHILE(c->count, i, strcmp(c->all[i].name, name) < 0);
}

static int insert(struct ct_counts *c, size_t at, const char *name)
{
    if (c->count == CT_COUNTS_MOST)
        return ct_fail(
            c->analysis.ctx, CT_ERR_LIMIT,
            "%s: there are more than %d different names, which is the limit; add up fewer captures",
            c->analysis.kind->name, CT_COUNTS_MOST);
    if (!CT_MAKE_ROOM(c->all, c->room, c->count + 1))
        return no_memory(c);
    char *copy = strdup(name);
    if (!copy)
        return no_memory(c);
    memmove(&c->all[at + 1], &c->all[at], (c->count - at) * sizeof *c->all);
    c->all[at] = (struct ct_count){.name = copy};
    c->count++;
    return CT_OK;
}

int ct_counts_add(struct ct_counts *c, const char *name, uint64_t count)
{
    CT_REQUIRE(NULL, c, name, *name, strlen(name) <= CT_COUNTS_NAME);
    const size_t at = find(c, name);
    const bool is_known = at < c->count && strcmp(c->all[at].name, name) == 0;
    const int rc = is_known ? CT_OK : insert(c, at, name);
    if (!rc)
        ct_add_up(&c->all[at].count, count);
    return rc;
}

const struct ct_count *ct_counts_all(const struct ct_counts *c, size_t *count)
{
    return CT_ARRAY_OF(c, all, count, count);
}

/* ---- the contract ---- */

int ct_counts_part(const struct ct_analysis *analysis, struct ct_analysis **out)
{
    const struct ct_counts *whole = (const struct ct_counts *)analysis;
    struct ct_counts *c = NULL;
    int rc = ct_counts_new(analysis->ctx, analysis->kind, whole->way, &c);
    for (size_t i = 0; i < whole->place_count && !rc; i++)
        rc = ct_watch_counts_add(c, whole->places[i]);
    if (rc || !c) {
        ct_counts_free(c);
        return rc;
    }
    c->programs = whole->programs;
    *out = &c->analysis;
    return CT_OK;
}

int ct_counts_programs(struct ct_analysis *analysis, struct ct_programs *programs)
{
    of(analysis)->programs = programs;
    return CT_OK;
}

/* Returns the stream of a lane, and makes it when the lane is new. Returns NULL when out of memory. */
static struct ct_counts_stream *stream_of(struct ct_counts *c, uint32_t lane)
{
    for (size_t i = c->stream_count; i-- > 0;)
        if (c->streams[i]->lane == lane)
            return c->streams[i];
    struct ct_counts_stream *stream =
        CT_PUSH_ROOM(c->streams, c->stream_count) ? calloc(1, c->way->stream_size) : NULL;
    if (!stream)
        return NULL;
    stream->lane = lane;
    return c->streams[c->stream_count++] = stream;
}

int ct_counts_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct ct_counts *c = of(analysis);
    struct ct_counts_stream *stream = stream_of(c, batch->lane);
    return stream ? c->way->take(c, stream, batch) : no_memory(c);
}

int ct_counts_end(struct ct_analysis *analysis, uint32_t lane)
{
    struct ct_counts *c = of(analysis);
    for (size_t i = 0; i < c->stream_count; i++) {
        struct ct_counts_stream *stream = c->streams[i];
        if (stream->lane != lane)
            continue;
        c->streams[i] = c->streams[--c->stream_count];
        const int rc = c->way->end(c, stream);
        free_stream(c, stream);
        return rc;
    }
    return CT_OK;
}

int ct_counts_cut(struct ct_analysis *analysis, uint32_t lane, int is_end, struct ct_analysis_cut *cut)
{
    struct ct_counts *c = of(analysis);
    struct ct_counts_stream *stream = c->way->cut ? stream_of(c, lane) : NULL;
    if (!c->way->cut)
        return CT_OK;
    return stream ? c->way->cut(c, stream, is_end, cut) : no_memory(c);
}

int ct_counts_merge(struct ct_analysis *into, struct ct_analysis *other)
{
    const struct ct_counts *from = of(other);
    int rc = CT_OK;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = ct_counts_add(of(into), from->all[i].name, from->all[i].count);
    return rc;
}

void ct_counts_free_analysis(struct ct_analysis *analysis)
{
    ct_counts_free(of(analysis));
}

/* ---- files ---- */

int ct_counts_save(struct ct_analysis *analysis, struct ct_save *to)
{
    const struct ct_counts *c = of(analysis);
    char name[CT_PRINTABLE_ROOM(CT_COUNTS_NAME + 1)];
    int rc = CT_OK;
    for (size_t i = 0; i < c->count && !rc; i++) {
        ct_escape_to_read(c->all[i].name, name);
        rc = ct_save_line(to, "count %" PRIu64 " %s", c->all[i].count, name);
    }
    return rc;
}

/* Reads a line: count N NAME */
static int read_line(struct ct_counts *c, struct ct_load *from)
{
    char name[CT_PRINTABLE_ROOM(CT_COUNTS_NAME) + 1];
    uint64_t count;
    ct_load_split(from, 3);
    const struct ct_load_word *word = &from->words[2];
    if (from->word_count != 3 || !ct_load_is(from, 0, "count") || !ct_load_number(from, 1, 10, &count) ||
        !word->size || word->size >= sizeof name || memchr(word->text, 0, word->size))
        return ct_load_bad(from, "the line is neither one of captures, damaged, unknown, lost and run nor a "
                                 "count with a number and a name of 1 to 4096 bytes");
    memcpy(name, word->text, word->size);
    name[word->size] = 0;
    if (!ct_unescape(name) || !*name || strlen(name) > CT_COUNTS_NAME)
        return ct_load_bad(from, "the name must have 1 to 4096 bytes, none of them zero");
    const size_t known = c->count;
    const int rc = ct_counts_add(c, name, count);
    return !rc && known == c->count ? ct_load_bad(from, "the name is there twice") : rc;
}

int ct_counts_load(struct ct_analysis *part, struct ct_load *from)
{
    int rc = CT_OK;
    while (!rc && ct_load_line(from))
        rc = read_line(of(part), from);
    return rc;
}
