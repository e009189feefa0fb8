/* SPDX-License-Identifier: Apache-2.0 */
/* The program as a decoder follows it: straight code up to the next waypoint, read from the client's memory
 * and cached. Memory contents depend on the context and may change between two calls of the client. So code
 * is cached by context, and reread and compared once per call. */
#pragma once

#include <stdbool.h>

#include "opencsd/blocks.h"
#include "opencsd/pages.h"
#include "opencsd/reads.h"
#include "opencsd/tree.h"

/* most instructions of a walk; longer straight code is treated as the end of memory */
#define CT_OCSD_MOST_INSTRUCTIONS (1u << 24)

/* Properties of a core that affect decoding. */
struct ct_ocsd_core {
    struct ct_arch arch;
    bool wfi_waypoint, dsb_waypoint; /* WFI and WFE are waypoints; DSB and DMB are waypoints */
    bool checks_opcodes;             /* A64 words whose upper half is 0 are errors */
    bool late;                       /* decode as OpenCSD 1.5.5 does */
};

/* Returns the architecture of a core as program.h describes it. */
struct ct_arch ct_ocsd_arch(ocsd_arch_version_t version, ocsd_core_profile_t profile);

/* Decodes an A64, A32 or T32 instruction as OpenCSD 1.3.3 or 1.5.5 does. `opcode`: its word in memory, first
 * byte lowest. */
void ct_ocsd_insn_decode(const struct ct_ocsd_core *core, uint32_t opcode, uint64_t addr, enum ct_isa isa,
                         struct ct_insn *insn);

/* Cached code of one context. */
struct ct_ocsd_code_table {
    uint64_t context;
    uint32_t space;
    struct ct_ocsd_blocks blocks;
    struct ct_ocsd_pages pages;
};

enum {
    CT_OCSD_CODE_CONTEXTS = 64, /* most contexts with cached code */
};

struct ct_ocsd_code {
    const struct ct_ocsd_decoder *decoder;
    struct ct_ocsd_core core;
    struct ct_ocsd_code_table *table; /* table of the current context */
    struct ct_ocsd_code_table tables[CT_OCSD_CODE_CONTEXTS];
    unsigned table_count;
    unsigned next_victim;
    uint32_t last;      /* number of the block returned last */
    bool last_executed; /* the last instruction of that block was executed */
    /* The page compared last. */
    uint64_t page_number;
    uint64_t page_epoch; /* epoch of the tree; 0: none yet */
    uint64_t page_changed;
    /* The bytes read last for the current block: a page, or `bytes`. */
    uint64_t window_start;
    uint32_t window_size;
    bool in_pages;   /* all bytes read so far were in pages */
    bool bad_opcode; /* a read failed because of checks_opcodes */
    const uint8_t *window;
    uint8_t bytes[CT_OCSD_READ_SIZE];
    struct ct_ocsd_block broken; /* the last block that the end of memory cuts off, or that goes on behind */
    bool broken_waits;           /* it was looked at, but not executed yet */
    struct ct_ocsd_reads reads;
    uint64_t begin; /* address where reading began */
    bool is_behind; /* code behind the end of memory was read */
};

/* Creates an empty cache for a decoder, of programs of `core`. NULL: out of memory. */
struct ct_ocsd_code *ct_ocsd_code_new(const struct ct_ocsd_decoder *decoder, const struct ct_ocsd_core *core);
void ct_ocsd_code_free(struct ct_ocsd_code *code);

/* Sets the context and memory space from which code is read. */
void ct_ocsd_code_set_context(struct ct_ocsd_code *code, uint64_t context, uint32_t space);

/* Returns the straight code at an address, which is then executed, valid until the next call. NULL: out of
 * memory. */
const struct ct_ocsd_block *ct_ocsd_code_at(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa);

/* Does the same, but code that memory cuts off is not executed yet. */
const struct ct_ocsd_block *ct_ocsd_code_look(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa);

/* Does the same as ct_ocsd_code_look, inline for the last successor of the previous block if that was
 * verified in this call of the client. */
static inline const struct ct_ocsd_block *ct_ocsd_code_again(struct ct_ocsd_code *code, uint64_t addr,
                                                             enum ct_isa isa)
{
    const struct ct_ocsd_block *blocks = code->table->blocks.blocks;
    if (blocks) {
        const uint32_t number = blocks[code->last].next[code->last_executed];
        const struct ct_ocsd_block *block = &blocks[number];
        if (block->start == addr && block->isa == isa && block->epoch == code->decoder->tree->epoch &&
            ct_ocsd_reads_keeps(&code->reads, block->read)) {
            code->last = number;
            return block;
        }
    }
    return ct_ocsd_code_look(code, addr, isa);
}

/* Sets whether the last instruction of the block returned last was executed. */
static inline void ct_ocsd_code_executed(struct ct_ocsd_code *code, bool executed)
{
    code->last_executed = executed;
}

/* Reads the instruction at `addr` without caching it. Returns false when it cannot be read, in which case
 * code->bad_opcode tells why. */
bool ct_ocsd_code_insn(struct ct_ocsd_code *code, uint64_t addr, enum ct_isa isa, struct ct_insn *insn);

/* Returns whether the four bytes at `addr` can be read. */
bool ct_ocsd_code_is_there(struct ct_ocsd_code *code, uint64_t addr);
