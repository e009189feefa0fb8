/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the axis: axis.c takes the events of each source and gives them intervals,
 * axis_order.c gives the events of all sources to the specifications in one order. */
#ifndef CT_VERIFY_AXIS_OWN_H
#define CT_VERIFY_AXIS_OWN_H

#include "coretap/axis.h"
#include "verify/due.h"

enum {
    AXIS_EVENTS = 256, /* taken from a watcher at a time */
};

/* An event with the cycles of the counts around it; `item` has its interval once that is known. */
struct ct_axis_waiting {
    struct ct_verify_item item;
    uint64_t from, to; /* `to`: UNKNOWN until the next count */
};

/* A timestamp: in a count that is shared by several steps it is not known at which cycle. */
struct ct_axis_anchor {
    bool known;
    uint64_t time;
    uint64_t from, to; /* cycles */
};

/* A place in the steps of a source, up to which its counts were looked at. */
struct ct_axis_cursor {
    size_t step, mark;
    uint64_t cycle; /* cycles up to here */
    uint64_t count; /* the cycle at which the last count ended */
    bool shared;    /* steps behind it have a part of the next count */
};

struct ct_axis_source {
    struct ct_watcher *watcher;
    struct ct_axis_waiting *all;    /* in order */
    size_t first, placed, end, cap; /* from `placed` on without an interval */
    size_t open;                    /* the first whose next count did not come yet */
    struct ct_axis_cursor cursor;
    struct ct_axis_anchor last;
    bool broken; /* trace is missing since the last timestamp: cycles are, too */
    /* At the end of the last step that has timestamps behind it: what is known of this moment. */
    struct ct_axis_anchor before, behind;
    uint64_t arrival; /* the cycle at which the last count before it ended */
    bool arrival_broken, arrival_exact;
    bool counted;     /* the source has cycle counts */
    bool is_told;     /* a timestamp is the very time of what stands right before it */
    bool is_software; /* nothing in it stands before timestamps that came before it */
    bool over;
    bool unheard;      /* no specification takes what it gives */
    bool muted;        /* … since the caller says so */
    bool begun;        /* a step or a mark of it came */
    uint64_t presumed; /* what is before it comes too late: the others went on when it had not begun */
    /* Of a source that the others stopped waiting for: */
    bool seen;      /* the source had an event or a timestamp */
    bool absent;    /* the source had no timestamp since the others stopped waiting */
    bool open_loss; /* the specifications were told that they miss what it does, and not up to when */
    struct ct_verify_axis_passed passed;
};

struct ct_verify_axis {
    struct ct_ctx *ctx;
    struct ct_verifier *verifier;
    uint32_t timestamps; /* number of their watchpoint */
    struct ct_axis_source *sources;
    size_t count;
    size_t taken;      /* events since the specifications had their turn */
    uint64_t floor;    /* what begins before it comes too late */
    bool idle;         /* sources that are not waited for do nothing meanwhile */
    uint64_t presumed; /* sources that did not begin have nothing before it */
    uint64_t reached;  /* the time that those that began had all come to when it was last asked */
    ct_verify_axis_filter_fn *filter;
    void *filter_user;
    ct_verify_axis_yield_fn *yield;
    void *yield_user;
    struct ct_watch_event events[AXIS_EVENTS];
};

static inline uint64_t axis_at_least(uint64_t value, uint64_t least)
{
    return value > least ? value : least;
}

/* Puts a loss behind the events of a source that have an interval. */
int ct_verify_axis_append_loss(struct ct_verify_axis *axis, struct ct_axis_source *s, uint64_t begin,
                               uint64_t end);

#endif
