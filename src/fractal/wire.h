/* SPDX-License-Identifier: Apache-2.0 */
/* What a coherence protocol has to say for itself: its opcodes, and where it puts the fields of a DVM
 * operation. wire.c does the rest for all of them. */
#ifndef CT_FRACTAL_PROTOCOL_H
#define CT_FRACTAL_PROTOCOL_H

#include "coretap/fractal_wire.h"
#include "fractal/dvm.h"

/* What an opcode is to FRACTAL, besides an operation of the port (enum ct_fractal_op). */
enum {
    CT_WIRE_NOTHING = 0xfd, /* a hint, a credit, an answer: no access and no maintenance */
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
    uint8_t addr_shift; /* bit of the physical address that bit 0 of the field is */
    uint8_t protocol;   /* enum ct_fractal_protocol */
};

/* The channels, by enum ct_fractal_channel. */
extern const struct ct_wire_channel ct_wire_channels[CT_FRACTAL_CHANNEL_COUNT];

/* The opcodes of the channels (wire_ace.c, wire_chi.c). */
extern const struct ct_opcode ct_ace_snoops[16], ct_ace_reads[16], ct_ace_writes[8];
extern const struct ct_opcode ct_chi_snoops[32], ct_chi_requests[128];

/* How a protocol encodes: the opcodes by enum ct_fractal_op up to WriteBack, where snoops tell them and where
 * requests do, and its DVM messages. */
struct ct_wire_protocol {
    uint8_t snoops, writes, requests; /* channels */
    uint8_t snoop[CT_FRACTAL_MAKE_INVALID + 1];
    uint8_t write, write_back;
    uint8_t read_shared, read_once, clean_invalid; /* requests of commands */

    /* Packs an operation into flits of a channel; returns how many. */
    int (*pack)(const struct ct_dvm *dvm, unsigned channel, struct ct_fractal_flit out[CT_FRACTAL_FLITS]);
    /* Unpacks it. `parts` is how many flits of an operation there are by now, in the order in which they
     * came. Returns 1 when it is whole, 0 when a part is missing; CT_ERR_FORMAT: they cannot be, and *why
     * says why. */
    int (*unpack)(const struct ct_fractal_flit *flits, unsigned parts, struct ct_dvm *out, const char **why);
};

extern const struct ct_wire_protocol ct_wire_ace, ct_wire_chi;

/* Returns bits hi:lo of a value. */
static inline uint64_t ct_wire_bits(uint64_t value, unsigned hi, unsigned lo)
{
    return value >> lo & (UINT64_MAX >> (63 - (hi - lo)));
}

#endif
