/* SPDX-License-Identifier: Apache-2.0 */
/* Images and the generations of memory that they make up. */
#include "coretap/input.h"

#include <string.h>

int ct_image_same(const struct ct_image *a, const struct ct_image *b)
{
    if (!a || !b)
        return 0;
    return a->addr == b->addr && a->offset == b->offset && a->size == b->size && a->space == b->space &&
           a->is_elf == b->is_elf && strcmp(a->path, b->path) == 0;
}

const struct ct_generation *ct_maps_generation(const struct ct_maps *maps, uint32_t number)
{
    size_t left = number;
    for (size_t i = 0; left && i < maps->process_count; i++) {
        const struct ct_process *process = &maps->processes[i];
        if (left <= process->generation_count)
            return &process->generations[left - 1];
        left -= process->generation_count;
    }
    return NULL;
}
