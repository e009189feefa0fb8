/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of paths: the state of a path. */
#pragma once

#include "record/path.h"

#define CT_PATH_VECTORS 16 /* vector tables that are told apart */
#define CT_PATH_TAKEN   8  /* most exceptions at a time, as EXCEPTIONS_M_TAKEN */

struct ct_path_place {
    uint64_t addr;
    enum ct_isa isa;
    unsigned level;
};

/* What happened before the next block of a processor of the M profile. */
struct ct_path_m {
    uint32_t handled, next_handled; /* number of the exception that the current and the next block handle; 0:
                                       Thread mode */
    uint32_t change;                /* TRACE_M_TAKEN, TRACE_M_RETURNED, TRACE_M_RESET, TRACE_M_LOST; 0 */
    unsigned taken_count;
    struct {
        uint32_t number;
        uint32_t return_to;
        uint32_t interrupted; /* exception whose handler it interrupted; 0: Thread mode */
    } taken[CT_PATH_TAKEN];
};

struct ct_path {
    struct ct_ctx *ctx;
    const struct ct_code *code;
    struct ct_code_view *view;
    const uint32_t *changing; /* not 0: some code has several versions */
    struct ct_unit *unit;
    struct ct_code_block *now; /* entered, and not passed on yet */
    struct ct_path_place interrupted;
    struct ct_path_place told; /* address of the unit when the core switched to another thread */
    uint64_t return_to;
    uint64_t spent_end;
    uint64_t vectors[CT_PATH_VECTORS]; /* vector tables of earlier exceptions */
    uint64_t unplaced;                 /* blocks whose end is unknown */
    ct_path_access_fn *access;         /* NULL: no memory is watched */
    void *access_user;
    struct ct_path_m m;
    uint32_t id;
    uint32_t at;          /* executed instructions of `now`, if it was left early */
    uint32_t spent_insns; /* instructions of the last entered block whose cycles are not counted yet */
    unsigned vector_count;
    bool partial;           /* `now` was left early */
    bool handler;           /* a signal handler begins with the next block */
    bool interrupted_known; /* `interrupted` is set */
    bool away;
    bool system;
    bool m_profile; /* of the machine's processors */
    bool returns;   /* the next block may be an exception vector with the return address `return_to` */
    bool vague;     /* the address from which execution left the block is unknown */
};

/* Passes the first `count` instructions of a block to the trace unit, except a waypoint that is the last of
 * them. */
int ct_path_tell_insns(struct ct_path *path, struct ct_code_block *block, uint32_t count);

/* ---- the M profile ---- */

/* Notes that an exception was taken before the next block. */
void ct_path_taken_m(struct ct_path *path, uint32_t number, uint32_t return_to, uint32_t interrupted);

/* Passes on the current block and the exceptions behind it. Execution continues with `block`. */
int ct_path_enter_m(struct ct_path *path, const struct ct_code_block *block);

/* Ends the path in the current block. */
int ct_path_end_m(struct ct_path *path);
