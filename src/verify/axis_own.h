/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the axis: axis.c assigns intervals to the events of each source, axis_order.c passes
 * the events of all sources to the specifications in one order. */
#pragma once

#include "coretap/axis.h"
#include "verify/due.h"

enum {
    AXIS_EVENTS = 256, /* events taken from a watcher at a time */
};

/* Longest distance of two timestamps that follow each other. A larger one must be confirmed by the next. */
#define AXIS_LEAP ((uint64_t)1 << 36)

/* An event with the cycles of the counts around it. `item` has the interval once that is known. */
struct ct_axis_waiting {
    struct ct_verify_item item;
    uint64_t from, to; /* `to` is UNKNOWN until the next count */
    uint32_t epoch;    /* in which its interval is, once that is known */
};

/* A timestamp. Inside a count that several steps share, its cycle is only known as a range. */
struct ct_axis_anchor {
    bool known;
    uint64_t time;
    uint64_t from, to; /* range of its cycle */
};

/* A timestamp that does not follow the one before it: the clock of the source started again, or the timestamp
 * is damaged. The next one tells. */
struct ct_axis_held {
    struct ct_axis_anchor anchor;
    size_t end;       /* of the events before it */
    uint64_t told;    /* it is the exact time of this many events before it */
    uint64_t arrival; /* as in ct_axis_source */
    bool first;       /* it is the first of its row */
    bool exact;       /* `arrival` is */
};

/* A position in the steps of a source, up to which its counts were read. */
struct ct_axis_cursor {
    size_t step, mark;
    uint64_t cycle; /* cycles up to this position */
    uint64_t count; /* cycle at which the last count ended */
    bool shared;    /* the next steps share one count */
};

struct ct_axis_source {
    struct ct_watcher *watcher;
    struct ct_axis_waiting *all;    /* waiting events, in order */
    size_t first, placed, end, cap; /* events from `placed` on have no interval yet */
    size_t open;                    /* first event whose next count has not come yet */
    struct ct_axis_cursor cursor;
    struct ct_axis_anchor last;
    struct ct_axis_held held;
    uint32_t epoch; /* of `last`: how often the clock started again */
    bool broken;    /* trace, and so cycles, are missing since the last timestamp */
    /* What is known at the end of the last step that is followed by timestamps. */
    struct ct_axis_anchor before, behind;
    uint64_t arrival; /* cycle at which the last count before that step ended */
    bool arrival_broken, arrival_exact;
    bool counted;     /* the source has cycle counts */
    bool is_told;     /* a timestamp is the exact time of what precedes it */
    bool is_software; /* its events never precede earlier timestamps */
    bool over;
    bool unheard;      /* no specification takes its events */
    bool muted;        /* the caller muted it */
    bool begun;        /* a step or mark came */
    uint64_t presumed; /* events of its first epoch before this time come too late, because the others went on
                        * before the source began */
    uint32_t presumed_epoch;
    /* for a source that the others stopped waiting for: */
    bool seen;      /* it had an event or a timestamp */
    bool absent;    /* it had no timestamp since the others stopped waiting */
    bool open_loss; /* the specifications were told of a loss in this source whose end is not known */
    struct ct_verify_axis_passed passed;
    struct ct_verify_axis_restarts restarts;
};

struct ct_verify_axis {
    struct ct_ctx *ctx;
    struct ct_verifier *verifier;
    uint32_t timestamps; /* number of the timestamps' watchpoint */
    struct ct_axis_source *sources;
    size_t count;
    size_t taken;      /* events since the last turn of the specifications */
    uint32_t epoch;    /* of the events that are passed on: the sources' clocks start again together */
    uint64_t offset;   /* from timestamps of this epoch to times of the specifications */
    uint64_t most;     /* latest time given to the specifications */
    uint64_t floor;    /* events that begin before this time of the epoch come too late */
    bool idle;         /* sources that are not waited for are assumed to do nothing */
    uint64_t presumed; /* time before which sources that have not begun have no events */
    uint64_t reached;  /* time that all begun sources had reached when last asked */
    uint32_t presumed_epoch, reached_epoch;
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

/* Makes a loss of a source. It belongs to no watchpoint. */
struct ct_verify_item ct_verify_axis_loss(size_t source, uint64_t begin, uint64_t end);

/* Appends a loss after the events of a source that have an interval. */
int ct_verify_axis_append_loss(struct ct_verify_axis *axis, struct ct_axis_source *s, uint64_t begin,
                               uint64_t end);
