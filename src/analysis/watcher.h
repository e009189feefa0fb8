/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the watcher, for the files that take marks (watch_marks.c) and steps (watch.c). */
#pragma once

#include "analysis/watch.h"
#include "analysis/watch_access.h"
#include "analysis/watch_text.h"

#define CT_WATCHER_NO_EDGE UINT32_MAX
#define CT_WATCHER_PENDING 3 /* most events of one mark: a loss, what came behind it, and what that ends */

/* The part of a timestamp event that differs from other events. */
struct ct_held_stamp {
    uint64_t cycle, timestamp, step;
    uint32_t number;
};

/* A row of timestamps that have nothing but steps between them. */
struct ct_stamp_row {
    bool wanted;                  /* leave out the timestamps inside of a row */
    bool folds;                   /* exactly one watchpoint takes timestamps, so they can be left out */
    uint32_t points;              /* number of watchpoints for which `folds` and `watch` hold */
    uint32_t watch;               /* number of the watchpoint that takes timestamps */
    bool begun;                   /* the first timestamp of a row was given */
    uint32_t count;               /* entries of `held` */
    struct ct_held_stamp held[2]; /* last timestamps of the row, not given yet */
};

struct ct_watcher {
    struct ct_ctx *ctx;
    const struct ct_watches *watches;
    uint32_t *first; /* by edge: its first hit, or NOTHING */
    size_t edges;    /* number of edges in `first` */
    size_t edge_room;
    struct ct_watch_hit *hits;
    size_t hit_count;
    size_t hit_room;
    struct ct_watch_event now; /* what all events have in common: cycle, time, context */
    uint32_t before;           /* the previous edge, or CT_WATCHER_NO_EDGE */
    uint8_t arrived;           /* enum ct_watch_first of the next event */
    uint64_t steps;            /* in earlier batches */
    /* The position in the batch. */
    size_t step;
    size_t mark;
    uint32_t hit;   /* next hit of step `step`, or NOTHING */
    uint32_t point; /* next watchpoint to compare with the mark */
    bool begun;     /* the hits of `step` are being given */
    /* Events of a mark, each given once for every watchpoint that wants it, and the numbers to which
     * watchpoints compare. */
    struct ct_watch_event pending[CT_WATCHER_PENDING];
    uint64_t pending_number[CT_WATCHER_PENDING];
    size_t pending_count, pending_done;
    /* Software trace. */
    uint64_t port;                 /* of the next write, as in CT_SW_PORT */
    uint64_t access;               /* comparator of the last data trace packets, or CT_WATCH_ANY */
    uint32_t same;                 /* events given for the last write or access */
    bool is_local;                 /* the next TIMESTAMP is in cycles */
    struct ct_named_reader *named; /* NULL: no named events */
    struct ct_named_event told;    /* the last named event */
    struct ct_watch_lines lines;
    int failed; /* enum ct_error: a text could not be stored */
    struct ct_stamp_row row;
    /* Data trace. */
    struct ct_access_reader reader;
    struct ct_access given;      /* the access of the pending LOAD or STORE */
    uint32_t given_number;       /* its number, in the bits above CT_WATCH_BITS */
    struct ct_known_bytes *seen; /* by watched variable */
    size_t seen_count;
};

/* Adds an event without a number to compare to those that are pending. */
void ct_watcher_offer(struct ct_watcher *w, enum ct_watch_kind kind, uint64_t value, uint32_t number);

/* Takes a mark: adds its events to those that are pending. */
void ct_watcher_on_mark(struct ct_watcher *w, const struct ct_step_mark *mark);
