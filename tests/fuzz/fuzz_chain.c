/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes all layers, from bytes of a buffer to instructions: 24 bytes of configuration (source.h), one for
 * the framing, one that selects how to cut, two for the size of the code, the code, trace. Two sources share
 * the buffer, the first of any protocol. What must hold: neither other cuts nor threads change a record or a
 * count, and both engines make the same steps. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain/chain_tune.h"
#include "coretap/decode.h"
#include "fuzz.h"
#include "source.h"

#define HEAD_BYTES (FUZZ_SOURCE_BYTES + 4)
#define CODE_BASE  0x400000u

/* Result of a run, in a form that can be compared. */
struct outcome {
    uint64_t records;
    uint64_t digest;
    struct ct_stream_stats stats;
};

/* Adds a word to the digest (FNV-1a, by words). */
static void mix(struct outcome *outcome, uint64_t word)
{
    outcome->digest = (outcome->digest ^ word) * UINT64_C(0x100000001b3);
}

static int on_flow(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch)
{
    struct outcome *outcome = (struct outcome *)user + (stream->id == 0x11);
    for (size_t i = 0; i < batch->count; i++) {
        const struct ct_flow *r = &batch->records[i];
        outcome->records++;
        mix(outcome, r->offset);
        mix(outcome, r->kind);
        if (r->kind == CT_FLOW_ELEM) {
            mix(outcome, r->elem.v);
            mix(outcome, (uint64_t)r->elem.kind << 32 | (uint32_t)r->elem.n << 16 | r->elem.aux);
        } else {
            mix(outcome, r->start);
            mix(outcome, r->kind == CT_FLOW_NO_ACCESS ? r->space : r->end ^ r->n);
        }
    }
    return 0;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct outcome *outcome = (struct outcome *)user + (stream->id == 0x11);
    size_t mark = 0;
    for (size_t i = 0; i <= batch->count; i++) {
        for (; mark < batch->mark_count && batch->marks[mark].at == i; mark++) {
            mix(outcome, batch->marks[mark].offset);
            mix(outcome, batch->marks[mark].value);
            mix(outcome, batch->marks[mark].elem.v);
        }
        if (i < batch->count)
            mix(outcome, (uint64_t)batch->edge[i] << 32 | (batch->cycles ? batch->cycles[i] : 0));
    }
    require(mark == batch->mark_count);
    outcome->records += batch->count + batch->mark_count;
    return 0;
}

/* Writes the image to a file, as captures have them, and returns its path. */
static const char *image_path(const uint8_t *code, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("code", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, (off_t)size) || pwrite(fd, code, size, 0) != (ssize_t)size)
        exit(1);
    return path;
}

static void decode(const struct ct_buffer *buffer, uint8_t framing, const uint8_t *data, size_t size,
                   size_t step, unsigned threads, struct outcome outcome[2])
{
    const struct ct_chain_sink sink = {.user = outcome, .flow = on_flow};
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = CT_LEVEL_FLOW,
                                             .framing = framing & 7,
                                             .split_source_ranges = framing >> 7,
                                             .threads = (uint16_t)threads};
    memset(outcome, 0, 2 * sizeof *outcome);
    struct ct_chain *chain;
    if (ct_chain_new(NULL, buffer, &options, &sink, &chain) != CT_OK)
        return;
    ct_chain_tune(chain, 1 + step);
    for (size_t at = 0; at < size; at += step) {
        const size_t length = size - at < step ? size - at : step;
        uint8_t *piece = malloc(length);
        if (!piece)
            exit(1);
        memcpy(piece, data + at, length);
        require(ct_chain_push(chain, piece, length) == 0);
        free(piece);
    }
    require(ct_chain_finish(chain) == 0);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    require(count <= 2);
    for (size_t i = 0; i < count; i++)
        outcome[i].stats = streams[i].stats;
    ct_chain_free(chain);
}

/* Makes steps of the whole input, or, with `counts`, only counts how often edges were taken. */
static void follow(const struct ct_buffer *buffer, uint8_t framing, const uint8_t *data, size_t size,
                   enum ct_engine engine, int counts, struct outcome outcome[2])
{
    const struct ct_chain_sink sink = {.user = outcome, .steps = counts ? NULL : on_steps};
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = CT_LEVEL_STEPS,
                                             .framing = framing & 7,
                                             .edges = CT_EDGES_COUNTS,
                                             .engine = (uint8_t)engine};
    memset(outcome, 0, 2 * sizeof *outcome);
    struct ct_chain *chain;
    if (ct_chain_new(NULL, buffer, &options, &sink, &chain) != CT_OK)
        return;
    require(ct_chain_push(chain, data, size) == 0 && ct_chain_finish(chain) == 0);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t edges;
        outcome[i].stats = streams[i].stats;
        ct_graph_edges(streams[i].graph, &edges);
        for (uint32_t k = 0; counts && k < edges; k++)
            mix(&outcome[i], ct_edges_get(streams[i].edges, CT_EDGES_ALL, k).count);
    }
    ct_chain_free(chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES || size > 8192)
        return 0;
    struct ct_source sources[2] = {fuzz_source(data), fuzz_source(data)};
    sources[0].trace_id = 0x10;
    sources[1].trace_id = 0x11;
    sources[1].protocol = sources[0].protocol == CT_PROTOCOL_ETM4 ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4;
    uint8_t framing = data[FUZZ_SOURCE_BYTES] & 0x83;
    framing += CT_FRAMING_NONE;
    const size_t step = data[FUZZ_SOURCE_BYTES + 1] + 1u;
    size_t code = ct_load16(data + FUZZ_SOURCE_BYTES + 2);
    data += HEAD_BYTES;
    size -= HEAD_BYTES;
    code = code < size ? code : size;
    const struct ct_image image = {
        .path = image_path(data, code), .addr = CODE_BASE, .size = code, .space = CT_SPACE_ANY};
    const struct ct_buffer buffer = {.name = "fuzz",
                                     .path = "-",
                                     .source_count = 2,
                                     .sources = sources,
                                     .image_count = code > 0,
                                     .images = &image};
    struct outcome whole[2];
    struct outcome pieces[2];
    decode(&buffer, framing, data + code, size - code, size + 1, 1, whole);
    decode(&buffer, framing, data + code, size - code, step, 1, pieces);
    require(memcmp(whole, pieces, sizeof whole) == 0);
    if (step % 2) { /* not always, because threads take time */
        decode(&buffer, framing, data + code, size - code, step, 2 + step % 3, pieces);
        require(memcmp(whole, pieces, sizeof whole) == 0);
    }
    for (int counts = 0; counts < 2; counts++) {
        follow(&buffer, framing, data + code, size - code, CT_ENGINE_PLAIN, counts, whole);
        follow(&buffer, framing, data + code, size - code, CT_ENGINE_FAST, counts, pieces);
        require(memcmp(whole, pieces, sizeof whole) == 0);
    }
    return 0;
}
