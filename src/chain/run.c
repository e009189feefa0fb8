/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a chain over the file of its buffer. */
#include "base/ctx.h"
#include "base/require.h"
#include "chain/chain.h"
#include "chain/feed.h"
#include "chain/shard.h"
#include "chain/threads/parallel.h"
#include "chain/threads/relay.h"
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

static int run_file(void *user)
{
    struct ct_chain *c = user;
    struct ct_feed feed;
    size_t pushed;
    int rc = ct_feed_open(&feed, c->ctx, c->buffer, ct_framing_file_offset(ct_chain_framing(c), c->begin));
    if (c->relay) /* the handler of SIGBUS only runs in the caller's threads */
        feed.chunks.maps = false;
    if (!rc)
        rc = share_file(c, &feed.chunks);
    while (!rc && !feed.ended)
        rc = ct_feed_push(&feed, c, CT_CHUNK_SIZE, &pushed);
    ct_feed_close(&feed);
    if (!rc)
        rc = ct_chain_finish(c);
    if (c->shard)
        rc = end_shard(c, rc);
    return ct_tell_nomem(c->ctx, c->buffer->path, rc);
}

/* Runs the chain in a separate thread, ahead of its receiver. This thread and the caller's count as two of
 * the wanted threads. */
static int run_ahead(struct ct_chain *c)
{
    const struct ct_chain_sink *sink = c->sink;
    int rc = ct_relay_new(c->ctx, sink, &c->relay);
    if (rc)
        return rc;
    c->options.threads--;
    c->sink = ct_relay_sink(c->relay);
    rc = ct_relay_run(c->relay, run_file, c);
    c->sink = sink;
    return ct_tell_nomem(c->ctx, c->buffer->path, rc);
}

int ct_chain_run(struct ct_chain *c)
{
    CT_REQUIRE(NULL, c);
    if (c->bytes)
        return ct_fail(c->ctx, CT_ERR_ARG,
                       "%s: the chain has already decoded bytes, so the file is not read; make a new "
                       "chain",
                       __func__);
    const bool ahead = c->relays && !c->relay && !c->shard && !c->points && !c->begin &&
                       ct_chain_useful_threads(c, c->options.threads) > 1;
    return ahead ? run_ahead(c) : run_file(c);
}
