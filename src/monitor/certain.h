/* SPDX-License-Identifier: Apache-2.0 */
/* Which results are certain although events were lost: tracks, beside the run, what its streams may hold in
 * any run that saw the events that this one did. Exists from the first loss until nothing depends on a loss
 * any more. */
#ifndef CT_MONITOR_CERTAIN_H
#define CT_MONITOR_CERTAIN_H

#include "monitor/guess.h"
#include "monitor/run.h"

/* Whether a stream has an event. */
enum ct_mon_occurs {
    OCCURS_NOT,
    OCCURS_MAYBE,
    OCCURS
};

/* The value that a stream holds. */
struct ct_mon_shade {
    bool sure;        /* every run has the value of this run; `value` is that one, where a guess can be */
    bool never, ever; /* whether it may have had no event yet, and one */
    struct ct_mon_guess value;
};

/* The event that a stream may have at the current instant. */
struct ct_mon_shade_event {
    uint8_t occurs; /* enum ct_mon_occurs */
    bool sure;      /* every run has the event that this one has, or none where it has none */
    struct ct_mon_guess value;
};

enum {
    CERTAIN_COLUMNS = 16, /* kinds of steps of a formula that are remembered */
};

/* A step from a set of states: where it leads, or 0 when that is not known, and its units of work. */
struct ct_mon_shade_edge {
    uint32_t to, work;
};

/* What is known of a set of states. */
struct ct_mon_shade_set {
    bool never, ever; /* some have no verdict, and some one */
    bool single;      /* the set is one state */
    uint8_t lo, hi;   /* the least and the largest verdict; none: lo > hi */
};

/* The sets of states that a formula's machine may be in, as far as they came before. Each has a number from 1
 * on, and where steps lead from it is remembered. */
struct ct_mon_shade_states {
    uint32_t at; /* the set that it is in */
    uint32_t count, room, columns;
    struct ct_mon_shade_edge *edges;    /* by set and column */
    uint8_t column_of[CERTAIN_COLUMNS]; /* by number of ct_mon_formulas.instants: its column and 1, or 0 */
    uint64_t *sets;                     /* by number: bits by state */
    struct ct_mon_shade_set *facts;     /* by number */
    size_t words;
    uint64_t keys[CERTAIN_COLUMNS]; /* by column: which step it is */
};

/* Formulas that follow from events of inputs alone, and that nothing reads: they are stepped together, a
 * look-up each. */
struct ct_mon_formulas {
    uint32_t *streams; /* their numbers */
    size_t count;
    bool *is_one;                       /* by stream */
    bool followed;                      /* false: all formulas are as in the run */
    uint64_t instants[CERTAIN_COLUMNS]; /* which inputs have events, or may have */
    uint32_t instant_count;
    uint64_t *scratch; /* room for three sets */
};

struct ct_mon_shade_timer {
    bool sure;
    int64_t until; /* if not: the latest time at which it may expire */
    int64_t due;   /* when it expires in the run, as of the last instant; or -1 */
};

/* Which streams are followed. Those that no loss can have changed any more are not: they are as in the run.
 */
enum ct_mon_track_role {
    TRACK_NOT,
    TRACK_RUN,    /* the stream is as in the run, and an uncertain one is made of it */
    TRACK_UNSURE, /* uncertain, or made of what may be uncertain */
};

struct ct_mon_track {
    uint32_t *all; /* the streams that are looked at one by one, in their order */
    size_t all_count;
    uint8_t *roles; /* by stream: enum ct_mon_track_role */
    uint32_t *list; /* streams that are followed, in their order */
    size_t count;
    uint32_t *lists; /* by input: those of them that one of its events can reach, at an instant of its own */
    size_t *first;   /* by input: where they begin; one more entry at the end */
    uint64_t *reach; /* by stream: inputs that can reach it, modulo 64 */
    bool *before_read; /* by stream: a `last` reads what it held before the instant */
    bool *held_read;   /* by stream: false for an input of which nothing reads what it holds */
    bool whole;        /* all streams are followed */
    bool settled;      /* fewer may be to be followed than are */
    uint32_t wait;     /* instants until that is looked at */
};

struct ct_mon_quick;

/* What is known of all streams and formulas; arrays are by the order of the streams. */
struct ct_mon_certain {
    struct ct_monitor *m;
    const struct ct_mon_order *order;
    bool *kept;  /* by input: none of its events were lost */
    bool losing; /* events may have been lost since the last instant */
    bool maybe;  /* the events of the current instant may come at another one */
    bool unseen; /* the current instant is one that the run may have missed */
    int64_t from, to;
    struct ct_mon_shade *held, *before;
    struct ct_mon_shade_event *now;
    struct ct_mon_shade_states *states; /* by machine */
    struct ct_mon_shade_timer *timers;
    struct ct_mon_formulas formulas;
    bool states_changed; /* a formula came to another set of states */
    struct ct_mon_track track;
    struct ct_mon_quick *quick; /* by stream */
};

/* Gives the cell that a stream has in the run. */
static inline const struct ct_mon_cell *certain_cell(const struct ct_mon_certain *c,
                                                     const struct ct_mon_node *s)
{
    return &c->m->cells[c->m->p->node_cells[s->order]];
}

static inline struct ct_mon_shade_event certain_no_event(void)
{
    return (struct ct_mon_shade_event){.occurs = OCCURS_NOT, .sure = true};
}

/* Makes the state in which no event was lost yet. NULL: no memory. */
struct ct_mon_certain *ct_mon_certain_new(struct ct_monitor *m);
void ct_mon_certain_free(struct ct_mon_certain *c);
/* Ends what the monitor has, because everything is certain. Its memory is kept for the next loss, which may
 * be as near as the next event. */
void ct_mon_certain_over(struct ct_monitor *m);

/* Notes that events of some inputs may have been lost since the last instant: of those for which `kept` is 0,
 * or of all where it is NULL. */
void ct_mon_certain_lose(struct ct_mon_certain *c, const uint8_t *kept);

/* Adds the state in the monitor to what is possible, beside that of the run, which is kept in `run`. False:
 * no memory. */
struct ct_mon_world;
bool ct_mon_certain_join(struct ct_mon_certain *c, const struct ct_mon_world *run);

/* Follows an instant that the run has evaluated, and marks those of its results that are not certain. False:
 * everything is certain again. */
bool ct_mon_certain_instant(struct ct_mon_certain *c);

/* Notes that a stream is as in the run, in every run, between two instants. */
void ct_mon_certain_hold(struct ct_mon_certain *c, uint32_t stream);
bool ct_mon_certain_timers_sure(const struct ct_mon_certain *c);

/* Makes what evaluates usual streams quickly, by stream. NULL: no memory. */
struct ct_mon_quick *ct_mon_quick_new(const struct ct_mon_order *order);
/* Evaluates a stream and puts down what it holds. False: its values are not usual, and nothing was put down.
 */
bool ct_mon_quick_step(struct ct_mon_certain *c, uint32_t stream);

/* Makes room for the lists. False: no memory. */
bool ct_mon_track_init(struct ct_mon_certain *c);
/* Follows all streams, as from the begin. */
void ct_mon_track_begin(struct ct_mon_certain *c);
void ct_mon_track_free(struct ct_mon_track *t);
/* Follows all streams, between two instants. */
void ct_mon_track_all(struct ct_mon_certain *c);
/* Follows those streams alone that may still be uncertain, between two instants: `at_once`, or when this was
 * asked for often enough. False: there are none. */
bool ct_mon_track_less(struct ct_mon_certain *c, bool at_once);

/* Tells whether a stream is certain, is as certain as one of another run, and copies what is known of it: the
 * streams are equal but for their numbers. */
bool ct_mon_certain_stream_sure(const struct ct_mon_certain *c, uint32_t stream);
bool ct_mon_certain_stream_same(const struct ct_mon_certain *a, uint32_t x, const struct ct_mon_certain *b,
                                uint32_t y);
void ct_mon_certain_stream_copy(struct ct_mon_certain *to, uint32_t stream, const struct ct_mon_certain *from,
                                uint32_t number);

/* Tells whether a stream is followed, or is as in the run. */
static inline bool ct_mon_certain_follows(const struct ct_mon_certain *c, uint32_t stream)
{
    return c->formulas.is_one[stream] ? c->formulas.followed : c->track.roles[stream] != TRACK_NOT;
}

/* Finds the formulas that are stepped together, and makes room. False: no memory. */
bool ct_mon_formulas_init(struct ct_mon_certain *c);
void ct_mon_formulas_free(struct ct_mon_certain *c);
/* Steps them at an instant, or through as many unseen ones as change anything. */
void ct_mon_formulas_step(struct ct_mon_certain *c);
/* Tells whether one of them may be in several states. */
bool ct_mon_formulas_unsure(const struct ct_mon_certain *c);

/* Takes the step of the stream's formula in each of the states that its machine may be in. */
struct ct_mon_shade_event ct_mon_certain_step(struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Says what is known of the verdict of the stream's formula. */
struct ct_mon_shade ct_mon_certain_verdict(const struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Adds the states of a formula in `other`, a state of the same run, to those that it may be in. */
void ct_mon_certain_states_join(struct ct_mon_certain *c, const struct ct_mon_certain *other,
                                const struct ct_mon_node *s);
bool ct_mon_certain_states_init(struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Tells whether a formula may be in the same states as an equal one of another run, and copies them. */
bool ct_mon_certain_states_same(const struct ct_mon_certain *a, const struct ct_mon_node *s,
                                const struct ct_mon_certain *b, const struct ct_mon_node *t);
void ct_mon_certain_states_copy(struct ct_mon_certain *to, const struct ct_mon_node *s,
                                const struct ct_mon_certain *from, const struct ct_mon_node *t);
/* Notes that the formula's machine is in the state that it has in the run. */
void ct_mon_certain_states_hold(struct ct_mon_certain *c, const struct ct_mon_node *s);
bool ct_mon_certain_states_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s);

#endif
