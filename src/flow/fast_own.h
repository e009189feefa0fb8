/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the fast engine (fast*.c). Frequent elements are followed along blocks; for all others the state
 * goes into a plain walk, which does them, and back. */
#ifndef CT_FLOW_FAST_OWN_H
#define CT_FLOW_FAST_OWN_H

#include "base/places.h"
#include "flow/blocks.h"
#include "flow/fast.h"
#include "flow/step_builder.h"
#include "flow/sums.h"

/* Runs that are remembered: 2^16 of 32 bytes. One that meets another in its place takes it. */
#define CT_MEMO_SHIFT 16

/* Elements without a step between them, after which the builder takes over, which has a limit for them. */
#define CT_FAST_MARKS 256u

/* What atoms make of a block. */
struct ct_memo {
    uint64_t key;     /* block << 33 | 1 << atoms | bits; 0: none */
    uint32_t next;    /* block behind it; 0: behind an indirect branch, or there is none */
    uint32_t last;    /* its last block */
    uint32_t count;   /* how often it ran and its blocks do not know it yet */
    uint32_t push[2]; /* blocks whose return addresses it leaves on the return stack … */
    uint8_t pushes;   /* … how many … */
    uint8_t depth;    /* … and how many there were at a time */
    uint8_t taken;    /* atoms; the others are not part of it */
    uint8_t flags;    /* enum ct_memo_flag */
};

enum ct_memo_flag {
    CT_MEMO_EXEC = 1,     /* its last block was executed */
    CT_MEMO_NUMBERED = 2, /* the edge behind it has its number */
    CT_MEMO_INDIRECT = 4, /* it ends behind an indirect branch */
    CT_MEMO_KNOWN = 8, /* it is known where it leads: to a block, or to what is behind an indirect branch */
};

/* Where a branch that the trace gave the address of has led before, whatever the branch. */
#define CT_TARGETS_SHIFT 12

struct ct_fast_target {
    uint64_t addr;
    uint32_t block; /* 0: none */
    uint8_t isa, space;
    uint16_t domain;
};

struct ct_fast {
    struct ct_ctx *ctx;
    struct ct_walk *walk;
    struct ct_edges *edges; /* what counts, not owned; NULL: steps are wanted */
    bool pft;               /* an executed atom of an indirect branch is a return (PTM) */
    bool insn_atoms;        /* ETMv3: nothing is fast */
    bool quick;             /* what follows counts, and not the walk's state */
    bool have_addr;         /* an address came: execution is there */
    bool open;              /* counts: the edge of the last step is not known for certain */
    bool domain_stale;      /* memory or context may be another one than that of `domain` */
    uint8_t addr_isa;
    uint8_t last_exec;
    uint16_t domain; /* of blocks that come */
    uint32_t last;   /* block of the last step */
    uint32_t cur;    /* block where execution is; 0: behind an indirect branch */
    uint32_t marks;  /* counts: elements since the last step that would be marks */
    uint64_t addr;
    struct ct_memo *tail;     /* counts: run of the last step */
    struct ct_memo alone;     /* … of one that others came to */
    struct ct_memo *runs;     /* counts without cycles; else NULL */
    struct ct_places counted; /* runs with a count */
    struct ct_fast_target *targets;
    struct ct_blocks blocks;
    struct ct_flow_sums sums;
    struct ct_elem context_elem; /* the last one */
    struct ct_flow records[64];
    struct ct_step_builder builder;
};

/* True behind an indirect branch that was executed. */
static inline bool ct_fast_is_indirect(const struct ct_fast *f)
{
    return f->last_exec && f->blocks.blocks[f->last].flags & CT_BLOCK_INDIRECT;
}

/* True when execution is where no block is, and no indirect branch led there. */
static inline bool ct_fast_is_lost(const struct ct_fast *f)
{
    return !f->cur && !ct_fast_is_indirect(f);
}

/* Atoms of elements that are next to each other are one run, up to so many: fewer runs
 * to look for, but more of them. */
#define CT_FAST_GROUP 12u

/* The elements from the first one on, which are ATOMS, as one. Result: how many. Counts of a PTM and elements
 * that are partly done stay alone. */
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

/* From quick to plain: the walk gets the state. */
void ct_fast_leave(struct ct_fast *f);

/* Counts: what the builder knows for good goes to the table. */
int ct_fast_absorb(struct ct_fast *f);

/* The domain of blocks in which a step is certain to come, that of the table's context. (Without counts, and
 * before this with cycles, domains have the context CT_NO_NUMBER.) CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_fast_enter_context(struct ct_fast *f);

/* From plain to quick, with a step to come by an atom: the block where
 * execution is; 0 when plain it must be. */
uint32_t ct_fast_enter(struct ct_fast *f, unsigned executed);

/* Where execution is behind the last step when it is not known from the program alone: the block there, and
 * the pair of it and the last one (NULL when the trace only said what was known). 0 when plain it must be. */
uint32_t ct_fast_turn(struct ct_fast *f, struct ct_branch_target **pair);

/* PTM: the branch `block` was executed, which is a return unless `target`. False when there is nowhere to
 * return to: then nothing happened. */
bool ct_fast_pft_return(struct ct_fast *f, const struct ct_block *block, bool target);

/* The atoms of an element from walk->atoms_done on. Result: how many are done in all; when some are left the
 * plain walk has the state and goes on. There must be room for as many steps. */
unsigned ct_fast_steps_atoms(struct ct_fast *f, const struct ct_elem *elem);
unsigned ct_fast_count_atoms(struct ct_fast *f, const struct ct_elem *elem);

/* Elements from the first one on for which the state is quick, nothing new is met and nothing rare happens;
 * what is left needs the ways above. Steps: as long as there is room. Result: how many are done. */
size_t ct_fast_count_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);
size_t ct_fast_steps_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* The place of an address in `targets`. */
static inline struct ct_fast_target *ct_fast_target(const struct ct_fast *f, uint64_t addr)
{
    return &f->targets[(addr ^ addr >> CT_TARGETS_SHIFT) >> 2 & ((1u << CT_TARGETS_SHIFT) - 1)];
}

/* The block at an address that was met before as a target, when branches were as
 * they are at `like`; 0 otherwise. */
static inline uint32_t ct_fast_known_target(const struct ct_fast *f, uint64_t addr, uint8_t isa,
                                            const struct ct_block *like)
{
    const struct ct_fast_target *t = ct_fast_target(f, addr);
    return t->addr == addr && t->isa == isa && t->space == like->space && t->domain == like->domain ? t->block
                                                                                                    : 0;
}

/* What runs and blocks have counted goes to the table. */
int ct_fast_count_sync(struct ct_fast *f);

#endif
