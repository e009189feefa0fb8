/* SPDX-License-Identifier: Apache-2.0 */
#include "support/pieces.h"

#include <stdio.h>
#include <string.h>

static void require(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Bytes that a decoder may leave over: more than a packet and the rest of a row. */
enum {
    LEFT_MOST = 256
};

size_t pieces_decode(const struct ct_protocol_ops *ops, const struct ct_source *source, const uint8_t *bytes,
                     size_t size, struct rng *cuts, uint8_t *packets, size_t room)
{
    void *decoder;
    size_t total = 0, done = 0, end = 0;
    require(ops->decoder_new(NULL, source, &decoder) == 0, "no decoder");
    do {
        size_t step = cuts ? rng_below(cuts, rng_chance(cuts, 8) ? 600 : 24) : size;
        end = size - end < step ? size : end + step;
        size_t cap, count;
        do {
            cap = cuts ? 1 + rng_below(cuts, 20) : room - total;
            require(room - total >= cap, "more packets than there can be");
            uint8_t *piece = malloc(end - done + !(end - done));
            require(piece != NULL, "no memory");
            memcpy(piece, bytes + done, end - done);
            done += ops->decode(decoder, piece, end - done, done, end == size,
                                packets + total * ops->packet_size, cap, &count);
            free(piece);
            require(count <= cap && done <= end, "more was taken than given");
            total += count;
        } while (count == cap);
        require(end - done <= LEFT_MOST, "more than a packet was left");
    } while (end < size);
    require(done == size, "not all was taken at the end");
    ops->decoder_free(decoder);
    return total;
}

size_t pieces_resolve(const struct ct_protocol_ops *ops, const struct ct_source *source,
                      const uint8_t *packets, size_t count, struct rng *cuts, struct ct_elem *elems,
                      size_t room)
{
    void *resolver;
    size_t total = 0, done = 0, end = 0;
    require(ops->resolver_new(NULL, source, &resolver) == 0, "no resolver");
    do {
        size_t step = cuts ? rng_below(cuts, 30) : count;
        end = count - end < step ? count : end + step;
        size_t cap, got;
        do {
            cap = cuts ? CT_RESOLVE_MIN + rng_below(cuts, 20) : room - total;
            require(room - total >= cap, "more elements than there can be");
            done += ops->resolve(resolver, packets + done * ops->packet_size, end - done, end == count,
                                 elems + total, cap, &got);
            require(got <= cap && done <= end, "more was taken than given");
            total += got;
        } while (done < end || got > cap - CT_RESOLVE_MIN);
    } while (end < count);
    ops->resolver_free(resolver);
    return total;
}

size_t pieces_elems(const struct ct_source *source, const uint8_t *bytes, size_t size, struct ct_elem *elems,
                    size_t room)
{
    const struct ct_protocol_ops *ops = ct_protocol_ops((enum ct_protocol)source->protocol);
    const size_t most = size + 16; /* a packet has a byte, except for the end of the trace */
    uint8_t *packets = calloc(most, ops->packet_size);
    require(packets != NULL, "no memory");
    const size_t count = pieces_decode(ops, source, bytes, size, NULL, packets, most);
    const size_t total = pieces_resolve(ops, source, packets, count, NULL, elems, room);
    free(packets);
    return total;
}
