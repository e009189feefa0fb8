/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "chunks.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t next_free; /* where the search for a free chunk begins */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint32_t chunks_take(enum trace_chunk_kind kind)
{
    struct trace_area *area = rec.area;
    for (;;) {
        const uint32_t freed = atomic_load(&area->freed);
        for (uint32_t i = 0; i < TRACE_CHUNKS; i++) {
            const uint32_t at = (next_free + i) % TRACE_CHUNKS;
            struct trace_chunk *chunk = &area->chunks[at];
            if (atomic_load(&chunk->kind) != TRACE_CHUNK_FREE)
                continue;
            next_free = at + 1;
            atomic_store(&chunk->next, TRACE_NO_CHUNK);
            atomic_store(&chunk->used, 0);
            atomic_store(&chunk->kind, kind);
            return at;
        }
        if (atomic_load(&area->stop))
            return TRACE_NO_CHUNK;
        atomic_store(&area->waiting, 1);
        futex_wait(&area->freed, freed);
    }
}

void chunks_hand_over(unsigned cpu)
{
    struct trace_area *area = rec.area;
    const uint32_t n = atomic_load(&area->handed);
    area->order[n % TRACE_CHUNKS] = area->threads[cpu].chunk;
    area->threads[cpu].chunk = TRACE_NO_CHUNK;
    atomic_store(&area->handed, n + 1);
    futex_wake(&area->handed);
    rec.writers[cpu].room = rec.writers[cpu].count = 0;
}

/* Words of threads without a reader, which overwrite each other. */
static uint32_t scratch[1024];
static _Atomic uint32_t scratch_used;

void chunks_to_nobody(struct writer *w)
{
    w->words = scratch;
    w->used = &scratch_used;
    w->count = 0;
    w->room = sizeof scratch / sizeof *scratch;
}

void chunks_renew(unsigned cpu)
{
    struct writer *w = &rec.writers[cpu];
    struct trace_area *area = rec.area;
    pthread_mutex_lock(&rec.lock);
    if (atomic_load(&area->stop))
        atomic_store(&rec.detached, 1);
    if (!atomic_load(&rec.detached) && area->threads[cpu].chunk != TRACE_NO_CHUNK && w->room)
        chunks_hand_over(cpu);
    const uint32_t at = atomic_load(&rec.detached) ? TRACE_NO_CHUNK : chunks_take(TRACE_CHUNK_PATH);
    if (at == TRACE_NO_CHUNK) {
        atomic_store(&rec.detached, 1);
        chunks_to_nobody(w);
    } else {
        area->chunks[at].thread = cpu;
        area->threads[cpu].chunk = at;
        w->words = area->chunks[at].words;
        w->used = &area->chunks[at].used;
        w->count = 0;
        w->room = TRACE_CHUNK_WORDS;
    }
    pthread_mutex_unlock(&rec.lock);
}
