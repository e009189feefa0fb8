/* SPDX-License-Identifier: Apache-2.0 */
/* The program as a decoder follows it: straight code up to the next waypoint, read from the client's memory
 * and kept. What memory holds depends on the context, and may change between two calls of the client: code is
 * kept by context, and read again and compared once a call. */
#ifndef CT_OPENCSD_CODE_H
#define CT_OPENCSD_CODE_H

#include <stdbool.h>

#include "opencsd/blocks.h"
#include "opencsd/pages.h"
#include "opencsd/tree.h"

/* The most instructions of a walk. Straight code that is longer is no program, and ends as memory does. */
#define CT_OCSD_MOST_INSTRUCTIONS (1u << 24)

/* What an instruction is on a core. */
struct ct_ocsd_core {
    struct ct_arch arch;
    bool wfi_waypoint, dsb_waypoint; /* WFI and WFE, DSB and DMB are waypoints */
    bool checks_opcodes;             /* A64 words whose upper half is 0 cannot be read */
    bool late;                       /* instructions are what OpenCSD 1.5.5 takes them for */
};

/* Returns the architecture of a core in the words of program.h. */
struct ct_arch ct_ocsd_arch(ocsd_arch_version_t version, ocsd_core_profile_t profile);

/* Decodes an instruction of A64, A32 or T32 as 1.3.3 does, or 1.5.5. `opcode` is its word in memory, the
 * first byte lowest. */
void ct_ocsd_insn_decode(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, enum ct_isa isa,
                         struct ct_insn *insn);

/* Code of one context. */
struct ct_ocsd_code_table {
    uint64_t context;
    uint32_t space;
    struct ct_ocsd_blocks blocks;
    struct ct_ocsd_pages pages;
};

enum {
    CT_OCSD_CODE_READ_SIZE = 256, /* bytes that the client is asked for at a time where there is no page */
    CT_OCSD_CODE_CONTEXTS = 64,   /* contexts whose code is kept */
};

struct ct_ocsd_code {
    const struct ct_ocsd_decoder *decoder;
    struct ct_ocsd_core core;
    struct ct_ocsd_code_table *table; /* of the current context */
    struct ct_ocsd_code_table tables[CT_OCSD_CODE_CONTEXTS];
    unsigned table_count;
    unsigned next_victim;
    uint32_t last;      /* number of the block that was returned last */
    bool last_executed; /* the last instruction of that block was executed */
    /* The page that was compared last. */
    uint64_t page_number;
    uint64_t page_epoch; /* of the tree; 0: none yet */
    uint64_t page_changed;
    /* Bytes that were read last, for the block in work: a page, or `bytes`. */
    uint64_t window_start;
    uint32_t window_size;
    bool in_pages;   /* pages had all of what was read */
    bool bad_opcode; /* a word could not be read since checks_opcodes is set */
    const uint8_t *window;
    uint8_t bytes[CT_OCSD_CODE_READ_SIZE];
    struct ct_ocsd_block broken; /* the last block that memory ends */
};

/* Makes an empty cache for the decoder `decoder`, of programs of `core`. NULL without memory. */
struct ct_ocsd_code *ct_ocsd_code_new(const struct ct_ocsd_decoder *decoder, const struct ct_ocsd_core *core);
void ct_ocsd_code_free(struct ct_ocsd_code *code);

/* Says in which context and memory space code is read from here on. */
void ct_ocsd_code_set_context(struct ct_ocsd_code *code, uint64_t context, uint32_t space);

/* Returns the straight code at an address. NULL without memory. It is there until the next call. */
const struct ct_ocsd_block *ct_ocsd_code_at(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa);

/* Does what ct_ocsd_code_at does, in line for code that came behind the last block before, in this call of
 * the client. */
static inline const struct ct_ocsd_block *ct_ocsd_code_again(struct ct_ocsd_code *code, uint64_t addr,
                                                             enum ct_isa isa)
{
    const struct ct_ocsd_block *blocks = code->table->blocks.blocks;
    if (blocks) {
        const uint32_t number = blocks[code->last].next[code->last_executed];
        const struct ct_ocsd_block *block = &blocks[number];
        if (block->start == addr && block->isa == isa && block->epoch == code->decoder->tree->epoch) {
            code->last = number;
            return block;
        }
    }
    return ct_ocsd_code_at(code, addr, isa);
}

/* Says whether the last instruction of the block that was returned last was executed. */
static inline void ct_ocsd_code_executed(struct ct_ocsd_code *code, bool executed)
{
    code->last_executed = executed;
}

/* Reads the instruction at `addr`, without keeping it. Returns false when it cannot be read; code->bad_opcode
 * says why. */
bool ct_ocsd_code_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn);

/* Tells whether the four bytes at `addr` can be read. */
bool ct_ocsd_code_is_there(struct ct_ocsd_code *code, uint64_t addr);

#endif
