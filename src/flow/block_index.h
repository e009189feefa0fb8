/* SPDX-License-Identifier: Apache-2.0 */
/* Which block begins at an address. The numbers of blocks lie in the order of their addresses, 128 addresses
 * of instructions in a chunk, and chunks are found with a hash table that is small enough for the cache. So a
 * look-up waits for one line of memory, and blocks that lie near each other share it. */
#ifndef CT_FLOW_BLOCK_INDEX_H
#define CT_FLOW_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/program.h"

#define CT_BLOCK_CHUNK_SHIFT 7

/* The most chunks, of 512 bytes each; with more of them the blocks are forgotten. */
#define CT_BLOCK_CHUNKS_MAX (UINT32_C(1) << 18)

/* Numbers of blocks by address; 0: no block begins there. */
struct ct_block_chunk {
    _Alignas(64) uint32_t numbers[1u << CT_BLOCK_CHUNK_SHIFT];
};

/* A slot of the hash table. */
struct ct_block_slot {
    uint64_t addr;  /* of the chunk, in its own size */
    uint32_t view;  /* how the code is read, and for whom */
    uint32_t chunk; /* number of the chunk + 1; 0: the slot is free */
};

struct ct_block_index {
    struct ct_block_chunk *chunks;
    struct ct_block_slot *slots;
    uint32_t count, cap; /* chunks; there are twice as many slots as there is room for chunks */
};

/* Where a block begins: its chunk, and the place there. */
struct ct_block_key {
    uint64_t addr;
    uint32_t view;
    uint32_t at;
};

/* Returns the key of a block. An address that its instruction set does not have has a view of its own. */
static inline struct ct_block_key ct_block_key(uint64_t addr, uint8_t isa, uint8_t space, uint16_t domain)
{
    const unsigned unit = isa == CT_ISA_T32 ? 1 : 2;
    const uint64_t place = addr >> unit;
    const uint32_t low = (uint32_t)(addr & ((1u << unit) - 1));
    return (struct ct_block_key){.addr = place >> CT_BLOCK_CHUNK_SHIFT,
                                 .view = domain | (uint32_t)space << 16 | (uint32_t)isa << 24 | low << 28,
                                 .at = place & ((1u << CT_BLOCK_CHUNK_SHIFT) - 1)};
}

/* Returns the slot of a chunk, or the free one where it would be. */
static inline struct ct_block_slot *ct_block_index_slot(const struct ct_block_index *ix,
                                                        const struct ct_block_key *key)
{
    const uint32_t mask = ix->cap * 2 - 1;
    const uint64_t mixed =
        (key->addr + key->view * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t at = (uint32_t)(mixed >> 32);; at++) {
        struct ct_block_slot *slot = &ix->slots[at & mask];
        if (!slot->chunk || (slot->addr == key->addr && slot->view == key->view))
            return slot;
    }
}

/* Returns the number of a block, or 0. */
static inline uint32_t ct_block_index_find(const struct ct_block_index *ix, struct ct_block_key key)
{
    const uint32_t chunk = ct_block_index_slot(ix, &key)->chunk;
    return chunk ? ix->chunks[chunk - 1].numbers[key.at] : 0;
}

/* Makes an empty index. Returns false without memory. */
bool ct_block_index_init(struct ct_block_index *ix);
void ct_block_index_deinit(struct ct_block_index *ix);

/* Returns where the number of a block is kept, valid until the next call; NULL without memory. */
uint32_t *ct_block_index_place(struct ct_block_index *ix, struct ct_block_key key);

void ct_block_index_clear(struct ct_block_index *ix);

#endif
