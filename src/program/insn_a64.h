/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the A64 instructions that a trace unit may count, and the look-up that goes through all of
 * it. */
#ifndef CT_PROGRAM_INSN_A64_H
#define CT_PROGRAM_INSN_A64_H

#include <stddef.h>

#include "program/insn.h"

/* An encoding: the words with `value` in the bits of `mask`, unless an earlier row has them. */
struct ct_a64_rule {
    uint32_t mask, value;
    uint8_t minor; /* version 8.minor of the architecture may have it first (9.n is 8.(n+5)); 0: ARMv8.0 */
    uint8_t type;  /* enum ct_insn_type; OTHER for encodings that are named because they are no waypoint */
    uint8_t sub;   /* enum ct_insn_sub */
    uint8_t cond;  /* 1 when it may be not taken */
    uint8_t lowest, width; /* of direct branches: bits of the offset, in words */
    const char *name;      /* of the instructions */
    const char *extension; /* that brought them */
};

/* The rows of a group: words whose bits 31 to 29 are the same, or differ in bit 31 alone. */
struct ct_a64_group {
    const struct ct_a64_rule *rules;
    size_t count;
};

enum {
    CT_A64_GROUPS = 6
};

extern const struct ct_a64_group ct_a64_groups[CT_A64_GROUPS];

/* Tells whether the word is in the group of branches, exceptions and system instructions. No other word
 * changes where execution goes on. */
static inline bool ct_a64_may_branch(uint32_t opcode)
{
    return (opcode & 0x1c000000) == 0x14000000;
}

/* Decodes as ct_insn_decode_a64 does, by looking at each row of the table in turn. It is the reference for
 * that function. */
void ct_insn_decode_a64_plain(uint32_t opcode, uint64_t addr, const struct ct_arch *arch,
                              struct ct_insn *out);

#endif
