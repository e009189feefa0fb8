/* SPDX-License-Identifier: Apache-2.0 */
/* Counting of edge cycles by legs. A leg is the steps that share a cycle count. There are links and sums for
 * each block, and for each pair of an indirect branch and its target. Steps are
 * followed from elements (fast_cycles.c), or copied for strips (leg_strips.c). */
#pragma once

#include "flow/fast_own.h"

/* Maximal number of steps that are followed at a time. */
#define CT_LEGS_STEPS 1024u

/* The parts of a link, which says where a step leads: the block that follows (0 behind an indirect branch),
 * the instructions of the step, and CT_LEG_KNOWN. A link of 0 is not known. */
#define CT_LEG_BLOCK (CT_BLOCKS_MAX - 1)
#define CT_LEG_KNOWN (UINT32_C(1) << 31)

/* The position of the instructions in a link, and their maximal number. */
#define CT_LEG_INSNS_SHIFT 20u
#define CT_LEG_INSNS_MOST  0x7ffu

/* Maximal cycles of a leg; legs with more are counted by single steps. */
#define CT_LEG_CYCLES_MOST UINT32_C(0xffff)

/* The links of a block, by atom. */
struct ct_leg_links {
    uint32_t next[2];
    uint64_t addr; /* of the block; 0 until one of the links is known */
};

/* The sums of an edge, in half a cache line; zeros until it is taken. `times` and `square` do not lie side by
 * side, because the compiler would combine them in a vector register and take them out again. */
struct ct_leg_sums {
    uint64_t times; /* bits 0 to 31: how often it was taken; bits 32 to 63: the sum of its cycles */
    uint16_t max;
    uint16_t spare; /* CT_LEG_CYCLES_MOST minus the minimum */
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
    uint32_t slot; /* in leg_table.h; 0: none yet */
    uint32_t pad[2];
    struct ct_leg_sums sums;
};

/* A leg that was followed. */
struct ct_leg {
    uint32_t end;
    uint32_t insns;
    uint32_t cycles;
    uint32_t elems;
    uint32_t last; /* the block of its last step << 1 | the atom */
};

/* The address to which an indirect branch led. */
struct ct_leg_address {
    uint64_t addr;
    struct ct_leg_turn *turn; /* the pair; set by find_turns */
    uint32_t from;            /* the block of the branch */
    uint32_t step;            /* the step that the branch ends */
};

struct ct_leg_strips;

struct ct_legs {
    struct ct_leg_strips *strips;  /* the table of stretches (leg_table.h); NULL until it is used */
    struct ct_leg_links *links;    /* by number of the block */
    struct ct_leg_sums (*sums)[2]; /* by number of the block and atom */
    uint32_t cap;                  /* number of blocks with room in `links` and `sums` */
    struct ct_leg_turn *turns;     /* a hash table of turn_cap entries, a power of two */
    uint32_t turn_count, turn_cap;
    uint32_t counted; /* number of steps whose sums are not in the table yet */
    uint32_t cycles;  /* their cycles */
    /* The steps that are followed, from 1 on; step 0 is the one before, which waits for its edge. */
    struct ct_leg_sums *step[CT_LEGS_STEPS];
    uint32_t insns[CT_LEGS_STEPS]; /* of each step; bit 31: a leg ends with it */
    uint32_t address_count;
    struct ct_leg_address address[CT_LEGS_STEPS];
    uint32_t count; /* of legs */
    struct ct_leg leg[CT_LEGS_STEPS];
    uint64_t rate[CT_LEGS_STEPS + 1];  /* of each leg: cycles per instruction (ct_leg_rate) */
    uint32_t until[CT_LEGS_STEPS + 1]; /* of each leg: cycles of all legs up to and including it */
};

/* Makes room for all blocks. Returns false when out of memory. */
bool ct_legs_have(struct ct_fast *f);

/* Makes the link of a step of a block. Returns 0 when part of it is new, or when the plain walk has to take
 * it. */
uint32_t ct_legs_link(struct ct_fast *f, uint32_t number, unsigned exec);

/* Returns the index in `turns` where the search for a pair begins. */
static inline uint32_t ct_leg_turn_place(const struct ct_legs *g, uint32_t from, uint64_t addr)
{
    const uint32_t mixed = (uint32_t)(addr >> 2) * UINT32_C(0x9e3779b1);
    return ((mixed >> 8) ^ from) & (g->turn_cap - 1);
}

/* Returns the pair of a branch and an address. NULL when it is new, or when the table is nearly full. */
struct ct_leg_turn *ct_legs_turn(struct ct_fast *f, uint32_t from, uint64_t addr);

/* Returns true when a stream is counted by legs. */
static inline bool ct_legs_are_possible(const struct ct_fast *f)
{
    return f->edges && f->builder.counts && f->walk->sf && !f->walk->stack.enabled && !f->pft;
}

/* The position of execution between two legs, and the last step, which waits for its edge. */
struct ct_leg_place {
    uint32_t last;
    uint32_t exec;
    uint32_t cycles; /* of the last step, as in a step batch */
    bool given;      /* the builder holds the last step */
    uint32_t cur;
    uint32_t marks; /* behind the last step */
    uint64_t addr;
    bool have_addr;
};

/* Returns the cycles of the last of `steps` steps of a leg, as in a step batch. */
static inline uint32_t ct_leg_last_cycles(uint32_t cycles, uint32_t steps)
{
    return cycles | (steps > 1 ? CT_STEP_SHARED | CT_STEP_ENDS : 0);
}

/* Stores the position behind legs in the builder and the engine. */
void ct_legs_put_place(struct ct_fast *f, const struct ct_leg_place *place);

/* ---- sums ---- */

/* After so many steps or cycles the counts go to the table of edges, because their sums have 32 bits. */
#define CT_LEGS_COUNTED_MOST (UINT32_C(1) << 31)

static inline bool ct_legs_are_many(const struct ct_legs *g)
{
    return g->counted > CT_LEGS_COUNTED_MOST || g->cycles > CT_LEGS_COUNTED_MOST;
}

static inline void ct_leg_add(struct ct_leg_sums *s, uint32_t cycles)
{
    const uint32_t spare = CT_LEG_CYCLES_MOST - cycles;
    s->times += (uint64_t)cycles << 32 | 1;
    s->square += (uint64_t)cycles * cycles;
    if (__builtin_expect(cycles > s->max || spare > s->spare, 0)) {
        s->max = cycles > s->max ? (uint16_t)cycles : s->max;
        s->spare = spare > s->spare ? (uint16_t)spare : s->spare;
    }
}

/* Number of fractional bits of a rate. A rate is too large by less than 2 units of the last bit. So a step's
 * share of a count is exact as long as its instructions times those of the leg have fewer bits. */
#define CT_LEG_RATE_BITS 36u

_Static_assert((uint64_t)CT_LEGS_STEPS *CT_LEG_INSNS_MOST *CT_LEG_INSNS_MOST < UINT64_C(1)
                                                                                   << (CT_LEG_RATE_BITS - 1),
               "parts of counts are right");

/* Returns the rate of a leg: its cycles for each of its instructions. */
static inline uint64_t ct_leg_rate(uint32_t cycles, uint32_t insns)
{
    return (uint64_t)(int64_t)((double)((int64_t)cycles << CT_LEG_RATE_BITS) / (int32_t)insns) + 1;
}

/* Returns the share of a step with `insns` instructions, unless it is the last one of its leg. */
static inline uint32_t ct_leg_part(uint64_t insns, uint64_t rate)
{
    return (uint32_t)(insns * rate >> CT_LEG_RATE_BITS);
}

/* Adds the sums of an edge of block `number` to the table of edges, and zeroes them. */
int ct_legs_spend(struct ct_fast *f, uint32_t number, unsigned exec, uint32_t edge, struct ct_leg_sums *s);

/* Add all sums of the table of stretches to the table of edges; forget all stretches, whose sums must be
 * there; and free the table. */
int ct_leg_table_spend(struct ct_fast *f);
void ct_leg_table_forget(struct ct_legs *g);
void ct_leg_table_free(struct ct_legs *g);
