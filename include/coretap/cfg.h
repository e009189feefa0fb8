/* SPDX-License-Identifier: Apache-2.0 */
/* coretap cfg: the control flow graph of a linked program: functions, basic blocks, edges, loops. It is built
 * from the program alone. What only runs can show (targets of computed branches) can be added and is
 * marked. The number of basic blocks of each function:
 *
 *     ct_cfg_load(ctx, "firmware.elf", NULL, &cfg);
 *     const struct ct_cfg_function *functions = ct_cfg_functions(cfg, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("%s: %u blocks\n", functions[i].label, functions[i].count);
 *     ct_cfg_free(cfg); */
#ifndef CORETAP_CFG_H
#define CORETAP_CFG_H

#include "coretap/base.h"
#include "coretap/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CT_CFG_NONE UINT32_MAX

enum ct_cfg_kind {
    CT_CFG_NEXT,   /* falls through: the block does not jump, or its conditional branch is not taken */
    CT_CFG_BRANCH, /* a branch inside the function */
    CT_CFG_CALL,   /* to the called function */
    CT_CFG_CALLED, /* from a call to the block after it; the callee runs in between. Execution never traverses
                      this edge */
    CT_CFG_TAIL,   /* a branch to another function that replaces a call and a return */
    CT_CFG_RETURN, /* to the caller; leads nowhere */
    CT_CFG_UNKNOWN, /* a computed branch or call with targets that the program does not show; leads nowhere */
};

/* The source of an edge. */
enum ct_cfg_origin {
    CT_CFG_CODE,   /* the instruction */
    CT_CFG_TABLE,  /* a recognised jump table */
    CT_CFG_USER,   /* the file of targets */
    CT_CFG_LEARNT, /* a trace */
};

/* An edge; its number is its index in the array. Edges found in the program come first, by address of their
 * block, then kind and target, so that their numbers depend on the ELF file alone. Added edges follow in the
 * order in which they were added. */
struct ct_cfg_edge {
    uint32_t from;     /* block */
    uint32_t to;       /* block, or CT_CFG_NONE */
    uint64_t target;   /* address it leads to; 0 for RETURN and UNKNOWN */
    uint32_t next_out; /* the next edge of the same `from`, or CT_CFG_NONE */
    uint32_t next_in;  /* the next edge of the same `to`, or CT_CFG_NONE */
    uint8_t kind;      /* enum ct_cfg_kind */
    uint8_t origin;    /* enum ct_cfg_origin */
    uint8_t back;      /* 1: leads from inside a loop to one of its heads */
    uint8_t pad[5];
};

/* A block: instructions that run one after the other. It ends with a branch or an ISB, or before an
 * instruction that is a branch target. Sorted by address; blocks found later (targets added) come at the
 * end. */
struct ct_cfg_block {
    uint64_t start;
    uint64_t last; /* address of the last instruction */
    uint64_t end;  /* address after the last instruction */
    uint32_t n;    /* instructions */
    uint32_t function;
    uint32_t first_out; /* the first edge that leaves it, or CT_CFG_NONE; the others by next_out */
    uint32_t last_out;  /* the last edge that leaves it */
    uint32_t first_in;
    uint32_t loop;      /* the innermost one, or CT_CFG_NONE */
    uint32_t dominator; /* immediate dominator in its function; CT_CFG_NONE for the entry and for blocks not
                           reachable from it */
    uint8_t isa;        /* enum ct_isa */
    uint8_t type;       /* of the last instruction: enum ct_insn_type */
    uint8_t sub;        /* enum ct_insn_sub */
    uint8_t cond;       /* 1: the last instruction is conditional, by itself or in an IT block */
    uint8_t cut;        /* 1: the bytes after it could not be read */
    uint8_t head;       /* 1: it is a head of `loop` */
    uint8_t pad[6];
};

struct ct_cfg_function {
    const char *name;  /* of its symbol, or "module+0x1234" */
    const char *label; /* the name for people: C++ and Rust names are demangled */
    uint64_t entry;
    uint32_t first;      /* its blocks are members[first … first + count), by address; see ct_cfg_members */
    uint32_t count;      /* 0: the symbol is not code that can be read */
    uint32_t block;      /* block of the entry, or CT_CFG_NONE */
    uint32_t part_of;    /* the function that this one is a part of ("name.cold") and that has its blocks; or
                            CT_CFG_NONE */
    uint8_t isa;         /* enum ct_isa */
    uint8_t found;       /* 1: it has no symbol, and was found because it is called or its address is taken */
    uint8_t no_return;   /* 1: no path leads to a return */
    uint8_t incomplete;  /* 1: it has an UNKNOWN branch */
    uint8_t irreducible; /* 1: it has a loop with more than one entry */
    uint8_t pad[3];
};

/* A loop: a set of blocks that all reach each other. Sorted by function, outer loops before inner ones. Its
 * heads are the blocks through which execution enters it. Inner loops are those that remain without the edges
 * that lead to a head. */
struct ct_cfg_loop {
    uint32_t head;   /* the head with the lowest address */
    uint32_t parent; /* loop around it, or CT_CFG_NONE */
    uint32_t function;
    uint32_t depth;      /* 1: the outermost */
    uint32_t blocks;     /* number of blocks, inner loops included */
    uint8_t irreducible; /* 1: it has more than one head */
    uint8_t pad[3];
};

/* Why the rounds of a loop are not counted by its code. */
enum ct_cfg_uncounted {
    CT_CFG_IS_COUNTED,
    CT_CFG_NO_TEST,       /* no conditional branch that each iteration passes leaves it */
    CT_CFG_NO_COMPARE,    /* the branch at `at` does not depend on a compare just before it */
    CT_CFG_NO_COUNTER,    /* what is compared does not count: it comes from the instruction at `at` */
    CT_CFG_LIMIT_CHANGES, /* what the counter is compared with is written in the loop, at `at` */
    CT_CFG_STEP_CHANGES,  /* not each iteration changes the counter by the same number: see `at` */
    CT_CFG_NO_FIRST,      /* the first value of the counter is not constant: it comes from `at` */
    CT_CFG_NO_LIMIT,      /* what the counter is compared with is not constant: it comes from `at` */
    CT_CFG_NO_END,        /* the counter does not reach its limit within 2^24 iterations */
    CT_CFG_OPEN,          /* the function has a computed branch with unknown targets */
    CT_CFG_MANY_ENTRIES,  /* it is entered at several places, or with the call of its function */
};

/* The rounds of a loop, counted by its code. */
struct ct_cfg_count {
    uint64_t at;     /* an address, see above; 0 when it is counted */
    uint32_t rounds; /* most executions of its head for each entry; 0: not counted */
    uint8_t why;     /* enum ct_cfg_uncounted */
    uint8_t pad[3];
};

/* The control flow of one file. Any number of threads may read it while no edge is added. */
struct ct_cfg;

struct ct_cfg_options {
    size_t size;              /* sizeof(struct ct_cfg_options) */
    uint64_t bias;            /* added to each address of the file */
    struct ct_arch arch;      /* of the core; all zero: unknown */
    const char *targets;      /* text of a file of targets (docs/analysis.md), terminated by NUL; NULL:
                                 none */
    const char *targets_name; /* name of that file in messages */
    const struct ct_symbol_options *names; /* where names come from, without its bias; NULL: from the file
                                              alone */
};

/* Reconstructs the control flow of the linked ELF file at `path`; `options` may be NULL. Nothing follows a
 * call of a function that never returns. Time and memory grow with the code in the file: half a byte for each
 * byte of code, and the arrays. CT_ERR_IO, CT_ERR_FORMAT (also a mistake in the targets, with its line),
 * CT_ERR_UNSUPPORTED, CT_ERR_LIMIT (more than 2^31 blocks or edges), CT_ERR_NOMEM. */
CT_API int ct_cfg_load(struct ct_ctx *ctx, const char *path, const struct ct_cfg_options *options,
                       struct ct_cfg **out);

/* The same from the bytes of a file, called `name` in messages. They must stay valid as long as the graph. */
CT_API int ct_cfg_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                             const struct ct_cfg_options *options, struct ct_cfg **out);
CT_API void ct_cfg_free(struct ct_cfg *cfg);

/* Returns the arrays of functions, blocks, edges and loops. They stay valid until the next
 * ct_cfg_add_edge. */
CT_API const struct ct_cfg_function *ct_cfg_functions(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_block *ct_cfg_blocks(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_edge *ct_cfg_edges(const struct ct_cfg *cfg, size_t *count);
CT_API const struct ct_cfg_loop *ct_cfg_loops(const struct ct_cfg *cfg, size_t *count);

/* Returns the numbers of all blocks, one function after the other. */
CT_API const uint32_t *ct_cfg_members(const struct ct_cfg *cfg, size_t *count);

/* Returns the functions as symbols, borrowed from the graph. */
CT_API const struct ct_symbols *ct_cfg_symbols(const struct ct_cfg *cfg);

/* Finds the block that contains the byte at `addr`, by binary search; CT_CFG_NONE when there is none. */
CT_API uint32_t ct_cfg_block_at(const struct ct_cfg *cfg, uint64_t addr);

/* Finds the function with this entry; CT_CFG_NONE when there is none. */
CT_API uint32_t ct_cfg_function_at(const struct ct_cfg *cfg, uint64_t entry);

/* Finds the function with this name or label, preferring one with code. When none has it, finds a copy that
 * the compiler made of it ("name.constprop.0") or the C++ function with this name and parameters after it, if
 * there is only one; else CT_CFG_NONE. */
CT_API uint32_t ct_cfg_function_named(const struct ct_cfg *cfg, const char *name);

/* Finds the edge that execution traverses from one instruction to another. `last` is the address of the last
 * instruction of a block, `next` that of the instruction that runs after it; CT_CFG_NONE when the graph has
 * no such edge. Where the targets of a return or a call are unknown, its edge is found for any `next`. */
CT_API uint32_t ct_cfg_edge_between(const struct ct_cfg *cfg, uint64_t last, uint64_t next);

/* Finds how often the head of a loop runs at most each time the loop is entered. Known when the code counts
 * to a fixed number by itself: a register or a variable of the stack frame, from a constant to a constant, or
 * over a constant distance. Otherwise out->why says what is missing. Calls are taken to keep the registers
 * that the procedure call standard makes them keep. CT_ERR_ARG. */
CT_API int ct_cfg_loop_counted(const struct ct_cfg *cfg, uint32_t loop, struct ct_cfg_count *out);

/* Returns the same number, or 0. */
CT_API uint32_t ct_cfg_loop_count(const struct ct_cfg *cfg, uint32_t loop);

/* Adds an edge from a computed branch or call. It leads from the instruction at `last` to `target` in
 * instruction set `isa`; code that becomes reachable is added with it. *edge is its number, also when the
 * edge existed already. A block may be split: its first part keeps the number. Functions, loops and members
 * do not change until ct_cfg_update. CT_ERR_NOT_FOUND: no block ends with a computed branch there, or the
 * target is not code; CT_ERR_LIMIT, CT_ERR_NOMEM. */
CT_API int ct_cfg_add_edge(struct ct_cfg *cfg, uint64_t last, uint64_t target, enum ct_isa isa,
                           enum ct_cfg_origin origin, uint32_t *edge);

/* Recomputes what is derived from edges, after edges were added: members, flags of functions, dominators and
 * loops. CT_ERR_NOMEM. */
CT_API int ct_cfg_update(struct ct_cfg *cfg);

/* Returns the name of a kind of edge: "next", "branch", "call", "called", "tail", "return" or "unknown". */
CT_API const char *ct_cfg_kind_name(enum ct_cfg_kind kind);

/* Returns the name of an origin: "code", "table", "user" or "learnt". */
CT_API const char *ct_cfg_origin_name(enum ct_cfg_origin origin);

#ifdef __cplusplus
}
#endif
#endif
