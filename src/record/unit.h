/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a trace unit: it is told what a core executes, decides what is traced, and writes the trace.
 *
 * Instructions come in runs that end at a waypoint or an exception. A run is traced whole or not at all. */
#ifndef CT_RECORD_UNIT_H
#define CT_RECORD_UNIT_H

#include <stdbool.h>

#include "coretap/input.h"
#include "coretap/program.h"

#define CT_UNIT_RANGES 16

/* What a unit has where nobody says otherwise. */
#define CT_UNIT_CC_THRESHOLD     16
#define CT_UNIT_CC_THRESHOLD_MAX 4095  /* TRCCCCTLR has 12 bits */
#define CT_UNIT_TS_PERIOD        10000 /* cycles */
#define CT_UNIT_SYNC_PERIOD      4096  /* bytes */

struct ct_unit_range {
    uint64_t lo, hi; /* hi is the first that is not in it */
};

/* One run, as it was executed. */
struct ct_unit_run {
    uint64_t start;
    uint64_t end;
    uint32_t n;   /* instructions */
    uint8_t isa;  /* enum ct_isa */
    bool traced;  /* false: filtered out, lost, or beyond what trace can say */
    uint32_t ctx; /* context ID */
};

struct ct_unit_options {
    struct ct_source source; /* ct_unit_source fills in its registers */
    uint32_t cc_threshold;
    uint32_t ts_period;     /* cycles between timestamps at least */
    uint32_t sync_period;   /* bytes; 0: synchronisation only at the beginning */
    uint32_t event_rate;    /* instructions between events on average; 0: none */
    uint32_t overflow_rate; /* instructions between overflows on average; 0: none */
    uint64_t seed;
    uint64_t start, stop; /* addresses at which tracing begins and ends */
    bool has_start, has_stop;
    unsigned range_count; /* how many ranges tracing is on in; 0: everywhere */
    struct ct_unit_range ranges[CT_UNIT_RANGES];
    uint32_t vmid;
    uint64_t *budget; /* instructions that may still be traced, by all units that share it; NULL:
                         any number */
    /* Where code changes while it runs: a number that grows when it does. NULL: it never does. */
    const uint32_t *epoch;
    /* Told that what is traced from now on is of another epoch. Calls ct_unit_restart when it may not be
     * written behind what came before. *good false: it cannot be described. */
    int (*renew)(void *user, bool *good);
    /* Takes trace bytes. An error ends the recording and is returned. */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    /* Takes each run, or is NULL. */
    int (*run)(void *user, const struct ct_unit_run *run);
    void *user;
};

/* What a source is to trace, from which its registers follow. */
struct ct_unit_wishes {
    uint8_t protocol; /* enum ct_protocol: ETM4, ETE or PTM */
    uint8_t trace_id;
    bool branch_broadcast, cycle_count, timestamps, context_id, vmid, return_stack;
};

void ct_unit_source(const struct ct_unit_wishes *wishes, struct ct_source *source);

struct ct_unit;

int ct_unit_new(struct ct_ctx *ctx, const struct ct_unit_options *options, struct ct_unit **out);
void ct_unit_free(struct ct_unit *unit);

/* Sees to it that `other`, which is new, is told all that `unit` is told. It belongs to `unit` from now on.
 */
void ct_unit_beside(struct ct_unit *unit, struct ct_unit *other);

/* Sets the exception level of what is executed next. Without any of these calls everything is EL0. */
void ct_unit_next_level(struct ct_unit *unit, unsigned level);

/* Notes that an exception took execution to `addr`, without a gap in the trace. */
int ct_unit_enter(struct ct_unit *unit, uint64_t addr, enum ct_isa isa);

/* Notes that execution goes on at `addr`, and nothing told how it came there (or an exception did). */
int ct_unit_place(struct ct_unit *unit, uint64_t addr, enum ct_isa isa);

/* Notes that `n` instructions were executed, of which the last lies at `last` and ends at `end`. Only the
 * last may be a waypoint, and then ct_unit_branch follows. `traceable`: memory images say what they are. */
void ct_unit_insns(struct ct_unit *unit, uint32_t n, uint64_t last, uint64_t end, bool traceable);

/* Notes that the last instruction is a waypoint and led to `next`. */
int ct_unit_branch(struct ct_unit *unit, const struct ct_insn *insn, bool taken, uint64_t next,
                   enum ct_isa isa);

/* Notes an exception, numbered as in IHI 0064H table 6-14. Its preferred return address is where execution
 * is. */
int ct_unit_exception(struct ct_unit *unit, unsigned number);

/* Notes that execution left for an unknown place, in a way that the trace does not tell. */
int ct_unit_leave(struct ct_unit *unit);

/* Counts cycles in which the core worked on what is told next. */
void ct_unit_spend(struct ct_unit *unit, uint64_t cycles);
/* Lets the core wait now. While it traces, cycle counts have waits of at most CT_UNIT_COUNTED_WAIT cycles. */
#define CT_UNIT_COUNTED_WAIT 4096
int ct_unit_wait(struct ct_unit *unit, uint64_t cycles);
/* Lets the core wait until its clock is at `clock`, if it is not there yet. */
int ct_unit_wait_until(struct ct_unit *unit, uint64_t clock);
/* Gives the core's clock, in cycles. */
uint64_t ct_unit_clock(const struct ct_unit *unit);

/* Gives the address at which execution is, and its instruction set. */
void ct_unit_at(const struct ct_unit *unit, uint64_t *addr, enum ct_isa *isa);

/* Sets the context ID of what runs from now on. Execution must have left. */
void ct_unit_context(struct ct_unit *unit, uint32_t id);

/* Gives the number of instructions that were traced so far. */
uint64_t ct_unit_traced(const struct ct_unit *unit);
/* Gives the number of waypoints among the instructions that were traced so far. */
uint64_t ct_unit_waypoints(const struct ct_unit *unit);
/* Gives the number of instructions that were executed but not traceable. */
uint64_t ct_unit_untraceable(const struct ct_unit *unit);

/* Writes what is held back; what comes then does not depend on it. */
int ct_unit_restart(struct ct_unit *unit);

/* Writes what is held back, but for what depends on what comes next. The bytes are the same, but for where
 * the next synchronisation is. */
int ct_unit_flush(struct ct_unit *unit);

/* Writes what is held back. */
int ct_unit_finish(struct ct_unit *unit);

#endif
