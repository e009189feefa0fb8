/* SPDX-License-Identifier: Apache-2.0 */
/* Straight code of one context, by address. Blocks lie in the order in which they were met, since code that
 * ran side by side once does so again; each knows the blocks that came behind it last, so most are found
 * without the hash table. */
#ifndef CT_OPENCSD_BLOCKS_H
#define CT_OPENCSD_BLOCKS_H

#include <stdbool.h>

#include "coretap/program.h"

/* Straight code from `start` to a waypoint. */
struct ct_ocsd_block {
    uint64_t start;
    uint64_t end;     /* behind its last instruction */
    uint64_t epoch;   /* of the tree, when it was last known to be right */
    uint32_t n;       /* instructions */
    uint32_t next[2]; /* the blocks that came behind it last, by whether its last instruction was executed */
    uint8_t isa;      /* enum ct_isa */
    bool found;       /* its last instruction is a waypoint; else memory ends there */
    bool in_pages;    /* pages have all of its bytes */
    uint8_t pad;      /* 0 */
    struct ct_insn last;
};

enum {
    CT_OCSD_NO_BLOCK = 0, /* number of none; blocks[0] is at no address, in no instruction set */
};

/* A hash table with open addressing, of places in an array. An entry has the number of a block in its lower
 * half and bits of the hash in its upper one, so that other blocks need not be looked at; 0: none. */
struct ct_ocsd_blocks {
    struct ct_ocsd_block *blocks;
    uint32_t count, room; /* of blocks; 0: none yet */
    uint64_t *entries;
    unsigned bits; /* log2 of how many */
};

void ct_ocsd_blocks_deinit(struct ct_ocsd_blocks *blocks);

/* Makes room for one more block, so that there is one at least. Returns false without memory. */
bool ct_ocsd_blocks_grow(struct ct_ocsd_blocks *blocks);

/* Returns the number of the block at an address, CT_OCSD_NO_BLOCK where there is none. There is room. */
uint32_t ct_ocsd_blocks_find(const struct ct_ocsd_blocks *blocks, uint64_t addr, uint8_t isa);

/* Adds a block whose address has none. There is room. Returns its number. */
uint32_t ct_ocsd_blocks_add(struct ct_ocsd_blocks *blocks, const struct ct_ocsd_block *block);

#endif
