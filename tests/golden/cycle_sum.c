/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every cycle counted by packets of a capture is on an instruction range, on another element, or
 * reported as unplaced: the sums are equal. usage: cycle_sum SHARED, the folder of the corpus when $CT_SHARED
 * is not set. Prints TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coretap/decode.h"

struct sums {
    uint64_t packets;
    uint64_t ranges, gaps, others, unplaced;
    struct ct_flow kept; /* record that attached cycles belong to */
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct sums *s = user;
    const struct ct_ptm_packet *ptm = batch->packets;
    const struct ct_etm3_packet *etm3 = batch->packets;
    for (size_t i = 0; i < batch->count; i++)
        s->packets += stream->source->protocol == CT_PROTOCOL_PTM ? ptm[i].cc : etm3[i].cc;
    return 0;
}

static void add(struct sums *s, const struct ct_elem *cycles)
{
    if (cycles->n == CT_CYCLES_UNPLACED)
        s->unplaced += cycles->v;
    else if (cycles->n == CT_CYCLES_ATTACHED && s->kept.kind == CT_FLOW_RANGE)
        s->ranges += cycles->v;
    else if (cycles->n == CT_CYCLES_ATTACHED && s->kept.kind == CT_FLOW_ELEM &&
             (s->kept.elem.kind == CT_ELEM_TRACE_ON || s->kept.elem.kind == CT_ELEM_CONTEXT))
        s->gaps += cycles->v;
    else
        s->others += cycles->v;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct sums *s = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_flow *r = &batch->records[i];
        if (r->kind == CT_FLOW_ELEM && r->elem.kind == CT_ELEM_CYCLES)
            add(s, &r->elem);
        else
            s->kept = *r;
    }
    return 0;
}

static int run(struct ct_ctx *ctx, const char *shared, const char *name, uint8_t id, struct sums *sums)
{
    char path[1024];
    struct ct_capture *capture;
    struct ct_chain *chain;
    struct ct_chain_sink sink = {.user = sums, .packets = on_packets, .flow = on_flow};
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_FLOW};
    snprintf(path, sizeof path, "%s/corpus/snapshots/%s", shared, name);
    options.ids[id / 64] = UINT64_C(1) << (id % 64);
    int rc = ct_capture_open(ctx, path, &capture);
    if (rc)
        return rc;
    rc = ct_chain_new(ctx, &capture->buffers[0], &options, &sink, &chain);
    if (!rc) {
        rc = ct_chain_run(chain);
        ct_chain_free(chain);
    }
    ct_capture_free(capture);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint8_t id;
    } streams[] = {{"Snowball", 0x10}, {"Snowball", 0x11}, {"TC2", 0x10},
                   {"TC2", 0x11},      {"TC2", 0x12},      {"TC2", 0x13}};
    char probe[1024];
    const char *shared = getenv("CT_SHARED");
    if (!shared && argc > 1)
        shared = argv[1];
    snprintf(probe, sizeof probe, "%s/corpus/golden/MANIFEST.tsv", shared ? shared : ".");
    FILE *manifest = fopen(probe, "r");
    if (!manifest) {
        printf("1..0 # skip there is no corpus\n");
        return 0;
    }
    fclose(manifest);
    struct ct_ctx *ctx = ct_ctx_new();
    unsigned count = sizeof streams / sizeof *streams, failed = 0;
    printf("1..%u\n", count);
    for (unsigned i = 0; i < count; i++) {
        struct sums s = {0};
        int rc = run(ctx, shared, streams[i].name, streams[i].id, &s);
        int ok = !rc && s.packets && s.ranges && s.packets == s.ranges + s.gaps + s.others + s.unplaced;
        printf("%sok %u - %s %02x: %" PRIu64 " cycles in packets; on ranges %" PRIu64 ", gaps %" PRIu64
               ", other elements %" PRIu64 ", unplaced %" PRIu64 "%s\n",
               ok ? "" : "not ", i + 1, streams[i].name, streams[i].id, s.packets, s.ranges, s.gaps, s.others,
               s.unplaced, rc ? ct_ctx_error(ctx) : "");
        failed += !ok;
    }
    ct_ctx_free(ctx);
    return failed != 0;
}
