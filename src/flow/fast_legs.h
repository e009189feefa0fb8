/* SPDX-License-Identifier: Apache-2.0 */
/* What edge cycles are counted with by legs, the steps that share a cycle count: links and sums of blocks,
 * and of pairs of an indirect branch and its target. Only the files fast_cycles.c and fast_legs.c include it.
 */
#ifndef CT_FLOW_FAST_LEGS_H
#define CT_FLOW_FAST_LEGS_H

#include "flow/fast_own.h"

/* The most steps that are followed at a time. */
#define CT_LEGS_STEPS 1024u

/* What a step leads to: the block that follows, or 0 behind an indirect branch, with the instructions of the
 * step and CT_LEG_KNOWN. A link of 0 is not known. */
#define CT_LEG_BLOCK (CT_BLOCKS_MAX - 1)
#define CT_LEG_KNOWN (UINT32_C(1) << 31)

/* Where the instructions are in a link, and the most of them. */
#define CT_LEG_INSNS_SHIFT 20u
#define CT_LEG_INSNS_MOST  0x7ffu

/* The most cycles of a leg: larger counts are not for its sums. */
#define CT_LEG_CYCLES_MOST UINT32_C(0xffff)

/* The links of a block, for both atoms. */
struct ct_leg_links {
    uint32_t next[2];
    uint64_t addr; /* of the block, once one of them is known */
};

/* What is summed up of an edge, in half a line of the cache: zeros before it came. The two sums are apart, so
 * that they are not put into a vector and taken out again. */
struct ct_leg_sums {
    uint64_t times; /* how often it came; the sum of its cycles from bit 32 on */
    uint16_t max;
    uint16_t spare; /* CT_LEG_CYCLES_MOST less the least */
    uint32_t pad;
    uint64_t square;
    uint64_t more_pad;
};

/* A pair of an indirect branch and its target. */
struct ct_leg_turn {
    uint64_t addr;
    uint32_t from; /* the block of the branch; 0: the entry is free */
    uint32_t next;
    uint32_t edge;
    uint32_t pad[3];
    struct ct_leg_sums sums;
};

/* A leg: where its steps end, its count, and how many elements end with it. */
struct ct_leg {
    uint32_t end;
    uint32_t insns;
    uint32_t cycles;
    uint32_t elems;
    uint32_t last; /* the block of its last step << 1 | the atom */
};

/* An address behind an indirect branch. */
struct ct_leg_address {
    uint64_t addr;
    struct ct_leg_turn *turn; /* NULL: not looked for yet */
    uint32_t from;            /* the block of the branch */
    uint32_t step;            /* the step that ends with it */
};

struct ct_legs {
    struct ct_leg_links *links;    /* by number of the block */
    struct ct_leg_sums (*sums)[2]; /* by number of the block, for both atoms */
    uint32_t cap;                  /* blocks that there is room for */
    struct ct_leg_turn *turns;     /* a power of two, of which at most half is used */
    uint32_t turn_count, turn_cap;
    uint32_t counted; /* steps since the table got them */
    uint32_t cycles;  /* cycles of the steps in `counted` */
    /* What is followed: steps from 1 on, behind step 0, which waits for its edge. */
    struct ct_leg_sums *step[CT_LEGS_STEPS];
    uint32_t insns[CT_LEGS_STEPS]; /* of each step, and in bit 31 whether a leg ends with it */
    uint32_t address_count;
    struct ct_leg_address address[CT_LEGS_STEPS];
    uint32_t count; /* of legs */
    struct ct_leg leg[CT_LEGS_STEPS];
    uint64_t rate[CT_LEGS_STEPS + 1];  /* of each leg: cycles of an instruction (RATE_BITS) */
    uint32_t until[CT_LEGS_STEPS + 1]; /* of each leg: cycles of all legs up to it */
};

/* Makes room for all blocks. Returns false without memory. */
bool ct_legs_have(struct ct_fast *f);

/* Makes the link of a step of a block. 0: something about it is new, or it is for the plain walk. */
uint32_t ct_legs_link(struct ct_fast *f, uint32_t number, unsigned exec);

/* Returns the place in the table where the search for a pair begins. */
static inline uint32_t ct_leg_turn_place(const struct ct_legs *g, uint32_t from, uint64_t addr)
{
    const uint32_t mixed = (uint32_t)(addr >> 2) * UINT32_C(0x9e3779b1);
    return ((mixed >> 8) ^ from) & (g->turn_cap - 1);
}

/* Returns the pair of a block and an address, or NULL when it is new. */
struct ct_leg_turn *ct_legs_turn(struct ct_fast *f, uint32_t from, uint64_t addr);

#endif
