/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"
#include "base/fnv.h"
#include "base/printable.h"
#include "base/room.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

static uint32_t hash_of(const char *text, size_t size)
{
    const uint64_t hash = ct_fnv(CT_FNV_BEGIN, text, size);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the slot of a name, or the free slot where it belongs. */
static uint32_t *slot_of(const struct ct_names *names, const char *text, size_t size)
{
    uint32_t mask = names->slot_count - 1;
    for (uint32_t i = hash_of(text, size) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &names->slots[i];
        if (*slot == 0)
            return slot;
        const char *have = names->names[*slot - 1];
        if (strncmp(have, text, size) == 0 && have[size] == '\0')
            return slot;
    }
}

static int grow_slots(struct ct_names *names)
{
    const uint32_t slot_count = names->slot_count ? names->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return 0;
    free(names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    for (uint32_t i = 0; i < names->count; i++)
        *slot_of(names, names->names[i], strlen(names->names[i])) = i + 1;
    return 1;
}

uint32_t ct_names_add(struct ct_names *names, const char *text, size_t size)
{
    if (names->count == UINT32_MAX / 4)
        return CT_NAMES_NONE;
    if ((!names->slots || names->count >= names->slot_count / 2) && !grow_slots(names))
        return CT_NAMES_NONE;
    uint32_t *slot = slot_of(names, text, size);
    if (*slot)
        return *slot - 1;
    if (!CT_MAKE_ROOM(names->names, names->room, names->count + 1))
        return CT_NAMES_NONE;
    const char *copy = ct_arena_strndup(&names->arena, text, size);
    if (!copy)
        return CT_NAMES_NONE;
    names->names[names->count++] = copy;
    *slot = names->count;
    return names->count - 1;
}

uint32_t ct_names_find(const struct ct_names *names, const char *text)
{
    return names->slots ? *slot_of(names, text, strlen(text)) - 1 : CT_NAMES_NONE;
}

void ct_names_free(struct ct_names *names)
{
    free(names->names);
    free(names->slots);
    ct_arena_free(&names->arena);
    *names = (struct ct_names){0};
}

uint32_t ct_names_add_printable(struct ct_names *names, const char *text)
{
    if (ct_is_printable(text))
        return ct_names_add(names, text, strlen(text));
    char *printable = malloc(CT_PRINTABLE_ROOM(strlen(text) + 1));
    if (!printable)
        return CT_NAMES_NONE;
    ct_escape(text, printable);
    const uint32_t number = ct_names_add(names, printable, strlen(printable));
    free(printable);
    return number;
}
