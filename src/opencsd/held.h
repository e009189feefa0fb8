/* SPDX-License-Identifier: Apache-2.0 */
/* What an ETMv4 or ETE said and may still take back, oldest first. */
#ifndef CT_OPENCSD_HELD_H
#define CT_OPENCSD_HELD_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum ct_ocsd_held_kind {
    CT_OCSD_HELD_ATOMS,   /* n atoms in `value`, the oldest in bit 0 */
    CT_OCSD_HELD_ADDRESS, /* value; n: IS1 */
    CT_OCSD_HELD_CONTEXT, /* value: VMID and context ID; n: el_sec; aux: flags of the packet; count: IS1 */
    CT_OCSD_HELD_TRACE_ON,
    CT_OCSD_HELD_EXCEPTION, /* aux: number; n: E1:E0 */
    CT_OCSD_HELD_RETURN,    /* from an exception */
    CT_OCSD_HELD_FUNCTION_RETURN,
    CT_OCSD_HELD_Q,         /* value: address; n: IS1; aux: flags of the packet; count: instructions */
    CT_OCSD_HELD_SOURCE,    /* value; n: IS1 */
    CT_OCSD_HELD_EVENT,     /* n: bits */
    CT_OCSD_HELD_TIMESTAMP, /* value; n: has a cycle count; count: that */
    CT_OCSD_HELD_CYCLES,    /* count */
    CT_OCSD_HELD_MARKER,
    CT_OCSD_HELD_TRANSACTION, /* n: trace_memtrans_t */
};

struct ct_ocsd_held {
    uint64_t value;
    ocsd_trc_index_t index; /* of the packet */
    uint32_t count;
    uint16_t aux;
    uint8_t kind; /* enum ct_ocsd_held_kind */
    uint8_t n;
    uint8_t p0; /* P0 elements that it stands for */
};

/* Tells whether an item is about something else than the path of execution. */
static inline bool ct_ocsd_held_is_apart(const struct ct_ocsd_held *item)
{
    return item->kind == CT_OCSD_HELD_EVENT || item->kind == CT_OCSD_HELD_TIMESTAMP ||
           item->kind == CT_OCSD_HELD_CYCLES || item->kind == CT_OCSD_HELD_MARKER;
}

/* A queue that grows. */
struct ct_ocsd_held_queue {
    struct ct_ocsd_held *items;
    uint32_t first, count;
    uint32_t room; /* a power of two */
};

void ct_ocsd_held_deinit(struct ct_ocsd_held_queue *queue);

/* Adds an item that is newer than all others. Returns false without memory. */
bool ct_ocsd_held_push(struct ct_ocsd_held_queue *queue, const struct ct_ocsd_held *item);

/* Returns item `i`, 0 is the oldest. */
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

/* Takes back the newest P0 elements, and what is newer than the oldest of them, but for times, counts and
 * events. Returns how many are not there. */
uint32_t ct_ocsd_held_cancel(struct ct_ocsd_held_queue *queue, uint32_t count);

/* Turns the newest atom round, and takes back the addresses that are newer. Returns false when there is no
 * atom. */
bool ct_ocsd_held_mispredict(struct ct_ocsd_held_queue *queue);

#endif
