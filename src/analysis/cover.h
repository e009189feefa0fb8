/* SPDX-License-Identifier: Apache-2.0 */
/* The coverage report while it is made: the program as arrays, which one step after the other fills in. */
#ifndef CT_ANALYSIS_COVER_H
#define CT_ANALYSIS_COVER_H

#include "coretap/cover.h"

#include <stdbool.h>

/* A way from one block to another within a function. Calls are passed over: the way leads to the block behind
 * the call. */
struct ct_cover_way {
    uint64_t count;
    uint32_t from, to;
};

/* A function without lines of which nothing ran: its instructions are counted, and not kept. */
struct ct_cover_unrun {
    uint64_t addr;
    const struct ct_symbol *symbol;
    uint32_t insns, calls, hidden;
    uint32_t decisions; /* conditional branches */
};

struct ct_cover_work {
    struct ct_cover_report report; /* must be the first member */
    struct ct_ctx *ctx;
    struct ct_cover_source source;
    struct ct_cover_insn *insns;
    uint32_t *scopes; /* by instruction: its innermost scope, or CT_LINE_NONE */
    size_t insn_room, scope_room;
    size_t sorted;                /* so many instructions are in order of address, from the first one on */
    size_t it_insn;               /* the IT instruction whose block is being read */
    uint64_t it_next;             /* the address at which that block goes on */
    unsigned it_left;             /* the instructions that are left of it */
    struct ct_cover_unrun *unrun; /* by address */
    size_t unrun_count, unrun_room;
    struct ct_cover_function *functions;
    struct ct_cover_block *blocks;
    struct ct_cover_way *ways; /* sorted by `to` */
    size_t way_count;
    uint64_t *entered; /* by block: executions that no way accounts for: calls of the function, returns of
                          longjmp */
    struct ct_cover_arc *arcs;
    struct ct_cover_line *lines;
    uint32_t *branches;
};

/* Returns the index of the first instruction at or behind `addr`; insn_count when there is none. */
size_t ct_cover_find(const struct ct_cover_work *work, uint64_t addr);

/* Returns true for a branch that may be passed without being taken, as far as is known. */
bool ct_cover_decides(const struct ct_cover_insn *insn);

/* The steps, in the order in which they are called. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_cover_read_code(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_count(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_make_blocks(struct ct_cover_work *work);
int ct_cover_make_lines(struct ct_cover_work *work);

/* ---- the operations of the contract ---- */

/* Returns the programs of the coverage. */
struct ct_program_table;
struct ct_program_table *ct_cover_table(struct ct_cover *cover);

/* Numbers the programs as ct_program_table_sort does, the same errors. */
int ct_cover_sort_programs(struct ct_cover *cover, uint32_t **numbers);

/* Compares two items, as for qsort, and sorts a list of them: by kind, from, to and isa. */
int ct_cover_order(const void *a, const void *b);
void ct_cover_sort(struct ct_cover_item *items, size_t count);

/* Returns the counts of a program in one context, in order. They belong to the coverage. */
const struct ct_cover_item *ct_cover_items_in(struct ct_cover *cover, uint32_t program, size_t context,
                                              size_t *count);

/* Writes the counts of a program, those of all contexts together. CT_ERR_NOMEM. */
int ct_cover_save_items(struct ct_save *to, struct ct_cover *cover, uint32_t program);

/* Takes a line that begins with "run", of a program and of no context. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_cover_load_run(struct ct_load *from, struct ct_cover *cover, uint32_t program);

int ct_cover_part(const struct ct_analysis *analysis, struct ct_analysis **out);
int ct_cover_set_programs(struct ct_analysis *analysis, struct ct_programs *programs);
int ct_cover_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
/* Adds what is known of all that ran. */
void ct_cover_add_share(struct ct_cover *cover, const struct ct_cover_share *more);
int ct_cover_merge(struct ct_analysis *into, struct ct_analysis *other);
void ct_cover_free_analysis(struct ct_analysis *analysis);

#endif
