/* SPDX-License-Identifier: Apache-2.0 */
/* An ETMv4 or ETE packet that is being encoded. The functions of a packet write its bytes. They return CT_OK,
 * or CT_ERR_ARG for a packet that cannot be encoded. */
#pragma once

#include "coretap/encode.h"
#include "base/ctx.h"
#include "base/etm4_config.h"
#include "encode/etm4_state.h"
#include "proto/etm4_header.h"

struct ct_etm4_encoder {
    struct ct_ctx *ctx;
    struct ct_etm4_config config;
    struct ct_etm4_header headers[256];
    struct ct_etm4_state now;
};

/* A packet that is being made. Nothing is output before all of it is valid. */
struct ct_etm4_draft {
    struct ct_etm4_encoder *encoder;
    const struct ct_etm4_packet *packet;
    struct ct_etm4_state next;
    uint8_t bytes[CT_ETM4_PACKET_MAX];
    unsigned size;
};

/* Reports why the packet cannot be encoded. Returns CT_ERR_ARG. */
static inline int ct_etm4_refuse(const struct ct_etm4_draft *d, const char *why)
{
    return ct_fail(d->encoder->ctx, CT_ERR_ARG,
                   "ETMv4 packet of type %u: %s; it was not encoded; correct the packet", d->packet->type,
                   why);
}

static inline void ct_etm4_put_byte(struct ct_etm4_draft *d, unsigned byte)
{
    d->bytes[d->size++] = (uint8_t)byte;
}

static inline void ct_etm4_put_le(struct ct_etm4_draft *d, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        ct_etm4_put_byte(d, (unsigned)(value >> 8 * i) & 0xff);
}

/* Puts seven bits in each byte, with bit 7 set while more follow. */
static inline void ct_etm4_put_continued(struct ct_etm4_draft *d, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        ct_etm4_put_byte(d, (unsigned)(value & 0x7f) | 0x80);
    ct_etm4_put_byte(d, (unsigned)value);
}

/* ---- addresses (etm4_packet_address.c) ---- */

/* Adds an address to the last three. */
void ct_etm4_push_address(struct ct_etm4_draft *draft, uint64_t value, unsigned is);

int ct_etm4_put_short(struct ct_etm4_draft *draft, unsigned header, unsigned is);

/* Encodes an address of `bytes` bytes, and a context if `context` is set. */
int ct_etm4_put_address(struct ct_etm4_draft *draft, unsigned header, unsigned is, unsigned bytes,
                        int context);

int ct_etm4_put_match(struct ct_etm4_draft *draft, unsigned header);
int ct_etm4_put_context(struct ct_etm4_draft *draft);
int ct_etm4_put_q(struct ct_etm4_draft *draft);

/* ---- times and counts (etm4_packet_count.c) ---- */

int ct_etm4_put_trace_info(struct ct_etm4_draft *draft);
int ct_etm4_put_timestamp(struct ct_etm4_draft *draft);
int ct_etm4_put_ccnt_f1(struct ct_etm4_draft *draft);
int ct_etm4_put_ccnt_f2(struct ct_etm4_draft *draft);
int ct_etm4_put_ccnt_f3(struct ct_etm4_draft *draft);
