/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a trace unit: it receives the execution of a core, decides what is traced, and writes the trace.
 *
 * Instructions come in runs that end at a waypoint or an exception. A run is traced completely or not at
 * all. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"
#include "coretap/program.h"

#define CT_UNIT_RANGES 16

/* Defaults of a unit. */
#define CT_UNIT_CC_THRESHOLD     16
#define CT_UNIT_CC_THRESHOLD_MAX 4095  /* TRCCCCTLR has 12 bits */
#define CT_UNIT_TS_PERIOD        10000 /* cycles */
#define CT_UNIT_SYNC_PERIOD      4096  /* bytes */

struct ct_unit_range {
    uint64_t lo, hi; /* hi is exclusive */
};

/* One executed run. */
struct ct_unit_run {
    uint64_t start;
    uint64_t end;
    uint32_t n;   /* instructions */
    uint8_t isa;  /* enum ct_isa */
    bool traced;  /* false: filtered out, lost, or not expressible in trace */
    uint32_t ctx; /* context ID */
};

struct ct_unit_options {
    struct ct_source source; /* ct_unit_source sets its registers */
    uint32_t cc_threshold;
    uint32_t ts_period;     /* least cycles between timestamps */
    uint32_t sync_period;   /* bytes; 0: synchronisation only at the beginning */
    uint32_t event_rate;    /* instructions between events on average; 0: none */
    uint32_t overflow_rate; /* instructions between overflows on average; 0: none */
    uint64_t seed;
    uint64_t start, stop; /* addresses where tracing begins and ends */
    bool has_start, has_stop;
    unsigned range_count; /* ranges with tracing; 0: everywhere */
    struct ct_unit_range ranges[CT_UNIT_RANGES];
    uint32_t vmid;
    uint64_t *budget; /* instructions left to trace, shared by several units; NULL:
                       *  any number */
    /* For code that changes while it runs: a number that grows with each change. NULL: it never changes. */
    const uint32_t *epoch;
    /* Is called when the following trace belongs to another epoch. Calls ct_unit_restart if it must not
     * follow the trace before it. *good false: the code cannot be described. */
    int (*renew)(void *user, bool *good);
    /* Writes trace bytes. An error ends the recording and is returned. */
    int (*write)(void *user, const uint8_t *bytes, size_t size);
    /* Is called for each run, or is NULL. */
    int (*run)(void *user, const struct ct_unit_run *run);
    void *user;
};

/* Settings of a source, which determine its registers. */
struct ct_unit_wishes {
    uint8_t protocol; /* enum ct_protocol: ETM4, ETE or PTM */
    uint8_t trace_id;
    bool branch_broadcast, cycle_count, timestamps, context_id, vmid, return_stack;
};

/* Sets the protocol, trace ID and registers of a source whose `arch` is set. */
void ct_unit_source(const struct ct_unit_wishes *wishes, struct ct_source *source);

struct ct_unit;

int ct_unit_new(struct ct_ctx *ctx, const struct ct_unit_options *options, struct ct_unit **out);
void ct_unit_free(struct ct_unit *unit);

/* Makes `other`, which is new, receive everything that `unit` receives. `unit` owns it from then on. */
void ct_unit_beside(struct ct_unit *unit, struct ct_unit *other);

/* Sets the exception level of the following execution, or CT_UNIT_SECURE. Without any call it is EL0. */
#define CT_UNIT_SECURE 4 /* in place of a level: Secure state of the M profile */
void ct_unit_next_level(struct ct_unit *unit, unsigned level);

/* Notes that an exception took execution to `addr`, without a gap in the trace. */
int ct_unit_enter(struct ct_unit *unit, uint64_t addr, enum ct_isa isa);

/* Notes that execution continues at `addr` without a reason in the trace, or after an exception. */
int ct_unit_place(struct ct_unit *unit, uint64_t addr, enum ct_isa isa);

/* Notes that `n` instructions were executed; the last one is at `last` and ends at `end`. Only the last may
 * be a waypoint, and then ct_unit_branch must follow. `traceable`: the memory images have the code. */
void ct_unit_insns(struct ct_unit *unit, uint32_t n, uint64_t last, uint64_t end, bool traceable);

/* Notes that the last instruction is a waypoint that led to `next`. When it is a return from an exception,
 * `next` may be CT_UNIT_CHAINED: another exception was taken at once, and ct_unit_exception must follow. */
#define CT_UNIT_CHAINED 0xfffffffe /* the return address of a tail-chained exception of the M profile */
int ct_unit_branch(struct ct_unit *unit, const struct ct_insn *insn, bool taken, uint64_t next,
                   enum ct_isa isa);

/* Notes an exception, numbered as in IHI 0064H tables 6-14 and, for the M profile, 6-15. Its preferred return
 * address is the current address. */
int ct_unit_exception(struct ct_unit *unit, unsigned number);

/* Notes that execution left for an unknown address, without a sign in the trace. */
int ct_unit_leave(struct ct_unit *unit);

/* Adds cycles for the execution that is passed next. */
void ct_unit_spend(struct ct_unit *unit, uint64_t cycles);
/* Lets the core wait now. While it traces, cycle counts have waits of at most CT_UNIT_COUNTED_WAIT cycles. */
#define CT_UNIT_COUNTED_WAIT 4096
int ct_unit_wait(struct ct_unit *unit, uint64_t cycles);
/* Lets the core wait until its clock is at `clock`, unless it has passed it. */
int ct_unit_wait_until(struct ct_unit *unit, uint64_t clock);
/* Returns the core's clock, in cycles. */
uint64_t ct_unit_clock(const struct ct_unit *unit);

/* Returns the current address and its instruction set. */
void ct_unit_at(const struct ct_unit *unit, uint64_t *addr, enum ct_isa *isa);

/* Sets the context ID from now on. Execution must have left. */
void ct_unit_context(struct ct_unit *unit, uint32_t id);

/* Returns the number of traced instructions so far. */
uint64_t ct_unit_traced(const struct ct_unit *unit);
/* Returns the number of waypoints among the traced instructions so far. */
uint64_t ct_unit_waypoints(const struct ct_unit *unit);
/* Returns the number of executed instructions that were not traceable. */
uint64_t ct_unit_untraceable(const struct ct_unit *unit);

/* Writes all held elements; the following trace is independent of them. */
int ct_unit_restart(struct ct_unit *unit);

/* Writes held elements, except those that depend on the next ones. It does not change the bytes, only the
 * position of the next synchronisation. */
int ct_unit_flush(struct ct_unit *unit);

/* Writes all held elements. */
int ct_unit_finish(struct ct_unit *unit);
