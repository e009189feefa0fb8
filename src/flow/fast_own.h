/* SPDX-License-Identifier: Apache-2.0 */
/* The state and the functions that the files fast*.c share. Frequent elements are followed along blocks. For
 * all others the state goes to a plain walk, which takes the element, and back. */
#pragma once

#include "base/places.h"
#include "flow/blocks.h"
#include "flow/fast.h"
#include "flow/step_builder.h"
#include "flow/sums.h"

/* log2 of the number of slots for remembered runs, of 32 bytes each. A new run replaces the older one in its
 * slot. */
#define CT_MEMO_SHIFT 16

/* for counts: number of atoms that are followed along links before runs are looked up: what a program does
 * when it starts seldom recurs */
#define CT_FAST_FIRST (1u << 16)

/* After so many elements without a step the builder takes over, because it has a limit for them. */
#define CT_FAST_MARKS 256u

/* A run: the blocks that execution goes through from one block on, led by a group of atoms. */
struct ct_memo {
    uint64_t key;     /* block << 33 | 1 << atoms | bits; 0: the slot is free */
    uint32_t next;    /* the block behind the run; 0: none, or the run ends behind an indirect branch */
    uint32_t last;    /* the last block of the run */
    uint32_t count;   /* how often it ran since its count was last added to its blocks */
    uint32_t push[2]; /* the blocks whose return addresses it leaves on the return stack, the newest last */
    uint8_t pushes;   /* number of entries in `push` */
    uint8_t depth;    /* maximal number of its own return addresses on the stack at a time */
    uint8_t taken;    /* number of its atoms, which may be fewer than the group has */
    uint8_t flags;    /* enum ct_memo_flag */
};

enum ct_memo_flag {
    CT_MEMO_EXEC = 1,     /* the branch of its last block was executed */
    CT_MEMO_NUMBERED = 2, /* the edge behind it has a number */
    CT_MEMO_INDIRECT = 4, /* it ends behind an indirect branch */
    CT_MEMO_KNOWN = 8,    /* a known block or an indirect branch leads on behind it */
};

/* log2 of the number of entries in the table of targets */
#define CT_TARGETS_SHIFT 12

struct ct_fast_target {
    uint64_t addr;
    uint32_t block; /* 0: the entry is free */
    uint8_t isa, space;
    uint16_t domain;
};

/* The links of a block, by atom, with counts: where a step of the block leads, once all that the step needs
 * is known. */
struct ct_fast_link {
    uint32_t next[2]; /* block and flags (fast_links.h); 0: not known */
    uint32_t count[2];
};

struct ct_fast {
    struct ct_ctx *ctx;
    struct ct_walk *walk;
    struct ct_edges *edges; /* the table of counts, not owned; NULL when steps are wanted */
    bool pft;               /* PTM: an executed atom of an indirect branch is a return */
    bool insn_atoms;        /* ETMv3: each atom is an instruction, and the plain walk takes all elements */
    bool quick;             /* the fields below hold the state; else the walk does */
    bool have_addr;         /* an address has come behind the last step */
    bool open;              /* for counts: the edge of the last step may still change */
    bool domain_stale;      /* memory or context may have changed since `domain` was set */
    uint8_t addr_isa;
    uint8_t last_exec;
    uint16_t domain; /* of the blocks that follow */
    uint32_t last;   /* the block of the last step */
    uint32_t cur;    /* the block to be executed next; 0 behind an indirect branch */
    uint32_t marks;  /* for counts: number of elements since the last step that would be marks */
    uint64_t addr;
    struct ct_memo *tail;     /* for counts: the run of the last step */
    struct ct_memo alone;     /* used as the run of the last step when links or hops made it */
    bool counts;              /* counts are wanted, without steps and cycles */
    struct ct_memo *runs;     /* for counts: the remembered runs; NULL until they are used */
    struct ct_places counted; /* the runs whose count is not 0 */
    /* For counts: the choice between looking up runs and following blocks one by one along links. */
    struct ct_fast_link *links;     /* by number of the block; NULL until they are used */
    uint32_t link_cap;              /* number of entries in `links` */
    uint32_t linked;                /* upper bound of the counts in links that the blocks do not have yet */
    uint32_t along;                 /* number of atoms for which blocks are still followed instead of runs */
    uint32_t along_last;            /* `along` after the last judgement; 0: runs were worthwhile */
    uint32_t looked;                /* look-ups of runs since the last judgement */
    uint32_t missed;                /* how many of these found another run in the slot */
    struct ct_stretches *stretches; /* NULL until they are used */
    struct ct_legs *legs;           /* for cycles; NULL until they are used */
    uint64_t *shared_rest;          /* see ct_fast_share_rest; NULL: not a part */
    struct ct_fast_target *targets;
    struct ct_blocks blocks;
    struct ct_flow_sums sums;
    struct ct_elem context_elem; /* the last CONTEXT element */
    struct ct_flow records[64];
    struct ct_step_builder builder;
};

/* Returns true when the last step executed an indirect branch. */
static inline bool ct_fast_is_indirect(const struct ct_fast *f)
{
    return f->last_exec && f->blocks.blocks[f->last].flags & CT_BLOCK_INDIRECT;
}

/* Returns true when the block to be executed next is unknown although the last step executed no indirect
 * branch. */
static inline bool ct_fast_is_lost(const struct ct_fast *f)
{
    return !f->cur && !ct_fast_is_indirect(f);
}

/* Maximal number of atoms of adjacent elements that are joined to one run. Larger groups need fewer look-ups
 * but make more different runs. */
#define CT_FAST_GROUP 12u

/* Joins the ATOMS elements at the beginning of `elems` to one. Returns how many elements that are. An element
 * with a cycle count (PTM), or one that is partly done, stays alone. */
static inline size_t ct_fast_group(const struct ct_fast *f, const struct ct_elem *elems, size_t size,
                                   struct ct_elem *group)
{
    size_t i = 1;
    *group = elems[0];
    if (f->pft || f->walk->atoms_done)
        return 1;
    for (; i < size && elems[i].kind == CT_ELEM_ATOMS && group->n + elems[i].n <= CT_FAST_GROUP; i++) {
        group->v |= elems[i].v << group->n;
        group->n = (uint8_t)(group->n + elems[i].n);
    }
    return i;
}

/* Gives the state to the plain walk, if the fast engine holds it. */
void ct_fast_leave(struct ct_fast *f);

/* For counts: adds the finished steps of the builder to the table. */
int ct_fast_absorb(struct ct_fast *f);

/* For counts with cycles: adds all steps but the last to the table. Returns whether the table has reached the
 * current context; false on errors, too. */
bool ct_fast_reach_context(struct ct_fast *f);

/* Sets the domain of the steps that follow, in the current context of the table. (Engines that do not count,
 * or that count cycles and are not settled, use domains with the context CT_NO_NUMBER.) CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_fast_enter_context(struct ct_fast *f);

/* Takes the state from the plain walk for a step whose waypoint is executed or not. Returns the block of the
 * step; 0 when the plain walk has to go on. */
uint32_t ct_fast_enter(struct ct_fast *f, unsigned executed);

/* Finds where execution continues behind the last step when an address or the return stack tells it. Returns
 * the block there, and sets *pair to the pair of branch and target, or to NULL when the address is the one
 * that the program gives. Returns 0 when the plain walk has to go on. */
uint32_t ct_fast_turn(struct ct_fast *f, struct ct_branch_target **pair);

/* PTM: takes the target of the executed branch of `block` off the return stack, unless an address follows
 * (`target`). Returns false, and does nothing, when the stack is empty. */
bool ct_fast_pft_return(struct ct_fast *f, const struct ct_block *block, bool target);

/* Make steps or counts of the atoms of an element, from walk->atoms_done on. Return how many of its atoms are
 * done in all. If some are left, the plain walk has the state and has to take the next one. There must be
 * room for as many steps as the element has atoms. */
unsigned ct_fast_steps_atoms(struct ct_fast *f, const struct ct_elem *elem);
unsigned ct_fast_count_atoms(struct ct_fast *f, const struct ct_elem *elem);

/* Take elements as long as nothing new or rare occurs: all blocks, links and runs are known and, for steps,
 * there is room. The fast engine must hold the state. Return how many elements are done. */
size_t ct_fast_count_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);
size_t ct_fast_steps_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* Returns the entry of `targets` for an address. */
static inline struct ct_fast_target *ct_fast_target(const struct ct_fast *f, uint64_t addr)
{
    return &f->targets[(addr ^ addr >> CT_TARGETS_SHIFT) >> 2 & ((1u << CT_TARGETS_SHIFT) - 1)];
}

/* Remembers the block at an address to which an indirect branch led. */
static inline void ct_fast_remember_target(const struct ct_fast *f, uint64_t addr, uint8_t isa,
                                           uint32_t number)
{
    const struct ct_block *block = &f->blocks.blocks[number];
    *ct_fast_target(f, addr) = (struct ct_fast_target){
        .addr = addr, .block = number, .isa = isa, .space = block->space, .domain = block->domain};
}

/* Returns the block at an address that was a target before in the memory space and domain of block `like`;
 * else 0. */
static inline uint32_t ct_fast_known_target(const struct ct_fast *f, uint64_t addr, uint8_t isa,
                                            const struct ct_block *like)
{
    const struct ct_fast_target *t = ct_fast_target(f, addr);
    return t->addr == addr && t->isa == isa && t->space == like->space && t->domain == like->domain ? t->block
                                                                                                    : 0;
}

/* Adds the counts of runs, links, blocks and pairs to the table. */
int ct_fast_count_sync(struct ct_fast *f);

/* Counts elements as ct_fast_count_burst does, but without stretches. */
size_t ct_fast_count_plainly(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* Counts elements as ct_fast_count_burst does, by stretches (stretch_table.h) where all of a stretch is
 * there. */
size_t ct_fast_count_stretches(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* Returns true when `size` elements are worth counting by stretches. */
bool ct_fast_wants_stretches(struct ct_fast *f, size_t size);

/* Adds the counts of stretches to those of links and pairs. */
void ct_fast_spend_stretches(struct ct_fast *f);

/* Forgets the stretches. Their counts must be in the table. */
void ct_fast_forget_stretches(struct ct_fast *f);

/* Takes elements as ct_fast_steps_burst does. When only the table is wanted, whole legs (fast_cycles.c) are
 * added to their sums without becoming steps. */
size_t ct_fast_cycles_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* For counts with cycles: does what ct_fast_settle does, also where the target of an indirect branch is not
 * known yet. */
bool ct_fast_settle_step(struct ct_fast *f);

/* Adds the sums of legs to the table. */
int ct_fast_spend_legs(struct ct_fast *f);

/* Forgets the legs. Their sums must be in the table. */
void ct_fast_forget_legs(struct ct_fast *f);

void ct_fast_free_legs(struct ct_fast *f);

/* Forgets the links. Their counts must be in the table. */
void ct_fast_forget_links(struct ct_fast *f);
