/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/memory.h"

#include <stdlib.h>
#include <string.h>

void ct_ocsd_accessor_deinit(struct ct_ocsd_accessor *accessor)
{
    for (size_t i = 0; i < accessor->region_count; i++)
        free(accessor->regions[i].bytes);
    free(accessor->regions);
    free(accessor->path);
}

void ct_ocsd_memory_deinit(struct ct_ocsd_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        ct_ocsd_accessor_deinit(&memory->accessors[i]);
    free(memory->accessors);
    *memory = (struct ct_ocsd_memory){0};
}

/* Finds the accessor of an address. Sets `range` to both ends of its range, and to the bytes, if it has them,
 * else NULL. */
static const struct ct_ocsd_accessor *find(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space,
                                           struct ct_ocsd_region *range)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct ct_ocsd_accessor *a = &memory->accessors[i];
        if (!(a->space & space))
            continue;
        for (size_t k = 0; k < a->region_count; k++) {
            *range = a->regions[k];
            if (addr >= range->first && addr <= range->last)
                return a;
        }
        *range = (struct ct_ocsd_region){a->first, a->last, (uint8_t *)a->bytes};
        if (!a->path && addr >= a->first && addr <= a->last)
            return a;
    }
    return NULL;
}

uint32_t ct_ocsd_memory_read(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space, uint8_t id,
                             uint32_t size, uint8_t *bytes)
{
    struct ct_ocsd_region range;
    const struct ct_ocsd_accessor *a = find(memory, addr, space, &range);
    if (!a)
        return 0;
    const uint64_t left = range.last - addr; /* bytes left, minus 1 */
    const uint32_t most = left < size ? (uint32_t)left + 1 : size;
    if (range.bytes) {
        memcpy(bytes, range.bytes + (addr - range.first), most);
        return most;
    }
    const ocsd_mem_space_acc_t where = (ocsd_mem_space_acc_t)space;
    const uint32_t got = a->read_id ? a->read_id(a->context, addr, where, id, most, bytes)
                                    : a->read(a->context, addr, where, most, bytes);
    return got < most ? got : most;
}
