/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that make a machine of a formula of the watchpoint dialect. */
#ifndef CT_MONITOR_WATCH_LTL_H
#define CT_MONITOR_WATCH_LTL_H

#include "monitor/watch_ast.h"

struct ct_mon_formula {
    struct ct_mon_watch *w;
    struct ct_mon_ltl_pool pool;
    struct ct_mon_node *atoms[LTL_ATOMS_MOST];
    uint8_t kinds[LTL_ATOMS_MOST];
    struct ct_mon_node *steps[LTL_ATOMS_MOST]; /* NULL: has events at steps of others alone */
    uint32_t natoms;
    bool timed;               /* has a timed operator */
    struct ct_mon_node *step; /* an event at each step; NULL while the streams of the formula are collected */
    struct ct_mon_span span;
    bool failed;
};

/* Gives the atom that stands for a stream, the same one each time. */
struct ct_mon_ltl *ct_mon_formula_atom(struct ct_mon_formula *f, struct ct_mon_node *node, uint8_t kind,
                                       struct ct_mon_node *step, struct ct_mon_span at);

/* Notes an error that was reported. Result: a formula to go on with. */
struct ct_mon_ltl *ct_mon_formula_fail(struct ct_mon_formula *f);

/* Makes the formula of an expression. */
struct ct_mon_ltl *ct_mon_formula_build(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                        const struct ct_mon_wx *x);
/* Makes the formula that the regular expression x matches some steps from this one on
 * (watch_ltl_regular.c). */
struct ct_mon_ltl *ct_mon_formula_regular(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                          const struct ct_mon_wx *x);

/* Refuses a formula of the future where the word up to the step has to decide. */
bool ct_mon_formula_check_past(struct ct_mon_formula *f, const struct ct_mon_wx *x,
                               const struct ct_mon_ltl *a, const char *where);

/* A range of numbers of steps. */
struct ct_mon_steps {
    int64_t low, high;
};
enum {
    STEPS_NO_END = -1, /* a `high` that is no bound */
};
/* Reads the range of an operator. One that holds no number at all is an error. */
struct ct_mon_steps ct_mon_formula_range(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                         const struct ct_mon_wx *x);

/* Atoms of times (watch_ltl_clock.c), for operands of the past. Before the steps are known they give
 * false. */
/* Makes the atom that b held `time` ago or longer, and a at each step since. */
struct ct_mon_ltl *ct_mon_formula_held(void *formula, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                       int64_t time);
/* Makes the atom that b held less than `time` ago. */
struct ct_mon_ltl *ct_mon_formula_recent(void *formula, struct ct_mon_ltl *b, int64_t time);
/* Makes the formula that the time since the step before lies within the interval. */
struct ct_mon_ltl *ct_mon_formula_pace(struct ct_mon_formula *f, struct ct_mon_ltl_interval within);
/* Makes a since b, where b held at a distance in time within the interval. */
struct ct_mon_ltl *ct_mon_formula_since(struct ct_mon_formula *f, struct ct_mon_ltl *a, struct ct_mon_ltl *b,
                                        struct ct_mon_ltl_interval within);
/* Reads the interval of a timed operator; all times where there is none. */
struct ct_mon_ltl_interval ct_mon_formula_interval(struct ct_mon_formula *f, struct ct_mon_wenv *env,
                                                   const struct ct_mon_wx *x);

#endif
