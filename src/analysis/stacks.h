/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of stacks share. */
#pragma once

#include "base/pair_map.h"
#include "coretap/stacks.h"

#include <stdbool.h>

#define CT_STACK_BEFORE 4 /* so many replaced functions are remembered for each frame */

/* Limits of stacks that a program left: their number for each thread, and their frames. Beyond them the
 * oldest one is forgotten, and a deeper one is not kept. */
#define CT_STACK_LEFT       64
#define CT_STACK_LEFT_DEPTH 4096

struct ct_stack_frame {
    uint64_t back;  /* return address; 0 when not known */
    uint64_t site;  /* address of the call; 0 when not known */
    uint64_t insns; /* instructions of the stream when the function was entered */
    uint64_t cycles;
    uint32_t place;
    uint32_t function;
    uint32_t caller;   /* number of the calling function, or CT_STACK_NONE */
    uint32_t turn;     /* the edge of the call, or CT_STACK_NONE when not known */
    uint8_t exception; /* 1 when an exception entered it */
    uint8_t replaced;  /* 1 when another function replaced the one that was called */
    uint8_t pad[2];
    uint32_t before[CT_STACK_BEFORE]; /* functions that were replaced, the last one first, each plus one */
};

/* A stack that the program left for another one, as coroutines do. */
struct ct_stack_left {
    struct ct_stack_frame *frames;
    size_t depth, room;
    size_t shared;  /* so many of its outermost functions are also on the stack that it was left for */
    uint64_t times; /* so many stacks like it were left */
};

/* How a step ended. */
enum ct_stack_way {
    CT_WAY_NONE, /* straight on, or a direct branch; changes the stack only when it leaves the function */
    CT_WAY_START,
    CT_WAY_CALL,
    CT_WAY_RETURN,
    CT_WAY_ERET,   /* a return from an exception */
    CT_WAY_RESUME, /* the same in the M profile, when no handler follows */
    CT_WAY_JUMP,   /* a branch through a register, which may be a return */
    CT_WAY_EXCEPTION,
    CT_WAY_UNKNOWN, /* trace is missing */
};

/* The stack of one context in one stream. */
struct ct_stack_thread {
    uint64_t key; /* context ID and VMID */
    struct ct_stack_frame *frames;
    size_t depth, room;
    struct ct_stack_left *left; /* the oldest one first */
    size_t left_count, left_room;
    uint64_t site, back; /* address of the last instruction of the last step, and the address behind it */
    uint64_t resumes;    /* for CT_WAY_EXCEPTION: its return address; 0 when not known */
    uint32_t turn;       /* the edge of the last step */
    uint32_t lane;
    uint32_t number;     /* of a thread of the M profile (CT_MARK_ELEM of a RETURN), or 0 */
    uint8_t way;         /* enum ct_stack_way of its last step */
    uint8_t level;       /* exception level of its last step */
    bool is_parked;      /* a handler of the M profile switched to another thread of the same context */
    bool is_interrupted; /* an exception followed the last step, and its mark was not taken yet */
};

/* The effect of a step on the stack, by edge, in eight bytes: most steps just continue in the innermost
 * function, and need nothing else. */
struct ct_stack_edge {
    uint32_t function; /* function of the node, plus one; 0: not looked up yet */
    uint32_t insns;    /* instructions of the node, or CT_STACK_TURNS */
};

#define CT_STACK_TURNS UINT32_MAX /* execution may leave the function by this edge */

/* What the last call found. The next call mostly finds the same. */
struct ct_stack_memo {
    uint32_t parent, function, place; /* `place` is that of `function` under place `parent` */
    uint32_t call;                    /* number of the call, or CT_STACK_NONE before it is made */
};

/* A step that may leave its function. */
struct ct_stack_turn {
    uint64_t start, last, end; /* addresses of the node */
    uint32_t insns;
    uint8_t way;                   /* enum ct_stack_way */
    uint8_t interrupted;           /* 1: an exception ended the step */
    uint8_t begins;                /* 1: a function begins at `start` */
    uint8_t starts;                /* 1: a program begins there */
    uint8_t generated;             /* 1: it is in no program's file */
    struct ct_stack_memo memos[2]; /* for the called function, and for one that replaces it */
};

/* A stream. */
struct ct_stack_lane {
    struct ct_stack_edge *edges; /* by edge of its graph */
    struct ct_stack_turn *turns; /* by edge of its graph */
    size_t edge_room;
    size_t thread; /* index of the running thread, plus one; 0 before the first thread */
    uint8_t level; /* exception level */
    uint64_t insns, cycles, steps;
};

struct ct_stacks {
    struct ct_ctx *ctx;
    struct ct_program_place *programs;
    uint32_t *first; /* number of each program's first function; the last entry is their sum */
    size_t program_count;
    bool wants_slices, wants_moves, wants_owners;
    bool ended;                  /* nothing may be added */
    bool plain;                  /* for tests: takes steps one by one, and looks up each place and call */
    struct ct_stack_lane *lanes; /* by stream number */
    size_t lane_room;
    struct ct_stack_thread *threads;
    size_t thread_count;
    uint64_t renewed; /* see ct_stacks_renewed */
    struct ct_stack_place *places;
    size_t place_count, place_room;
    uint32_t *owners; /* by place: index of its thread, if wanted */
    size_t owner_room;
    struct ct_pair_map children; /* maps (parent, function) to a place */
    struct ct_stack_call *calls;
    size_t call_count, call_room;
    struct ct_pair_map call_numbers; /* maps (site, callee) to a call */
    struct ct_stack_slice *slices;
    size_t slice_count, slice_room;
    struct ct_stack_move *moves;
    size_t move_count, move_room;
};

/* ---- the tree (stack_tree.c) ---- */

/* Pushes a function. `site` is 0 when no call is known. CT_ERR_NOMEM. */
int ct_stack_push(struct ct_stacks *stacks, struct ct_stack_thread *thread, uint32_t function, uint64_t site,
                  uint64_t back);

/* Pops the innermost function. CT_ERR_NOMEM. */
int ct_stack_pop(struct ct_stacks *stacks, struct ct_stack_thread *thread);

/* Replaces the innermost function by another one with the same return address. CT_ERR_NOMEM. */
int ct_stack_replace(struct ct_stacks *stacks, struct ct_stack_thread *thread, uint32_t function);

/* Begins to measure a function that was entered or resumed. CT_ERR_NOMEM. */
int ct_stack_start(struct ct_stacks *stacks, const struct ct_stack_thread *thread,
                   struct ct_stack_frame *frame);

/* Adds up what the function at `depth` took since it was entered or resumed. `ends` is 1 when the function
 * ends, 0 when it waits. CT_ERR_NOMEM. */
int ct_stack_stop(struct ct_stacks *stacks, const struct ct_stack_thread *thread, size_t depth,
                  unsigned ends);

/* Counts the end of a function that waits. CT_ERR_NOMEM. */
int ct_stack_count_end(struct ct_stacks *stacks, const struct ct_stack_thread *thread,
                       const struct ct_stack_frame *frame);

/* Notes a move in a stream, if moves are wanted. CT_ERR_NOMEM. */
int ct_stack_note(struct ct_stacks *stacks, uint32_t lane, struct ct_stack_move move);

/* ---- threads (stack_threads.c) ---- */

/* Makes the stack of a context, or of a thread of the M profile in it, the current one. Those beyond
 * CT_STACK_CONTEXTS share the last stack of their stream. Each stream has at least one. CT_ERR_NOMEM. */
int ct_stack_switch(struct ct_stacks *stacks, uint32_t lane, uint64_t key, uint32_t number);

/* Makes the stack of another thread of the same context the current one, and stops the time of the functions
 * on the previous one. CT_ERR_NOMEM. */
int ct_stack_go_to(struct ct_stacks *stacks, uint32_t lane, uint32_t number);

/* Resumes the time of the functions on a stack that waits. CT_ERR_NOMEM. */
int ct_stack_go_on(struct ct_stacks *stacks, struct ct_stack_thread *thread);

/* Forgets how the last step of each thread ended, because tracing was off and what followed was not seen.
 * Execution that an exception interrupted stays where it was. */
void ct_stack_forget_ways(struct ct_stacks *stacks, uint32_t lane);

/* ---- stacks that a program left (stack_left.c) ---- */

/* Returns the number of the stack that was left by a routine whose caller waits for `addr`, or 0. Of several
 * the one that was left last. */
size_t ct_stack_left_by(const struct ct_stack_thread *thread, uint64_t addr);

/* Returns the number of the stack on which any function waits for `addr`, or 0. Of several the one that was
 * left last. */
size_t ct_stack_left_within(const struct ct_stack_thread *thread, uint64_t addr);

/* Keeps the current stack for a return to it. Its `shared` outermost functions stay the current stack.
 * CT_ERR_NOMEM. */
int ct_stack_leave(struct ct_stacks *stacks, struct ct_stack_thread *thread, size_t shared);

/* Leaves the current stack for one that was left, by its number, of which the innermost function that waits
 * for `addr` returns. CT_ERR_NOMEM. */
int ct_stack_go_back(struct ct_stacks *stacks, struct ct_stack_thread *thread, size_t number, uint64_t addr);

/* Ends all functions of stacks that were left. CT_ERR_NOMEM. */
int ct_stack_forget_left(struct ct_stacks *stacks, struct ct_stack_thread *thread);

/* Frees the stacks of a thread. */
void ct_stack_free(struct ct_stack_thread *thread);

/* ---- edges (stack_edges.c) ---- */

/* Finds the effect of an edge on the stack, and keeps it. CT_ERR_NOMEM. */
int ct_stack_find_edge(struct ct_stacks *stacks, struct ct_stack_lane *lane, const struct ct_node *nodes,
                       const struct ct_edge *edges, uint32_t number);

/* ---- functions (stack_functions.c) ---- */

int ct_stack_number_functions(struct ct_stacks *stacks);
uint32_t ct_stack_function_at(const struct ct_stacks *stacks, uint64_t addr, uint32_t memory);

/* Returns the code at `addr` from the file of its program, and its size in *size. NULL when no program is
 * known to have code there, or when its file cannot be read. */
const uint8_t *ct_stack_code_at(const struct ct_stacks *stacks, uint64_t addr, uint32_t memory, size_t *size);

/* Returns whether the function begins at `addr`. */
bool ct_stack_begins(const struct ct_stacks *stacks, uint32_t function, uint64_t addr);

/* Returns whether the program of the function begins at `addr`. */
bool ct_stack_starts(const struct ct_stacks *stacks, uint32_t function, uint64_t addr);
