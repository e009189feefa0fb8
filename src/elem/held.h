/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that are held until the trace unit commits or cancels them: a ring with a fixed size. */
#ifndef CT_ELEM_HELD_H
#define CT_ELEM_HELD_H

#include <stdbool.h>

#include "coretap/elem.h"

struct ct_held_item {
    struct ct_elem elem;
    uint8_t p0; /* P0 elements that this counts for: the number of atoms, 1, or 0 */
};

/* Power of two. Trace units hold some hundred P0 elements at most (TRCIDR8); between them may stand any
 * number of others, so what is full is drained early where that is safe. */
#define CT_HELD_SIZE 65536u

struct ct_held {
    struct ct_held_item *items;
    uint32_t oldest; /* free-running; index is the value modulo CT_HELD_SIZE */
    uint32_t newest; /* one behind the newest */
};

/* Makes an empty ring. False: no memory. */
bool ct_held_init(struct ct_held *held);
void ct_held_deinit(struct ct_held *held);

static inline uint32_t ct_held_count(const struct ct_held *held)
{
    return held->newest - held->oldest;
}

/* Gives item i, counted from the oldest. */
static inline struct ct_held_item *ct_held_at(const struct ct_held *held, uint32_t i)
{
    return &held->items[(held->oldest + i) % CT_HELD_SIZE];
}

static inline void ct_held_clear(struct ct_held *held)
{
    held->oldest = held->newest;
}

static inline void ct_held_pop_oldest(struct ct_held *held)
{
    held->oldest++;
}

/* Adds an element, which counts as `p0` P0 elements. There must be room: the caller checks before each
 * packet. */
static inline void ct_held_push(struct ct_held *held, const struct ct_elem *elem, uint8_t p0)
{
    held->items[held->newest++ % CT_HELD_SIZE] = (struct ct_held_item){.elem = *elem, .p0 = p0};
}

/* Tells whether an element is not about the path of execution, so that it stays when those around it are
 * taken back. */
bool ct_held_is_off_path(const struct ct_elem *elem);

/* Takes back the newest `count` P0 elements with all that depends on them; events, times and counts among
 * them stay. Result: how many could not be taken back because there were no more. */
uint32_t ct_held_cancel(struct ct_held *held, uint32_t count);

/* Inverts the newest atom; addresses behind it were those of the wrong path and
 * go. False when there is no atom. */
bool ct_held_mispredict(struct ct_held *held);

#endif
