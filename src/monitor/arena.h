/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one compilation: a bump allocator that is freed as a whole, and the names interned in it. */
#ifndef CT_MONITOR_ARENA_H
#define CT_MONITOR_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct ct_mon_arena_chunk;
struct ct_mon_arena_name;

/* Why a compilation cannot go on. */
enum ct_mon_arena_end {
    ARENA_NO_MEMORY, /* the system gives no memory */
    ARENA_LIMIT,     /* it takes more memory than `limit` */
    ARENA_WORK,      /* it takes more steps than `work` */
};

/* When memory (or the limit, or the work) runs out the arena jumps to `out_of_memory`: a compilation has one
 * place that handles it and needs no test after each allocation. Set it with setjmp before the first call. */
struct ct_mon_arena {
    struct ct_mon_arena_chunk *chunks;
    size_t used, limit;
    uint64_t work; /* steps that may be done yet; what is allocated counts, too */
    struct ct_mon_arena_name **names;
    size_t name_count, name_cap;
    jmp_buf out_of_memory;
    enum ct_mon_arena_end end; /* why the jump was taken */
};
/* Makes an empty arena that may hold `limit` bytes and do any amount of work. */
void ct_mon_arena_init(struct ct_mon_arena *a, size_t limit);
void ct_mon_arena_free(struct ct_mon_arena *a);

/* Jumps to `out_of_memory`. */
_Noreturn void ct_mon_arena_leave(struct ct_mon_arena *a, enum ct_mon_arena_end why);

/* Accounts for work that is about to be done, in steps of some ten nanoseconds. */
static inline void arena_spend(struct ct_mon_arena *a, uint64_t steps)
{
    if (__builtin_expect(a->work < steps, 0))
        ct_mon_arena_leave(a, ARENA_WORK);
    a->work -= steps;
}

/* Gives zeroed memory, aligned for any type. */
void *ct_mon_arena_alloc(struct ct_mon_arena *a, size_t size);

/* Copies n bytes and puts a NUL behind them. */
char *ct_mon_arena_copy(struct ct_mon_arena *a, const char *text, size_t n);

/* Gives the one pointer that stands for a text, so that names can be compared as pointers. */
const char *ct_mon_arena_intern(struct ct_mon_arena *a, const char *text, size_t n);
const char *ct_mon_arena_intern_z(struct ct_mon_arena *a, const char *text);

char *ct_mon_arena_printf(struct ct_mon_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room in a growing array of n elements for one more, of `size` bytes. Result: where the array is
 * now. */
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

#endif
