/* SPDX-License-Identifier: Apache-2.0 */
/* The byte-wise decoding function of paper 1 (equation 1): D(b, S, T) takes one byte b of the trace, the
 * stream state S, which says what the byte is (header, or which part of which payload), and the trace state
 * T, which mirrors the trace unit's registers. It returns the next S and T and, with the last byte of a
 * packet, the packet. Unrolled u times it takes u bytes a turn. A property test checks that the packets equal
 * those of ct_etm4_decode. It implements the paper's method, is selected by `bytewise` in the options of a
 * chain, and is measured against the library's default (docs/notes/decoding.md). */
#pragma once

#include "proto/etm4_state.h"

/* S, the stream state. `step` says what the next byte is; the other members belong to the packet of that
 * byte. */
struct ct_etm4_stream_state {
    uint8_t step;
    uint8_t index; /* number of bytes of the field so far */
    uint8_t plctl; /* trace info: its sections; else a value from the first byte */
    bool context;  /* a context follows the address */
    uint32_t size; /* bytes of the packet so far */
    uint32_t info, spec, threshold;
    uint64_t field;
    struct ct_etm4_address address;
    struct ct_etm4_packet packet;
    /* Without synchronisation: start of the bytes, and number of zeros at their end. */
    uint64_t run_pos;
    uint64_t run_size;
    uint64_t zeros;
};

struct ct_etm4_bytewise {
    struct ct_etm4_stream_state stream;
    struct ct_etm4_decoder trace; /* T, the trace state, with the configuration */
};

#define CT_ETM4_UNROLL_MAX 8

/* Prepares the decoder like ct_etm4_decoder_new, without an allocation. */
int ct_etm4_bytewise_init(struct ct_ctx *ctx, const struct ct_source *source,
                          struct ct_etm4_bytewise *bytewise);

/* Resets everything except the configuration, after missing trace. */
void ct_etm4_bytewise_reset(struct ct_etm4_bytewise *bytewise);

/* Decodes data[0..size), whose first byte has stream position `pos`, `unroll` bytes a turn (1 to 8). *count
 * receives the number of packets, at most `cap`, which is at least 2 * CT_ETM4_UNROLL_MAX. Returns the number
 * of bytes used, which is all if there is room. */
size_t ct_etm4_bytewise_run(struct ct_etm4_bytewise *bytewise, unsigned unroll, const uint8_t *data,
                            size_t size, uint64_t pos, struct ct_etm4_packet *packets, size_t cap,
                            size_t *count);

/* Goes back to before the first byte of an incomplete packet, and to before zeros that may begin an alignment
 * packet. Returns the number of bytes, which must be passed again. */
size_t ct_etm4_bytewise_go_back(struct ct_etm4_bytewise *bytewise);

/* Ends the stream: makes a packet of a cut packet, or of bytes without synchronisation. Returns the number of
 * packets, 0 or 1. */
size_t ct_etm4_bytewise_finish(struct ct_etm4_bytewise *bytewise, struct ct_etm4_packet *packet);
