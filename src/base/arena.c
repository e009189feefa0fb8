/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE  ((size_t)16 << 10)
#define FIRST_BLOCK ((size_t)1 << 10) /* many arenas only hold a name or two */
#define ALIGNMENT   _Alignof(max_align_t)

struct ct_arena_block {
    struct ct_arena_block *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) unsigned char data[];
};

void *ct_arena_alloc(struct ct_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    struct ct_arena_block *block = arena->blocks;
    if (!block || size > block->size - block->used) {
        const size_t usual = block ? BLOCK_SIZE : FIRST_BLOCK;
        const size_t room = size > usual ? size : usual;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *p = block->data + block->used;
    block->used += size;
    return p;
}

char *ct_arena_strndup(struct ct_arena *arena, const char *text, size_t size)
{
    char *copy = ct_arena_alloc(arena, size + 1);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

char *ct_arena_strdup(struct ct_arena *arena, const char *text)
{
    return ct_arena_strndup(arena, text, strlen(text));
}

char *ct_arena_printf(struct ct_arena *arena, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int size = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = size < 0 ? NULL : ct_arena_alloc(arena, (size_t)size + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, (size_t)size + 1, fmt, ap);
    va_end(ap);
    return text;
}

/* Grows the array when the count is a power of two, so that its capacity follows from the count and is not
 * stored. */
void *ct_arena_push(struct ct_arena *arena, const void *array, size_t *count, size_t size)
{
    /* The array belongs to the arena, so removing const is allowed. */
    void *room = (void *)(uintptr_t)array; /* NOLINT(performance-no-int-to-ptr) */
    if ((*count & (*count - 1)) == 0) {
        size_t cap = *count ? 2 * *count : 1;
        if (cap > SIZE_MAX / 2 / size)
            return NULL;
        room = ct_arena_alloc(arena, cap * size);
        if (!room)
            return NULL;
        if (*count)
            memcpy(room, array, *count * size);
    }
    *count += 1;
    return room;
}

void ct_arena_free(struct ct_arena *arena)
{
    while (arena->blocks) {
        struct ct_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
