/* SPDX-License-Identifier: Apache-2.0 */
/* What the files fast*.c share. Frequent elements are followed along blocks; for all others the state goes to
 * a plain walk, which takes them, and back. */
#ifndef CT_FLOW_FAST_OWN_H
#define CT_FLOW_FAST_OWN_H

#include "base/places.h"
#include "flow/blocks.h"
#include "flow/fast.h"
#include "flow/step_builder.h"
#include "flow/sums.h"

/* log2 of the number of runs that are remembered, of 32 bytes each; a run takes the slot of an older one */
#define CT_MEMO_SHIFT 16

/* for counts: how many atoms are followed along links before runs are looked up. What a program does when it
 * starts seldom comes again. */
#define CT_FAST_FIRST (1u << 16)

/* after so many elements without a step the builder takes over, which has a limit for them */
#define CT_FAST_MARKS 256u

/* A run: the blocks that a group of atoms leads through from one block on. */
struct ct_memo {
    uint64_t key;     /* block << 33 | 1 << atoms | bits; 0: the slot is free */
    uint32_t next;    /* the block behind the run; 0: it ends behind an indirect branch, or there is none */
    uint32_t last;    /* the last block of the run */
    uint32_t count;   /* how often it ran since its counts were added to those of its blocks */
    uint32_t push[2]; /* the blocks whose return addresses it leaves on the return stack */
    uint8_t pushes;   /* how many these are */
    uint8_t depth;    /* the most return addresses it had pushed at a time */
    uint8_t taken;    /* atoms of the run; it may end before the group does */
    uint8_t flags;    /* enum ct_memo_flag */
};

enum ct_memo_flag {
    CT_MEMO_EXEC = 1,     /* the branch of its last block was executed */
    CT_MEMO_NUMBERED = 2, /* the edge behind it has its number */
    CT_MEMO_INDIRECT = 4, /* it ends behind an indirect branch */
    CT_MEMO_KNOWN = 8,    /* what follows is known: a block, or the target of an indirect branch */
};

/* log2 of the entries of the table of targets: the block at each address that a traced branch led to */
#define CT_TARGETS_SHIFT 12

struct ct_fast_target {
    uint64_t addr;
    uint32_t block; /* 0: the entry is free */
    uint8_t isa, space;
    uint16_t domain;
};

/* Where a block leads when all that a step of it needs is known, and how often it was executed so. */
struct ct_fast_link {
    uint32_t next[2]; /* block and flags (fast_counts.c); 0: not known */
    uint32_t count[2];
};

struct ct_fast {
    struct ct_ctx *ctx;
    struct ct_walk *walk;
    struct ct_edges *edges; /* the table of counts, not owned; NULL when steps are wanted */
    bool pft;               /* PTM: an executed atom of an indirect branch is a return */
    bool insn_atoms;        /* ETMv3: each atom is an instruction, and all goes by the plain walk */
    bool quick;             /* the fields below hold the state, not the walk */
    bool have_addr;         /* an address came: execution is there */
    bool open;              /* for counts: the edge of the last step may still change */
    bool domain_stale;      /* memory or context may have changed since `domain` was set */
    uint8_t addr_isa;
    uint8_t last_exec;
    uint16_t domain; /* of the blocks to come */
    uint32_t last;   /* the block of the last step */
    uint32_t cur;    /* the block where execution is; 0 behind an indirect branch */
    uint32_t marks;  /* for counts: elements since the last step that would be marks */
    uint64_t addr;
    struct ct_memo *tail;     /* for counts: the run of the last step */
    struct ct_memo alone;     /* stands for the run of the last step when hops came to it */
    bool counts;              /* counts are wanted, without steps and cycles */
    struct ct_memo *runs;     /* for counts: the remembered runs; NULL until they are looked up */
    struct ct_places counted; /* the runs with a count */
    /* For counts: whether runs are looked up, or blocks followed one by one. */
    struct ct_fast_link *links;     /* by number of the block; NULL until they are wanted */
    uint32_t link_cap;              /* how many blocks have a link */
    uint32_t linked;                /* the most that links may have counted and blocks do not know yet */
    uint32_t along;                 /* atoms for which blocks are still followed in place of runs */
    uint32_t along_last;            /* `along` at the last judgement; 0: runs were worth while */
    uint32_t looked;                /* look-ups of runs since they were judged */
    uint32_t missed;                /* look-ups in `looked` that found another run */
    struct ct_stretches *stretches; /* NULL until they are wanted */
    struct ct_legs *legs;           /* for cycles; NULL until they are wanted */
    struct ct_fast_target *targets;
    struct ct_blocks blocks;
    struct ct_flow_sums sums;
    struct ct_elem context_elem; /* the last CONTEXT element */
    struct ct_flow records[64];
    struct ct_step_builder builder;
};

/* Returns true behind an indirect branch that was executed. */
static inline bool ct_fast_is_indirect(const struct ct_fast *f)
{
    return f->last_exec && f->blocks.blocks[f->last].flags & CT_BLOCK_INDIRECT;
}

/* Returns true when execution is where no block is, and no indirect branch led there. */
static inline bool ct_fast_is_lost(const struct ct_fast *f)
{
    return !f->cur && !ct_fast_is_indirect(f);
}

/* The most atoms of adjacent elements that are put together as one run. Larger groups need fewer look-ups but
 * make more different runs. */
#define CT_FAST_GROUP 12u

/* Puts the ATOMS elements at the beginning together as one. Result: how many elements that is. Elements with
 * cycle counts (PTM), and those that are partly done, stay alone. */
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

/* Gives the state to the plain walk, if the fast engine has it. */
void ct_fast_leave(struct ct_fast *f);

/* For counts: adds the steps that the builder has finished to the table. */
int ct_fast_absorb(struct ct_fast *f);

/* Sets the domain of the steps to come, in the current context of the table. (Engines that count nothing, or
 * that count cycles and are not settled, use domains with the context CT_NO_NUMBER.) CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
int ct_fast_enter_context(struct ct_fast *f);

/* Takes the state from the plain walk for a step that an atom will make. Returns the block where execution
 * is; 0 when the plain walk has to go on. */
uint32_t ct_fast_enter(struct ct_fast *f, unsigned executed);

/* Finds where execution is behind the last step when the program alone does not tell: returns the block
 * there, with the pair of branch and target (NULL when the address is the one that the program gives). 0 when
 * the plain walk has to go on. */
uint32_t ct_fast_turn(struct ct_fast *f, struct ct_branch_target **pair);

/* PTM: takes the target of the executed branch of `block` off the return stack, unless `target` says that an
 * address follows. Returns false, and does nothing, when the stack is empty. */
bool ct_fast_pft_return(struct ct_fast *f, const struct ct_block *block, bool target);

/* Makes steps or counts of the atoms of an element, from walk->atoms_done on. Result: how many atoms are done
 * in all; if some are left the plain walk has the state and has to take the next. There must be room for as
 * many steps. */
unsigned ct_fast_steps_atoms(struct ct_fast *f, const struct ct_elem *elem);
unsigned ct_fast_count_atoms(struct ct_fast *f, const struct ct_elem *elem);

/* Takes elements as long as nothing new or rare happens: all blocks, links and runs are known and, for steps,
 * there is room. The state must be in the fast engine. Result: how many elements are done. */
size_t ct_fast_count_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);
size_t ct_fast_steps_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* Returns the entry of an address in `targets`. */
static inline struct ct_fast_target *ct_fast_target(const struct ct_fast *f, uint64_t addr)
{
    return &f->targets[(addr ^ addr >> CT_TARGETS_SHIFT) >> 2 & ((1u << CT_TARGETS_SHIFT) - 1)];
}

/* Remembers the block at an address that an indirect branch led to. */
static inline void ct_fast_remember_target(const struct ct_fast *f, uint64_t addr, uint8_t isa,
                                           uint32_t number)
{
    const struct ct_block *block = &f->blocks.blocks[number];
    *ct_fast_target(f, addr) = (struct ct_fast_target){
        .addr = addr, .block = number, .isa = isa, .space = block->space, .domain = block->domain};
}

/* Returns the block at an address that was a target before, if memory space and domain were those of block
 * `like`; else 0. */
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

/* Counts elements as ct_fast_count_burst does, by stretches (stretch_table.h) where these are whole. */
size_t ct_fast_count_stretches(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* Returns true when elements, which are so many, are for stretches. */
bool ct_fast_wants_stretches(struct ct_fast *f, size_t size);

/* Adds the counts of stretches to those of links and pairs. */
void ct_fast_spend_stretches(struct ct_fast *f);

/* Forgets the stretches, once their counts are in the table. */
void ct_fast_forget_stretches(struct ct_fast *f);

/* Takes elements as ct_fast_steps_burst does, for the table alone: whole legs (fast_cycles.c) go straight to
 * their sums. */
size_t ct_fast_cycles_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size);

/* For counts with cycles: brings the table up to date as ct_fast_settle does, also where the target of an
 * indirect branch did not come yet. */
bool ct_fast_settle_step(struct ct_fast *f);

/* Adds the sums of legs to the table. */
int ct_fast_spend_legs(struct ct_fast *f);

/* Forgets the legs, once their sums are in the table. */
void ct_fast_forget_legs(struct ct_fast *f);

void ct_fast_free_legs(struct ct_fast *f);

/* Forgets the links, once their counts are in the table. */
void ct_fast_forget_links(struct ct_fast *f);

#endif
