/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers strings in the order in which they are added, without duplicates. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

/* A set of names. All zero is an empty set. */
struct ct_names {
    struct ct_arena arena;
    const char **names;
    uint32_t count;
    size_t room;
    uint32_t *slots; /* number + 1, or 0; `slot_count` is a power of two, and at most half of the slots are
                        used */
    uint32_t slot_count;
};

#define CT_NAMES_NONE UINT32_MAX

/* Returns the number of the first `size` bytes of `text`, and copies them when they are new; CT_NAMES_NONE
 * when out of memory. */
uint32_t ct_names_add(struct ct_names *names, const char *text, size_t size);

/* Returns the number of a text that was added; CT_NAMES_NONE for another one. */
uint32_t ct_names_find(const struct ct_names *names, const char *text);

/* Returns the number of a text, escaped if it is not printable (base/printable.h). */
uint32_t ct_names_add_printable(struct ct_names *names, const char *text);

void ct_names_free(struct ct_names *names);
