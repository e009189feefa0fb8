/* SPDX-License-Identifier: Apache-2.0 */
#include "session/find_time.h"

struct search {
    const struct ct_merge_source *source;
    uint64_t least; /* minimal value */
    struct ct_found_time *out;
};

/* Ends the chain at the timestamp. Local timestamps of an ITM are cycles and no times. */
static int find(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct search *s = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_elem *e = &batch->elems[i];
        const bool local = s->source->source->protocol == CT_PROTOCOL_ITM && e->n != CT_TIMESTAMP_GLOBAL;
        if (e->kind == CT_ELEM_TIMESTAMP && !local && e->v >= s->least) {
            s->out->time = e->v;
            s->out->found = true;
            return 1;
        }
    }
    return 0;
}

int ct_find_time(struct ct_ctx *ctx, const struct ct_merge_source *source, uint64_t least,
                 struct ct_found_time *out)
{
    struct search search = {.source = source, .least = least, .out = out};
    const struct ct_chain_sink sink = {.user = &search, .elems = find};
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    struct ct_chain *chain;
    *out = (struct ct_found_time){0};
    options.ids[source->id / 64] = UINT64_C(1) << source->id % 64;
    int rc = ct_chain_new(ctx, source->buffer, &options, &sink, &chain);
    if (rc)
        return rc;
    rc = ct_chain_run(chain);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    out->has_trace = out->found || (count && streams[0].stats.bytes);
    ct_chain_free(chain);
    return rc < 0 ? rc : CT_OK;
}
