/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where to begin decoding for a window, so that a window of a long capture costs little more than the
 * window itself. */
#include "base/ctx.h"
#include "base/described.h"
#include "chain/chunks.h"
#include "session/index_file.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Minimal distance between two points of an index, in bytes, and maximal number of points of a stream. */
#define APART       ((uint64_t)64 << 10)
#define MOST_POINTS 65536u

/* In framed trace, the streams get their bytes in turn from each chunk that is read. When decoding begins at
 * a multiple of the chunk size, batches of several streams come in the same order as without a window. Tests
 * have too little trace for that and begin at multiples of a frame. */
#define FRAME_SIZE 16u

void ct_session_tune(struct ct_session *s, uint64_t apart)
{
    s->apart = apart;
}

void ct_session_forget_index(struct ct_session *s)
{
    ct_index_free(s->index);
    s->index = NULL;
    s->index_of = NULL;
}

static bool is_clock(const struct ct_filter_point *point)
{
    return point->kind == CT_POINT_TICKS || point->kind == CT_POINT_CYCLES ||
           point->kind == CT_POINT_INSTRUCTIONS;
}

/* Returns whether the pieces of a buffer are in file order, so that a larger offset means later trace. */
static bool is_in_order(const struct ct_buffer *buffer)
{
    bool is = true;
    for (size_t i = 1; i < buffer->piece_count; i++)
        is &= buffer->pieces[i].offset >= buffer->pieces[i - 1].offset + buffer->pieces[i - 1].size;
    return is;
}

/* Returns whether the start of the window can be searched. A place is found only by following the whole
 * program. The file is read twice. */
static bool can_look(const struct ct_session *s, const struct ct_buffer *buffer, uint64_t *size)
{
    const struct ct_filter *f = &s->filter;
    struct stat st;
    if (!is_clock(&f->from) || (f->to.kind && !is_clock(&f->to)) || !is_in_order(buffer) ||
        !ct_buffer_is_file(buffer) || stat(buffer->path, &st) || !S_ISREG(st.st_mode))
        return false;
    *size = (uint64_t)st.st_size;
    return true;
}

static int on_bytes(void *user, uint64_t bytes)
{
    const struct ct_session *s = user;
    return s->options.progress(s->options.user, s->looked + bytes);
}

/* Loads the index of a buffer from its file, or makes one of the whole buffer and writes the file. Each
 * buffer of a perf.data has its own index. */
static int get_kept(struct ct_session *s, const struct ct_index_look *look)
{
    char path[4096];
    struct ct_index_identity identity;
    const struct ct_buffer *buffer = look->buffer;
    const bool is_named = buffer->pieces && buffer->name[0] && !strchr(buffer->name, '/');
    const int length = snprintf(path, sizeof path, "%s%s%s" CT_INDEX_SUFFIX, buffer->path,
                                is_named ? "." : "", is_named ? buffer->name : "");
    if (length < 0 || (size_t)length >= sizeof path)
        return ct_fail(s->ctx, CT_ERR_LIMIT,
                       "%s: the path is too long for the name of an index file; use a "
                       "shorter path, or omit --index",
                       look->buffer->path);
    int rc = ct_index_identify(s->ctx, look->buffer, &identity);
    if (!rc)
        rc = ct_index_load(s->ctx, path, &identity, &s->index);
    if (rc || (s->index && (s->index->followed || !look->instructions)))
        return rc;
    struct ct_index_look whole = *look;
    whole.from = NULL;
    whole.ids[0] = whole.ids[1] = 0;
    ct_session_forget_index(s);
    return ct_index_make(&whole, &s->index) ?: ct_index_save(s->ctx, path, s->index, &identity);
}

static int get_index(struct ct_session *s, const struct ct_index_look *look)
{
    if (s->index_of == look->buffer)
        return CT_OK;
    ct_session_forget_index(s);
    const int rc = s->options.index ? get_kept(s, look) : ct_index_make(look, &s->index);
    s->index_of = rc ? NULL : look->buffer;
    return rc;
}

/* Logs why an index that was requested is not used for a buffer. */
static int note_no_index(const struct ct_session *s, const struct ct_buffer *buffer, const char *why)
{
    if (s->options.index)
        ct_log(s->ctx, CT_LOG_NOTE, "%s: no index is used: %s; the trace is decoded from its first byte",
               buffer->path, why);
    return CT_OK;
}

int ct_session_begin(struct ct_session *s, const struct ct_buffer *buffer, const uint64_t ids[2],
                     uint64_t before, struct ct_index_begin *begin)
{
    const struct ct_filter *f = &s->filter;
    uint64_t size = 0;
    *begin = (struct ct_index_begin){0};
    struct ct_index_look look = {.ctx = s->ctx,
                                 .buffer = buffer,
                                 .from = &f->from,
                                 .to = &f->to,
                                 .instructions = f->from.kind == CT_POINT_INSTRUCTIONS ||
                                                 f->to.kind == CT_POINT_INSTRUCTIONS,
                                 .user = s,
                                 .progress = s->options.progress ? on_bytes : NULL};
    if (!s->sieves || !ct_session_ids(s, buffer, look.ids))
        return CT_OK;
    if (!can_look(s, buffer, &size))
        return note_no_index(s, buffer,
                             "the trace comes from a pipe, or its pieces are not in order in the "
                             "file");
    look.apart = s->apart ? s->apart : size / MOST_POINTS > APART ? size / MOST_POINTS : APART;
    look.align = s->apart ? FRAME_SIZE : CT_CHUNK_SIZE;
    s->looked = before;
    const int rc = get_index(s, &look);
    memcpy(look.ids, ids, sizeof look.ids);
    return rc || !s->index ? rc : ct_index_find(s->index, &look, begin);
}
