/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the block that begins at an address. The numbers of blocks lie in the order of their addresses, in
 * chunks of 128 instruction addresses each. A hash table, small enough for the processor's cache, finds the
 * chunk. So a look-up waits for one line of memory, and blocks near each other share it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coretap/program.h"

#define CT_BLOCK_CHUNK_SHIFT 7

/* Maximal number of chunks, of 512 bytes each. When there would be more, all blocks are forgotten. */
#define CT_BLOCK_CHUNKS_MAX (UINT32_C(1) << 18)

/* The numbers of the blocks at 128 adjacent instruction addresses; 0: no block begins there. */
struct ct_block_chunk {
    _Alignas(64) uint32_t numbers[1u << CT_BLOCK_CHUNK_SHIFT];
};

/* A slot of the hash table. */
struct ct_block_slot {
    uint64_t addr;  /* address of the chunk, in units of its size */
    uint32_t view;  /* domain, memory space and instruction set (ct_block_key) */
    uint32_t chunk; /* number of the chunk + 1; 0: the slot is free */
};

struct ct_block_index {
    struct ct_block_chunk *chunks;
    struct ct_block_slot *slots;
    uint32_t count, cap; /* of chunks; there are 2 * cap slots */
};

/* The beginning of a block: its chunk, and its index in it. */
struct ct_block_key {
    uint64_t addr;
    uint32_t view;
    uint32_t at;
};

/* Returns the key of a block. Addresses that are not aligned for their instruction set have views of their
 * own. */
static inline struct ct_block_key ct_block_key(uint64_t addr, uint8_t isa, uint8_t space, uint16_t domain)
{
    const unsigned unit = isa == CT_ISA_T32 ? 1 : 2;
    const uint64_t place = addr >> unit;
    const uint32_t low = (uint32_t)(addr & ((1u << unit) - 1));
    return (struct ct_block_key){.addr = place >> CT_BLOCK_CHUNK_SHIFT,
                                 .view = domain | (uint32_t)space << 16 | (uint32_t)isa << 24 | low << 28,
                                 .at = place & ((1u << CT_BLOCK_CHUNK_SHIFT) - 1)};
}

/* Returns the slot of a chunk, or the free slot where the chunk belongs. */
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

/* Returns the number of the block with a key, or 0 when there is none. */
static inline uint32_t ct_block_index_find(const struct ct_block_index *ix, struct ct_block_key key)
{
    const uint32_t chunk = ct_block_index_slot(ix, &key)->chunk;
    return chunk ? ix->chunks[chunk - 1].numbers[key.at] : 0;
}

/* Makes an empty index. Returns false when out of memory. */
bool ct_block_index_init(struct ct_block_index *ix);
void ct_block_index_deinit(struct ct_block_index *ix);

/* Returns the place for the number of a block, valid until the next call; NULL when out of memory. */
uint32_t *ct_block_index_place(struct ct_block_index *ix, struct ct_block_key key);

void ct_block_index_clear(struct ct_block_index *ix);
