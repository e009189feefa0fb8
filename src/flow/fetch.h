/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one instruction from memory and classifies it for one trace source. */
#pragma once

#include <stdbool.h>

#include "coretap/program.h"

struct ct_fetch {
    const struct ct_memory *memory;
    struct ct_arch arch;
    bool wfi_waypoint; /* the source traces WFI and WFE as branches */
    bool dsb_waypoint; /* the source traces DSB and DMB as branches */
    /* the adjacent bytes that the last read found */
    const uint8_t *bytes;
    uint64_t start;
    uint64_t size;
    uint32_t space;
};

/* Reads the instruction at `addr` in instruction set `isa` (A64, A32 or T32). Returns false when the four
 * bytes from `addr` on cannot be read (docs/listing.md: four, whatever the instruction's size). */
bool ct_fetch_insn(struct ct_fetch *fetch, uint64_t addr, enum ct_isa isa, uint32_t space,
                   struct ct_insn *insn);

/* Counts the A64 instructions from `addr` on up to the first that may be a waypoint, `most` at most. Returns
 * 0 in other instruction sets and where nothing can be read. ct_fetch_insn classifies each of those counted
 * as CT_INSN_OTHER without a condition. */
uint32_t ct_fetch_straight(struct ct_fetch *fetch, uint64_t addr, enum ct_isa isa, uint32_t space,
                           uint32_t most);
