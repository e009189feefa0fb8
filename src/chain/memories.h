/* SPDX-License-Identifier: Apache-2.0 */
/* The memories of a chain: one, or where a capture says what was mapped when, one for each generation of each
 * process. Each is immutable once it is made; what changes is which of them the walk reads. */
#ifndef CT_CHAIN_MEMORIES_H
#define CT_CHAIN_MEMORIES_H

#include <stdbool.h>

#include "coretap/elem.h"
#include "coretap/program.h"

struct ct_memories;

/* Who ran when, as far as trace and capture say. */
struct ct_place {
    uint64_t time; /* nanoseconds, or CT_NO_TIME: at the end */
    uint32_t tid;  /* or CT_NO_THREAD */
    bool timed;    /* the time is one of the trace */
};

/* The memories of a buffer (not owned); *common is the one to begin with: that of its images,
 * and of the one process where there is only one that never changed. CT_ERR_NOMEM; without maps
 * also the errors of the images. */
int ct_memories_new(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_memories **out,
                    const struct ct_memory **common);
void ct_memories_free(struct ct_memories *memories);

/* Whether all of a buffer is of one process that never becomes another program. */
bool ct_memories_stay(const struct ct_buffer *buffer);

/* False: there is only one memory. */
bool ct_memories_change(const struct ct_memories *memories);

/* The thread that a context element names, if it does. */
bool ct_memories_thread(const struct ct_source *source, const struct ct_elem *elem, uint32_t *tid);

/* Whether an element can say anything about the place. */
static inline bool ct_memories_concern(const struct ct_elem *elem)
{
    return elem->kind == CT_ELEM_CONTEXT || elem->kind == CT_ELEM_TIMESTAMP;
}

/* What `elem` of a stream of `source` says about the place. True when the place is another one now. */
bool ct_memories_follow(const struct ct_memories *memories, const struct ct_source *source,
                        const struct ct_elem *elem, struct ct_place *place);

/* The memory of a place, made when it is first asked for, and its number (ct_maps_generation): that of the
 * first one that was made of the same images. An image that cannot be read is left out with a warning.
 * CT_ERR_NOMEM. */
int ct_memories_at(struct ct_memories *memories, const struct ct_place *place, const struct ct_memory **out,
                   uint32_t *number);

#endif
