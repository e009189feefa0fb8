/* SPDX-License-Identifier: Apache-2.0 */
/* The walk's state, for the walk and for what goes its way faster. */
#ifndef CT_FLOW_WALK_H
#define CT_FLOW_WALK_H

#include <stdbool.h>

#include "coretap/flow.h"
#include "flow/fetch.h"
#include "flow/return_stack.h"
#include "flow/walk_config.h"

/* Instructions between two waypoints at most. Longer straight code is a wrong image (memory full of data),
 * and a capture made to be slow must not succeed. */
#define CT_WALK_MAX_BLOCK 65536u

/* An instruction that data transfers belong to. */
struct ct_data_owner {
    uint64_t addr;
    bool known;
};

struct ct_walk {
    struct ct_fetch fetch;
    struct ct_return_stack stack;
    struct ct_walk_config config;
    bool split_source_ranges;
    bool need_address;
    bool need_context;
    struct ct_data_owner owners[4]; /* ETMv3: of data transfers: 0 the last instruction, others
                                    placeholders by tag */
    bool lost_told;                 /* ETMv3: it was said that instructions run at an unknown address */
    bool stale;                     /* the walk starts at an address that execution has left */
    bool doubt;    /* the trace contradicts the program; what is walked up to the next address is for listings
                      alone */
    bool lost;     /* with need_address: `addr` is not even where listings count from */
    bool jumped;   /* an address came that is not where program and trace had led to; that has to be said */
    bool paused;   /* trace was off, or its path is not known: execution may go on anywhere */
    bool told;     /* since execution is out of sight it was said why */
    uint64_t addr; /* next instruction */
    uint8_t isa;   /* enum ct_isa of it */
    uint8_t it_left; /* instructions left in an IT block */
    bool sf;         /* 64-bit state */
    uint8_t el_sec;
    uint32_t q_count;    /* instructions of the Q element that comes; 0 when unknown */
    unsigned atoms_done; /* of the element in work */
    uint64_t offset;     /* of the element in work */
    struct ct_insn insn; /* the last instruction walked */
    bool placed;         /* the element in work, or the one before, put out something that cycles can be
                            attached to */
};

enum ct_walk_found {
    CT_WALK_FOUND,
    CT_WALK_NO_ACCESS,
    CT_WALK_TOO_LONG,
};

/* Instructions one behind the other that were walked; they end at the walk's address. */
struct ct_walk_range {
    uint64_t start;
    uint32_t n;
    uint8_t last_cond;
    uint8_t last_in_it; /* the last instruction is in an IT block */
    uint8_t crossed;    /* a waypoint is in it, and not at its end */
};

/* The memory space of the context, and what an IS0 or IS1 (enum ct_isa_select) means in it. */
uint32_t ct_walk_space(const struct ct_walk *w);
uint8_t ct_walk_isa(const struct ct_walk *w, unsigned select);

/* Execution is at `addr` now. */
void ct_walk_go_to(struct ct_walk *w, uint64_t addr, uint8_t isa);

/* The same by an address in the trace: when execution was known to be elsewhere that is a contradiction. */
void ct_walk_come_to(struct ct_walk *w, uint64_t addr, uint8_t isa);

/* On to the next waypoint, which is w->insn then, and behind it. */
enum ct_walk_found ct_walk_to_waypoint(struct ct_walk *w, struct ct_walk_range *range);

/* True when the last instruction of a range is a branch that is always taken: an N atom for it contradicts
 * the program. */
bool ct_walk_is_always_taken(const struct ct_walk *w, const struct ct_walk_range *range);

/* What an ADDRESS element does. */
void ct_walk_on_address(struct ct_walk *w, const struct ct_elem *elem);

#endif
