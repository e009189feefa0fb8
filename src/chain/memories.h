/* SPDX-License-Identifier: Apache-2.0 */
/* The memories of a chain: one, or where a capture says what was mapped when, one for each generation of each
 * process. Each is immutable once it is made; what changes is which of them the walk reads. */
#ifndef CT_CHAIN_MEMORIES_H
#define CT_CHAIN_MEMORIES_H

#include <stdbool.h>

#include "coretap/elem.h"
#include "coretap/program.h"

struct ct_memories;

/* Which process runs, and when, as far as trace and capture tell. */
struct ct_place {
    uint64_t time; /* nanoseconds, or CT_NO_TIME: at the end */
    uint32_t tid;  /* or CT_NO_THREAD */
    bool timed;    /* the time is from a timestamp of the trace */
};

/* Updates a place by an element of the stream of `source`. Returns true when the place changed. */
bool ct_place_follow(struct ct_place *place, const struct ct_maps *maps, const struct ct_source *source,
                     const struct ct_elem *elem);

/* Returns the number of the process that the thread of a place is of, as far as the maps tell; else that of
 * the thread. */
uint32_t ct_place_process(const struct ct_place *place, const struct ct_maps *maps);

/* Makes the memories of a buffer (not owned). *common is the memory to begin with: that of the buffer's
 * images and, if the buffer has one process that never changed, of that process. CT_ERR_NOMEM; without maps
 * also the errors of the images. */
int ct_memories_new(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_memories **out,
                    const struct ct_memory **common);
void ct_memories_free(struct ct_memories *memories);

/* Returns true when all of a buffer is of one process that never becomes another program. */
bool ct_memories_stay(const struct ct_buffer *buffer);

/* Returns false when there is only one memory. */
bool ct_memories_change(const struct ct_memories *memories);

/* Returns true when a context element names a thread, and sets *tid. */
bool ct_memories_thread(const struct ct_source *source, const struct ct_elem *elem, uint32_t *tid);

/* Returns true when an element can tell of another thread or time. */
static inline bool ct_memories_concern(const struct ct_elem *elem)
{
    return elem->kind == CT_ELEM_CONTEXT || elem->kind == CT_ELEM_TIMESTAMP;
}

/* Updates the place by an element of the stream of `source`. Returns true when the place changed. */
bool ct_memories_follow(const struct ct_memories *memories, const struct ct_source *source,
                        const struct ct_elem *elem, struct ct_place *place);

/* Gives the memory of a place, which is made when it is first asked for, and its number (ct_maps_generation).
 * Generations with the same images share the number of the first one. An image that cannot be read is left
 * out with a warning. CT_ERR_NOMEM. */
int ct_memories_at(struct ct_memories *memories, const struct ct_place *place, const struct ct_memory **out,
                   uint32_t *number);

#endif
