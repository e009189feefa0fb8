/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/shard.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/described.h"
#include "chain/chain.h"
#include "chain/memories.h"
#include "chain/protocol.h"
#include "frame/demux_skip.h"
#include "frame/row.h"

/* Bytes searched for an ID at a time, a whole number of frames. */
#define LOOK_SIZE ((size_t)64 << 10)

bool ct_chain_can_shard(const struct ct_buffer *buffer)
{
    if (buffer->pieces || !ct_buffer_is_file(buffer) || (buffer->maps && !ct_memories_stay(buffer)) ||
        (buffer->framing != CT_FRAMING_NONE && buffer->framing != CT_FRAMING_FRAMES))
        return false;
    for (size_t i = 0; i < buffer->source_count; i++) {
        const struct ct_source *source = &buffer->sources[i];
        const struct ct_protocol_ops *ops = ct_protocol_ops((enum ct_protocol)source->protocol);
        if (!ops || !ops->find_sync || ct_source_data_id(source) || ct_source_has_data_atoms(source))
            return false;
    }
    return true;
}

/* Finds the ID of the frames at an offset. A formatter with only one source may have named it once, long
 * before. Returns 0 when it is unknown. */
static uint8_t find_id(const struct ct_buffer *buffer, uint64_t offset)
{
    uint8_t frames[LOOK_SIZE], id = 0;
    const int fd = open(buffer->path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && offset && !id) {
        const size_t size = offset < sizeof frames ? (size_t)offset : sizeof frames;
        offset -= size;
        if (pread(fd, frames, size, (off_t)offset) != (ssize_t)size)
            break; /* the chain, which reads the file next, reports why */
        id = ct_frames_last_id(frames, size / CT_FRAME_SIZE);
    }
    if (fd >= 0)
        close(fd);
    return id;
}

void ct_chain_begin_shard(struct ct_chain *c, const struct ct_chain_shard *shard)
{
    c->shard = shard;
    c->options.threads = 1;
    for (size_t i = 0; i < c->count; i++) {
        c->streams[i].warms_up = shard->begin > 0;
        c->streams[i].cut = shard->end;
    }
    if (shard->warm_up && c->options.framing == CT_FRAMING_FRAMES)
        c->begin_id = find_id(c->buffer, shard->warm_up);
    if (shard->warm_up)
        ct_chain_begin_inside(c, shard->warm_up);
}

/* ---- one stream ---- */

/* Returns the index of the first byte of a run, from `at` on, that is at or after an offset in the capture;
 * the size of the run when there is none. */
static size_t find_offset(const struct ct_run *run, size_t at, uint64_t offset)
{
    if (at == run->size || ct_run_offset(run, run->pos + run->size - 1) < offset)
        return run->size;
    size_t end = run->size - 1;
    while (at < end) {
        const size_t middle = at + (end - at) / 2;
        if (ct_run_offset(run, run->pos + middle) < offset)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Resets the counts of a stream after its warm-up. Subtracts the bytes of the run up to `used`, because the
 * caller will add them. */
static void begin_counting(struct ct_stream_chain *c, size_t used)
{
    memset(&c->stream.stats, 0, sizeof c->stream.stats);
    c->stream.stats.bytes -= used;
    if (c->follow) {
        ct_follow_clear_sums(c->follow);
        ct_follow_drop(c->follow);
    }
    c->warms_up = false;
}

/* Counts everything that is buffered. */
static int settle(struct ct_stream_chain *c, const struct ct_chain_sink *sink)
{
    const int rc = c->follow ? ct_follow_rest(c->follow, &c->stream, sink) : 0;
    return rc ? rc : ct_stream_chain_sync(c);
}

/* Reports the point that a stream reached, which is its first or its last. */
static int reach(struct ct_stream_chain *c, const struct ct_chain_shard *shard, uint64_t offset, size_t used,
                 const struct ct_chain_sink *sink)
{
    struct ct_seam seam;
    int rc = settle(c, sink);
    if (rc)
        return rc;
    ct_stream_chain_seam(c, &seam);
    rc = shard->reach(shard->user, &c->stream, !c->warms_up, offset, &seam);
    if (c->warms_up)
        begin_counting(c, used);
    else
        c->left = true;
    return rc;
}

/* Returns the offset after which a point is no longer near a cut. */
static uint64_t end_of(const struct ct_chain_shard *shard, uint64_t cut)
{
    return cut < UINT64_MAX - shard->near ? cut + shard->near : UINT64_MAX;
}

/* Passes a cut without a point near it: the shard continues, or has nothing of the stream. */
static void pass_cut(struct ct_stream_chain *c, const struct ct_chain_shard *shard)
{
    if (c->warms_up)
        c->left = true;
    else
        c->cut = c->cut < UINT64_MAX - shard->step ? c->cut + shard->step : UINT64_MAX;
}

/* Decodes up to byte `found` of the run, where a point seems to be, and reports the point if it is one. */
static int run_to_point(struct ct_stream_chain *c, const struct ct_run *run, size_t found,
                        enum ct_level level, struct ct_batches *batches, const struct ct_chain_sink *sink,
                        const struct ct_chain_shard *shard, size_t *used)
{
    const int rc = ct_stream_chain_run_part(c, run, used, found, CT_BEHIND_MORE, level, batches, sink);
    c->next_point = run->pos + found + 1;
    if (rc || *used != found) /* the bytes only look like a synchronisation point */
        return rc;
    return reach(c, shard, ct_run_offset(run, run->pos + found), found, sink);
}

int ct_stream_chain_run_shard(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                              enum ct_level level, struct ct_batches *batches,
                              const struct ct_chain_sink *sink, const struct ct_chain_shard *shard,
                              size_t *used)
{
    int rc = 0;
    *used = 0;
    while (!rc && !c->left) {
        const uint64_t cut = c->warms_up ? shard->begin : c->cut;
        size_t from = find_offset(run, *used, cut);
        const size_t end = find_offset(run, from, end_of(shard, cut));
        if (c->next_point > run->pos + from)
            from = (size_t)(c->next_point - run->pos);
        const size_t found = from < run->size ? c->ops->find_sync(run->data, run->size, from) : SIZE_MAX;
        if (found < end) {
            rc = run_to_point(c, run, found, level, batches, sink, shard, used);
        } else if (end < run->size) {
            pass_cut(c, shard);
        } else {
            /* the last bytes after a cut are kept: a point may begin in them */
            const size_t kept = from < run->size && behind == CT_BEHIND_MORE ? CT_SYNC_SIZE_MAX : 0;
            const size_t to = run->size - *used > kept ? run->size - kept : *used;
            return ct_stream_chain_run_part(c, run, used, to, behind, level, batches, sink);
        }
    }
    return rc;
}

void ct_stream_chain_miss_shard(struct ct_stream_chain *c, const struct ct_chain_shard *shard,
                                uint64_t offset)
{
    if (c->warms_up && offset >= end_of(shard, end_of(shard, shard->begin)))
        c->left = true;
}

int ct_stream_chain_end_shard(struct ct_stream_chain *c, const struct ct_chain_sink *sink)
{
    const int rc = c->warms_up ? settle(c, sink) : 0;
    if (c->warms_up)
        begin_counting(c, 0);
    return rc;
}
