/* The library's packets and elements as the lines that the oracle's are compared with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/protocol.h"
#include "decode/stream.h"
#include "oracle/v7/v7_ocsd.h"
#include "report/listing.h"

struct sink {
    struct ct_text text;
    struct ct_element_lister lister;
};

/* Takes a field " name=value" out of a line. */
static void drop_field(char *line, const char *name)
{
    char *at = strstr(line, name);
    if (!at)
        return;
    const char *end = strchr(at + 1, ' ');
    memmove(at, end ? end : at + strlen(at), end ? strlen(end) + 1 : 1);
}

/* The lines without the ID, and what OpenCSD 1.3.3 does not say: bytes, memory spaces, current addresses, which data packet could not be, the instruction set of a context. */
static void add_line(struct v7_lines *lines, char *line, int packets)
{
    char *rest = strchr(line, ' ');
    *rest++ = 0;
    rest = strchr(rest, ' ');
    if (packets)
        rest = strchr(rest + 1, ' ');
    drop_field(rest, " space=");
    drop_field(rest, " bytes=");
    drop_field(rest, " curr=");
    if (strstr(rest, " bad_tracemode "))
        drop_field(rest, " err=");
    if (strstr(rest, " pe_context "))
        drop_field(rest, " isa=");
    v7_add(lines, "%s%s\n", line, rest);
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct sink *s = user;
    ct_protocol_ops((enum ct_protocol)batch->protocol)->list(&s->text, stream, batch);
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

static int decode(struct sink *s, const struct ct_source *source, const struct ct_memory *memory,
                  const uint8_t *bytes, size_t size, enum ct_level level)
{
    static struct ct_batches batches;
    struct ct_stream_chain chain;
    struct ct_chain_options options = {.size = sizeof options, .level = (uint8_t)level};
    struct ct_chain_sink sink = {.user = s};
    struct ct_span span = {0};
    struct ct_run run = {.data = bytes, .size = size, .spans = &span, .span_count = 1};
    size_t used;
    if (level == CT_LEVEL_PACKET)
        sink.packets = on_packets;
    else
        sink.flow = on_flow;
    int err = ct_stream_chain_init(&chain, NULL, source, 0x10, &options, memory);
    if (!err)
        err = ct_stream_chain_run(&chain, &run, true, level, &batches, &sink, &used);
    ct_stream_chain_deinit(&chain);
    return err;
}

static int run(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
               unsigned region_count, const uint8_t *bytes, size_t size, enum ct_level level)
{
    static struct sink s;
    struct ct_memory *memory;
    char *text = NULL, *save = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int err = !out || ct_memory_new(NULL, &memory);
    for (unsigned i = 0; i < region_count && !err; i++)
        err = ct_memory_add_bytes(memory, regions[i].bytes, regions[i].size, regions[i].addr, 0);
    if (err)
        return err;
    ct_text_init(&s.text, out);
    s.lister = (struct ct_element_lister){.text = &s.text};
    err = decode(&s, source, memory, bytes, size, level);
    ct_list_flow_end(&s.lister);
    ct_text_flush(&s.text);
    fclose(out);
    lines->size = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_line(lines, line, level == CT_LEVEL_PACKET);
    free(text);
    ct_memory_free(memory);
    return err;
}

int v7_coretap_packets(struct v7_lines *lines, const struct ct_source *source, const uint8_t *bytes,
                       size_t size)
{
    return run(lines, source, NULL, 0, bytes, size, CT_LEVEL_PACKET);
}

int v7_coretap_elems(struct v7_lines *lines, const struct ct_source *source, const struct v7_region *regions,
                     unsigned region_count, const uint8_t *bytes, size_t size)
{
    return run(lines, source, regions, region_count, bytes, size, CT_LEVEL_FLOW);
}
