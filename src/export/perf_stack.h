/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one stream as branch stacks of samples. */
#ifndef CT_EXPORT_PERF_STACK_H
#define CT_EXPORT_PERF_STACK_H

#include <stdbool.h>

#include "coretap/graph.h"
#include "input/perf_write.h"

/* An address that is in no program: the last page below 2^48, where Linux has no code. It stands for where
 * execution came from, or went, when a branch stack cannot say. It is an address of its own, with a mapping,
 * because create_llvm_prof drops a stack from its first address on that is 0 or in no mapping. */
#define CT_PERF_NOWHERE UINT64_C(0xfffffffff000)

/* To be zeroed before its first use, but for the members up to `sample`. */
struct ct_perf_stack {
    struct ct_perf_branch *branches; /* the oldest first */
    size_t room;                     /* for them, 2 at least */
    void *user;
    int (*sample)(void *user, const struct ct_perf_stack *stack); /* takes the branches and instructions */
    size_t count;                                                 /* of branches */
    uint64_t instructions;                                        /* of the runs that they end */
    uint64_t begin; /* address of the first instruction of the current run */
    uint64_t last;  /* address of the last instruction of the current run */
    uint64_t next;  /* address behind the last instruction of the current run */
    uint64_t run;   /* instructions of the current run */
    bool running;   /* `next` is known */
    bool midway;    /* the run has instructions */
    bool joined;    /* the newest branch leads to its begin */
};

/* Takes one step. What `sample` returned. */
int ct_perf_stack_step(struct ct_perf_stack *stack, const struct ct_node *node, const struct ct_edge *edge);

/* Ends the run, and gives what there is as a sample, since what comes next is of another thread or there is
 * no more. The same. */
int ct_perf_stack_end(struct ct_perf_stack *stack);

#endif
