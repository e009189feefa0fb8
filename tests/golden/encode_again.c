/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the PTM and ITM packets of real captures encode to their bytes, and that their elements survive
 * encoding and decoding. usage: encode_again SHARED, the folder of the corpus when $CT_SHARED is not set.
 * Prints TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/elem_rows.h"
#include "support/pieces.h"
#include "support/ptm_stream.h"
#include "coretap/decode.h"
#include "coretap/encode.h"
#include "coretap/packet_ptm.h"

/* The elements of one trace ID. */
struct elems {
    const struct ct_source *source;
    struct ct_elem *rows;
    size_t count, cap;
};

struct state {
    struct ct_ctx *ctx;
    struct ct_ptm_encoder *encoders[128]; /* by trace ID */
    struct elems elems[128];
    uint64_t same, other; /* packets */
    uint64_t itm_same, itm_other;
    uint64_t elems_same, elems_other; /* elements, as rows */
};

static void *grown(void *old, size_t size)
{
    void *data = realloc(old, size);
    if (!data)
        abort();
    return data;
}

static void check(struct state *s, struct ct_ptm_encoder *encoder, const struct ct_ptm_packet *packet,
                  const uint8_t *bytes)
{
    uint8_t again[CT_PTM_PACKET_MAX];
    size_t len;
    int err = ct_ptm_encode_packet(encoder, packet, again, sizeof(again), &len);
    if (!err && len == packet->size && !memcmp(again, bytes, len)) {
        s->same++;
        return;
    }
    s->other++;
    printf("# packet of type %u at %" PRIu64 ": %s\n", packet->type, packet->pos,
           err ? ct_ctx_error(s->ctx) : "other bytes");
}

static void check_itm(struct state *s, const struct ct_packet_batch *batch)
{
    const struct ct_itm_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count; i++) {
        uint8_t again[CT_ITM_PACKET_MAX];
        size_t len;
        if (packets[i].type < CT_ITM_ASYNC)
            continue;
        const int err = ct_itm_encode_packet(s->ctx, &packets[i], again, sizeof again, &len);
        if (!err && len == packets[i].size &&
            !memcmp(again, batch->run->data + (packets[i].pos - batch->run->pos), len)) {
            s->itm_same++;
            continue;
        }
        s->itm_other++;
        printf("# ITM packet of type %u at %" PRIu64 "\n", packets[i].type, packets[i].pos);
    }
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct state *s = user;
    const struct ct_ptm_packet *packets = batch->packets;
    if (batch->protocol == CT_PROTOCOL_ITM)
        check_itm(s, batch);
    if (batch->protocol != CT_PROTOCOL_PTM)
        return 0;
    struct ct_ptm_encoder **encoder = &s->encoders[stream->id & 127];
    int err = *encoder ? CT_OK : ct_ptm_encoder_new(s->ctx, stream->source, encoder);
    if (err)
        return err;
    for (size_t i = 0; i < batch->count; i++)
        if (packets[i].type >= CT_PTM_ASYNC) /* types before it stand for damage */
            check(s, *encoder, &packets[i], batch->run->data + (packets[i].pos - batch->run->pos));
    return 0;
}

/* Collects elements. Counts from before decoding began are left out: only the trace after it can be encoded
 * again. */
static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct state *s = user;
    struct elems *e = &s->elems[stream->id & 127];
    if (stream->source->protocol != CT_PROTOCOL_PTM)
        return 0;
    e->source = stream->source;
    if (e->cap - e->count < batch->count) {
        e->cap = 2 * (e->count + batch->count);
        e->rows = grown(e->rows, e->cap * sizeof(*e->rows));
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_elem *elem = &batch->elems[i];
        if (elem->kind != CT_ELEM_CYCLES || elem->n != CT_CYCLES_UNPLACED)
            e->rows[e->count++] = *elem;
    }
    return 0;
}

/* Checks the elements. An element has at most 24 bytes, and there is one packet more than there are atoms. */
static void check_elems(struct state *s, struct elems *e)
{
    struct rng rng = {1};
    size_t room = 32 * e->count + 128, cap = 32 * e->count + CT_RESOLVE_MIN, size;
    uint8_t *bytes = grown(NULL, room);
    struct ct_elem *again = grown(NULL, cap * sizeof(*again));
    size_t have = 0, count = e->count, same = 0;
    if (!ptm_encode(&rng, e->source, e->rows, e->count, bytes, room, &size))
        have = elem_rows(again, pieces_elems(e->source, bytes, size, again, cap), ELEM_ROWS_ALL);
    count = elem_rows(e->rows, count, ELEM_ROWS_ALL);
    while (same < count && same < have && !memcmp(&e->rows[same], &again[same], sizeof(*again)))
        same++;
    if (same < count || same < have)
        printf("# element %zu of %zu is another; %zu came back\n", same, count, have);
    s->elems_same += same;
    s->elems_other += (count > have ? count : have) - same;
    free(bytes);
    free(again);
    free(e->rows);
    *e = (struct elems){0};
}

static int run_buffer(struct state *s, const struct ct_buffer *buffer)
{
    struct ct_chain *chain;
    struct ct_chain_sink sink = {.user = s, .packets = on_packets, .elems = on_elems};
    struct ct_chain_options options = {.size = sizeof(options), .level = CT_LEVEL_ELEMENT};
    int err = ct_chain_new(s->ctx, buffer, &options, &sink, &chain);
    if (err)
        return err;
    err = ct_chain_run(chain);
    ct_chain_free(chain);
    for (size_t id = 0; id < 128; id++) {
        ct_ptm_encoder_free(s->encoders[id]);
        s->encoders[id] = NULL;
        if (s->elems[id].count)
            check_elems(s, &s->elems[id]);
    }
    return err;
}

static int run_capture(struct state *s, const char *shared, const char *name)
{
    char path[1024];
    struct ct_capture *capture;
    snprintf(path, sizeof(path), "%s/corpus/snapshots/%s", shared, name);
    int err = ct_capture_open(s->ctx, path, &capture);
    if (!err) {
        for (size_t i = 0; i < capture->buffer_count && !err; i++)
            err = run_buffer(s, &capture->buffers[i]);
        ct_capture_free(capture);
    }
    if (err)
        printf("# %s\n", ct_ctx_error(s->ctx));
    return err;
}

static int run_itm(const char *shared, const char *name, unsigned number)
{
    struct state s = {.ctx = ct_ctx_new()};
    const int err = run_capture(&s, shared, name);
    const int ok = !err && s.itm_same && !s.itm_other;
    printf("%s %u - %s: %" PRIu64 " ITM packets are as they were, %" PRIu64 " are not\n",
           ok ? "ok" : "not ok", number, name, s.itm_same, s.itm_other);
    ct_ctx_free(s.ctx);
    return ok;
}

static int run(const char *shared, const char *name, unsigned number)
{
    struct state s = {.ctx = ct_ctx_new()};
    const int err = run_capture(&s, shared, name);
    int ok = !err && s.same && !s.other, elems_ok = !err && s.elems_same && !s.elems_other;
    printf("%s %u - %s: %" PRIu64 " packets are as they were, %" PRIu64 " are not\n", ok ? "ok" : "not ok",
           number, name, s.same, s.other);
    printf("%s %u - %s: %" PRIu64 " elements are as they were, %" PRIu64 " are not\n",
           elems_ok ? "ok" : "not ok", number + 1, name, s.elems_same, s.elems_other);
    ct_ctx_free(s.ctx);
    return ok && elems_ok;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"TC2", "trace_cov_a15", "Snowball"};
    const char *shared = getenv("CT_SHARED");
    char corpus[1024];
    shared = shared || argc < 2 ? shared : argv[1];
    snprintf(corpus, sizeof(corpus), "%s/corpus", shared ? shared : "");
    if (!shared || access(corpus, R_OK)) {
        printf("1..0 # skip there is no corpus (CT_SHARED names the folder that holds it)\n");
        return 0;
    }
    int ok = 1;
    printf("TAP version 13\n1..8\n");
    for (unsigned i = 0; i < 3; i++)
        ok &= run(shared, names[i], 2 * i + 1);
    ok &= run_itm(shared, "itm_only_raw", 7);
    ok &= run_itm(shared, "itm_only_csformat", 8);
    return ok ? 0 : 1;
}
