/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/block_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/table_memory.h"

#define FIRST_CAP 64u

bool ct_block_index_init(struct ct_block_index *ix)
{
    *ix = (struct ct_block_index){.cap = FIRST_CAP};
    ix->chunks = ct_array_grow(NULL, 0, FIRST_CAP, sizeof *ix->chunks);
    ix->slots = calloc(FIRST_CAP * 2, sizeof *ix->slots);
    return ix->chunks && ix->slots;
}

void ct_block_index_deinit(struct ct_block_index *ix)
{
    ct_array_free(ix->chunks, ix->cap, sizeof *ix->chunks);
    free(ix->slots);
    *ix = (struct ct_block_index){0};
}

/* Doubles the room. Returns false when out of memory. */
static bool grow(struct ct_block_index *ix)
{
    struct ct_block_index larger = {.count = ix->count, .cap = ix->cap * 2};
    larger.slots = ct_table_memory((size_t)larger.cap * 2, sizeof *larger.slots);
    larger.chunks =
        larger.slots ? ct_array_grow(ix->chunks, ix->cap, larger.cap, sizeof *larger.chunks) : NULL;
    if (!larger.chunks) {
        free(larger.slots);
        return false;
    }
    for (uint32_t i = 0; i < ix->cap * 2; i++) {
        const struct ct_block_slot *slot = &ix->slots[i];
        const struct ct_block_key key = {.addr = slot->addr, .view = slot->view};
        if (slot->chunk)
            *ct_block_index_slot(&larger, &key) = *slot;
    }
    free(ix->slots);
    *ix = larger;
    return true;
}

uint32_t *ct_block_index_place(struct ct_block_index *ix, struct ct_block_key key)
{
    struct ct_block_slot *slot = ct_block_index_slot(ix, &key);
    if (!slot->chunk && ix->count == ix->cap) {
        if (!grow(ix))
            return NULL;
        slot = ct_block_index_slot(ix, &key);
    }
    if (!slot->chunk)
        *slot = (struct ct_block_slot){key.addr, key.view, ++ix->count};
    return &ix->chunks[slot->chunk - 1].numbers[key.at];
}

void ct_block_index_clear(struct ct_block_index *ix)
{
    memset(ix->slots, 0, (size_t)ix->cap * 2 * sizeof *ix->slots);
    memset(ix->chunks, 0, ix->count * sizeof *ix->chunks);
    ix->count = 0;
}
