/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once: for what is built piece by piece and lives as long as its owner. */
#ifndef CT_BASE_ARENA_H
#define CT_BASE_ARENA_H

#include <stddef.h>

struct ct_arena_block;

/* All zero is an empty arena. */
struct ct_arena {
    struct ct_arena_block *blocks; /* the newest first; allocation is from that one */
};

/* `size` zeroed bytes, aligned for any object; NULL without memory. */
void *ct_arena_alloc(struct ct_arena *arena, size_t size);

/* The first `size` bytes of `text` as a string. */
char *ct_arena_strndup(struct ct_arena *arena, const char *text, size_t size);
char *ct_arena_strdup(struct ct_arena *arena, const char *text);

/* Formatted text of any length. */
char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more element of `size` bytes behind the *count that `array` has, all in the arena;
 * *count grows by one. The result is the array, which may have moved (the old one stays valid and unused);
 * NULL without memory. Start with array NULL and count 0. */
void *ct_arena_push(struct ct_arena *arena, const void *array, size_t *count, size_t size);

/* Gives everything back; the arena is empty again. */
void ct_arena_free(struct ct_arena *arena);

#endif
