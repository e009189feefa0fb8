/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/memory.h"

#include <stdlib.h>
#include <string.h>

void ct_ocsd_memory_deinit(struct ct_ocsd_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        free(memory->accessors[i].owned);
        free(memory->accessors[i].path);
    }
    free(memory->accessors);
    *memory = (struct ct_ocsd_memory){0};
}

static const struct ct_ocsd_accessor *find(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct ct_ocsd_accessor *a = &memory->accessors[i];
        if (addr >= a->first && addr <= a->last && (a->space & space))
            return a;
    }
    return NULL;
}

uint32_t ct_ocsd_memory_read(const struct ct_ocsd_memory *memory, uint64_t addr, uint32_t space, uint8_t id,
                             uint32_t size, uint8_t *bytes)
{
    const struct ct_ocsd_accessor *a = find(memory, addr, space);
    if (!a)
        return 0;
    const uint64_t left = a->last - addr; /* … and one more */
    const uint32_t most = left < size ? (uint32_t)left + 1 : size;
    if (a->bytes) {
        memcpy(bytes, a->bytes + (addr - a->first), most);
        return most;
    }
    const ocsd_mem_space_acc_t where = (ocsd_mem_space_acc_t)space;
    const uint32_t got = a->read_id ? a->read_id(a->context, addr, where, id, most, bytes)
                                    : a->read(a->context, addr, where, most, bytes);
    return got < most ? got : most;
}
