/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build the machine of a formula of the watchpoint dialect. */
#pragma once

#include "monitor/watch_ast.h"

struct ct_mon_formula {
    struct ct_mon_watch *w;
    struct ct_mon_ltl_pool pool;
    struct ct_mon_node *atoms[LTL_ATOMS_MOST];
    uint8_t kinds[LTL_ATOMS_MOST];
    struct ct_mon_node *steps[LTL_ATOMS_MOST]; /* NULL: the atom triggers no steps of its own */
    uint32_t natoms;
    bool timed;               /* contains a timed operator */
    struct ct_mon_node *step; /* stream with an event at each step; NULL while the streams of the formula are
                               * collected */
    struct ct_mon_span span;
    bool failed;
};

/* Returns the atom of a stream. The same stream has one atom. */
struct ct_mon_ltl *ct_mon_formula_atom(struct ct_mon_formula *f, struct ct_mon_node *node, uint8_t kind,
                                       struct ct_mon_node *step, struct ct_mon_span at);

/* Notes that an error was reported. Returns a formula to continue with. */
struct ct_mon_ltl *ct_mon_formula_fail(struct ct_mon_formula *f);

/* Makes the formula of an expression. */
struct ct_mon_ltl *ct_mon_formula_build(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                        const struct ct_mon_wx *x);
/* Makes the formula that the regular expression x matches steps from the current one on
 * (watch_ltl_regular.c). */
struct ct_mon_ltl *ct_mon_formula_regular(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                          const struct ct_mon_wx *x);

/* Reports an error if `a` is a future formula, where the word up to the step has to decide. */
bool ct_mon_formula_check_past(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                               const struct ct_mon_ltl *a, const char *where);

/* A range of numbers of steps. */
struct ct_mon_steps {
    int64_t low, high;
};
enum {
    STEPS_NO_END = -1, /* a `high` without bound */
};
/* Reads the range of an operator. An empty range is an error. */
struct ct_mon_steps ct_mon_formula_range(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                         const struct ct_mon_wx *x);

/* ---- timing atoms for past operands (watch_ltl_clock.c); they return false until the steps are known
 * ---- */
/* Makes the atom that b held `time` or longer ago, and a at each step since. */
struct ct_mon_ltl *ct_mon_formula_held(void *formula, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                       int64_t time);
/* Makes the atom that b held less than `time` ago. */
struct ct_mon_ltl *ct_mon_formula_recent(void *formula, struct ct_mon_ltl *b, int64_t time);
/* Makes the formula that the time since the step before lies within the interval. */
struct ct_mon_ltl *ct_mon_formula_pace(struct ct_mon_formula *f, struct ct_mon_ltl_interval within);
/* Makes a since b, where b held at a distance in time within the interval. */
struct ct_mon_ltl *ct_mon_formula_since(struct ct_mon_formula *f, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                        struct ct_mon_ltl_interval within);
/* Reads the interval of a timed operator. Returns all times when there is none. */
struct ct_mon_ltl_interval ct_mon_formula_interval(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                                   const struct ct_mon_wx *x);
