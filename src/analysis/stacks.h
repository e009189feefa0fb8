/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the stacks. */
#ifndef CT_ANALYSIS_STACKS_H
#define CT_ANALYSIS_STACKS_H

#include "base/pair_map.h"
#include "coretap/stacks.h"

#include <stdbool.h>

struct ct_stack_frame {
    uint64_t back;  /* where execution goes on when the function returns; 0: not known */
    uint64_t site;  /* of the call; 0: not known */
    uint64_t insns; /* of the lane when it was entered */
    uint64_t cycles;
    uint32_t place;
    uint32_t function;
    uint32_t caller;    /* function; CT_STACK_NONE */
    uint32_t exception; /* 1: entered by one */
};

/* What the end of a step says of how execution went on. */
enum ct_stack_way {
    CT_WAY_NONE, /* straight on, or by a direct branch: both change the stack only where they leave the
                    function */
    CT_WAY_START,
    CT_WAY_CALL,
    CT_WAY_RETURN,
    CT_WAY_ERET, /* from an exception */
    CT_WAY_JUMP, /* through a register, which may be a return */
    CT_WAY_EXCEPTION,
    CT_WAY_UNKNOWN, /* trace is missing */
};

/* One stack. */
struct ct_stack_thread {
    uint64_t key; /* context ID and VMID */
    struct ct_stack_frame *frames;
    size_t depth, room;
    uint64_t site, back; /* the last instruction of the last step, and what is behind it */
    uint64_t resumes;    /* CT_WAY_EXCEPTION: where the exception returns to; 0: not known */
    uint32_t lane;
    uint8_t way;   /* enum ct_stack_way: how its last step ended … */
    uint8_t level; /* … and at which exception level it was */
    uint8_t pad[2];
};

/* One stream. */
struct ct_stack_lane {
    uint32_t *functions; /* of nodes of its graph: number + 1, 0 when not looked up yet */
    size_t function_room;
    size_t thread; /* number + 1 of the one that runs; 0: none yet */
    uint8_t level; /* exception level */
    uint64_t insns, cycles;
};

struct ct_stacks {
    struct ct_ctx *ctx;
    struct ct_program_place *programs;
    uint32_t *first; /* number of the first function of each program; behind the last: their sum */
    size_t program_count;
    bool wants_slices;
    struct ct_stack_lane *lanes; /* by number of the stream */
    size_t lane_room;
    struct ct_stack_thread *threads;
    size_t thread_count;
    uint64_t renewed; /* see ct_stacks_renewed */
    struct ct_stack_place *places;
    size_t place_count, place_room;
    struct ct_pair_map children; /* (parent, function) -> place */
    struct ct_stack_call *calls;
    size_t call_count, call_room;
    struct ct_pair_map call_numbers; /* (site, callee) -> call */
    struct ct_stack_slice *slices;
    size_t slice_count, slice_room;
};

/* ---- the tree (stack_tree.c) ---- */

/* Puts a function on the stack; `site` is 0 where no call is known. CT_ERR_NOMEM. */
int ct_stack_push(struct ct_stacks *stacks, struct ct_stack_thread *thread, uint32_t function, uint64_t site,
                  uint64_t back);

/* Ends the innermost function. CT_ERR_NOMEM. */
int ct_stack_pop(struct ct_stacks *stacks, struct ct_stack_thread *thread);

/* Another function takes the place of the innermost one and returns where it would have. CT_ERR_NOMEM. */
int ct_stack_replace(struct ct_stacks *stacks, struct ct_stack_thread *thread, uint32_t function);

/* ---- functions (stack_functions.c) ---- */

int ct_stack_number_functions(struct ct_stacks *stacks);
uint32_t ct_stack_function_at(const struct ct_stacks *stacks, uint64_t addr, uint32_t memory);

/* True when the function begins at `addr`. */
bool ct_stack_begins(const struct ct_stacks *stacks, uint32_t function, uint64_t addr);

#endif
