/* SPDX-License-Identifier: Apache-2.0 */
/* Straight code of one context, by address. Blocks are stored in the order in which they were met, because
 * code that ran one after another tends to do so again. Each remembers its last successors, so most blocks
 * are found without the hash table. */
#pragma once

#include <stdbool.h>

#include "coretap/program.h"

/* A block: straight code from `start` to a waypoint. */
struct ct_ocsd_block {
    uint64_t start;
    uint64_t end;     /* address after its last instruction */
    uint64_t epoch;   /* epoch of the tree at which it was last verified */
    uint32_t n;       /* number of instructions */
    uint32_t next[2]; /* its last successors, by whether its last instruction was executed */
    uint32_t read;    /* number of the oldest read that it is in (reads.h) */
    uint8_t isa;      /* enum ct_isa */
    bool found;       /* its last instruction is a waypoint; false: memory ends there */
    bool in_pages;    /* all of its bytes are in pages */
    uint8_t pad;      /* must be 0 */
    struct ct_insn last;
};

enum {
    CT_OCSD_NO_BLOCK = 0, /* number of no block; blocks[0] has no valid address and instruction set */
};

/* A hash table with open addressing, of indices into an array. An entry has a block number in its lower half
 * and hash bits in its upper half, so that other blocks are rarely looked at; 0: free. */
struct ct_ocsd_blocks {
    struct ct_ocsd_block *blocks;
    uint32_t count, room; /* number of blocks; 0: not allocated yet */
    uint64_t *entries;
    unsigned bits; /* log2 of the number of entries */
};

void ct_ocsd_blocks_deinit(struct ct_ocsd_blocks *blocks);

/* Makes room for at least one more block. Returns false when out of memory. */
bool ct_ocsd_blocks_grow(struct ct_ocsd_blocks *blocks);

/* Returns the number of the block at an address, or CT_OCSD_NO_BLOCK. The table must be allocated. */
uint32_t ct_ocsd_blocks_find(const struct ct_ocsd_blocks *blocks, uint64_t addr, uint8_t isa);

/* Adds a block at an address without one. There must be room. Returns its number. */
uint32_t ct_ocsd_blocks_add(struct ct_ocsd_blocks *blocks, const struct ct_ocsd_block *block);
