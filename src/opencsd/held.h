/* SPDX-License-Identifier: Apache-2.0 */
/* Items from an ETMv4 or ETE that may still be cancelled, oldest first. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum ct_ocsd_held_kind {
    CT_OCSD_HELD_ATOMS,   /* n atoms in `value`, the oldest in bit 0 */
    CT_OCSD_HELD_ADDRESS, /* value; n: IS1 */
    CT_OCSD_HELD_CONTEXT, /* value: VMID and context ID; n: el_sec; aux: flags of the packet; count: IS1 */
    CT_OCSD_HELD_TRACE_ON,
    CT_OCSD_HELD_EXCEPTION, /* aux: number; n: E1:E0 */
    CT_OCSD_HELD_RETURN,    /* a return from an exception */
    CT_OCSD_HELD_FUNCTION_RETURN,
    CT_OCSD_HELD_Q,         /* value: address; n: IS1; aux: flags of the packet; count: number of
                             * instructions */
    CT_OCSD_HELD_SOURCE,    /* value; n: IS1 */
    CT_OCSD_HELD_EVENT,     /* n: bits */
    CT_OCSD_HELD_TIMESTAMP, /* value; n: 1 if it has a cycle count; count: that cycle count */
    CT_OCSD_HELD_CYCLES,    /* count */
    CT_OCSD_HELD_MARKER,
    CT_OCSD_HELD_TRANSACTION, /* n: trace_memtrans_t */
};

struct ct_ocsd_held {
    uint64_t value;
    ocsd_trc_index_t index; /* trace index of the packet */
    uint32_t count;
    uint16_t aux;
    uint8_t kind; /* enum ct_ocsd_held_kind */
    uint8_t n;
    uint8_t p0; /* P0 elements that the item represents */
};

/* Returns whether an item is unrelated to the execution path. */
static inline bool ct_ocsd_held_is_apart(const struct ct_ocsd_held *item)
{
    return item->kind == CT_OCSD_HELD_EVENT || item->kind == CT_OCSD_HELD_TIMESTAMP ||
           item->kind == CT_OCSD_HELD_CYCLES || item->kind == CT_OCSD_HELD_MARKER;
}

/* A growing queue. */
struct ct_ocsd_held_queue {
    struct ct_ocsd_held *items;
    uint32_t first, count;
    uint32_t room; /* a power of two */
};

void ct_ocsd_held_deinit(struct ct_ocsd_held_queue *queue);

/* Appends an item, which becomes the newest. Returns false when out of memory. */
bool ct_ocsd_held_push(struct ct_ocsd_held_queue *queue, const struct ct_ocsd_held *item);

/* Returns item `i`; 0 is the oldest. */
static inline struct ct_ocsd_held *ct_ocsd_held_at(const struct ct_ocsd_held_queue *queue, uint32_t i)
{
    return &queue->items[(queue->first + i) & (queue->room - 1)];
}

static inline void ct_ocsd_held_pop(struct ct_ocsd_held_queue *queue)
{
    queue->first++;
    queue->count--;
}

static inline void ct_ocsd_held_clear(struct ct_ocsd_held_queue *queue)
{
    queue->first = queue->count = 0;
}

/* Cancels the newest `count` P0 elements, and all items newer than the oldest of them except times, counts
 * and events. Returns how many elements were missing. */
uint32_t ct_ocsd_held_cancel(struct ct_ocsd_held_queue *queue, uint32_t count);

/* Inverts the newest atom, and cancels newer addresses. Returns false when there is no atom. */
bool ct_ocsd_held_mispredict(struct ct_ocsd_held_queue *queue);
