/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the control flow graph: code found by following branches (cfg_explore.c), jump
 * tables (cfg_table.c), blocks and edges (cfg_build.c), loops (cfg_loops.c), the user's file of targets
 * (cfg_targets.c). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/cfg.h"
#include "base/addr_map.h"
#include "base/room.h"
#include "program/cfg_lift.h"
#include "program/memory.h"

/* Marks for two bytes of code. */
enum ct_cfg_mark {
    CT_CFG_MARK_INSN = 1,   /* an instruction that was reached starts here */
    CT_CFG_MARK_LEADER = 2, /* a block starts here */
    CT_CFG_MARK_COND = 4,   /* the instruction is in an IT block, and conditional */
    CT_CFG_MARK_ISA = 0x18, /* enum ct_isa, shifted by CT_CFG_MARK_SHIFT */
    CT_CFG_MARK_SHIFT = 3,
};

/* The bytes in the file of an executable segment. */
struct ct_cfg_code {
    uint64_t start;
    uint64_t size;
    const uint8_t *bytes;
    uint8_t *marks;           /* enum ct_cfg_mark, one for two bytes */
    struct ct_cfg_here *here; /* one for each address where an instruction may start */
};

/* The function and the block that start at an address: 1 + their number, or 0. Programs have about one block
 * for each five instructions, so an array is smaller than a map of addresses, and has better locality. */
struct ct_cfg_here {
    uint32_t function, block;
};

/* The bytes of a writable segment, which may contain addresses of functions. */
struct ct_cfg_data {
    const uint8_t *bytes;
    size_t size;
};

/* Bytes of a section, or of a segment of a file without sections. */
struct ct_cfg_fixed {
    uint64_t start;
    uint64_t size;
    const uint8_t *bytes;
    bool unwinds; /* it is a table for unwinding */
};

/* A function during exploration; its index becomes its public number. */
struct ct_cfg_func {
    const char *label;
    uint64_t entry;
    const char *name;
    uint32_t part_of; /* the function that this one is the cold part of, or CT_CFG_NONE */
    uint64_t whole;   /* entry of that function, before functions are numbered */
    uint32_t waits;   /* the first of those that wait until it returns, or CT_CFG_NONE */
    uint8_t isa;
    bool found;
    bool returns;
    bool never; /* the user says that it never returns */
    bool queued;
};

/* Something to do once a function is known to return. */
struct ct_cfg_wait {
    uint64_t addr;  /* the code after a call; or, with `is_tail`, the entry of a function that then returns,
                       too */
    uint64_t call;  /* address of the call */
    uint64_t owner; /* entry of the calling function */
    uint32_t next;
    uint8_t isa;
    bool is_tail;
};

/* A piece of code to explore. */
struct ct_cfg_work {
    uint64_t addr;
    uint64_t owner; /* entry of the function from which it was reached */
    uint8_t isa;
};

/* Targets of a computed branch: targets[first … first + count). */
struct ct_cfg_table {
    uint64_t last; /* address of the branch */
    uint32_t first;
    uint32_t count;
};

/* A pair of addresses: a call, and the code after it. */
struct ct_cfg_pair {
    uint64_t from;
    uint64_t to;
};

#define CT_CFG_LIST(type)                                                                                    \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t count;                                                                                        \
        size_t room;                                                                                         \
    }

struct ct_cfg {
    struct ct_ctx *ctx;
    const char *name;
    struct ct_mapped_file *file; /* NULL when the bytes are the caller's */
    struct ct_memory *memory;
    struct ct_symbol_options names;
    bool separate_names; /* names also come from separate files */
    struct ct_symbols *symbols;
    struct ct_arena arena; /* for names */
    struct ct_arch arch;
    uint64_t bias;
    uint64_t start; /* entry of the program */
    bool is_a64;
    bool told_tables; /* the message that there are too many table entries was given */
    bool built;       /* the blocks are made; those found later are appended */
    struct ct_cfg_code *codes;
    size_t code_count;
    struct ct_cfg_data *datas;
    size_t data_count;
    CT_CFG_LIST(struct ct_cfg_fixed) fixed;   /* what is never written */
    CT_CFG_LIST(struct ct_cfg_fixed) written; /* what may be */
    bool has_unknown_callers;                 /* other programs may call any function */

    CT_CFG_LIST(struct ct_cfg_func) funcs;
    CT_CFG_LIST(struct ct_cfg_wait) waits;
    CT_CFG_LIST(uint32_t) ready; /* functions that return and whose waits must be released */
    CT_CFG_LIST(struct ct_cfg_work) work;
    CT_CFG_LIST(struct ct_cfg_work) behind; /* code after calls that turned out to return */
    CT_CFG_LIST(struct ct_cfg_work)
    computed;                                /* computed branches whose tables are to be found; addr is the
                                                branch */
    CT_CFG_LIST(struct ct_cfg_work) leaders; /* where blocks will start */
    CT_CFG_LIST(struct ct_cfg_table) tables;
    CT_CFG_LIST(uint64_t) targets;
    CT_CFG_LIST(struct ct_cfg_pair) late; /* calls that turned out to return after their blocks were made */
    struct ct_addr_map table_at;          /* maps a branch to its index in `tables` */

    CT_CFG_LIST(struct ct_cfg_function) functions;
    CT_CFG_LIST(struct ct_cfg_block) blocks;
    CT_CFG_LIST(struct ct_cfg_edge) edges;
    CT_CFG_LIST(struct ct_cfg_loop) loops;
    CT_CFG_LIST(uint32_t) members;
    CT_CFG_LIST(uint32_t) order; /* blocks sorted by start */
    CT_CFG_LIST(bool) taken;     /* by function: it may be called from places that the graph does not show */
    size_t taken_blocks;         /* number of blocks when that was found */
};

/* Makes room for one more item of a list. Returns 0 or CT_ERR_NOMEM. */
#define CT_CFG_ROOM(cfg, list)                                                                               \
    (CT_MAKE_ROOM((list)->at, (list)->room, (list)->count + 1) ? CT_OK                                       \
                                                               : ct_fail_nomem((cfg)->ctx, (cfg)->name))

/* Returns the mark of the code at `addr`, or NULL. */
uint8_t *ct_cfg_mark(const struct ct_cfg *cfg, uint64_t addr);

/* Returns what starts at `addr`; NULL where no instruction can start. */
struct ct_cfg_here *ct_cfg_here(const struct ct_cfg *cfg, uint64_t addr);

/* Decodes the instruction at `addr`. Returns false when it is not completely in one piece of code. *op, which
 * may be NULL, receives the opcode for the classifiers. An instruction in an IT block has `cond` set after
 * its exploration. */
bool ct_cfg_insn(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct ct_insn *insn,
                 uint32_t *op);

/* Finds the effect of the instruction at `addr`. Returns false as ct_cfg_insn does. */
bool ct_cfg_lift(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct ct_lift *out);

/* Returns the address of the instruction before `addr`, which was reached; 0 when none was. In T32 the length
 * of other instructions is not known. */
uint64_t ct_cfg_before(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa);

/* Returns the bytes at `addr` when nothing writes them while the program runs, else NULL. */
const uint8_t *ct_cfg_fixed(const struct ct_cfg *cfg, uint64_t addr, size_t size);

/* Returns true for an instruction that ends a block. */
bool ct_cfg_ends_block(const struct ct_insn *insn);

/* ---- cfg_explore.c ---- */

/* Finds the function with an entry, or adds it; CT_CFG_NONE when there is no code at the entry. */
int ct_cfg_function_make(struct ct_cfg *cfg, uint64_t entry, enum ct_isa isa, const char *name,
                         uint32_t *out);

/* Starts a block at `addr`, and queues it for exploration unless it was explored before. Does nothing when
 * there is no code. */
int ct_cfg_leader(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, uint64_t owner);

/* Explores all queued work, including jump tables. */
int ct_cfg_explore(struct ct_cfg *cfg);

/* Makes the initial functions: symbols, the entry of the program and, without symbols, words that look like
 * addresses of functions. */
int ct_cfg_seed(struct ct_cfg *cfg);

/* ---- cfg_table.c ---- */

/* Finds the targets of the computed branch at `addr` and appends them to cfg->targets; *count is 0 when it
 * has no jump table. */
int ct_cfg_table_find(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, uint64_t owner, uint32_t *count);

/* ---- cfg_build.c ---- */

/* Makes the blocks that start at leaders, and their edges. */
int ct_cfg_build(struct ct_cfg *cfg);

/* ---- cfg_dominators.c ---- */

/* Tells whether an edge leads from a block to another one that the same call of a function executes. */
static inline bool ct_cfg_stays(const struct ct_cfg *cfg, const struct ct_cfg_edge *edge)
{
    const bool flows =
        edge->kind == CT_CFG_NEXT || edge->kind == CT_CFG_BRANCH || edge->kind == CT_CFG_CALLED;
    return flows && edge->to != CT_CFG_NONE &&
           cfg->blocks.at[edge->to].function == cfg->blocks.at[edge->from].function;
}

/* Finds the immediate dominator of each block. */
int ct_cfg_dominators_find(struct ct_cfg *cfg);

/* ---- cfg_loops.c ---- */

/* Finds the loops of all functions, from their members. */
int ct_cfg_loops_find(struct ct_cfg *cfg);

/* ---- cfg_taken.c ---- */

/* Finds the functions that may be called from places that the graph does not show. */
int ct_cfg_taken_find(struct ct_cfg *cfg);

/* ---- cfg_targets.c ---- */

/* Reads a text of targets. A second call, after the blocks are made, handles the lines that need them. */
int ct_cfg_targets_read(struct ct_cfg *cfg, const char *name, const char *text, bool before_blocks);
