/* SPDX-License-Identifier: Apache-2.0 */
/* Instants whose order is in doubt. The run takes them in the order given; beside it, this keeps the states
 * that the run would have after every other possible order. Exists from the first such instant on. */
#pragma once

#include "monitor/run.h"

enum {
    DOUBT_WINDOW = 64,     /* most open instants: one per bit of a mask */
    DOUBT_WORLDS = 256,    /* most states beside the run's */
    DOUBT_BYTES = 8 << 20, /* most bytes for these states */
};

/* Two events, by the tags of their spans, that the run took in one order and another state in the other. */
struct ct_mon_doubt_pair {
    bool named; /* false: no pair */
    uint64_t tags[2];
};

/* The state of a run after it took some instants in another order. */
struct ct_mon_world {
    uint64_t taken; /* the instants of the window that it took, as bits by index */
    struct ct_mon_doubt_pair pair;
    struct ct_mon_cell *cells; /* cells that live between instants; also the block that holds the other
                                * arrays */
    int64_t *timers;
    uint32_t *seen;
    uint16_t *states;
    int64_t timer_next, now, floor;
    uint32_t stamp, sources, only;
    bool begun, open;
};

/* A result that was not returned yet. */
struct ct_mon_doubt_result {
    struct ct_mon_cell value;
    struct ct_mon_doubt_pair pair;
    int64_t time;
    uint32_t output;
    bool timed;     /* a timer before the instant made the result, so its time matters when results are
                     * compared */
    bool uncertain; /* some order does not have it */
    bool possible;  /* another order has it, but the run does not */
    bool held;      /* a signal's value that every state holds by now */
};

struct ct_mon_doubt_results {
    struct ct_mon_doubt_result *all;
    size_t count, cap;
};

/* An instant that may have happened before instants given earlier. */
struct ct_mon_doubt_instant {
    struct ct_monitor_span span;
    struct ct_monitor_event *events;
    size_t event_count, event_cap;
    int64_t time;    /* time at which the run took it */
    uint64_t before; /* the instants of the window that precede it in every order, as bits by index */
    struct ct_mon_doubt_results results;
};

struct ct_mon_doubt {
    struct ct_mon_doubt_instant window[DOUBT_WINDOW]; /* in the order that the run took them */
    size_t count;
    struct ct_mon_world *worlds; /* room for `most` states; those from `world_count` on keep their memory */
    size_t world_count, most;
    struct ct_mon_world run; /* the run's own state, while another order's state is in the monitor */
    bool away;               /* another order's state is in the monitor */
    bool keeping;            /* results go to `fresh` */
    bool no_memory;          /* memory for results ran out */
    bool unfollowed;         /* there were too many orders at some time */
    struct ct_mon_doubt_results fresh;
    struct ct_mon_cell value;         /* value of an event that all states take */
    struct ct_mon_doubt_pair given;   /* pair of the result that the receiver is looking at */
    int64_t given_time;               /* time of the last returned result */
    struct ct_mon_doubt_pair blurred; /* the first pair that was given up on */
};

/* Takes an instant that may precede others. The values of its events must be plain. Returns CT_OK or an
 * error. */
int ct_mon_doubt_take(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                      const struct ct_monitor_span *span);

/* Ends all doubts: every later event follows all earlier ones. Returns CT_OK or an error. */
int ct_mon_doubt_settle(struct ct_monitor *m);

/* Returns whether states of other orders are left. */
static inline bool ct_mon_doubt_lasts(const struct ct_monitor *m)
{
    return m->doubt && m->doubt->world_count;
}

/* Returns whether no result and no state depends on the order of events any more. */
static inline bool ct_mon_doubt_is_over(const struct ct_monitor *m)
{
    return !m->doubt || (!m->doubt->world_count && !m->doubt->count);
}

/* Returns whether uncertain results are due to orders that were given up on. */
static inline bool ct_mon_doubt_is_named(const struct ct_monitor *m)
{
    return m->doubt && m->doubt->blurred.named;
}

/* Act in all states: take an event, evaluate the open instant, or note that no event before `time` will come.
 * Return CT_OK or an error. */
int ct_mon_doubt_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value);
int ct_mon_doubt_close(struct ct_monitor *m);
int ct_mon_doubt_advance(struct ct_monitor *m, int64_t time);

/* Returns the results of all instants that precede `begin` in every order, and frees their room. */
void ct_mon_doubt_seal(struct ct_monitor *m, uint64_t begin);

/* Evaluates the open instant and gives up the states of other orders. From then on only what they share is
 * certain, and pending results are uncertain. Returns CT_OK or an error. */
int ct_mon_doubt_join(struct ct_monitor *m);

/* Stores the monitor's results instead of delivering them. */
void ct_mon_doubt_keep(struct ct_monitor *m);

void ct_mon_doubt_roots(struct ct_mon_heap_gc *gc, struct ct_mon_doubt *d);
void ct_mon_doubt_free(struct ct_monitor *m);

/* ---- results: doubt_results.c ---- */

/* Appends a result to a list. Returns false when out of memory. */
bool ct_mon_doubt_add(struct ct_mon_doubt_results *list, const struct ct_mon_doubt_result *result);

/* Compares the results of another order, in `fresh`, with those of the run at the same instant, at `time`.
 * `pair` is what the orders differ in. */
void ct_mon_doubt_compare(struct ct_monitor *m, struct ct_mon_doubt_results *mine, int64_t time,
                          const struct ct_mon_doubt_pair *pair);

/* Returns the results in order and empties the list. */
void ct_mon_doubt_give(struct ct_monitor *m, struct ct_mon_doubt_results *list);

/* Does the same, but first marks a signal's result as certain when every state holds its value by now. */
void ct_mon_doubt_give_settled(struct ct_monitor *m, struct ct_mon_doubt_results *list);

/* Put the run's state aside, so that another can be loaded, and restore it. */
void ct_mon_doubt_leave_run(struct ct_monitor *m);
void ct_mon_doubt_back_to_run(struct ct_monitor *m);

/* ---- states: doubt_world.c ---- */

/* Allocates a state. Returns false when out of memory. */
bool ct_mon_world_init(struct ct_mon_world *w, const struct ct_mon_program *p);
size_t ct_mon_world_size(const struct ct_mon_program *p);
void ct_mon_world_save(struct ct_mon_world *w, const struct ct_monitor *m);
void ct_mon_world_load(const struct ct_mon_world *w, struct ct_monitor *m);

/* Returns whether two states of one monitor will behave the same from now on. */
bool ct_mon_world_same(struct ct_monitor *m, const struct ct_mon_world *a, const struct ct_mon_world *b);

/* Gets the value that an output holds. Returns false when it has none yet. */
bool ct_mon_world_held(const struct ct_monitor *m, uint32_t output, struct ct_mon_cell *value);

/* Returns whether an output emits the changes of a held value. */
bool ct_mon_world_is_signal(const struct ct_monitor *m, uint32_t output);
