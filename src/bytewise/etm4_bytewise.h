/* SPDX-License-Identifier: Apache-2.0 */
/* The byte-wise decoding function of paper 1 (equation 1): D(b, S, T) takes one byte b of the trace, the
 * stream state S, which says what the byte is (header, or which part of which payload), and the trace state
 * T, which mirrors the trace unit's registers; it gives the next S and T and, with the last byte of a packet,
 * the packet. Unrolled u times it takes u bytes a turn. The packets are those of ct_etm4_decode; a property
 * test holds that. It stands for the paper, is chosen by `bytewise` in the options of a
 * chain, and is measured against what the library uses otherwise (docs/notes/decoding.md). */
#ifndef CT_BYTEWISE_ETM4_BYTEWISE_H
#define CT_BYTEWISE_ETM4_BYTEWISE_H

#include "proto/etm4_state.h"

/* S, the stream state. `step` tells what the next byte is; all else belongs to the packet that the byte is
 * part of. */
struct ct_etm4_stream_state {
    uint8_t step;
    uint8_t index; /* bytes of the field before this one */
    uint8_t plctl; /* trace info: the sections that it has; else what the first byte said */
    bool context;  /* a context follows the address */
    uint32_t size; /* bytes of the packet */
    uint32_t info, spec, threshold;
    uint64_t field;
    struct ct_etm4_address address;
    struct ct_etm4_packet packet;
    /* Without synchronisation: where the bytes began, and how many zeros they end with. */
    uint64_t run_pos;
    uint64_t run_size;
    uint64_t zeros;
};

struct ct_etm4_bytewise {
    struct ct_etm4_stream_state stream;
    struct ct_etm4_decoder trace; /* T, the trace state, with the configuration */
};

#define CT_ETM4_UNROLL_MAX 8

/* Prepares the decoder as ct_etm4_decoder_new does, without an allocation. */
int ct_etm4_bytewise_init(struct ct_ctx *ctx, const struct ct_source *source,
                          struct ct_etm4_bytewise *bytewise);

/* Forgets all but the configuration, as where trace is missing. */
void ct_etm4_bytewise_reset(struct ct_etm4_bytewise *bytewise);

/* Decodes data[0..size), whose first byte has stream position `pos`, `unroll` bytes a turn (1 to 8). *count
 * is the number of packets, at most `cap`, which is at least 2 * CT_ETM4_UNROLL_MAX. Result: how many bytes
 * were taken, which is all if there is room. */
size_t ct_etm4_bytewise_run(struct ct_etm4_bytewise *bytewise, unsigned unroll, const uint8_t *data,
                            size_t size, uint64_t pos, struct ct_etm4_packet *packets, size_t cap,
                            size_t *count);

/* Goes back to before the first byte of a packet that is not whole, and to before zeros that an alignment
 * packet may begin with. Result: how many bytes that is, which are to come again. */
size_t ct_etm4_bytewise_go_back(struct ct_etm4_bytewise *bytewise);

/* Ends the stream: gives a packet that is cut, or bytes without synchronisation. Result: how many packets, 0
 * or 1. */
size_t ct_etm4_bytewise_finish(struct ct_etm4_bytewise *bytewise, struct ct_etm4_packet *packet);

#endif
