/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of words in the shared memory: those that a thread fills, and free ones. */
#pragma once

#include "trace_recording.h"

/* Returns a free chunk, marked as `kind`, or waits until the reader gives one back. Returns TRACE_NO_CHUNK
 * when there is no reader any more. Requires the lock. */
uint32_t chunks_take(enum trace_chunk_kind kind);

/* Gives the chunk of a thread to the reader. Requires the lock. */
void chunks_hand_over(unsigned cpu);

/* Lets a thread write words that nobody reads. */
void chunks_to_nobody(struct writer *w);

/* Gives a thread a new chunk, and the reader its old one. */
void chunks_renew(unsigned cpu);

/* Makes room for a few words in one chunk. */
static inline void chunks_reserve(unsigned cpu, uint32_t words)
{
    if (rec.writers[cpu].count + words > rec.writers[cpu].room)
        chunks_renew(cpu);
}

static inline void chunks_put(unsigned cpu, uint32_t word)
{
    struct writer *w = &rec.writers[cpu];
    if (__builtin_expect(w->count == w->room, 0))
        chunks_renew(cpu);
    w->words[w->count++] = word;
    atomic_store_explicit(w->used, w->count, memory_order_release);
}
