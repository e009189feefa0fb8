/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which results are certain although events were lost. Tracks, beside the run, what each stream may
 * hold in any run that saw the events of this one. Exists from the first loss until nothing depends on a loss
 * any more. */
#pragma once

#include "monitor/guess.h"
#include "monitor/run.h"

/* Whether a stream has an event now. */
enum ct_mon_occurs {
    OCCURS_NOT,
    OCCURS_MAYBE,
    OCCURS
};

/* The value that a stream may hold. */
struct ct_mon_shade {
    bool sure;        /* every run holds the value of this run; `value` is that one, where a guess can
                       * represent it */
    bool never, ever; /* whether the stream may have had no event yet, and whether it may have had one */
    struct ct_mon_guess value;
};

/* The event that a stream may have at the current instant. */
struct ct_mon_shade_event {
    uint8_t occurs; /* enum ct_mon_occurs */
    bool sure;      /* every run has the same event as this run, or none where this run has none */
    struct ct_mon_guess value;
};

enum {
    CERTAIN_COLUMNS = 16, /* step kinds that are remembered per formula */
};

/* A step from a set of states: the set it leads to (0: not known), and its work in units. */
struct ct_mon_shade_edge {
    uint32_t to, work;
};

/* Facts about a set of states. */
struct ct_mon_shade_set {
    bool never, ever; /* whether some state has no verdict, and whether some state has one */
    bool single;      /* the set has exactly one state */
    uint8_t lo, hi;   /* least and greatest verdict; lo > hi when no state has one */
};

/* The sets of states that a formula's machine may be in, as far as they occurred. Sets are numbered from 1
 * on, and the steps between them are remembered. */
struct ct_mon_shade_states {
    uint32_t at; /* number of the current set */
    uint32_t count, room, columns;
    struct ct_mon_shade_edge *edges;    /* by set and column */
    uint8_t column_of[CERTAIN_COLUMNS]; /* by instant number of ct_mon_formulas.instants: column + 1, or 0 */
    uint64_t *sets;                     /* bitmap of states, by set number */
    struct ct_mon_shade_set *facts;     /* by set number */
    size_t words;
    uint64_t keys[CERTAIN_COLUMNS]; /* by column: the step that it stands for */
};

/* Formulas that depend only on events of inputs, and that no other stream reads. All are stepped together,
 * with one look-up each. */
struct ct_mon_formulas {
    uint32_t *streams; /* their stream numbers */
    size_t count;
    bool *is_one;                       /* by stream: whether it is such a formula */
    bool followed;                      /* false: all these formulas are as in the run */
    uint64_t instants[CERTAIN_COLUMNS]; /* by instant number: which inputs have events, or may have */
    uint32_t instant_count;
    uint64_t *scratch; /* room for three sets */
};

struct ct_mon_shade_timer {
    bool sure;
    int64_t until; /* latest time at which it may expire, when not sure */
    int64_t due;   /* when it expires in the run, as of the last instant; -1: not set */
};

/* Whether a stream is tracked. Streams that no loss can still affect are not: they are as in the run. */
enum ct_mon_track_role {
    TRACK_NOT,
    TRACK_RUN,    /* as in the run, but an uncertain stream reads it */
    TRACK_UNSURE, /* may be uncertain, or reads a stream that may be */
};

struct ct_mon_track {
    uint32_t *all; /* the streams that are evaluated singly, in evaluation order */
    size_t all_count;
    uint8_t *roles; /* enum ct_mon_track_role, by stream */
    uint32_t *list; /* tracked streams, in evaluation order */
    size_t count;
    uint32_t *lists;   /* by input: the tracked streams that one of its events can reach, when it is alone in
                        * its instant */
    size_t *first;     /* by input: its first entry in `lists`; one more entry at the end */
    uint64_t *reach;   /* by stream: the inputs that can reach it, as bits modulo 64 */
    bool *before_read; /* by stream: a `last` reads the value held before the instant */
    bool *held_read;   /* by stream: false for an input whose held value no stream reads */
    bool whole;        /* all streams are tracked */
    bool settled;      /* some tracked streams may have become certain */
    uint32_t wait;     /* instants left until the next check for certain streams */
};

struct ct_mon_quick;

/* What is known of all streams and formulas. Arrays are indexed by evaluation order. */
struct ct_mon_certain {
    struct ct_monitor *m;
    const struct ct_mon_order *order;
    bool *kept;  /* by input: none of its events were lost */
    bool losing; /* events may have been lost since the last instant */
    bool maybe;  /* the events of the current instant may belong to another instant */
    bool unseen; /* the current instant is one that the run may have missed */
    int64_t from, to;
    struct ct_mon_shade *held, *before;
    struct ct_mon_shade_event *now;
    struct ct_mon_shade_states *states; /* by machine */
    struct ct_mon_shade_timer *timers;
    struct ct_mon_formulas formulas;
    bool states_changed; /* a formula moved to another set of states */
    struct ct_mon_track track;
    struct ct_mon_quick *quick; /* by stream */
};

/* Returns the cell that the stream has in the run. */
static inline const struct ct_mon_cell *certain_cell(const struct ct_mon_certain *c,
                                                     const struct ct_mon_node *s)
{
    return &c->m->cells[c->m->p->node_cells[s->order]];
}

/* Returns how certain it is that two events both happen. */
static inline enum ct_mon_occurs certain_both(enum ct_mon_occurs a, enum ct_mon_occurs b)
{
    return a < b ? a : b;
}

/* Returns how certain it is that a stream holds a value. */
static inline enum ct_mon_occurs certain_exists(const struct ct_mon_shade *h)
{
    return !h->ever ? OCCURS_NOT : h->never ? OCCURS_MAYBE : OCCURS;
}

static inline struct ct_mon_shade_event certain_no_event(void)
{
    return (struct ct_mon_shade_event){.occurs = OCCURS_NOT, .sure = true};
}

/* Allocates the state, with no event lost yet. NULL: out of memory. */
struct ct_mon_certain *ct_mon_certain_new(struct ct_monitor *m);
void ct_mon_certain_free(struct ct_mon_certain *c);
/* Ends tracking, because everything is certain. Keeps the memory for the next loss, which may follow at the
 * next event. */
void ct_mon_certain_over(struct ct_monitor *m);

/* Notes that events may have been lost since the last instant: of the inputs for which `kept` is 0, or of all
 * inputs when `kept` is NULL. */
void ct_mon_certain_lose(struct ct_mon_certain *c, const uint8_t *kept);

/* Adds the monitor's current state to the possibilities, beside the run's state, which is in `run`. Returns
 * false when out of memory. */
struct ct_mon_world;
bool ct_mon_certain_join(struct ct_mon_certain *c, const struct ct_mon_world *run);

/* Follows an instant that the run has evaluated, and marks its uncertain results. Returns false when
 * everything is certain again. */
bool ct_mon_certain_instant(struct ct_mon_certain *c);

/* Notes, between two instants, that a stream is as in the run in every run. */
void ct_mon_certain_hold(struct ct_mon_certain *c, uint32_t stream);

/* Allocates the fast evaluators, by stream. NULL: out of memory. */
struct ct_mon_quick *ct_mon_quick_new(const struct ct_mon_order *order);
/* Evaluates a stream by its fast evaluator and stores what it holds. Returns false, and stores nothing, when
 * its values need certain.c. */
bool ct_mon_quick_step(struct ct_mon_certain *c, uint32_t stream);

/* Allocates the lists. Returns false when out of memory. */
bool ct_mon_track_init(struct ct_mon_certain *c);
/* Tracks all streams, as at the beginning. */
void ct_mon_track_begin(struct ct_mon_certain *c);
void ct_mon_track_free(struct ct_mon_track *t);
/* Tracks all streams. Call between two instants. */
void ct_mon_track_all(struct ct_mon_certain *c);
/* Stops tracking the streams that are certain again. Call between two instants. Checks at once if `at_once`,
 * else only when it was called often enough. Returns false when no stream is uncertain. */
bool ct_mon_track_less(struct ct_mon_certain *c, bool at_once);

/* Returns whether a stream is certain. */
bool ct_mon_certain_stream_sure(const struct ct_mon_certain *c, uint32_t stream);
/* Returns whether two equal streams of two runs are in the same state of knowledge. Their numbers may
 * differ. */
bool ct_mon_certain_stream_same(const struct ct_mon_certain *a, uint32_t x, const struct ct_mon_certain *b,
                                uint32_t y);
/* Copies what is known of a stream of another run to an equal stream of this one. */
void ct_mon_certain_stream_copy(struct ct_mon_certain *to, uint32_t stream, const struct ct_mon_certain *from,
                                uint32_t number);

/* Returns whether the stream is tracked; otherwise it is as in the run. */
static inline bool ct_mon_certain_follows(const struct ct_mon_certain *c, uint32_t stream)
{
    return c->formulas.is_one[stream] ? c->formulas.followed : c->track.roles[stream] != TRACK_NOT;
}

/* Finds the formulas that are stepped together, and allocates their state. Returns false when out of
 * memory. */
bool ct_mon_formulas_init(struct ct_mon_certain *c);
void ct_mon_formulas_free(struct ct_mon_certain *c);
/* Steps these formulas at an instant, or through unseen instants until nothing changes. */
void ct_mon_formulas_step(struct ct_mon_certain *c);
/* Returns whether one of these formulas may be in several states. */
bool ct_mon_formulas_unsure(const struct ct_mon_certain *c);

/* Steps the stream's formula from each of the states that its machine may be in. */
struct ct_mon_shade_event ct_mon_certain_step(struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Returns what is known of the verdict of the stream's formula. */
struct ct_mon_shade ct_mon_certain_verdict(const struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Adds the states that the formula may be in according to `other`, another state of the same run. */
void ct_mon_certain_states_join(struct ct_mon_certain *c, const struct ct_mon_certain *other,
                                const struct ct_mon_node *s);
bool ct_mon_certain_states_init(struct ct_mon_certain *c, const struct ct_mon_node *s);
/* Returns whether a formula may be in the same states as an equal formula of another run. */
bool ct_mon_certain_states_same(const struct ct_mon_certain *a, const struct ct_mon_node *s,
                                const struct ct_mon_certain *b, const struct ct_mon_node *t);
/* Copies the states that a formula may be in from an equal formula of another run. */
void ct_mon_certain_states_copy(struct ct_mon_certain *to, const struct ct_mon_node *s,
                                const struct ct_mon_certain *from, const struct ct_mon_node *t);
/* Notes that the formula's machine is in the same state as in the run. */
void ct_mon_certain_states_hold(struct ct_mon_certain *c, const struct ct_mon_node *s);
bool ct_mon_certain_states_sure(const struct ct_mon_certain *c, const struct ct_mon_node *s);
