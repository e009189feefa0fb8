/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of linear temporal logic, and their monitors. */
#ifndef CT_MONITOR_LTL_H
#define CT_MONITOR_LTL_H

#include "monitor/arena.h"
#include "monitor/machine.h"

enum ltl_kind {
    LTL_TRUE,
    LTL_FALSE,
    LTL_ATOM, /* index */
    LTL_NOT,  /* in front of atoms only, after ct_mon_ltl_nnf */
    LTL_AND,
    LTL_OR,
    LTL_NEXT,
    LTL_UNTIL,   /* strong: b must come */
    LTL_RELEASE, /* b holds up to and including the step at which a does, or for ever */
};

/* Hash-consed: equal formulas are the same pointer. */
struct ltl {
    enum ltl_kind kind;
    uint32_t index; /* atoms */
    uint32_t id;
    uint32_t until; /* untils in normal form: their number */
    struct ltl *a, *b;
    struct ltl *positive, *negative; /* normal forms, once made */
    struct ltl *next;
};

enum {
    LTL_BUCKETS = 1024,
    LTL_FORMULAS_MOST = 4096,
    LTL_ATOMS_MOST = 12
};

struct ltl_pool {
    struct arena *arena;
    struct ltl *buckets[LTL_BUCKETS];
    uint32_t count, untils;
};

/* The constructors simplify constants and repetitions. */
struct ltl *ct_mon_ltl_const(struct ltl_pool *p, bool value);
struct ltl *ct_mon_ltl_atom(struct ltl_pool *p, uint32_t index);
struct ltl *ct_mon_ltl_not(struct ltl_pool *p, struct ltl *a);
struct ltl *ct_mon_ltl_and(struct ltl_pool *p, struct ltl *a, struct ltl *b);
struct ltl *ct_mon_ltl_or(struct ltl_pool *p, struct ltl *a, struct ltl *b);
struct ltl *ct_mon_ltl_next(struct ltl_pool *p, struct ltl *a);
struct ltl *ct_mon_ltl_until(struct ltl_pool *p, struct ltl *a, struct ltl *b);
struct ltl *ct_mon_ltl_release(struct ltl_pool *p, struct ltl *a, struct ltl *b);
struct ltl *ct_mon_ltl_always(struct ltl_pool *p, struct ltl *a);
struct ltl *ct_mon_ltl_eventually(struct ltl_pool *p, struct ltl *a);
/* f holds at n or more steps from now on. */
struct ltl *ct_mon_ltl_at_least(struct ltl_pool *p, struct ltl *f, uint32_t n);

/* The formula, or its negation, with negations in front of atoms only. */
struct ltl *ct_mon_ltl_nnf(struct ltl_pool *p, struct ltl *f, bool negate);

/* The three-valued monitor of f over natoms atoms. NULL: *why says which limit it exceeds. */
const struct machine *ct_mon_ltl_machine(struct ltl_pool *p, struct ltl *f, uint32_t natoms,
                                         const char **why);

/* Inside of the construction (ltl_automaton.c): an automaton whose states are sets of formulas that hold from
 * now on, with the transitions as its elements of choice. */
struct ltl_set {
    uint64_t *bits;
};

struct ltl_edge {
    uint32_t to;
    uint32_t pos, neg; /* atoms that must be true, false */
    uint64_t promised; /* untils whose end is put off */
};

struct ltl_state {
    uint64_t *set; /* of formula ids */
    struct ltl_edge *edges;
    size_t nedges, cap;
    uint32_t low, index; /* Tarjan */
    bool on_stack, live, expanded;
    uint32_t hash_next;
};

struct ltl_automaton {
    struct ltl_pool *pool;
    struct ltl **by_id;
    uint64_t *ways; /* the formulas that hold in more than one way */
    uint32_t words; /* 64-bit words in a set */
    struct ltl_state *states;
    size_t n, cap;
    uint32_t *table;
    uint64_t **spare; /* sets of choices, to be used again */
    size_t spare_count, spare_cap, depth;
    size_t work; /* what is left of the effort allowed */
    bool failed;
};

/* The state for {f}, with all it leads to; live states have a nonempty language. */
void ct_mon_ltl_automaton_init(struct ltl_automaton *m, struct ltl_pool *p);
uint32_t ct_mon_ltl_automaton_add(struct ltl_automaton *m, const struct ltl *f);
void ct_mon_ltl_automaton_finish(struct ltl_automaton *m);

#endif
