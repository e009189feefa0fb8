/* SPDX-License-Identifier: Apache-2.0 */
/* coretap stacks: call stacks, rebuilt from calls and returns along the steps. The call sites of a
 * capture, with how often each called a function (a function that is called at two places has two entries):
 *
 *     ct_stack_sums_new(ctx, NULL, &sums);
 *     ct_session_add(session, ct_stack_sums_analysis(sums));
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_stack_sums_find(sums, &found);
 *     for (size_t i = 0; i < found.call_count; i++)
 *         printf("%s calls %s %llu times\n", found.functions[found.calls[i].caller].name,
 *                found.functions[found.calls[i].callee].name, (unsigned long long)found.calls[i].count);
 *     ct_stack_sums_free(sums); */
#ifndef CORETAP_STACKS_H
#define CORETAP_STACKS_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/programs.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the programs are numbered, one program after the other in the order of ct_symbols_all_code.
 * The number after the last one stands for code in no function. */
struct ct_stack_options {
    size_t size;                             /* sizeof(struct ct_stack_options) */
    const struct ct_program_place *programs; /* copied; what they point to must stay valid */
    size_t program_count;
    uint8_t slices; /* 1: collect slices */
    uint8_t owners; /* 1: each stack has its own places (ct_stacks_owner); 0: equal stacks share places */
    uint64_t moves; /* 1: collect moves */
};

#define CT_STACK_NONE UINT32_MAX

/* Limits: frames of a stack, places in the tree, stacks by context. Further calls are counted for their
 * callers. */
#define CT_STACK_DEPTH    65536u
#define CT_STACK_PLACES   (UINT32_C(1) << 22)
#define CT_STACK_CONTEXTS 4096u

/* Maximal number of streams: 128 for each of 8192 buffers. */
#define CT_STACK_LANES (UINT32_C(1) << 20)

/* A stack of functions: a place in the tree of all stacks. */
struct ct_stack_place {
    uint32_t parent;   /* number of the caller's place; CT_STACK_NONE: the outermost function known */
    uint32_t function; /* number */
    uint64_t calls;    /* how often it was entered by a call, a tail call or an exception */
    uint64_t insns;    /* executed in this function, without callees */
    uint64_t cycles;   /* cycles, as far as known */
};

/* Calls from one place in the code to one function. */
struct ct_stack_call {
    uint64_t site;   /* address of the call instruction, load bias included; for an exception where it was
                        taken */
    uint32_t caller; /* function */
    uint32_t callee;
    uint64_t count;
    uint64_t insns; /* executed in the callee and everything it called, for calls that ended or that the trace
                       ended */
    uint64_t cycles;
};

/* One execution of a function, given after its end. */
struct ct_stack_slice {
    uint32_t function;
    uint32_t depth;                /* 0: outermost */
    uint64_t insns_from, insns_to; /* instructions of the stream before its beginning and its end */
    uint64_t cycles_from, cycles_to;
    uint32_t ctxt; /* context ID; 0 when unknown */
    uint32_t lane;
};

enum ct_stack_move_kind {
    CT_STACK_ENTER, /* a function begins, as the innermost of its context */
    CT_STACK_LEAVE, /* the innermost function ends */
    CT_STACK_MARK,  /* a mark of the batch is here */
};

/* An event in a stream, in order: the beginning or end of a function, or a mark between steps. Executions of
 * one context are nested. */
struct ct_stack_move {
    uint64_t insns, cycles, steps; /* number in the stream before it */
    uint64_t context;              /* context ID in bits 31:0, VMID in 63:32; for a MARK 0 */
    uint32_t of;                   /* number of the function; for a MARK its index in the batch */
    uint32_t lane;
    uint8_t kind;   /* enum ct_stack_move_kind */
    uint8_t pad[7]; /* 0 */
};

struct ct_stacks;

/* Makes an object without stacks. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stacks_new(struct ct_ctx *ctx, const struct ct_stack_options *options, struct ct_stacks **out);
CT_API void ct_stacks_free(struct ct_stacks *stacks);

/* Takes the steps of one batch of one stream. `lane` identifies the stream, and so the graph; memory grows
 * with the largest number. Rules: docs/analysis.md. CT_ERR_LIMIT: it is not below CT_STACK_LANES; CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_stacks_add(struct ct_stacks *stacks, uint32_t lane, const struct ct_step_batch *batch);

/* Ends all functions that are still on a stack. Nothing may be added afterwards. CT_ERR_NOMEM. */
CT_API int ct_stacks_finish(struct ct_stacks *stacks);

/* Returns the tree, calls, slices, or moves. In the tree callers come before callees. Slices and moves are
 * those since the last ct_stacks_add or ct_stacks_finish began. Borrowed until the next call that adds or
 * ends. */
CT_API const struct ct_stack_place *ct_stacks_places(const struct ct_stacks *stacks, size_t *count);
CT_API const struct ct_stack_call *ct_stacks_calls(const struct ct_stacks *stacks, size_t *count);
CT_API const struct ct_stack_slice *ct_stacks_slices(const struct ct_stacks *stacks, size_t *count);
CT_API const struct ct_stack_move *ct_stacks_moves(const struct ct_stacks *stacks, size_t *count);

/* The stack that a place belongs to. */
struct ct_stack_owner {
    uint64_t context; /* context ID in bits 31:0, VMID in 63:32 */
    uint32_t lane;
    uint32_t stack; /* number of the stack, from 0 */
};

/* Returns the stack that a place of the tree belongs to. CT_ERR_ARG: there is no such place, or stacks share
 * places (options.owners). */
CT_API int ct_stacks_owner(const struct ct_stacks *stacks, size_t place, struct ct_stack_owner *owner);

/* Returns how often a stack was started again. This happens when execution continues after an exception in a
 * function that is not on the stack: another thread ran on the core, and neither a context ID nor the address
 * showed which. It also happens when a return leads to the middle of a function, and no function returns
 * there on this stack or on one that the program left for it (as coroutines do). In the M profile it may also
 * be the stack of another thread (CT_RETURN_GUESSED). */
CT_API uint64_t ct_stacks_renewed(const struct ct_stacks *stacks);

/* Returns the name of a function for people (ct_symbols_label); CT_SYMBOL_UNKNOWN for code in no program. */
CT_API const char *ct_stacks_name(const struct ct_stacks *stacks, uint32_t function);

/* Returns the symbol of a function, and the index of its program in *program; NULL for code in no program. */
CT_API const struct ct_symbol *ct_stacks_symbol(const struct ct_stacks *stacks, uint32_t function,
                                                size_t *program);

/* ---- sums over streams and captures ---- */

struct ct_stack_sums_options {
    size_t size;       /* sizeof(struct ct_stack_sums_options) */
    uint8_t raw_names; /* 1: labels are not demangled */
    uint8_t uncounted; /* 1: executions of code are not counted, which saves time */
    uint8_t pad[6];    /* 0 */
};

/* A function, identified across captures. */
struct ct_stack_function {
    const char *name;  /* in the file; for code between functions, the name for people */
    const char *label; /* for people: demangled when it is a C++ or Rust name */
    uint64_t addr;     /* in the file; without a known program as it ran; UINT64_MAX outside of functions */
    uint32_t program;  /* number (ct_stack_sums_program); CT_STACK_NONE: unknown */
    uint32_t pad;      /* 0 */
};

/* The sums over all streams that have ended. Functions are sorted by program and address; in the tree a place
 * comes before its callees, and its function is an index of `functions`. */
struct ct_stack_found {
    const struct ct_stack_function *functions;
    size_t function_count;
    const struct ct_stack_place *places;
    size_t place_count;
    uint64_t renewed; /* see ct_stacks_renewed */
    size_t program_count;
    /* Sorted by the program of the caller, site and callee. The site is an address in the file of that
     * program; caller and callee are indices of `functions`, and the site is in the caller. */
    const struct ct_stack_call *calls;
    size_t call_count;
    uint8_t lacks_calls; /* 1: for a part of the sums, call sites and executions of code are unknown: it comes
                            from a file of version 1, was not counted, or was added by ct_stack_sums_add */
    uint8_t pad[7];      /* 0 */
};

struct ct_cover;
struct ct_stack_sums;

/* Makes empty sums of stacks. They are an analysis (analysis.h): a session, or any caller with steps, gives
 * them streams, each of which is followed separately. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stack_sums_new(struct ct_ctx *ctx, const struct ct_stack_sums_options *options,
                             struct ct_stack_sums **out);
CT_API void ct_stack_sums_free(struct ct_stack_sums *sums);

/* Returns the sums as an analysis, for the functions of analysis.h; NULL for NULL. */
CT_API struct ct_analysis *ct_stack_sums_analysis(struct ct_stack_sums *sums);

/* Returns the kind of this analysis. */
CT_API const struct ct_analysis_kind *ct_stack_sums_kind(void);

/* Adds stacks that the caller has followed and finished (ct_stacks_finish): their functions by program.
 * Executions of code are unknown for them. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_symbols. */
CT_API int ct_stack_sums_add(struct ct_stack_sums *sums, const struct ct_stacks *stacks);

/* Returns the sums. They are borrowed until something is added. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stack_sums_find(struct ct_stack_sums *sums, struct ct_stack_found *found);

/* Returns how often the code of the programs ran in the streams: runs in one context, without branches. It
 * belongs to the sums; NULL for NULL. */
CT_API struct ct_cover *ct_stack_sums_cover(struct ct_stack_sums *sums);

/* Returns the program with this number, zeros when there is none. */
CT_API struct ct_program_identity ct_stack_sums_program(const struct ct_stack_sums *sums, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
