/* SPDX-License-Identifier: Apache-2.0 */
/* The program as a decoder follows it: straight code up to the next waypoint, read from the client's memory
 * and kept. What memory holds depends on the context, and may change between two calls of the client: code is
 * kept by context, and read again and compared once a call. */
#ifndef CT_OPENCSD_CODE_H
#define CT_OPENCSD_CODE_H

#include <stdbool.h>

#include "coretap/program.h"
#include "opencsd/tree.h"

/* The most instructions of a walk. Straight code that is longer is no program, and ends as memory does. */
#define CT_OCSD_MOST_INSTRUCTIONS (1u << 24)

/* Straight code from `start` to a waypoint. */
struct ct_ocsd_block {
    uint64_t start;
    uint64_t end;   /* behind its last instruction */
    uint64_t hash;  /* of its bytes */
    uint64_t epoch; /* of the tree, when it was last known to be right */
    uint32_t n;     /* instructions */
    uint8_t isa;    /* enum ct_isa */
    bool found;     /* its last instruction is a waypoint; else memory ends there */
    bool used;      /* its place in the cache is taken */
    uint8_t pad;    /* 0 */
    struct ct_insn last;
};

/* What an instruction is on a core. */
struct ct_ocsd_core {
    struct ct_arch arch;
    bool wfi_waypoint, dsb_waypoint; /* WFI and WFE, DSB and DMB are waypoints */
};

/* Returns the architecture of a core in the words of program.h. */
struct ct_arch ct_ocsd_arch(ocsd_arch_version_t version, ocsd_core_profile_t profile);

/* Decodes an instruction of A64, A32 or T32 as 1.3.3 does. `opcode` is its word in memory, the first byte
 * lowest. */
void ct_ocsd_insn_decode(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, enum ct_isa isa,
                         struct ct_insn *insn);

struct ct_ocsd_code;

/* Makes an empty cache for the decoder `decoder`, of cores of architecture `arch`. NULL without memory. */
struct ct_ocsd_code *ct_ocsd_code_new(const struct ct_ocsd_decoder *decoder, const struct ct_arch *arch,
                                      bool wfi_waypoint, bool dsb_waypoint);
void ct_ocsd_code_free(struct ct_ocsd_code *code);

/* Says in which context and memory space code is read from here on. */
void ct_ocsd_code_set_context(struct ct_ocsd_code *code, uint64_t context, uint32_t space);

/* Returns the straight code at an address. NULL without memory. It is there until the next call. */
const struct ct_ocsd_block *ct_ocsd_code_at(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa);

/* Reads the instruction at `addr`, without keeping it. Returns false when it cannot be read. */
bool ct_ocsd_code_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn);

/* Tells whether the four bytes at `addr` can be read. */
bool ct_ocsd_code_is_there(struct ct_ocsd_code *code, uint64_t addr);

#endif
