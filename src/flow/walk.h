/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the walk, shared by the plain walk and the fast engine. */
#pragma once

#include <stdbool.h>

#include "coretap/flow.h"
#include "flow/fetch.h"
#include "flow/return_stack.h"
#include "flow/walk_config.h"

/* Maximal number of instructions between two waypoints. Longer straight code means a wrong image (memory full
 * of data). Without the limit, a small capture could take any time. */
#define CT_WALK_MAX_BLOCK 65536u

/* An instruction that a data transfer may belong to. */
struct ct_data_owner {
    uint64_t addr;
    bool known;
};

/* The part of a range's record that describes its last instruction and where it was read: members of struct
 * ct_flow, in their order. */
struct ct_walk_way_end {
    uint8_t kind, isa, type, sub, cond, exec, last_size, space;
};

/* A way: straight A64 code that was walked before, from an address to the next waypoint. Two of them fill a
 * cache line, so that what a program repeats stays in the cache. */
struct ct_walk_way {
    _Alignas(32) const struct ct_memory *memory; /* in which it was read; NULL: the slot is free */
    uint64_t start;
    int32_t taken;   /* distance in bytes from `start` to where execution continues after an E atom; not for
                        indirect branches */
    uint16_t n;      /* instructions */
    uint8_t special; /* bit 0, 1: an N atom, an E atom needs more than continuing */
    struct ct_walk_way_end last;
};

#define CT_WALK_WAY_BITS 14

struct ct_walk {
    struct ct_fetch fetch;
    struct ct_walk_way *ways; /* 2^CT_WALK_WAY_BITS slots, by start; NULL: ways are not kept */
    struct ct_return_stack stack;
    struct ct_walk_config config;
    bool split_source_ranges;
    bool need_address;
    bool need_context;
    struct ct_data_owner owners[4]; /* ETMv3: the owners of data transfers: in 0 the last instruction, in the
                                       others those of placeholders, by tag */
    bool lost_told;                 /* ETMv3: a record said that instructions run at an unknown address */
    bool stale;                     /* the walk starts at an address that execution has left */
    bool doubt;  /* the trace contradicts the program: ranges are stale up to the next address */
    bool lost;   /* with need_address: not even listings count from `addr` */
    bool jumped; /* an address came that differs from where program and trace had led, and no record has said
                    so yet */
    bool paused; /* trace was off, or the path is unknown: execution may continue anywhere */
    bool told;   /* a record said why execution is out of sight */
    uint64_t addr;   /* of the next instruction */
    uint8_t isa;     /* enum ct_isa of the next instruction */
    uint8_t it_left; /* number of instructions left of an IT block */
    bool sf;         /* 64-bit state */
    uint8_t el_sec;
    uint32_t q_count;    /* number of instructions of the Q element that follows; 0: unknown */
    unsigned atoms_done; /* number of atoms of the current element that are done */
    uint64_t offset;     /* of the current element */
    struct ct_insn insn; /* the last instruction walked */
    bool placed;         /* the current element or the one before made a record that cycles can belong to */
};

enum ct_walk_found {
    CT_WALK_FOUND,
    CT_WALK_NO_ACCESS,
    CT_WALK_TOO_LONG,
};

/* Consecutive instructions that were walked. They end at the walk's address. */
struct ct_walk_range {
    uint64_t start;
    uint32_t n;
    uint8_t last_cond;
    uint8_t last_in_it; /* the last instruction is in an IT block */
    uint8_t crossed;    /* it contains a waypoint before its last instruction */
};

/* Makes the walk keep its ways to waypoints, so that it need not read the same code again; the records stay
 * the same. The memories that the walk is given must outlive it, and must not change where code was found.
 * CT_ERR_NOMEM. */
int ct_walk_keep_ways(struct ct_walk *w, struct ct_ctx *ctx);

/* Return the memory space of the current context, and the instruction set that an IS0 or IS1 (enum
 * ct_isa_select) means in it. */
uint32_t ct_walk_space(const struct ct_walk *w);
uint8_t ct_walk_isa(const struct ct_walk *w, unsigned select);

/* Sets where execution continues. */
void ct_walk_go_to(struct ct_walk *w, uint64_t addr, uint8_t isa);

/* Sets where execution continues, by an address in the trace. If execution was known to be elsewhere, records
 * that trace and program contradict each other (w->jumped). */
void ct_walk_come_to(struct ct_walk *w, uint64_t addr, uint8_t isa);

/* Walks up to and over the next waypoint, and leaves it in w->insn. */
enum ct_walk_found ct_walk_to_waypoint(struct ct_walk *w, struct ct_walk_range *range);

/* Returns true when the last instruction of a range is a branch that is always taken, so that an N atom for
 * it contradicts the program. */
bool ct_walk_is_always_taken(const struct ct_walk *w, const struct ct_walk_range *range);

/* Takes an ADDRESS element. */
void ct_walk_on_address(struct ct_walk *w, const struct ct_elem *elem);
