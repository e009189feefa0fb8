/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of watchpoints: the set as the watcher reads it. */
#ifndef CT_ANALYSIS_WATCH_H
#define CT_ANALYSIS_WATCH_H

#include "base/arena.h"
#include "coretap/watch.h"

struct ct_watches {
    struct ct_ctx *ctx;
    struct ct_arena arena;
    struct ct_watchpoint *points;
    size_t count;
    struct ct_watch_place *points_at; /* by addr: all but RETURN */
    size_t point_count;
    struct ct_watch_place *returns; /* by addr */
    uint64_t *reach;                /* the largest end of returns[0 … i] */
    size_t return_count;
    struct ct_programs *programs; /* or NULL */
    uint32_t marks;               /* bit of each kind that is a mark and watched */
    int sorted;
    int watched; /* there was a watcher: what is added is put in order at once */
};

/* Adds a watchpoint, then places to the last one. CT_ERR_NOMEM. */
int ct_watches_point(struct ct_watches *watches, const char *name, enum ct_watch_kind kind, uint64_t number);
int ct_watches_place(struct ct_watches *watches, const struct ct_watch_place *place);

/* Puts places in order. CT_ERR_NOMEM. */
int ct_watches_sort(struct ct_watches *watches);

/* What an edge passes. */
struct ct_watch_hit {
    uint64_t addr;
    uint32_t watch;
    uint32_t before; /* bytes of the node that run before it */
    uint8_t kind;    /* enum ct_watch_kind */
    uint8_t first;   /* ENTRY at the start of the node: only when execution does not come from inside the
                        function */
    uint8_t last;    /* the last hit of its edge */
    uint8_t pad;
    uint32_t size; /* bytes of the node, at least 1 */
    uint64_t end;  /* `first`: the function goes up to here */
};

/* Writes the hits of `edge` in order of execution, at most `most`; their number, which may be larger. */
size_t ct_watch_hits(const struct ct_watches *watches, const struct ct_node *node, const struct ct_edge *edge,
                     struct ct_watch_hit *out, size_t most);

#endif
