/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a chain over the file of its buffer. */
#include "base/ctx.h"
#include "base/described.h"
#include "base/require.h"
#include "chain/chain.h"
#include "chain/feed.h"
#include "chain/shard.h"
#include "chain/threads/parallel.h"
#include "frame/demux_skip.h"

/* Decodes a file without frames with threads that read it themselves. Does nothing when that is not
 * possible. */
static int share_file(struct ct_chain *c, struct ct_chunks *chunks)
{
    const struct ct_parallel_file file = {
        .path = c->buffer->path, .fd = chunks->fd, .size = ct_chunks_file_size(chunks)};
    if (c->options.framing != CT_FRAMING_NONE || c->buffer->pieces || c->begin || c->bytes || !file.size)
        return CT_OK;
    int rc = ct_chain_start_threads(c);
    if (rc || !c->parallel || !ct_parallel_takes_file(c->parallel))
        return rc;
    while (!rc && c->bytes < file.size) {
        uint64_t at = c->bytes;
        rc = ct_parallel_file(c->parallel, &file, &at);
        ct_demux_skip(c->demux, (size_t)(at - c->bytes));
        c->bytes = at;
        if (!rc && c->sink->bytes)
            rc = c->sink->bytes(c->sink->user, c->bytes);
    }
    return rc ? rc : ct_chunks_seek(chunks, c->bytes, UINT64_MAX);
}

/* Ends a shard: every stream of it has ended, or has nothing in it. */
static int end_shard(struct ct_chain *c, int rc)
{
    rc = rc == CT_CHAIN_OVER ? CT_OK : rc;
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = ct_stream_chain_end_shard(&c->streams[i], c->sink);
    return rc;
}

int ct_chain_run(struct ct_chain *c)
{
    CT_REQUIRE(NULL, c);
    struct ct_feed feed;
    size_t pushed;
    if (c->bytes)
        return ct_fail(c->ctx, CT_ERR_ARG,
                       "%s: the chain has already decoded bytes, so the file is not read; make a new "
                       "chain",
                       __func__);
    if (!c->buffer->path)
        return ct_fail(c->ctx, CT_ERR_ARG,
                       "%s: the buffer has no path, so nothing is read; set it, or pass the bytes to "
                       "ct_chain_push",
                       __func__);
    int rc = ct_feed_open(&feed, c->ctx, c->buffer, ct_framing_file_offset(ct_chain_framing(c), c->begin));
    if (!rc)
        rc = share_file(c, &feed.chunks);
    while (!rc && !feed.ended)
        rc = ct_feed_push(&feed, c, CT_CHUNK_SIZE, &pushed);
    if (rc) /* they may be reading the file */
        ct_parallel_stop_threads(c->parallel);
    ct_feed_close(&feed);
    if (!rc)
        rc = ct_chain_finish(c);
    if (c->shard)
        rc = end_shard(c, rc);
    return ct_tell_nomem(c->ctx, ct_buffer_title(c->buffer), rc);
}
