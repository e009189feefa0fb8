/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once, for objects that are built piece by piece and live as long as their
 * owner. */
#pragma once

#include <stddef.h>

struct ct_arena_block;

/* An arena. All zero is an empty arena. */
struct ct_arena {
    struct ct_arena_block *blocks; /* newest first; memory is taken from it */
};

/* Returns `size` zeroed bytes, aligned for any object; NULL when out of memory. */
void *ct_arena_alloc(struct ct_arena *arena, size_t size);

/* Returns the first `size` bytes of `text` as a string; NULL when out of memory. */
char *ct_arena_strndup(struct ct_arena *arena, const char *text, size_t size);
char *ct_arena_strdup(struct ct_arena *arena, const char *text);

/* Returns formatted text of any length; NULL when out of memory. */
char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more item of `size` bytes after the *count items of `array`, and adds one to *count.
 * Returns the array, which may have moved (the old one stays valid and unused); NULL when out of memory. An
 * array begins as NULL with count 0. */
void *ct_arena_push(struct ct_arena *arena, const void *array, size_t *count, size_t size);

/* Frees all memory; the arena is empty again. */
void ct_arena_free(struct ct_arena *arena);
