/* SPDX-License-Identifier: Apache-2.0 */
/* coretap cfg: the control flow of a linked program, as far as the program alone tells it: functions, basic
 * blocks, edges, loops. What only runs can tell (targets of computed branches) is added to it and marked. */
#ifndef CORETAP_CFG_H
#define CORETAP_CFG_H

#include "coretap/base.h"
#include "coretap/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_CFG_NONE UINT32_MAX

enum ct_cfg_kind {
    CT_CFG_NEXT,   /* on behind the block: it does not jump, or its conditional branch is not taken */
    CT_CFG_BRANCH, /* a branch inside the function */
    CT_CFG_CALL,   /* to the called function */
    CT_CFG_CALLED, /* from a call to the block behind it; what the callee does lies between. Nothing traverses
                      it */
    CT_CFG_TAIL,   /* a branch to another function in place of a call and a return */
    CT_CFG_RETURN, /* to the caller; leads nowhere */
    CT_CFG_UNKNOWN, /* a computed branch or call with targets that the program does not tell; leads nowhere */
};

/* Who says that there is this edge. */
enum ct_cfg_origin {
    CT_CFG_CODE,   /* the instruction */
    CT_CFG_TABLE,  /* a jump table that was recognised */
    CT_CFG_USER,   /* the file of targets */
    CT_CFG_LEARNT, /* a trace */
};

/* An edge; its number is its place in the array. Edges that the program tells come first, by the
 * address of their block, then kind and target, so that their numbers hang on the ELF file alone;
 * added ones follow as they came. */
struct ct_cfg_edge {
    uint32_t from;     /* block */
    uint32_t to;       /* block, or CT_CFG_NONE */
    uint64_t target;   /* address it leads to; 0 for RETURN and UNKNOWN */
    uint32_t next_out; /* the next edge of the same `from`, or CT_CFG_NONE */
    uint32_t next_in;  /* the next edge of the same `to`, or CT_CFG_NONE */
    uint8_t kind;      /* enum ct_cfg_kind */
    uint8_t origin;    /* enum ct_cfg_origin */
    uint8_t back;      /* 1: leads from inside a loop to a head of it */
    uint8_t pad[5];
};

/* A block: instructions that run one behind the other. It ends with a branch or an ISB, or before one that
 * something jumps to. By address; blocks found later (targets added) come behind. */
struct ct_cfg_block {
    uint64_t start;
    uint64_t last; /* address of the last instruction */
    uint64_t end;  /* behind it */
    uint32_t n;    /* instructions */
    uint32_t function;
    uint32_t first_out; /* the first edge that leaves it, or CT_CFG_NONE; the others by next_out */
    uint32_t last_out;  /* the last edge that leaves it */
    uint32_t first_in;
    uint32_t loop;      /* the innermost one, or CT_CFG_NONE */
    uint32_t dominator; /* immediate one in its function; CT_CFG_NONE: the entry, and what is not reached from
                           it */
    uint8_t isa;        /* enum ct_isa */
    uint8_t type;       /* of the last instruction: enum ct_insn_type */
    uint8_t sub;        /* enum ct_insn_sub */
    uint8_t cond;       /* 1: the last instruction is conditional, by itself or in an IT block */
    uint8_t cut;        /* 1: what comes behind it could not be read */
    uint8_t head;       /* 1: it is a head of `loop` */
    uint8_t pad[6];
};

struct ct_cfg_function {
    const char *name;  /* of its symbol, or "module+0x1234" */
    const char *label; /* the same for people: C++ and Rust names are demangled */
    uint64_t entry;
    uint32_t first;      /* its blocks are members[first … first + count), by address; see ct_cfg_members */
    uint32_t count;      /* 0: a symbol that is not code that can be read */
    uint32_t block;      /* of the entry, or CT_CFG_NONE */
    uint32_t part_of;    /* the function whose part this is ("name.cold"), and that has its blocks; or
                            CT_CFG_NONE */
    uint8_t isa;         /* enum ct_isa */
    uint8_t found;       /* 1: it has no symbol; something calls it, or its address is taken */
    uint8_t no_return;   /* 1: no way leads to a return */
    uint8_t incomplete;  /* 1: it has an UNKNOWN branch */
    uint8_t irreducible; /* 1: it has a loop with more than one entry */
    uint8_t pad[3];
};

/* A loop: blocks of which each reaches each. By function, outer ones before inner ones. Its heads are the
 * blocks that it is entered at; loops inside of it are of what is left without the edges that lead there. */
struct ct_cfg_loop {
    uint32_t head;   /* the head with the lowest address */
    uint32_t parent; /* loop around it, or CT_CFG_NONE */
    uint32_t function;
    uint32_t depth;      /* 1: the outermost */
    uint32_t blocks;     /* in it, inner loops included */
    uint8_t irreducible; /* 1: it has more than one head */
    uint8_t pad[3];
};

struct ct_cfg;

struct ct_cfg_options {
    size_t size;              /* sizeof(struct ct_cfg_options) */
    uint64_t bias;            /* added to each address of the file */
    struct ct_arch arch;      /* of the core; all zero: unknown */
    const char *targets;      /* text of a file of targets (docs/analysis.md), NUL at its end; NULL: none */
    const char *targets_name; /* what it is called in messages */
    const struct ct_symbol_options *names; /* where names come from, without its bias; NULL: the file alone */
};

/* Reconstructs the control flow of the linked ELF file at `path`; `options` may be NULL. Calls of functions
 * that never return are not followed by anything. Time and memory grow with the code in the file: half a byte
 * for each byte of it, and the arrays. CT_ERR_IO, CT_ERR_FORMAT (also a mistake in the targets, with its
 * line), CT_ERR_UNSUPPORTED, CT_ERR_LIMIT (more than 2^31 blocks or edges), CT_ERR_NOMEM. */
CT_API int ct_cfg_load(struct ct_ctx *ctx, const char *path, const struct ct_cfg_options *options,
                       struct ct_cfg **out);

/* The same from the bytes of a file, called `name` in messages. They must stay as long as the graph. */
CT_API int ct_cfg_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                             const struct ct_cfg_options *options, struct ct_cfg **out);
CT_API void ct_cfg_free(struct ct_cfg *cfg);

/* Returns the arrays of functions, blocks, edges and loops. They live until the next ct_cfg_add_edge. */
CT_API const struct ct_cfg_function *ct_cfg_functions(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_block *ct_cfg_blocks(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_edge *ct_cfg_edges(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_loop *ct_cfg_loops(const struct ct_cfg *cfg, size_t *count);

/* Returns the numbers of all blocks, function after function. */
CT_API const uint32_t *ct_cfg_members(const struct ct_cfg *cfg, size_t *count);

/* Returns the functions as symbols, borrowed from the graph. */
CT_API const struct ct_symbols *ct_cfg_symbols(const struct ct_cfg *cfg);

/* Finds the block that the byte at `addr` lies in, by a binary search; CT_CFG_NONE when there is none. */
CT_API uint32_t ct_cfg_block_at(const struct ct_cfg *cfg, uint64_t addr);

/* Finds the function with this entry; CT_CFG_NONE when there is none. */
CT_API uint32_t ct_cfg_function_at(const struct ct_cfg *cfg, uint64_t entry);

/* Finds the function with this name or label, one with code if there is one. When there is none it is the
 * copy that the compiler made of it, as "name.constprop.0", or the function of C++ that has this name with
 * its parameters, if there is only one; else CT_CFG_NONE. */
CT_API uint32_t ct_cfg_function_named(const struct ct_cfg *cfg, const char *name);

/* Finds the edge between two instructions. It is the one that execution traverses when it goes from the
 * instruction at `last`, the last one of its block, to `next`; CT_CFG_NONE when the graph has none. Where the
 * targets of a return or a call are not known, its edge is found for each `next`. */
CT_API uint32_t ct_cfg_edge_between(const struct ct_cfg *cfg, uint64_t last, uint64_t next);

/* Returns how often the head of a loop runs at most. That is for each time that the loop is entered, when its
 * code counts to a number by itself (A64 only: a register from a constant to a constant); 0 when it does not,
 * or that is not seen. */
CT_API uint32_t ct_cfg_loop_count(const struct ct_cfg *cfg, uint32_t loop);

/* Adds an edge from a computed branch or call. It goes from the instruction at `last` to `target` in
 * instruction set `isa`, and all code that it makes known is added with it. *edge is its number, also when it
 * was there already. A block may be split: its first part keeps the number. Functions, loops and members are
 * as before until ct_cfg_update. CT_ERR_NOT_FOUND: no block ends with a computed branch there, or the target
 * is not code; CT_ERR_LIMIT, CT_ERR_NOMEM. */
CT_API int ct_cfg_add_edge(struct ct_cfg *cfg, uint64_t last, uint64_t target, enum ct_isa isa,
                           enum ct_cfg_origin origin, uint32_t *edge);

/* Renews what is derived from edges, after some were added: members, functions' flags, dominators and loops.
 * CT_ERR_NOMEM. */
CT_API int ct_cfg_update(struct ct_cfg *cfg);

/* Returns the name of a kind of edge: "next", "branch", "call", "called", "tail", "return" or "unknown". */
CT_API const char *ct_cfg_kind_name(enum ct_cfg_kind kind);

/* Returns the name of an origin: "code", "table", "user" or "learnt". */
CT_API const char *ct_cfg_origin_name(enum ct_cfg_origin origin);

#ifdef __cplusplus
}
#endif
#endif
