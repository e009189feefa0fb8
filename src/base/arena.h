/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once, for what is built piece by piece and lives as long as its owner. */
#ifndef CT_BASE_ARENA_H
#define CT_BASE_ARENA_H

#include <stddef.h>

struct ct_arena_block;

/* An arena; all zero is an empty one. */
struct ct_arena {
    struct ct_arena_block *blocks; /* the newest one first, from which memory is taken */
};

/* Returns `size` zeroed bytes, aligned for any object; NULL without memory. */
void *ct_arena_alloc(struct ct_arena *arena, size_t size);

/* Returns the first `size` bytes of `text` as a string; NULL without memory. */
char *ct_arena_strndup(struct ct_arena *arena, const char *text, size_t size);
char *ct_arena_strdup(struct ct_arena *arena, const char *text);

/* Returns formatted text of any length; NULL without memory. */
char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more item of `size` bytes behind the *count that `array` has, and adds one to *count.
 * Returns the array, which may have moved (the old one stays valid and unused); NULL without memory. An array
 * begins as NULL with count 0. */
void *ct_arena_push(struct ct_arena *arena, const void *array, size_t *count, size_t size);

/* Frees all memory; the arena is empty again. */
void ct_arena_free(struct ct_arena *arena);

#endif
