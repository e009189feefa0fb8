/* SPDX-License-Identifier: Apache-2.0 */
/* coretap losses: what a trace should have said and did not. Every receiver, command and report takes these
 * numbers from the chain (ct_chain_losses, ct_stream_stats), where one file counts them. */
#ifndef CORETAP_LOSSES_H
#define CORETAP_LOSSES_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts; those of two traces add up. The same at each level of decoding that reaches them, with each engine
 * and any number of threads. */
struct ct_losses {
    uint64_t gaps;      /* places where trace is missing. The wait for the first synchronisation is none */
    uint64_t overflows; /* of the gaps: the trace unit says that it lost trace */
    uint64_t contradictions; /* of the gaps: the trace contradicts the program. From level FLOW on */
    uint64_t bad_packets;    /* packets that cannot be, or that the end of the trace cuts */
    uint64_t lost_bytes; /* bytes of trace that could not be used: in gaps, before the first synchronisation,
                            between frames, and those of a data trace that is not decoded */
    uint64_t no_access;  /* times that execution came to an address that no memory image has. From
                            level FLOW on */
};

/* What was decoded, and so can be known of losses. */
enum ct_losses_known {
    CT_LOSSES_FRAMES,
    CT_LOSSES_TRACE,   /* packets at least */
    CT_LOSSES_PROGRAM, /* losses along the program */
};

/* Addresses near each other, in the same 64 KiB, that no memory image has. */
struct ct_hole {
    uint64_t low, high; /* the lowest and the highest that execution came to */
    uint64_t count;     /* how often it did */
};

#define CT_HOLES 64

/* Where memory was missing: the lowest CT_HOLES of all regions, in the order of their addresses. Parts of a
 * trace that are added up in any order give the same, because no part leaves out one of these for another. */
struct ct_holes {
    struct ct_hole all[CT_HOLES];
    uint64_t count;
    uint64_t others; /* times that came to regions above these */
};

/* Adds numbers up, which stop at 2^64 - 1. */
static inline uint64_t ct_holes_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Makes room for the region at number `i`; where there is none, the highest one goes to `others`. */
static inline void ct_holes_make_room(struct ct_holes *holes, uint64_t i)
{
    if (holes->count == CT_HOLES)
        holes->others = ct_holes_sum(holes->others, holes->all[--holes->count].count);
    for (uint64_t k = holes->count++; k > i; k--)
        holes->all[k] = holes->all[k - 1];
}

/* Adds what came to one hole; addresses in the same 64 KiB share an entry. */
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

/* Returns the count of all regions together. */
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

/* Returns 1 when anything was counted, else 0. */
static inline int ct_losses_any(const struct ct_losses *losses)
{
    return losses->gaps || losses->bad_packets || losses->lost_bytes || losses->no_access;
}

/* Returns 1 when trace was lost or contradicts the program. What the trace unit lost in its own overflows,
 * and code whose memory is not there, leave a sound trace of the rest. */
static inline int ct_losses_damaged(const struct ct_losses *losses)
{
    return losses->gaps > losses->overflows || losses->bad_packets || losses->lost_bytes;
}

#ifdef __cplusplus
}
#endif
#endif
