/* SPDX-License-Identifier: Apache-2.0 */
/* Instants whose order is not known. Beside the run, which takes them as they were given, this keeps the
 * states that it would have after every other order. Exists from the first such instant on. */
#ifndef CT_MONITOR_DOUBT_H
#define CT_MONITOR_DOUBT_H

#include "monitor/run.h"

enum {
    DOUBT_WINDOW = 64,     /* instants that may be open: as many as a mask has bits */
    DOUBT_WORLDS = 256,    /* the most states beside the run's */
    DOUBT_BYTES = 8 << 20, /* the most bytes that these states may take */
};

/* Two events whose order was another one, as tags of their spans. */
struct ct_mon_doubt_pair {
    bool named; /* 0: there are none */
    uint64_t tags[2];
};

/* The state that a run would have after some of the instants in another order. */
struct ct_mon_world {
    uint64_t taken; /* instants of the window: bits by index */
    struct ct_mon_doubt_pair pair;
    struct ct_mon_cell *cells; /* that live between instants; the block that the other arrays are in, too */
    int64_t *timers;
    uint32_t *seen;
    uint16_t *states;
    int64_t timer_next, now, floor;
    uint32_t stamp, sources, only;
    bool begun, open;
};

/* A result that is not given yet. */
struct ct_mon_doubt_result {
    struct ct_mon_cell value;
    struct ct_mon_doubt_pair pair;
    int64_t time;
    uint32_t output;
    bool timed;     /* a timer before the instant made the result, so that its time counts */
    bool uncertain; /* not every order has it */
    bool possible;  /* the run does not have it, but another order does */
    bool held;      /* of a signal: each state holds its value by now */
};

struct ct_mon_doubt_results {
    struct ct_mon_doubt_result *all;
    size_t count, cap;
};

/* An instant that may come before one that was given before it. */
struct ct_mon_doubt_instant {
    struct ct_monitor_span span;
    struct ct_monitor_event *events;
    size_t event_count, event_cap;
    int64_t time;    /* at which the run took it */
    uint64_t before; /* instants of the window that come before it in every order: bits by index */
    struct ct_mon_doubt_results results;
};

struct ct_mon_doubt {
    struct ct_mon_doubt_instant window[DOUBT_WINDOW]; /* in the order of the run */
    size_t count;
    struct ct_mon_world *worlds; /* room for `most` of them; those behind `world_count` keep their memory */
    size_t world_count, most;
    struct ct_mon_world run; /* the run's own state while that of another order is in the monitor */
    bool away;               /* the state of another order is in the monitor */
    bool keeping;            /* results go to `fresh` */
    bool no_memory;          /* for results */
    bool unfollowed;         /* orders were too many at some time */
    struct ct_mon_doubt_results fresh;
    struct ct_mon_cell value;         /* of an event that all states take */
    struct ct_mon_doubt_pair given;   /* of the result that the receiver has */
    int64_t given_time;               /* of the last result that went out */
    struct ct_mon_doubt_pair blurred; /* the first order that was too much to be followed */
};

/* Takes an instant that may come before others; its events have plain values. Result: CT_ERR_*. */
int ct_mon_doubt_take(struct ct_monitor *m, const struct ct_monitor_event *events, size_t count,
                      const struct ct_monitor_span *span);

/* Ends all doubts: whatever comes next comes behind all that was given. Result: CT_ERR_*. */
int ct_mon_doubt_settle(struct ct_monitor *m);

/* Tells whether states of other orders are left. */
static inline bool ct_mon_doubt_lasts(const struct ct_monitor *m)
{
    return m->doubt && m->doubt->world_count;
}

/* Tells whether no result and no state depends on the order of events any more. */
static inline bool ct_mon_doubt_is_over(const struct ct_monitor *m)
{
    return !m->doubt || (!m->doubt->world_count && !m->doubt->count);
}

/* Tells whether results that are uncertain are so because of an order that was too much to be followed. */
static inline bool ct_mon_doubt_is_named(const struct ct_monitor *m)
{
    return m->doubt && m->doubt->blurred.named;
}

/* Takes an event, evaluates the open instant, or says that no event before `time` will come, in all states.
 * Result: CT_ERR_*. */
int ct_mon_doubt_event(struct ct_monitor *m, int64_t time, uint32_t input, struct ct_mon_cell value);
int ct_mon_doubt_close(struct ct_monitor *m);
int ct_mon_doubt_advance(struct ct_monitor *m, int64_t time);

/* Gives the results of what comes before `begin` in every order, and frees their room. */
void ct_mon_doubt_seal(struct ct_monitor *m, uint64_t begin);

/* Evaluates the open instant and gives up the states of other orders: from here on only what is the same in
 * all of them is certain, and nothing of what is not given yet. Result: CT_ERR_*. */
int ct_mon_doubt_join(struct ct_monitor *m);

/* Keeps the results of the monitor, in the place of delivering them. */
void ct_mon_doubt_keep(struct ct_monitor *m);

void ct_mon_doubt_roots(struct ct_mon_heap_gc *gc, struct ct_mon_doubt *d);
void ct_mon_doubt_free(struct ct_monitor *m);

/* ---- results: doubt_results.c ---- */

/* Adds a result to a list. False: no memory. */
bool ct_mon_doubt_add(struct ct_mon_doubt_results *list, const struct ct_mon_doubt_result *result);

/* Compares the results of another order, in `fresh`, with those that the run had at the same instant, at
 * `time`. `pair` is what the orders differ in. */
void ct_mon_doubt_compare(struct ct_monitor *m, struct ct_mon_doubt_results *mine, int64_t time,
                          const struct ct_mon_doubt_pair *pair);

/* Gives results in order, and forgets them. */
void ct_mon_doubt_give(struct ct_monitor *m, struct ct_mon_doubt_results *list);

/* Does the same after making results of signals certain whose value every state holds by now. */
void ct_mon_doubt_give_settled(struct ct_monitor *m, struct ct_mon_doubt_results *list);

/* Puts the state of the run aside, so that another one can be loaded, and takes it back. */
void ct_mon_doubt_leave_run(struct ct_monitor *m);
void ct_mon_doubt_back_to_run(struct ct_monitor *m);

/* ---- states: doubt_world.c ---- */

/* Makes room for a state. False: no memory. */
bool ct_mon_world_init(struct ct_mon_world *w, const struct ct_mon_program *p);
size_t ct_mon_world_size(const struct ct_mon_program *p);
void ct_mon_world_save(struct ct_mon_world *w, const struct ct_monitor *m);
void ct_mon_world_load(const struct ct_mon_world *w, struct ct_monitor *m);

/* Tells whether two states of one monitor are the same to all that comes. */
bool ct_mon_world_same(struct ct_monitor *m, const struct ct_mon_world *a, const struct ct_mon_world *b);

/* Gives the value that an output holds. False: it has none yet. */
bool ct_mon_world_held(const struct ct_monitor *m, uint32_t output, struct ct_mon_cell *value);

/* Tells whether an output puts out the changes of what it holds. */
bool ct_mon_world_is_signal(const struct ct_monitor *m, uint32_t output);

#endif
