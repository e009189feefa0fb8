/* SPDX-License-Identifier: Apache-2.0 */
/* Images, and the generations of memory that consist of them. */
#include "coretap/input.h"

#include <stdbool.h>
#include <string.h>

static bool is_same_place(const struct ct_module_place *a, const struct ct_module_place *b)
{
    if (!a || !b || a->count != b->count)
        return a == b;
    for (size_t i = 0; i < a->count; i++)
        if (a->sections[i].addr != b->sections[i].addr ||
            strcmp(a->sections[i].name, b->sections[i].name) != 0)
            return false;
    return true;
}

int ct_image_same(const struct ct_image *a, const struct ct_image *b)
{
    if (!a || !b)
        return 0;
    return a->addr == b->addr && a->offset == b->offset && a->size == b->size && a->space == b->space &&
           a->is_elf == b->is_elf && strcmp(a->path, b->path) == 0 && is_same_place(a->placed, b->placed);
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
