/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the trace unit: its state, and the functions that differ between protocols. */
#pragma once

#include "coretap/encode.h"
#include "record/unit.h"

#define CT_UNIT_STACK 15 /* a decoder has at least as many */
#define CT_UNIT_ELEMS 256

struct ct_unit_place {
    uint64_t addr;
    uint8_t isa; /* enum ct_isa */
};

/* The functions that differ between protocols: the choice of elements. */
struct ct_unit_voice {
    /* Makes the emitter, and sets whether return stack and branch broadcast are on. */
    int (*open)(struct ct_unit *u);
    void (*close)(struct ct_unit *u);
    int (*emit)(struct ct_unit *u, const struct ct_elem *elems, size_t size, int final, size_t *taken,
                uint8_t *out, size_t cap, size_t *len);
    /* Trace begins with the current run; `periodic`: tracing is on already, and its state is repeated. */
    int (*begin)(struct ct_unit *u, bool periodic);
    /* The run ends in a waypoint; `target`: a decoder cannot derive the next address. */
    int (*branch)(struct ct_unit *u, bool taken, bool target, bool eret, const struct ct_unit_place *next);
    int (*exception)(struct ct_unit *u, unsigned number);
    /* Execution continues after an exception. NULL: the protocol's exception has the address. */
    int (*enter)(struct ct_unit *u);
    int (*event)(struct ct_unit *u, unsigned bits);
    int (*time)(struct ct_unit *u, uint64_t clock);
    int (*lose)(struct ct_unit *u);
};

extern const struct ct_unit_voice ct_unit_voice_etm4, ct_unit_voice_ptm;

struct ct_unit {
    struct ct_ctx *ctx;
    struct ct_unit *beside; /* receives the same; NULL: none */
    struct ct_unit_options o;
    const struct ct_unit_voice *voice;
    struct ct_etm4_emitter *etm4;
    struct ct_ptm_emitter *ptm;
    struct ct_elem elems[CT_UNIT_ELEMS]; /* not written yet */
    size_t count;
    uint64_t since_sync; /* bytes */
    /* The current run: from `at` to `end`. */
    struct ct_unit_place at;
    uint64_t end;
    uint64_t last; /* address of its last instruction */
    uint32_t n;
    bool traceable;
    uint32_t epoch;            /* of the code of this run */
    uint32_t spoken;           /* of the last traced run */
    uint8_t level, next_level; /* exception level of this run and of the next */
    uint8_t said_level;        /* of the last context element */
    bool excepted;             /* an exception was the last element traced */
    /* Trace. */
    bool tracing; /* a decoder knows the beginning of the run */
    bool goes_on; /* the code changed while tracing was on, so trace goes on behind a synchronisation */
    bool synced;
    bool begun;   /* PTM: there was an i-sync */
    bool stopped; /* until a start address */
    bool stack_on, broadcast;
    uint8_t why;     /* enum ct_trace_on, for the next beginning */
    uint32_t losing; /* runs still to lose */
    struct ct_unit_place stack[CT_UNIT_STACK];
    unsigned depth;
    uint32_t context;
    /* Time. */
    uint64_t clock;   /* cycles */
    uint64_t pending; /* cycles of the current run */
    uint64_t cycles;  /* since the last count */
    uint64_t told;    /* clock up to which all cycles are counted */
    uint64_t ts_at, event_at, overflow_at;
    uint64_t executed, traced, untraceable; /* instructions */
    uint64_t waypoints;                     /* only traced ones */
    uint64_t random;
};

static inline uint32_t unit_bit(bool on, unsigned at)
{
    return (uint32_t)on << at;
}

static inline uint8_t unit_select(uint8_t isa)
{
    return isa == CT_ISA_T32 ? CT_IS1 : CT_IS0;
}

/* Sets the registers of a PTM. */
void ct_unit_source_ptm(const struct ct_unit_wishes *wishes, struct ct_source *source);

/* Adds an element. */
int ct_unit_put(struct ct_unit *u, struct ct_elem elem);

/* Adds an address element. */
int ct_unit_address(struct ct_unit *u, const struct ct_unit_place *at);
