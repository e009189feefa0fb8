/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the fuzz targets for software trace. What must hold: packets and elements of pieces are
 * those of the whole, packets follow each other without gaps, and each has a line. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "chain/protocol.h"
#include "format/listing.h"
#include "fuzz.h"

#define FUZZ_MOST 4096

struct fuzz_result {
    uint8_t *packets;
    size_t packet_count;
    struct ct_elem *elems;
    size_t elem_count;
};

/* Resolves the packets from `from` on to elements. */
static inline void fuzz_resolve(const struct ct_protocol_ops *ops, void *resolver, struct fuzz_result *r,
                                size_t from, int final, size_t cap)
{
    size_t count;
    do {
        from += ops->resolve(resolver, r->packets + from * ops->packet_size, r->packet_count - from, final,
                             r->elems + r->elem_count, cap, &count);
        require(count <= cap && from <= r->packet_count);
        r->elem_count += count;
    } while (from < r->packet_count || count > cap - CT_RESOLVE_MIN);
}

/* Decodes in pieces of `step` bytes, from memory of just their size, with `cap` packets per call. */
static inline void fuzz_run(const struct ct_protocol_ops *ops, const struct ct_source *source,
                            const uint8_t *data, size_t size, size_t step, size_t cap, struct fuzz_result *r)
{
    void *decoder;
    void *resolver;
    size_t done = 0;
    size_t end = 0;
    r->packets = calloc(2 * size + 64, ops->packet_size);
    r->elems = calloc(6 * size + 1024, sizeof *r->elems);
    if (!r->packets || !r->elems || ops->decoder_new(NULL, source, &decoder) ||
        ops->resolver_new(NULL, source, &resolver))
        exit(1);
    r->packet_count = r->elem_count = 0;
    do {
        end = size - end < step ? size : end + step;
        size_t count;
        do {
            uint8_t *piece = malloc(end - done ? end - done : 1);
            if (!piece)
                exit(1);
            memcpy(piece, data + done, end - done);
            size_t from = r->packet_count;
            done += ops->decode(decoder, piece, end - done, done, end == size,
                                r->packets + from * ops->packet_size, cap, &count);
            free(piece);
            require(count <= cap && done <= end);
            r->packet_count += count;
            fuzz_resolve(ops, resolver, r, from, end == size && count < cap, CT_RESOLVE_MIN + cap);
        } while (count == cap);
    } while (end < size);
    require(done == size);
    ops->decoder_free(decoder);
    ops->resolver_free(resolver);
}

static inline void fuzz_list(const struct ct_protocol_ops *ops, const struct ct_source *source,
                             const uint8_t *data, size_t size, const struct fuzz_result *r)
{
    static struct ct_text text;
    static uint64_t offsets[2 * FUZZ_MOST + 64];
    const struct ct_stream stream = {.source = source};
    const struct ct_run run = {.data = data, .size = size};
    const struct ct_packet_batch batch = {.packets = r->packets,
                                          .stride = ops->packet_size,
                                          .count = r->packet_count,
                                          .protocol = source->protocol,
                                          .offsets = offsets,
                                          .run = &run};
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        exit(1);
    for (size_t i = 0; i < r->packet_count; i++) {
        memcpy(&offsets[i], r->packets + i * ops->packet_size, sizeof offsets[i]);
        require(offsets[i] <= size && (i == 0 || offsets[i] >= offsets[i - 1]));
    }
    ct_text_init(&text, nowhere);
    ct_list_packets(&text, NULL, &stream, &batch);
    require(ct_text_flush(&text));
    fclose(nowhere);
}

static inline int fuzz_software(enum ct_protocol protocol, const uint8_t *data, size_t size)
{
    if (size < 1 || size > FUZZ_MOST)
        return 0;
    const struct ct_protocol_ops *ops = ct_protocol_ops(protocol);
    const struct ct_source source = {
        .name = "fuzz", .protocol = (uint8_t)protocol, .regs = {.itmtcr = 0x310}};
    const size_t step = data[0] % 41u + 1;
    const size_t cap = data[0] / 41u + 1;
    struct fuzz_result whole;
    struct fuzz_result pieces;
    data++;
    size--;
    fuzz_run(ops, &source, data, size, size ? size : 1, 2 * FUZZ_MOST + 64, &whole);
    fuzz_run(ops, &source, data, size, step, cap, &pieces);
    fuzz_list(ops, &source, data, size, &whole);
    require(whole.packet_count == pieces.packet_count && whole.elem_count == pieces.elem_count);
    require(memcmp(whole.packets, pieces.packets, whole.packet_count * ops->packet_size) == 0);
    require(memcmp(whole.elems, pieces.elems, whole.elem_count * sizeof *whole.elems) == 0);
    free(whole.packets);
    free(pieces.packets);
    free(whole.elems);
    free(pieces.elems);
    return 0;
}
