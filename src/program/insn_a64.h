/* SPDX-License-Identifier: Apache-2.0 */
/* The table of A64 instructions that a trace unit may count, and a look-up that scans all of it. */
#pragma once

#include <stddef.h>

#include "program/insn.h"

/* An encoding: the words with `value` in the bits of `mask`, unless an earlier row matches. */
struct ct_a64_rule {
    uint32_t mask, value;
    uint8_t minor;         /* first version 8.minor of the architecture that may have it (9.n is 8.(n+5)); 0:
                              ARMv8.0 */
    uint8_t type;          /* enum ct_insn_type; OTHER for encodings listed because they are no waypoint */
    uint8_t sub;           /* enum ct_insn_sub */
    uint8_t cond;          /* 1 when it may be not taken */
    uint8_t lowest, width; /* direct branches: position and width of the offset, which counts words */
    const char *name;      /* of the instructions */
    const char *extension; /* that introduced them */
};

/* The rows of a group: words with equal bits 31 to 29, or that differ only in bit 31. */
struct ct_a64_group {
    const struct ct_a64_rule *rules;
    size_t count;
};

enum {
    CT_A64_GROUPS = 6
};

extern const struct ct_a64_group ct_a64_groups[CT_A64_GROUPS];

/* Returns whether the word is in the group of branches, exceptions and system instructions. No other word
 * changes control flow. */
static inline bool ct_a64_may_branch(uint32_t opcode)
{
    return (opcode & 0x1c000000) == 0x14000000;
}

/* Decodes like ct_insn_decode_a64, by scanning the rows of the table. It is the reference for that
 * function. */
void ct_insn_decode_a64_plain(uint32_t opcode, uint64_t addr, const struct ct_arch *arch,
                              struct ct_insn *out);
