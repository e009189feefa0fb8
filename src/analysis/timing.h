/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of timing: calls and returns as runs of functions. */
#ifndef CT_ANALYSIS_TIMING_H
#define CT_ANALYSIS_TIMING_H

#include <stdbool.h>

#include "coretap/timing.h"

#define CT_TIMING_DEEPEST 1024 /* calls inside of one another, of one thread */
#define CT_TIMING_LEVELS  16   /* exceptions inside of one another */
#define CT_TIMING_THREADS 64

/* What an edge does to the stack of calls. */
enum ct_timing_class {
    CT_TIMING_ON, /* nothing */
    CT_TIMING_CALL,
    CT_TIMING_TAIL, /* a jump to another function */
    CT_TIMING_RETURN,
    CT_TIMING_JUMP, /* a computed jump: a return when it leads to where a call or an exception came from */
    CT_TIMING_ERET, /* A64 ERET */
};

struct ct_timing_way {
    uint32_t function; /* that the node is in */
    uint32_t callee;   /* CALL, TAIL */
    uint32_t memory;   /* of the node */
    uint8_t class;     /* enum ct_timing_class */
    uint8_t pad[3];
    uint64_t behind; /* CALL: where the call returns to */
    uint64_t next;
    uint64_t start; /* of the node */
};

/* A run of a function. */
struct ct_timing_frame {
    uint64_t returns_to;
    uint64_t clock;   /* of its level when it began */
    uint64_t untimed; /* steps without cycles, of its level, until then */
    uint64_t wall;    /* all cycles of the stream until then */
    uint64_t self;
    uint32_t function;
    bool is_tail;  /* begun by a jump: returns with the one below it */
    bool is_inner; /* the same function runs below it */
    uint8_t pad[2];
};

/* What runs without being preempted: the thread itself, or the handler of an exception on top of it. */
struct ct_timing_level {
    uint64_t clock;
    uint64_t untimed;
    uint64_t resumes_at; /* preferred return address, or 0 */
    uint32_t base;       /* its first frame */
    uint32_t pad;
};

struct ct_timing_thread {
    uint32_t ctxt, vmid;
    uint64_t used; /* when it ran last, to make room */
    uint32_t depth;
    uint32_t level;
    struct ct_timing_level levels[CT_TIMING_LEVELS];
    struct ct_timing_frame *frames; /* CT_TIMING_DEEPEST of them */
};

/* A pair of watchpoints while it is measured. */
struct ct_timing_gate {
    uint32_t from, from_count; /* watchpoints that begin it … */
    uint32_t to, to_count;     /* … and that end it */
    uint64_t begun;            /* cycle */
    uint32_t ctxt, vmid;
    bool is_open;
    bool is_preempted;
    uint8_t pad[6];
};

struct ct_timing {
    struct ct_ctx *ctx;
    const struct ct_program_place *programs;
    size_t program_count;
    bool histograms;
    struct ct_timing_totals totals;
    struct ct_timing_edge *edges;
    struct ct_timing_way *ways;
    size_t edge_count, edge_room;
    struct ct_timing_function *functions;
    size_t function_count;
    struct ct_timing_thread threads[CT_TIMING_THREADS];
    size_t thread_count;
    struct ct_timing_thread *now;
    uint8_t exception_level, level_before; /* now, and before the last exception */
    bool after_eret;   /* the last step has left its exception: a RETURN says nothing more */
    bool was_taken;    /* an exception, and nothing ran since then */
    bool was_off;      /* tracing was off: does the next step go on where the last one led? */
    uint64_t expected; /* where it led */
    uint32_t memory;   /* that execution is in */
    struct ct_timing_pair *pairs;
    struct ct_timing_gate *gates;
    size_t pair_count;
    struct ct_watcher *watcher;
};

/* ---- timing_calls.c ---- */

/* The thread of this context runs from now on. CT_ERR_NOMEM. */
int ct_timing_switch(struct ct_timing *timing, uint32_t ctxt, uint32_t vmid);

/* One step went by: its function gets the cycles, then calls and returns happen. CT_ERR_NOMEM. */
int ct_timing_step(struct ct_timing *timing, const struct ct_timing_way *way, uint64_t cycles, bool timed);
/* An exception was taken that resumes at an address, in a function; 0 and 0 when the trace does not tell. */
void ct_timing_exception(struct ct_timing *timing, uint64_t resumes_at, uint32_t function);
void ct_timing_exception_return(struct ct_timing *timing);

/* Nobody knows what runs are left of. */
void ct_timing_forget(struct ct_timing *timing);

/* ---- timing_pairs.c ---- */

int ct_timing_watch(struct ct_timing *timing, const struct ct_step_batch *batch);
void ct_timing_pairs_free(struct ct_timing *timing);

#endif
