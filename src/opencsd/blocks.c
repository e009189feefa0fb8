/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/blocks.h"

#include <stdlib.h>

enum {
    MIN_BITS = 8, /* log2 of the entries of a new table */
    NO_ISA = 0xff,
};

#define NUMBER UINT64_C(0xffffffff) /* mask of the block number in an entry */

void ct_ocsd_blocks_deinit(struct ct_ocsd_blocks *b)
{
    free(b->blocks);
    free(b->entries);
    *b = (struct ct_ocsd_blocks){0};
}

/* Returns the entry of a block, or the free entry where it belongs. Sets *tag to the entry's hash bits. */
static uint64_t *entry_of(const struct ct_ocsd_blocks *b, uint64_t addr, uint8_t isa, uint64_t *tag)
{
    const size_t mask = ((size_t)1 << b->bits) - 1;
    const uint64_t hash = (addr ^ isa) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> (64 - b->bits));
    *tag = hash & ~NUMBER;
    for (;; at = (at + 1) & mask) {
        uint64_t *entry = &b->entries[at];
        const struct ct_ocsd_block *block = &b->blocks[*entry & NUMBER];
        if (!*entry || ((*entry & ~NUMBER) == *tag && block->start == addr && block->isa == isa))
            return entry;
    }
}

/* Adds an entry for a block that has none. */
static void enter(struct ct_ocsd_blocks *b, uint32_t number)
{
    const struct ct_ocsd_block *block = &b->blocks[number];
    uint64_t tag;
    uint64_t *entry = entry_of(b, block->start, block->isa, &tag);
    *entry = tag | number;
}

bool ct_ocsd_blocks_grow(struct ct_ocsd_blocks *b)
{
    if (b->count < b->room)
        return true;
    const unsigned bits = b->room ? b->bits + 1 : MIN_BITS;
    const uint32_t room = UINT32_C(1) << (bits - 1); /* half of the entries stay free */
    uint64_t *entries = calloc((size_t)1 << bits, sizeof *entries);
    struct ct_ocsd_block *blocks = entries ? realloc(b->blocks, room * sizeof *blocks) : NULL;
    if (!blocks) {
        free(entries);
        return false;
    }
    free(b->entries);
    *b = (struct ct_ocsd_blocks){blocks, b->count, room, entries, bits};
    if (!b->count)
        blocks[b->count++] = (struct ct_ocsd_block){.isa = NO_ISA};
    for (uint32_t i = CT_OCSD_NO_BLOCK + 1; i < b->count; i++)
        enter(b, i);
    return true;
}

uint32_t ct_ocsd_blocks_find(const struct ct_ocsd_blocks *b, uint64_t addr, uint8_t isa)
{
    uint64_t tag;
    return (uint32_t)(*entry_of(b, addr, isa, &tag) & NUMBER);
}

uint32_t ct_ocsd_blocks_add(struct ct_ocsd_blocks *b, const struct ct_ocsd_block *block)
{
    b->blocks[b->count] = *block;
    enter(b, b->count);
    return b->count++;
}
