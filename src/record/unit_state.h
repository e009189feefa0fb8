/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the trace unit: its state, and what differs between protocols. */
#ifndef CT_RECORD_UNIT_STATE_H
#define CT_RECORD_UNIT_STATE_H

#include "coretap/encode.h"
#include "record/unit.h"

#define CT_UNIT_STACK 15 /* a decoder's has at least as many places */
#define CT_UNIT_ELEMS 256

struct ct_unit_place {
    uint64_t addr;
    uint8_t isa; /* enum ct_isa */
};

/* The functions that differ between the protocols: which elements are put out. */
struct ct_unit_voice {
    /* Makes the emitter, and finds out whether return stack and branch broadcast are on. */
    int (*open)(struct ct_unit *u);
    void (*close)(struct ct_unit *u);
    int (*emit)(struct ct_unit *u, const struct ct_elem *elems, size_t size, int final, size_t *taken,
                uint8_t *out, size_t cap, size_t *len);
    /* Trace begins with the current run; `periodic`: it is on already and repeats where it is. */
    int (*begin)(struct ct_unit *u, bool periodic);
    /* The run ends in a waypoint; `target`: a decoder cannot know where it led to. */
    int (*branch)(struct ct_unit *u, bool taken, bool target, bool eret, const struct ct_unit_place *next);
    int (*exception)(struct ct_unit *u, unsigned number);
    /* Execution goes on behind an exception. NULL: the protocol's exception says where. */
    int (*enter)(struct ct_unit *u);
    int (*event)(struct ct_unit *u, unsigned bits);
    int (*time)(struct ct_unit *u, uint64_t clock);
    int (*lose)(struct ct_unit *u);
};

extern const struct ct_unit_voice ct_unit_voice_etm4, ct_unit_voice_ptm;

struct ct_unit {
    struct ct_ctx *ctx;
    struct ct_unit *beside; /* is told the same; NULL: none */
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
    uint64_t last; /* its last instruction */
    uint32_t n;
    bool traceable;
    uint32_t epoch;            /* epoch of the code of this run */
    uint32_t spoken;           /* epoch of what was traced last */
    uint8_t level, next_level; /* exception level, and that of the next run */
    bool excepted;             /* an exception was traced last */
    /* Trace. */
    bool tracing; /* a decoder knows where the run begins */
    bool synced;
    bool begun;   /* PTM: there was an i-sync */
    bool stopped; /* until a start address is met */
    bool stack_on, broadcast;
    uint8_t why;     /* enum ct_trace_on, of the next beginning */
    uint32_t losing; /* runs still to be lost */
    struct ct_unit_place stack[CT_UNIT_STACK];
    unsigned depth;
    uint32_t context;
    /* Time. */
    uint64_t clock;   /* cycles */
    uint64_t pending; /* cycles of the current run */
    uint64_t cycles;  /* since the last count */
    uint64_t told;    /* the clock up to which counts have all cycles */
    uint64_t ts_at, event_at, overflow_at;
    uint64_t executed, traced, untraceable; /* instructions */
    uint64_t waypoints;                     /* traced */
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

/* Fills in the registers of a PTM. */
void ct_unit_source_ptm(const struct ct_unit_wishes *wishes, struct ct_source *source);

/* Takes an element. */
int ct_unit_put(struct ct_unit *u, struct ct_elem elem);

/* Takes the element of an address. */
int ct_unit_address(struct ct_unit *u, const struct ct_unit_place *at);

#endif
