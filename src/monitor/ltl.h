/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of linear temporal logic, and the construction of their monitors. */
#pragma once

#include "monitor/arena.h"
#include "monitor/machine.h"

enum ct_mon_ltl_kind {
    LTL_TRUE,
    LTL_FALSE,
    LTL_ATOM, /* index */
    LTL_NOT,  /* only before atoms, after ct_mon_ltl_nnf */
    LTL_AND,
    LTL_OR,
    LTL_NEXT,
    LTL_UNTIL,   /* strong: b must occur */
    LTL_RELEASE, /* b holds up to and including the step at which a holds, or for ever */
    /* removed by ct_mon_ltl_untimed: */
    LTL_TIMED, /* a until b, where b occurs at a time within interval `index` */
    LTL_COUNT, /* b holds at as many steps as count `index` requires, within its interval, and a holds
                * before */
};

/* A formula. Hash-consed: equal formulas are the same pointer. */
struct ct_mon_ltl {
    enum ct_mon_ltl_kind kind;
    uint32_t index; /* LTL_ATOM: its number */
    uint32_t id;
    uint32_t until; /* LTL_UNTIL in normal form: its number */
    bool past;      /* decided by the word up to the step: contains only past operators and connectives */
    bool timed;     /* contains timed operators */
    struct ct_mon_ltl *a, *b;
    struct ct_mon_ltl *positive, *negative; /* normal forms, NULL until made */
    struct ct_mon_ltl *next;
};

enum {
    LTL_BUCKETS = 1024,
    LTL_FORMULAS_MOST = 4096,
    LTL_ATOMS_MOST = 12,
    LTL_MEMORY_MOST = 48,
};

/* A bit remembered from the step before. In formulas it is the atom LTL_ATOMS_MOST + its number; it is false
 * at the first step. */
struct ct_mon_ltl_memory {
    struct ct_mon_ltl *update; /* its value at the next step */
    struct ct_mon_ltl *a, *b;  /* the operator it belongs to: a since b */
};

/* A range of distances in time, from `from` up to but not including `to`. */
struct ct_mon_ltl_interval {
    int64_t from, to;
};

/* How often a formula must hold within an interval. */
struct ct_mon_ltl_count {
    struct ct_mon_ltl_interval within;
    uint32_t least;
    bool begins; /* count only the steps at which it begins to hold */
};

/* A clock that a formula needs. With a, its atom is true when b held `time` or longer ago and a at each step
 * since. Without a, it is true when b held less than `time` ago. */
struct ct_mon_ltl_clock {
    struct ct_mon_ltl *a, *b, *atom;
    int64_t time;
};

enum {
    LTL_INTERVALS_MOST = 64,
    LTL_COUNTS_MOST = 64,
    LTL_CLOCKS_MOST = LTL_ATOMS_MOST,
};
#define LTL_NO_END INT64_MAX /* `to` of an interval without end */

struct ct_mon_ltl_pool {
    struct ct_mon_arena *arena;
    struct ct_mon_ltl *buckets[LTL_BUCKETS];
    uint32_t count, untils;
    struct ct_mon_ltl_memory memory[LTL_MEMORY_MOST];
    uint32_t nmemory;
    bool memory_full; /* a past operator found no free bit */
    struct ct_mon_ltl_interval intervals[LTL_INTERVALS_MOST];
    uint32_t nintervals;
    struct ct_mon_ltl_count counts[LTL_COUNTS_MOST];
    uint32_t ncounts;
    struct ct_mon_ltl_clock clocks[LTL_CLOCKS_MOST];
    uint32_t nclocks;
    bool count_aborted;       /* a count stands where an exception would decide it */
    struct ct_mon_ltl *known; /* formula that every possible word satisfies; NULL: none is known */
};

/* Makes a formula. All constructors simplify constants and repetitions. */
struct ct_mon_ltl *ct_mon_ltl_const(struct ct_mon_ltl_pool *p, bool value);
struct ct_mon_ltl *ct_mon_ltl_atom(struct ct_mon_ltl_pool *p, uint32_t index);
struct ct_mon_ltl *ct_mon_ltl_not(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a);
struct ct_mon_ltl *ct_mon_ltl_and(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_or(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_next(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a);
struct ct_mon_ltl *ct_mon_ltl_until(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_release(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_always(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a);
struct ct_mon_ltl *ct_mon_ltl_eventually(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a);

/* Makes the weak until: a holds until b occurs, or for ever. */
struct ct_mon_ltl *ct_mon_ltl_weak_until(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                         struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_implies(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
/* Makes the formula that f holds at n or more steps from now on, and a at all steps before the last of them.
 * With `begins`, counts the steps at which f begins to hold; holding at the first step counts. */
struct ct_mon_ltl *ct_mon_ltl_at_least(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *f,
                                       uint32_t n, bool begins);

/* Makes operators of the past (ltl_past.c). Their operands must be decided by the word up to the step.
 * previous is false at the first step. */
struct ct_mon_ltl *ct_mon_ltl_previous(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f);
struct ct_mon_ltl *ct_mon_ltl_since(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b);
struct ct_mon_ltl *ct_mon_ltl_once(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f);
struct ct_mon_ltl *ct_mon_ltl_past_at_least(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n);
struct ct_mon_ltl *ct_mon_ltl_past_begins(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, uint32_t n);
/* Builds the machine for a past formula f: its verdict is true at steps where f holds, else unknown. NULL:
 * *why names the exceeded limit. */
const struct ct_mon_machine *ct_mon_ltl_past_machine(struct ct_mon_ltl_pool *p, const struct ct_mon_ltl *f,
                                                     uint32_t natoms, const char **why);
/* Makes the formula that every memory bit has its right value at each step. */
struct ct_mon_ltl *ct_mon_ltl_history(struct ct_mon_ltl_pool *p);

/* Scopes and exceptions (ltl_scope.c); `b` must be decided by the word up to the step. upto evaluates f on
 * the word that ends at the first b. abort sets f to `accept` there if it is still undecided. */
struct ct_mon_ltl *ct_mon_ltl_upto(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, struct ct_mon_ltl *b,
                                   bool inclusive);
struct ct_mon_ltl *ct_mon_ltl_abort(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, struct ct_mon_ltl *b,
                                    bool accept);

/* Makes a timed until. Its operands are rewritten like those of an until. */
struct ct_mon_ltl *ct_mon_ltl_timed(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                    struct ct_mon_ltl_interval within);
/* Does the same with interval `index` of the pool. */
struct ct_mon_ltl *ct_mon_ltl_timed_again(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                          struct ct_mon_ltl *b, uint32_t index);

/* Makes a count, from now on, of at least two steps. NULL: there are too many counts. */
struct ct_mon_ltl *ct_mon_ltl_count(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f,
                                    struct ct_mon_ltl_count count);
/* Does the same with count `index` of the pool, up to the step where a does not hold. */
struct ct_mon_ltl *ct_mon_ltl_count_again(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *a,
                                          struct ct_mon_ltl *f, uint32_t index);

/* Callbacks that return atoms decided by clocks, for past formulas a and b. held: b held `time` or longer
 * ago, and a at each step since. recent: b held less than `time` ago. */
struct ct_mon_ltl_clocks {
    struct ct_mon_ltl *(*held)(void *user, struct ct_mon_ltl *a, struct ct_mon_ltl *b, int64_t time);
    struct ct_mon_ltl *(*recent)(void *user, struct ct_mon_ltl *b, int64_t time);
    bool (*has_room)(void *user); /* whether one more atom fits */
    void *user;
};

/* Makes a formula without timed operators that equals f at the first step (ltl_timed.c). NULL: some operator
 * would need more than one clock. */
struct ct_mon_ltl *ct_mon_ltl_untimed(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f,
                                      const struct ct_mon_ltl_clocks *clocks);

/* Adds to pool.known that a deadline has passed at a step after which no other step can precede it, as far as
 * atoms fit. Verdicts then come at that step, not one later. */
void ct_mon_ltl_foresee(struct ct_mon_ltl_pool *p, const struct ct_mon_ltl_clocks *clocks);

/* Tables of a machine under construction, for nstates states and all letters. Shared by the files that build
 * machines. */
struct ct_mon_ltl_table {
    struct ct_mon_machine *machine;
    uint8_t *verdicts, *next8;
    uint16_t *next16;
};
enum {
    MACHINE_STATES_MOST = 16000
};
struct ct_mon_ltl_table ct_mon_ltl_table_new(struct ct_mon_arena *a, uint32_t natoms, uint32_t nstates);
/* Sets that `letter` leads from state `from` to `to`; both are number << 2 | verdict. */
static inline void ltl_table_put(const struct ct_mon_ltl_table *t, uint32_t letter, uint32_t from,
                                 uint32_t to)
{
    const size_t at = (size_t)letter * t->machine->width + from;
    if (t->next16)
        t->next16[at] = (uint16_t)to;
    else
        t->next8[at] = (uint8_t)to;
}

/* Rewrites the formula, or its negation, so that negations stand only before atoms. */
struct ct_mon_ltl *ct_mon_ltl_nnf(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f, bool negate);

/* Builds the three-valued monitor of f over natoms atoms. NULL: *why names the exceeded limit. */
const struct ct_mon_machine *ct_mon_ltl_machine(struct ct_mon_ltl_pool *p, struct ct_mon_ltl *f,
                                                uint32_t natoms, const char **why);

/* Shared by the files of the construction: an automaton whose states are sets of formulas that hold from now
 * on. Each edge is one choice of what holds in this step. */
struct ct_mon_ltl_set {
    uint64_t *bits;
};

struct ct_mon_ltl_edge {
    uint32_t to;
    uint64_t pos, neg; /* atoms that must be true, and atoms that must be false */
    uint64_t promised; /* untils that are postponed */
};

struct ct_mon_ltl_state {
    uint64_t *set; /* set of formula ids */
    struct ct_mon_ltl_edge *edges;
    size_t nedges, cap;
    uint32_t low, index; /* Tarjan's algorithm */
    bool on_stack, live, expanded;
    uint32_t hash_next;
};

struct ct_mon_ltl_automaton {
    struct ct_mon_ltl_pool *pool;
    struct ct_mon_ltl **by_id;
    uint64_t *ways; /* formulas that can be satisfied in more than one way */
    uint32_t words; /* 64-bit words per set */
    struct ct_mon_ltl_state *states;
    size_t n, cap;
    uint32_t *table;
    uint64_t **spare; /* sets of choices, for reuse */
    size_t spare_count, spare_cap, depth;
    size_t work; /* work left */
    bool failed;
};

/* Builds the automaton. ct_mon_ltl_automaton_add returns the state of {f}, after making all states reachable
 * from it; ct_mon_ltl_automaton_finish marks as live the states from which some word is accepted. */
void ct_mon_ltl_automaton_init(struct ct_mon_ltl_automaton *m, struct ct_mon_ltl_pool *p);
uint32_t ct_mon_ltl_automaton_add(struct ct_mon_ltl_automaton *m, const struct ct_mon_ltl *f);
void ct_mon_ltl_automaton_finish(struct ct_mon_ltl_automaton *m);
