/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of fixed size for the elements that are held until the trace unit commits or cancels them. */
#pragma once

#include <stdbool.h>

#include "coretap/elem.h"

/* A held element. */
struct ct_held_item {
    struct ct_elem elem;
    uint8_t p0; /* number of P0 elements that this item counts as: the number of atoms, 1, or 0 */
};

/* Items of the ring, a power of two. Trace units hold some hundred P0 elements at most (TRCIDR8), but any
 * number of other elements may lie between them, so the resolver drains a full ring early where that is
 * safe. */
#define CT_HELD_SIZE 65536u

/* The ring: its items from `oldest` up to the one before `newest` are held. */
struct ct_held {
    struct ct_held_item *items;
    uint32_t oldest; /* number of the oldest item; its index is this modulo CT_HELD_SIZE */
    uint32_t newest; /* number behind that of the newest item */
};

/* Makes an empty ring. Returns false when memory runs out. */
bool ct_held_init(struct ct_held *held);
void ct_held_deinit(struct ct_held *held);

static inline uint32_t ct_held_count(const struct ct_held *held)
{
    return held->newest - held->oldest;
}

/* Returns item i, counted from the oldest. */
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

/* Adds an element that counts as `p0` P0 elements. There must be room; the caller checks that before each
 * packet. */
static inline void ct_held_push(struct ct_held *held, const struct ct_elem *elem, uint8_t p0)
{
    held->items[held->newest++ % CT_HELD_SIZE] = (struct ct_held_item){.elem = *elem, .p0 = p0};
}

/* Returns whether an element is not about the path of execution, so that it stays when those around it are
 * taken back. */
bool ct_held_is_off_path(const struct ct_elem *elem);

/* Takes back the newest `count` P0 elements and all elements that depend on them; events, times and counts
 * among them stay. Returns how many could not be taken back because there were too few. */
uint32_t ct_held_cancel(struct ct_held *held, uint32_t count);

/* Inverts the newest atom and drops the addresses behind it, which were those of the wrong path. Returns
 * false when there is no atom. */
bool ct_held_mispredict(struct ct_held *held);
