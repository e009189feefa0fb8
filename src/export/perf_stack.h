/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one stream as branch stacks of samples. */
#pragma once

#include <stdbool.h>

#include "coretap/graph.h"
#include "input/perf_write.h"

/* An address in no program: the last page below 2^48, where Linux has no code. It is the source or target of
 * execution where a branch stack has none. It needs an address and a mapping of its own, because
 * create_llvm_prof drops the rest of a stack at the first address that is 0 or unmapped. */
#define CT_PERF_NOWHERE UINT64_C(0xfffffffff000)

/* Zeroed before the first use, except the members up to `sample`. */
struct ct_perf_stack {
    struct ct_perf_branch *branches; /* oldest first */
    size_t room;                     /* for branches, at least 2 */
    void *user;
    int (*sample)(void *user, const struct ct_perf_stack *stack); /* takes the branches and instructions */
    size_t count;                                                 /* number of branches */
    uint64_t instructions;                                        /* in the runs that the branches end */
    uint64_t begin; /* address of the first instruction of the current run */
    uint64_t last;  /* address of the last instruction of the current run */
    uint64_t next;  /* address behind the last instruction of the current run */
    uint64_t run;   /* instructions in the current run */
    bool running;   /* `next` is known */
    bool midway;    /* the current run has instructions */
    bool joined;    /* the newest branch leads to the beginning of the run */
};

/* Adds one step. Returns the error of `sample`. */
int ct_perf_stack_step(struct ct_perf_stack *stack, const struct ct_node *node, const struct ct_edge *edge);

/* Ends the run, and passes the stack on as a sample: at the end, and before another thread. The same
 * result. */
int ct_perf_stack_end(struct ct_perf_stack *stack);
