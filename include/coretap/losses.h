/* SPDX-License-Identifier: Apache-2.0 */
/* coretap losses: what is missing in a trace. Receivers, commands and reports all take these numbers from the
 * chain (ct_chain_losses, ct_stream_stats), where one file counts them. */
#ifndef CORETAP_LOSSES_H
#define CORETAP_LOSSES_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of losses; those of two traces can be added. They are the same with each engine and any number of
 * threads, and at each level of decoding that counts them. */
struct ct_losses {
    uint64_t gaps;           /* places where trace is missing, except before the first synchronisation */
    uint64_t overflows;      /* gaps where the trace unit reported an overflow */
    uint64_t contradictions; /* gaps where the trace contradicts the program. From level FLOW on */
    uint64_t bad_packets;    /* impossible packets, and packets cut by the end of the trace */
    uint64_t lost_bytes; /* bytes of trace that could not be used: in gaps, before the first synchronisation,
                            between frames, and of a data trace that is not decoded */
    uint64_t no_access;  /* times that execution reached an address that no memory image contains. From level
                            FLOW on */
};

/* What was decoded, and so which losses are known. */
enum ct_losses_known {
    CT_LOSSES_FRAMES,
    CT_LOSSES_TRACE,   /* packets at least */
    CT_LOSSES_PROGRAM, /* losses along the program */
};

/* Addresses that no memory image contains, all in the same 64 KiB. */
struct ct_hole {
    uint64_t low, high; /* the lowest and the highest that execution reached */
    uint64_t count;     /* how often it did */
};

#define CT_HOLES 64

/* Where memory was missing: the lowest CT_HOLES regions, in the order of their addresses. Parts of a trace
 * that are added up in any order give the same result, because no part drops one of these regions in favour
 * of a higher one. */
struct ct_holes {
    struct ct_hole all[CT_HOLES];
    uint64_t count;
    uint64_t others; /* occurrences in higher regions */
};

/* Adds two numbers; the sum stops at 2^64 - 1. */
static inline uint64_t ct_holes_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Makes room for a region at index `i`. When there is none, the count of the highest region moves to
 * `others`. */
static inline void ct_holes_make_room(struct ct_holes *holes, uint64_t i)
{
    if (holes->count == CT_HOLES)
        holes->others = ct_holes_sum(holes->others, holes->all[--holes->count].count);
    for (uint64_t k = holes->count++; k > i; k--)
        holes->all[k] = holes->all[k - 1];
}

/* Adds one hole; addresses in the same 64 KiB share an entry. */
static inline void ct_holes_add(struct ct_holes *holes, const struct ct_hole *more)
{
    uint64_t i = 0;
    while (i < holes->count && holes->all[i].low >> 16 < more->low >> 16)
        i++;
    if (i == CT_HOLES) {
        holes->others = ct_holes_sum(holes->others, more->count);
    } else if (i == holes->count || holes->all[i].low >> 16 != more->low >> 16) {
        ct_holes_make_room(holes, i);
        holes->all[i] = *more;
    } else {
        struct ct_hole *hole = &holes->all[i];
        hole->low = more->low < hole->low ? more->low : hole->low;
        hole->high = more->high > hole->high ? more->high : hole->high;
        hole->count = ct_holes_sum(hole->count, more->count);
    }
}

/* Adds all of `from`. */
static inline void ct_holes_merge(struct ct_holes *into, const struct ct_holes *from)
{
    for (uint64_t i = 0; i < from->count; i++)
        ct_holes_add(into, &from->all[i]);
    into->others = ct_holes_sum(into->others, from->others);
}

/* Returns the sum of the counts of all regions. */
static inline uint64_t ct_holes_total(const struct ct_holes *holes)
{
    uint64_t total = holes->others;
    for (uint64_t i = 0; i < holes->count; i++)
        total = ct_holes_sum(total, holes->all[i].count);
    return total;
}

/* Adds all counts of `more`. */
static inline void ct_losses_add(struct ct_losses *sum, const struct ct_losses *more)
{
    sum->gaps += more->gaps;
    sum->overflows += more->overflows;
    sum->contradictions += more->contradictions;
    sum->bad_packets += more->bad_packets;
    sum->lost_bytes += more->lost_bytes;
    sum->no_access += more->no_access;
}

/* Returns 1 when any count is not 0, else 0. */
static inline int ct_losses_any(const struct ct_losses *losses)
{
    return losses->gaps || losses->bad_packets || losses->lost_bytes || losses->no_access;
}

/* Returns 1 when trace was lost or contradicts the program. Overflows of the trace unit, and missing memory,
 * do not damage the rest of the trace. */
static inline int ct_losses_damaged(const struct ct_losses *losses)
{
    return losses->gaps > losses->overflows || losses->bad_packets || losses->lost_bytes;
}

#ifdef __cplusplus
}
#endif
#endif
