/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a coherence protocol: its opcodes, and how it encodes the fields of a DVM operation. wire.c
 * does the rest for all protocols. */
#pragma once

#include "coretap/fractal_wire.h"
#include "fractal/dvm.h"

/* meanings of an opcode other than operations of the port (enum ct_fractal_op) */
enum {
    CT_WIRE_NOTHING = 0xfd, /* a hint, credit or response: neither access nor maintenance */
    CT_WIRE_DVM = 0xfe,
};

/* One opcode of a channel. */
struct ct_opcode {
    const char *name; /* NULL: reserved */
    uint8_t op;       /* enum ct_fractal_op, or CT_WIRE_… */
};

struct ct_wire_channel {
    const char *name;
    const struct ct_opcode *opcode;
    uint8_t opcode_bits, addr_bits;
    uint8_t addr_shift; /* physical address bit that bit 0 of the field stands for */
    uint8_t protocol;   /* enum ct_fractal_protocol */
};

/* the channels, by enum ct_fractal_channel */
extern const struct ct_wire_channel ct_wire_channels[CT_FRACTAL_CHANNEL_COUNT];

/* the opcodes of the channels (wire_ace.c, wire_chi.c) */
extern const struct ct_opcode ct_ace_snoops[16], ct_ace_reads[16], ct_ace_writes[8];
extern const struct ct_opcode ct_chi_snoops[32], ct_chi_requests[128];

/* The encoding of a protocol: its opcodes by enum ct_fractal_op up to WriteBack, as snoops or as requests,
 * and its DVM messages. */
struct ct_wire_protocol {
    uint8_t snoops, writes, requests; /* channels */
    uint8_t snoop[CT_FRACTAL_MAKE_INVALID + 1];
    uint8_t write, write_back;
    uint8_t read_shared, read_once, clean_invalid; /* requests for commands */

    /* Packs an operation into flits of a channel. Returns how many. */
    int (*pack)(const struct ct_dvm *dvm, unsigned channel, struct ct_fractal_flit out[CT_FRACTAL_FLITS]);
    /* Unpacks an operation. `parts` is the number of its flits received so far, in order. Returns 1 if it is
     * complete, 0 if a part is missing, or CT_ERR_FORMAT with the reason in *why. */
    int (*unpack)(const struct ct_fractal_flit *flits, unsigned parts, struct ct_dvm *out, const char **why);
};

extern const struct ct_wire_protocol ct_wire_ace, ct_wire_chi;

/* Returns bits hi:lo of a value. */
static inline uint64_t ct_wire_bits(uint64_t value, unsigned hi, unsigned lo)
{
    return value >> lo & (UINT64_MAX >> (63 - (hi - lo)));
}
