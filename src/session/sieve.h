/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a sieve: wanted code, wanted contexts, and the beginning and end of the window. */
#pragma once

#include <stdbool.h>

#include "coretap/filter.h"
#include "coretap/watch.h"

/* Position in a stream, in each of the units of a window. */
struct ct_sieve_clock {
    uint64_t cycles, instructions;
    uint64_t ticks; /* the last timestamp; 0 before the first one; never goes back */
};

/* ---- sieve.c ---- */

/* Copies the options of a sieve and the filter in them, for function `who`. CT_ERR_ARG. */
int ct_sieve_read_options(struct ct_ctx *ctx, const char *who, const struct ct_sieve_options *options,
                          struct ct_sieve_options *o, struct ct_filter *filter);

/* Returns whether the window has ended, so that the sieve will keep nothing more. */
bool ct_sieve_is_over(const struct ct_sieve *sieve);

/* Announces that the stream begins inside of its trace, before the window, with the clock `clock`. To be
 * called before the first batch. */
void ct_sieve_begin_inside(struct ct_sieve *sieve, const struct ct_sieve_clock *clock);

/* ---- event_sieve.c ---- */

/* The same for a sieve of events; to be called before the first event. */
void ct_event_sieve_begin_inside(struct ct_event_sieve *sieve, const struct ct_sieve_clock *clock);

/* ---- code (sieve_code.c) ---- */

/* The code that a filter wants, with a verdict for each node of the graph. */
struct ct_sieve_code {
    struct ct_ctx *ctx;
    const struct ct_filter *filter; /* for its modules and functions */
    struct ct_programs *programs;
    uint8_t *verdicts; /* by number of the node: 0 for not known yet, WANTED or UNWANTED */
    size_t room;
};

/* Checks that each module and function of the filter is in a program. CT_ERR_NOT_FOUND: one is in none. */
int ct_sieve_code_check(const struct ct_sieve_code *code);

/* Returns whether a node is wanted: 1 or 0, or a negative error. */
int ct_sieve_code_wants(struct ct_sieve_code *code, const struct ct_graph *graph, uint32_t number);

/* ---- contexts (sieve_who.c) ---- */

/* Returns whether the filter wants code in a context (a CONTEXT element), and adds the context to the
 * statistics. A context that lacks what the filter asks for is not wanted. */
bool ct_sieve_wants(const struct ct_filter *filter, const struct ct_source *source,
                    const struct ct_maps *maps, const struct ct_elem *context, struct ct_sieve_seen *seen);

/* Returns whether the filter wants code before the first context, which is true when it has no condition on
 * contexts. */
bool ct_sieve_wants_all(const struct ct_filter *filter);

/* Sets the clock to a timestamp, unless that is lower. */
void ct_sieve_note_ticks(struct ct_sieve_clock *clock, struct ct_sieve_seen *seen, uint64_t ticks);

/* Reports that a window is in cycles and the source counts none. Returns CT_ERR_NOT_FOUND. */
int ct_sieve_no_cycles(struct ct_ctx *ctx, const struct ct_source *source);

/* ---- the window (sieve_window.c) ---- */

/* One end of the window, with how often execution reached its place. */
struct ct_sieve_end {
    struct ct_filter_point point;
    struct ct_watches *watches; /* of its place; NULL when the end is no place */
    struct ct_watcher *watcher;
    uint64_t times;
    bool reached;
};

struct ct_sieve_window {
    struct ct_sieve_end from, to;
};

/* Prepares both ends. The errors of ct_watches_add. */
int ct_sieve_window_init(struct ct_ctx *ctx, struct ct_sieve_window *window, const struct ct_filter *filter,
                         struct ct_programs *programs);
void ct_sieve_window_free(struct ct_sieve_window *window);

/* Advances by one step or mark, the only one of `item`, which begins at `clock`. Returns 1 when it is inside
 * of the window, 0 when not, or a negative error. */
int ct_sieve_window_has(struct ct_sieve_window *window, const struct ct_sieve_clock *clock,
                        const struct ct_step_batch *item);
