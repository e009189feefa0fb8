/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of timing share: how calls and returns become runs of functions. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/timing.h"

#define CT_TIMING_DEEPEST 1024 /* most nested calls that are followed in a thread */
#define CT_TIMING_LEVELS  16   /* most nested exceptions */
#define CT_TIMING_THREADS 64

/* The effect of an edge on the stack of calls. */
enum ct_timing_class {
    CT_TIMING_ON, /* no effect */
    CT_TIMING_CALL,
    CT_TIMING_TAIL, /* a jump to another function */
    CT_TIMING_RETURN,
    CT_TIMING_JUMP, /* a computed jump; a return when it leads to where a call or an exception came from */
    CT_TIMING_ERET, /* A64 ERET */
};

#define CT_TIMING_NO_EDGE UINT32_MAX

struct ct_timing_way {
    uint32_t function; /* the function of the node */
    uint32_t callee;   /* of CALL and TAIL */
    uint32_t memory;   /* memory of the node */
    uint32_t pad;
    uint64_t behind; /* for CALL: its return address */
    uint64_t next;
    uint64_t start; /* address of the node */
};

/* How many different counts of cycles of an edge are tallied at a time. */
#define CT_TIMING_CELLS 8

/* How often an edge was taken with a certain count of cycles, since its sums were updated. */
struct ct_timing_cell {
    uint32_t cycles; /* the count, as ct_timing_word() gives it */
    uint32_t count;
};

/* What most steps need of their edge, in one place: the sums and the histogram of an edge are in three other
 * cache lines. */
struct ct_timing_tally {
    struct ct_timing_cell cells[CT_TIMING_CELLS]; /* indexed by the lowest bits of the cycles */
};

/* Runs of a function that took fewer cycles than this are counted by their exact number of cycles. */
#define CT_TIMING_EXACT 512

/* How often the runs of a function took each number of cycles, since its distributions were updated. Counting
 * here is cheaper than adding to two distributions with histograms. */
struct ct_timing_exact {
    uint32_t both[CT_TIMING_EXACT];      /* runs without calls, whose inclusive and self cycles are equal */
    uint32_t inclusive[CT_TIMING_EXACT]; /* other runs */
    uint32_t self[CT_TIMING_EXACT];      /* other runs */
};

/* What each call and each return need of a function, in one place. */
struct ct_timing_open {
    uint32_t frames;               /* frames on all stacks */
    uint32_t runs;                 /* runs that began since the sums were updated */
    uint64_t longest;              /* cycles of the longest run */
    struct ct_timing_exact *exact; /* NULL until a run ends */
};

/* A run of a function that has not ended. */
struct ct_timing_frame {
    uint64_t returns_to;
    uint64_t clock;   /* clock of its level when it began */
    uint64_t untimed; /* steps of its level without cycles, up to its begin */
    uint64_t wall;    /* all cycles of the stream, up to its begin */
    uint64_t from;    /* position in the stream when it began */
    uint64_t self;
    uint32_t function;
    bool is_tail;    /* begun by a jump: it returns together with the run below it */
    bool is_inner;   /* the same function also runs below it */
    bool is_handler; /* begun by an exception: it ends with the exception's return in the M profile */
    uint8_t pad;
};

/* What runs without preemption: the thread itself, or an exception handler on top of it. */
struct ct_timing_level {
    uint64_t clock;
    uint64_t untimed;
    uint64_t resumes_at; /* preferred return address, or 0 */
    uint32_t base;       /* index of its first frame */
    uint32_t pad;
};

struct ct_timing_thread {
    uint32_t ctxt, vmid;
    uint32_t number; /* of a thread of the M profile (CT_MARK_ELEM of a RETURN), or 0 */
    uint32_t depth;
    uint64_t used; /* the step at which it last ran, to find the oldest thread */
    uint32_t level;
    struct ct_timing_level levels[CT_TIMING_LEVELS];
    struct ct_timing_frame *frames; /* CT_TIMING_DEEPEST of them */
};

/* A pair of watchpoints in measurement. */
struct ct_timing_gate {
    uint32_t from, from_count; /* watchpoints that begin the pair */
    uint32_t to, to_count;     /* watchpoints that end the pair */
    uint64_t begun;            /* cycle at which the measurement began */
    uint64_t preempted;        /* cycle of the first interruption */
    uint32_t ctxt, vmid;
    bool is_open;
    bool is_preempted;
    uint8_t known; /* CT_CONTEXT_*: what is known of the context at the begin */
    uint8_t pad[5];
};

struct ct_timing {
    struct ct_ctx *ctx;
    const struct ct_program_place *programs;
    size_t program_count;
    bool histograms;
    struct ct_timing_totals totals;
    struct ct_timing_edge *edges;
    struct ct_timing_way *ways;
    uint8_t *classes;                /* by edge: enum ct_timing_class */
    struct ct_timing_tally *tallies; /* by edge: steps not yet in the sums */
    uint64_t tallied;                /* upper bound of each cell, and of each function's `open` */
    bool plain;                      /* for tests: adds each step to the sums at once */
    size_t edge_count, edge_room;
    /* the functions that execution reached; the first one is code in no program */
    struct ct_timing_function *functions;
    struct ct_timing_open *open; /* by function */
    uint32_t *symbols;           /* by function: index of its symbol among those of all programs */
    size_t function_count, function_room;
    uint32_t *numbers; /* by symbol: number of its function; 0: not reached yet */
    struct ct_timing_thread threads[CT_TIMING_THREADS];
    size_t thread_count;
    struct ct_timing_thread *now;
    uint64_t left_out; /* cycles of the stream that a filter removed */
    struct ct_arena arena;
    struct ct_timing_longest origin;       /* the origin that all longest runs share */
    uint8_t exception_level, level_before; /* the current level, and the one before the last exception */
    uint64_t
        chained; /* what the handler that has just returned had interrupted, for one that is tail-chained */
    bool after_eret; /* the last step left its exception, so the RETURN element is redundant */
    bool was_taken;  /* an exception was taken, and nothing ran since then */
    bool was_off;    /* tracing was off, so the next step may not continue from the last one */
    uint32_t last;   /* edge of the last step, or CT_TIMING_NO_EDGE */
    struct ct_timing_pair *pairs;
    struct ct_timing_gate *gates;
    size_t pair_count;
    struct ct_watcher *watcher;
    uint32_t marks; /* the first watchpoint that detects interruptions of a pair */
};

/* ---- timing_functions.c ---- */

/* Adds a function, whose symbol has an index among those of all programs. CT_ERR_NOMEM. */
int ct_timing_put_function(struct ct_timing *timing, const struct ct_timing_function *function,
                           uint32_t symbol);

/* Sets *number to the number of the function of a symbol of a program. `index` is that of the symbol among
 * those of all programs. CT_ERR_NOMEM. */
int ct_timing_number(struct ct_timing *timing, uint32_t program, const struct ct_symbol *symbol,
                     uint32_t index, uint32_t *number);

/* Frees what is kept of the runs of a function. */
void ct_timing_drop_runs(struct ct_timing *timing, size_t number);

void ct_timing_functions_free(struct ct_timing *timing);

/* ---- timing_calls.c ---- */

/* Makes the thread of a context the running one. CT_ERR_NOMEM. */
int ct_timing_switch(struct ct_timing *timing, uint32_t ctxt, uint32_t vmid, uint32_t number);

/* Takes the steps from `from` up to `to`, which have no marks between them: adds their cycles to their edges
 * and to the current run, and begins and ends runs as the edges say. CT_ERR_NOMEM. */
int ct_timing_steps(struct ct_timing *timing, const struct ct_step_batch *batch, size_t from, size_t to);

/* Takes an exception. `resumes_at` is its return address and `function` the function with that address; both
 * are 0 when the trace does not tell. */
int ct_timing_exception(struct ct_timing *timing, uint64_t resumes_at, uint32_t function);
int ct_timing_exception_return(struct ct_timing *timing, const struct ct_step_mark *mark); /* CT_ERR_NOMEM */

/* Cuts all runs, because it is unknown which of them still last. */
void ct_timing_forget(struct ct_timing *timing);

/* ---- timing_tally.c ---- */

/* Returns the cycles of a step as its edge counts them, without the bit for the last of several steps. */
static inline uint32_t ct_timing_word(uint32_t cycles)
{
    return cycles & ~CT_STEP_ENDS;
}

#define CT_TIMING_NO_CYCLES (CT_STEP_NO_CYCLES & ~CT_STEP_ENDS) /* the word of a step without cycles */

/* Counts a step by an edge, with the word of its cycles. CT_ERR_NOMEM. */
int ct_timing_count(struct ct_timing *timing, uint32_t edge, uint32_t word);

/* Counts a run of a function that has ended. CT_ERR_NOMEM. */
int ct_timing_count_run(struct ct_timing *timing, uint32_t function, uint64_t inclusive, uint64_t self,
                        bool is_inner);

/* Adds the tallies to the sums. */
void ct_timing_settle(const struct ct_timing *timing);

/* ---- timing_pairs.c ---- */

int ct_timing_watch(struct ct_timing *timing, const struct ct_step_batch *batch);
void ct_timing_pairs_free(struct ct_timing *timing);
