/* SPDX-License-Identifier: Apache-2.0 */
/* Makes machine code in a separate thread while runs execute bytecode. */
#include <pthread.h>
#include <stdlib.h>

#include "base/threads.h"
#include "monitor/native.h"

struct ct_mon_beside {
    const struct ct_mon_program *program;
    pthread_mutex_t lock; /* protects `started` */
    bool started;
    bool stop; /* the code is not needed any more (atomic) */
    pthread_t thread;
    struct ct_mon_native *native; /* the result, once it exists (atomic) */
};

enum {
    BESIDE_MEMORY = 1 << 20, /* limit of the arena, in which nothing is kept */
};

struct ct_mon_beside *ct_mon_beside_new(const struct ct_mon_program *p)
{
    struct ct_mon_beside *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->program = p;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

/* Compiles. When out of memory, the bytecode goes on. */
static void *compile(void *user)
{
    struct ct_mon_beside *b = user;
    struct ct_mon_arena arena;
    ct_mon_arena_init(&arena, BESIDE_MEMORY);
    if (!setjmp(arena.out_of_memory))
        __atomic_store_n(&b->native, ct_mon_native_new(b->program, &arena, &b->stop), __ATOMIC_RELEASE);
    ct_mon_arena_free(&arena);
    return NULL;
}

void ct_mon_beside_start(struct ct_mon_beside *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    if (!b->started)
        b->started = ct_threads_start(&b->thread, 1, compile, b) == 1;
    pthread_mutex_unlock(&b->lock);
}

const struct ct_mon_native_code *ct_mon_beside_code(const struct ct_mon_beside *b)
{
    return b ? ct_mon_native_code(__atomic_load_n(&b->native, __ATOMIC_ACQUIRE)) : NULL;
}

void ct_mon_beside_free(struct ct_mon_beside *b)
{
    if (!b)
        return;
    __atomic_store_n(&b->stop, true, __ATOMIC_RELAXED);
    if (b->started)
        pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    ct_mon_native_free(b->native);
    free(b);
}
