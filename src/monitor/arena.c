/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

enum {
    CHUNK = 64 * 1024,
    STEP_BYTES = 64, /* bytes that one unit of work can zero */
};

struct ct_mon_arena_chunk {
    struct ct_mon_arena_chunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

struct ct_mon_arena_name {
    struct ct_mon_arena_name *next;
    uint64_t hash;
    size_t size;
    char text[];
};

void ct_mon_arena_init(struct ct_mon_arena *a, size_t limit)
{
    memset(a, 0, sizeof *a);
    a->limit = limit;
    a->work = UINT64_MAX;
}

void ct_mon_arena_leave(struct ct_mon_arena *a, enum ct_mon_arena_end why)
{
    a->end = why;
    longjmp(a->out_of_memory, 1);
}

void ct_mon_arena_free(struct ct_mon_arena *a)
{
    for (struct ct_mon_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a->names);
    a->chunks = NULL;
    a->names = NULL;
}

static struct ct_mon_arena_chunk *chunk_new(struct ct_mon_arena *a, size_t size)
{
    if (size > a->limit || a->used > a->limit - size)
        ct_mon_arena_leave(a, ARENA_LIMIT);
    struct ct_mon_arena_chunk *c = calloc(1, sizeof *c + size);
    if (!c)
        ct_mon_arena_leave(a, ARENA_NO_MEMORY);
    c->size = size;
    a->used += size;
    return c;
}

void *ct_mon_arena_alloc(struct ct_mon_arena *a, size_t size)
{
    if (size > a->limit)
        ct_mon_arena_leave(a, ARENA_LIMIT);
    arena_spend(a, size / STEP_BYTES + 1);
    size = (size + 15) & ~(size_t)15;
    struct ct_mon_arena_chunk *c = a->chunks;
    if (!c || c->size - c->used < size) {
        if (size > CHUNK / 4) { /* a large block gets its own chunk, inserted after the current one */
            struct ct_mon_arena_chunk *own = chunk_new(a, size);
            own->used = size;
            own->next = c ? c->next : NULL;
            if (c)
                c->next = own;
            else
                a->chunks = own;
            return own->bytes;
        }
        c = chunk_new(a, CHUNK);
        c->next = a->chunks;
        a->chunks = c;
    }
    void *p = c->bytes + c->used;
    c->used += size;
    return p;
}

char *ct_mon_arena_copy(struct ct_mon_arena *a, const char *text, size_t n)
{
    char *p = ct_mon_arena_alloc(a, n + 1);
    if (n)
        memcpy(p, text, n);
    return p;
}

static void names_grow(struct ct_mon_arena *a)
{
    size_t cap = a->name_cap ? a->name_cap * 2 : 1024;
    struct ct_mon_arena_name **names = calloc(cap, sizeof(struct ct_mon_arena_name *));
    if (!names)
        ct_mon_arena_leave(a, ARENA_NO_MEMORY);
    for (size_t i = 0; i < a->name_cap; i++) {
        for (struct ct_mon_arena_name *e = a->names[i], *next; e; e = next) {
            next = e->next;
            e->next = names[e->hash & (cap - 1)];
            names[e->hash & (cap - 1)] = e;
        }
    }
    free(a->names);
    a->names = names;
    a->name_cap = cap;
}

const char *ct_mon_arena_intern(struct ct_mon_arena *a, const char *text, size_t n)
{
    if (a->name_count >= a->name_cap)
        names_grow(a);
    uint64_t h = ct_fnv(n, text, n);
    h ^= h >> 31;
    for (struct ct_mon_arena_name *e = a->names[h & (a->name_cap - 1)]; e; e = e->next)
        if (e->hash == h && e->size == n && !memcmp(e->text, text, n))
            return e->text;
    struct ct_mon_arena_name *e = ct_mon_arena_alloc(a, sizeof *e + n + 1);
    e->hash = h;
    e->size = n;
    memcpy(e->text, text, n);
    e->next = a->names[h & (a->name_cap - 1)];
    a->names[h & (a->name_cap - 1)] = e;
    a->name_count++;
    return e->text;
}

const char *ct_mon_arena_intern_z(struct ct_mon_arena *a, const char *text)
{
    return ct_mon_arena_intern(a, text, strlen(text));
}

char *ct_mon_arena_printf(struct ct_mon_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = ct_mon_arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)(n > 0 ? n : 0) + 1, fmt, ap);
    va_end(ap);
    return p;
}

void *ct_mon_arena_grow(struct ct_mon_arena *a, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 4;
    void *p = ct_mon_arena_alloc(a, *cap * size);
    if (n)
        memcpy(p, array, n * size);
    return p;
}
