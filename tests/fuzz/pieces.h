/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what must hold of packets and elements of any protocol: those of pieces are those of the whole, each
 * byte of the trace belongs to one packet, and never more than a packet is left over. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "chain/protocol.h"
#include "fuzz.h"

#define PIECES_LEFT_MAX 96

struct pieces {
    uint8_t *packets;
    size_t packet_count;
    struct ct_elem *elems;
    size_t elem_count;
    size_t room; /* for packets, and for elements */
};

static inline void *pieces_new(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        exit(1);
    return memory;
}

/* Decodes in pieces of `step` bytes, with `cap` packets per call. An unfinished packet is passed again with
 * more bytes after it, from memory of just its size. */
static inline void pieces_decode(const struct ct_protocol_ops *ops, void *decoder, const uint8_t *data,
                                 size_t size, size_t step, size_t cap, struct pieces *out)
{
    size_t done = 0;
    for (size_t end = 0, last = 0; !last;) {
        end = size - end < step ? size : end + step;
        last = end == size;
        size_t count;
        do {
            require(out->packet_count + cap <= out->room);
            uint8_t *piece = pieces_new(end - done + 1, 1);
            piece = realloc(piece, end - done ? end - done : 1);
            memcpy(piece, data + done, end - done);
            done += ops->decode(decoder, piece, end - done, done, (int)last,
                                out->packets + out->packet_count * ops->packet_size, cap, &count);
            free(piece);
            require(count <= cap && done <= end);
            out->packet_count += count;
        } while (count == cap);
        require(end - done <= PIECES_LEFT_MAX);
    }
    require(done == size);
}

/* Resolves packets to elements, with `batch` packets and `cap` elements per call. */
static inline void pieces_resolve(const struct ct_protocol_ops *ops, void *resolver, size_t batch, size_t cap,
                                  struct pieces *out)
{
    for (size_t done = 0, last = 0; !last;) {
        size_t end = out->packet_count - done < batch ? out->packet_count : done + batch;
        last = end == out->packet_count;
        size_t count;
        do {
            require(out->elem_count + cap <= out->room);
            done += ops->resolve(resolver, out->packets + done * ops->packet_size, end - done, (int)last,
                                 out->elems + out->elem_count, cap, &count);
            require(count <= cap && done <= end);
            out->elem_count += count;
        } while (done < end || count > cap - CT_RESOLVE_MIN);
    }
}

static inline struct pieces pieces_run(const struct ct_protocol_ops *ops, const struct ct_source *source,
                                       const uint8_t *data, size_t size, size_t step, size_t cap)
{
    struct pieces out = {.room = 40 * size + 256};
    void *decoder = NULL, *resolver = NULL;
    out.packets = pieces_new(out.room, ops->packet_size);
    out.elems = pieces_new(out.room, sizeof *out.elems);
    require(!ops->decoder_new(NULL, source, &decoder) && !ops->resolver_new(NULL, source, &resolver));
    pieces_decode(ops, decoder, data, size, step, cap, &out);
    pieces_resolve(ops, resolver, cap, CT_RESOLVE_MIN + cap, &out);
    ops->decoder_free(decoder);
    ops->resolver_free(resolver);
    return out;
}

static inline void pieces_free(struct pieces *pieces)
{
    free(pieces->packets);
    free(pieces->elems);
}

/* Checks all of that for one stream. `choice` selects how to cut. */
static inline void pieces_check(const struct ct_source *source, const uint8_t *data, size_t size,
                                uint8_t choice)
{
    const struct ct_protocol_ops *ops = ct_protocol_ops((enum ct_protocol)source->protocol);
    struct pieces whole = pieces_run(ops, source, data, size, size ? size : 1, 32);
    struct pieces cut = pieces_run(ops, source, data, size, choice % 41u + 1, choice / 41u + 1);
    require(whole.packet_count == cut.packet_count && whole.elem_count == cut.elem_count);
    require(!memcmp(whole.packets, cut.packets, whole.packet_count * ops->packet_size));
    require(!memcmp(whole.elems, cut.elems, whole.elem_count * sizeof *whole.elems));
    uint64_t pos = 0;
    for (size_t i = 0; i < whole.packet_count; i++) {
        const uint8_t *packet = whole.packets + i * ops->packet_size;
        uint64_t at;
        memcpy(&at, packet, sizeof at);
        require(packet[ops->type_at] < ops->type_count && at >= pos && (i || at == 0));
        pos = at;
    }
    pieces_free(&whole);
    pieces_free(&cut);
}
