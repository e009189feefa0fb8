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
    bool to_sg;                     /* TRACE_M_SG_RETURN */
    unsigned taken_count;
    struct {
        uint32_t number;
        uint32_t return_to;
        uint32_t interrupted; /* exception whose handler it interrupted; 0: Thread mode */
        bool after_sg;        /* TRACE_M_SG */
    } taken[CT_PATH_TAKEN];
};

/* The exception before the next block of a processor in A32 or T32. */
struct ct_path_arm {
    struct ct_path_place interrupted;
    uint8_t entry; /* in the vector table; 0: there was no exception */
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
    uint64_t handled;          /* where the last signal interrupted, until a system call */
    uint64_t return_to;
    enum ct_isa return_isa;
    uint64_t spent_end;
    uint64_t vectors[CT_PATH_VECTORS]; /* vector tables of earlier exceptions */
    uint64_t unplaced;                 /* blocks whose end is unknown */
    ct_path_access_fn *access;         /* NULL: no memory is watched */
    void *access_user;
    struct ct_path_m m;
    struct ct_path_arm arm;
    uint32_t id;
    uint32_t at;          /* executed instructions of `now`, if it was left early */
    uint32_t spent_insns; /* instructions of the last entered block whose cycles are not counted yet */
    unsigned vector_count;
    bool partial;           /* `now` was left early */
    bool handler;           /* a signal handler begins with the next block */
    bool interrupted_known; /* `interrupted` is set */
    bool handled_known;     /* `handled` is set */
    bool away;
    bool system;
    bool m_profile; /* of the machine's processors */
    bool arm32;     /* they run A32 and T32 of the A profile */
    bool returns;   /* the next block may be an exception vector with the return address `return_to` */
    bool vague;     /* the address from which execution left the block is unknown */
};

/* Passes the first `count` instructions of a block to the trace unit, except a waypoint that is the last of
 * them. */
int ct_path_tell_insns(struct ct_path *path, struct ct_code_block *block, uint32_t count);

/* ---- the end of a block, where exceptions are reported ---- */

/* How the current block ended. */
struct ct_path_ending {
    uint32_t count;                  /* executed instructions */
    const struct ct_code_stop *stop; /* the waypoint that is the last instruction of the block, or NULL */
    bool taken;
};

/* Returns the waypoint that is the last instruction of a block, or NULL. */
const struct ct_code_stop *ct_path_last_stop(const struct ct_code_block *block);

/* Returns whether the current block was executed up to its end, as far as its memory accesses tell. */
bool ct_path_is_whole(const struct ct_path *path);

/* Finds how the current block ended before execution, or an exception that returns there, was at `to`.
 * Returns false when no end of it fits. */
bool ct_path_find_ending(const struct ct_path *path, uint64_t to, struct ct_path_ending *ending);

/* Passes on the current block with its end. A return from an exception is a branch to `to` like others, but
 * marked as such. */
int ct_path_tell_ending(struct ct_path *path, const struct ct_path_ending *ending, struct ct_path_place to,
                        bool returns);

/* Returns whether the current block ends in the instruction for a call of a debugger's function. */
bool ct_path_calls_debugger(const struct ct_path *path);

/* Ends the path of a machine, in the call of a debugger's function when that is the end of the current
 * block. */
int ct_path_end_halted(struct ct_path *path);

/* Ends trace before the current block: it is unknown how execution left it. */
int ct_path_lose(struct ct_path *path);

/* ---- A32 and T32 of the A profile ---- */

/* Passes on the current block and the exception behind it, if there was one. Execution continues with
 * `block`. */
int ct_path_enter_arm(struct ct_path *path, const struct ct_code_block *block);

/* ---- the M profile ---- */

/* Notes that an exception was taken before the next block. */
void ct_path_taken_m(struct ct_path *path, uint32_t number, uint32_t return_to, uint32_t interrupted);

/* Passes on the current block and the exceptions behind it. Execution continues with `block`. */
int ct_path_enter_m(struct ct_path *path, const struct ct_code_block *block);
