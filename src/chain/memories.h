/* SPDX-License-Identifier: Apache-2.0 */
/* The memories of a chain: a single one, or one for each generation of each process if the capture says what
 * was mapped when. Each is immutable once it is made; only the choice for the walk changes. */
#pragma once

#include <stdbool.h>

#include "coretap/elem.h"
#include "coretap/program.h"

struct ct_memories;

/* The process that runs, and the time, as far as trace and capture say. */
struct ct_place {
    uint64_t time; /* nanoseconds, or CT_NO_TIME: at the end */
    uint32_t tid;  /* or CT_NO_THREAD */
    bool timed;    /* the time is from a timestamp of the trace */
};

/* Updates a place from an element of the stream of `source`. Returns true when the place changed. */
bool ct_place_follow(struct ct_place *place, const struct ct_maps *maps, const struct ct_source *source,
                     const struct ct_elem *elem);

/* Returns the process ID of the place's thread if the maps have it; else the thread ID. */
uint32_t ct_place_process(const struct ct_place *place, const struct ct_maps *maps);

/* Makes the memories of a buffer (not owned). *common receives the initial memory: that of the buffer's
 * images and, if the buffer has one process that never changed, of that process. CT_ERR_NOMEM; without maps
 * also the errors of the images. */
int ct_memories_new(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_memories **out,
                    const struct ct_memory **common);
void ct_memories_free(struct ct_memories *memories);

/* Returns true when the whole buffer belongs to one process that never runs another program. */
bool ct_memories_stay(const struct ct_buffer *buffer);

/* Returns false when there is only one memory. */
bool ct_memories_change(const struct ct_memories *memories);

/* Returns true when a context element contains a thread ID, and sets *tid. */
bool ct_memories_thread(const struct ct_source *source, const struct ct_elem *elem, uint32_t *tid);

/* Returns true when an element may change thread or time. */
static inline bool ct_memories_concern(const struct ct_elem *elem)
{
    return elem->kind == CT_ELEM_CONTEXT || elem->kind == CT_ELEM_TIMESTAMP;
}

/* Updates the place from an element of the stream of `source`. Returns true when the place changed. */
bool ct_memories_follow(const struct ct_memories *memories, const struct ct_source *source,
                        const struct ct_elem *elem, struct ct_place *place);

/* Returns the memory of a place, made on first use, and its number (ct_maps_generation). Generations with the
 * same images share the number of the first one. An image that cannot be read is left out with a warning.
 * CT_ERR_NOMEM. */
int ct_memories_at(struct ct_memories *memories, const struct ct_place *place, const struct ct_memory **out,
                   uint32_t *number);
