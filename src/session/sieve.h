/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a sieve: which code is wanted, and when the window is. */
#ifndef CT_SESSION_SIEVE_H
#define CT_SESSION_SIEVE_H

#include <stdbool.h>

#include "coretap/filter.h"
#include "coretap/watch.h"

/* Where a stream is. */
struct ct_sieve_clock {
    uint64_t cycles, instructions;
    uint64_t ticks; /* the last timestamp, 0 before the first one. Never goes back */
};

/* ---- sieve.c ---- */

/* Copies the options of a sieve, and the filter in them; `who` reads them. CT_ERR_ARG. */
int ct_sieve_read_options(struct ct_ctx *ctx, const char *who, const struct ct_sieve_options *options,
                          struct ct_sieve_options *o, struct ct_filter *filter);

/* Tells whether the window is over: the sieve keeps nothing of what comes. */
bool ct_sieve_is_over(const struct ct_sieve *sieve);

/* Says before the first batch that the stream begins inside of its trace, where its clock is `clock`, before
 * the window. */
void ct_sieve_begin_inside(struct ct_sieve *sieve, const struct ct_sieve_clock *clock);

/* ---- code (sieve_code.c) ---- */

/* Remembers for each node whether its code is wanted. */
struct ct_sieve_code {
    struct ct_ctx *ctx;
    const struct ct_filter *filter; /* its modules and functions count */
    struct ct_programs *programs;
    uint8_t *verdicts; /* by number of the node: 0 not known yet, WANTED, UNWANTED */
    uint32_t room;
};

/* CT_ERR_NOT_FOUND: a module or a function is in none of the programs. */
int ct_sieve_code_check(const struct ct_sieve_code *code);

/* Whether the node with a number is wanted: 1 or 0, or a negative error. */
int ct_sieve_code_wants(struct ct_sieve_code *code, const struct ct_graph *graph, uint32_t number);

/* ---- who runs (sieve_who.c) ---- */

/* Whether what runs in a context (a CONTEXT element) is wanted, and notes it as seen. What is not known is
 * not wanted, when it is asked for. */
bool ct_sieve_wants(const struct ct_filter *filter, const struct ct_source *source,
                    const struct ct_maps *maps, const struct ct_elem *context, struct ct_sieve_seen *seen);

/* Whether it is before a context is known: a filter that asks for none. */
bool ct_sieve_wants_all(const struct ct_filter *filter);

/* Notes a timestamp: the clock never goes back. */
void ct_sieve_note_ticks(struct ct_sieve_clock *clock, struct ct_sieve_seen *seen, uint64_t ticks);

/* Says that a window is in cycles and the source counts none. CT_ERR_NOT_FOUND. */
int ct_sieve_no_cycles(struct ct_ctx *ctx, const struct ct_source *source);

/* ---- the window (sieve_window.c) ---- */

/* One end of the window, and how often its place was come to. */
struct ct_sieve_end {
    struct ct_filter_point point;
    struct ct_watches *watches; /* of its place; or NULL */
    struct ct_watcher *watcher;
    uint64_t times;
    bool reached;
};

struct ct_sieve_window {
    struct ct_sieve_end from, to;
};

/* The errors of ct_watches_add. */
int ct_sieve_window_init(struct ct_ctx *ctx, struct ct_sieve_window *window, const struct ct_filter *filter,
                         struct ct_programs *programs);
void ct_sieve_window_free(struct ct_sieve_window *window);

/* Moves on to one step or mark, the only one of `item`, which begins at `clock`. Result: 1 when it is inside,
 * 0 when not, or a negative error. */
int ct_sieve_window_has(struct ct_sieve_window *window, const struct ct_sieve_clock *clock,
                        const struct ct_step_batch *item);

#endif
