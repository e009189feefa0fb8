/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one compilation: a bump allocator that is freed as a whole, and its interned names. */
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct ct_mon_arena_chunk;
struct ct_mon_arena_name;

/* Why a compilation was aborted. */
enum ct_mon_arena_end {
    ARENA_NO_MEMORY, /* the system is out of memory */
    ARENA_LIMIT,     /* the compilation needs more memory than `limit` */
    ARENA_WORK,      /* the compilation needs more steps than `work` */
};

/* A bump allocator. When memory, `limit` or `work` runs out it jumps to `out_of_memory`, so that a
 * compilation handles this in one place and tests no allocation. Call setjmp on it before the first
 * allocation. */
struct ct_mon_arena {
    struct ct_mon_arena_chunk *chunks;
    size_t used, limit;
    uint64_t work; /* steps left; each allocation costs some */
    struct ct_mon_arena_name **names;
    size_t name_count, name_cap;
    jmp_buf out_of_memory;
    enum ct_mon_arena_end end; /* why the jump was taken */
};
/* Makes an empty arena that may hold `limit` bytes. Its work is unlimited. */
void ct_mon_arena_init(struct ct_mon_arena *a, size_t limit);
void ct_mon_arena_free(struct ct_mon_arena *a);

/* Records the reason and jumps to `out_of_memory`. */
_Noreturn void ct_mon_arena_leave(struct ct_mon_arena *a, enum ct_mon_arena_end why);

/* Charges `steps` steps, of some ten nanoseconds each, before the work is done. */
static inline void arena_spend(struct ct_mon_arena *a, uint64_t steps)
{
    if (__builtin_expect(a->work < steps, 0))
        ct_mon_arena_leave(a, ARENA_WORK);
    a->work -= steps;
}

/* Returns zeroed memory, aligned for any type. */
void *ct_mon_arena_alloc(struct ct_mon_arena *a, size_t size);

/* Copies n bytes and appends a NUL. */
char *ct_mon_arena_copy(struct ct_mon_arena *a, const char *text, size_t n);

/* Returns the one copy of a text, so that equal names are equal pointers. */
const char *ct_mon_arena_intern(struct ct_mon_arena *a, const char *text, size_t n);
const char *ct_mon_arena_intern_z(struct ct_mon_arena *a, const char *text);

char *ct_mon_arena_printf(struct ct_mon_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more element of `size` bytes in a growing array of n elements. Returns the array, which
 * may have moved. */
void *ct_mon_arena_grow(struct ct_mon_arena *a, void *array, size_t n, size_t *cap, size_t size);

#define ARENA_NEW(a, type)      ((type *)ct_mon_arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)ct_mon_arena_alloc((a), sizeof(type) * (n)))
#define ARENA_PUSH(a, array, n, cap, value)                                                                  \
    ((array) = ct_mon_arena_grow((a), (array), (n), &(cap), sizeof *(array)), (array)[(n)++] = (value))

/* Mixes one more word into a hash. */
static inline uint64_t hash_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static inline uint64_t hash_ptr(uint64_t h, const void *p)
{
    return hash_mix(h, (uint64_t)(uintptr_t)p);
}
