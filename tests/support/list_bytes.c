/* SPDX-License-Identifier: Apache-2.0 */
#include "support/list_bytes.h"

#include <stdio.h>

#include "chain/stream.h"
#include "format/listing.h"

struct sink {
    struct ct_text text;
    struct ct_element_lister lister;
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct sink *s = user;
    ct_list_packets(&s->text, NULL, stream, batch);
    return 0;
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct sink *s = user;
    (void)stream;
    for (size_t i = 0; i < batch->count; i++)
        ct_list_flow(&s->lister, &batch->records[i]);
    return 0;
}

/* Runs the chain on random pieces. Bytes of a piece that are not consumed come again with the next piece. */
static void run_pieces(struct ct_stream_chain *chain, const uint8_t *bytes, size_t size, enum ct_level level,
                       const struct ct_chain_sink *sink, struct rng *cuts)
{
    static struct ct_batches batches;
    struct ct_span span = {0};
    size_t done = 0, end = 0, used;
    for (int last = 0; !last; done += used) {
        size_t step = cuts ? 1 + rng_below(cuts, rng_chance(cuts, 128) ? 4 : 40) : size;
        end = size - end < step ? size : end + step;
        last = end == size;
        struct ct_run run = {
            .data = bytes + done, .size = end - done, .pos = done, .spans = &span, .span_count = 1};
        ct_stream_chain_run(chain, &run, last ? CT_BEHIND_END : CT_BEHIND_MORE, level, &batches, sink, &used);
    }
}

char *list_bytes(const struct ct_source *source, const struct list_region *regions, size_t region_count,
                 const uint8_t *bytes, size_t size, enum ct_level level, struct rng *cuts)
{
    static struct sink s;
    struct ct_stream_chain chain;
    struct ct_memory *memory;
    struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    struct ct_chain_sink sink = {.user = &s};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out || ct_memory_new(NULL, &memory))
        abort();
    for (size_t i = 0; i < region_count; i++)
        if (ct_memory_add_bytes(memory, regions[i].bytes, regions[i].size, regions[i].addr, 0))
            abort();
    ct_text_init(&s.text, out);
    s.lister = (struct ct_element_lister){.text = &s.text, .id = 0x10};
    if (level == CT_LEVEL_PACKET)
        sink.packets = on_packets;
    else
        sink.flow = on_flow;
    int err = ct_stream_chain_init(&chain, NULL, source, 0x10, &options, false, memory);
    if (!err)
        run_pieces(&chain, bytes, size, level, &sink, cuts);
    ct_stream_chain_deinit(&chain);
    ct_memory_free(memory);
    ct_list_flow_end(&s.lister);
    ct_text_flush(&s.text);
    fclose(out);
    if (!err)
        return text;
    free(text);
    return NULL;
}
