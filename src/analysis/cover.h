/* SPDX-License-Identifier: Apache-2.0 */
/* The coverage report in the making: the program as arrays, which one step after another fills in. */
#pragma once

#include "analysis/cover_extents.h"
#include "coretap/cover.h"

#include <stdbool.h>

/* An edge from one block to another within a function. A call is treated as a straight step: its edge leads
 * to the block behind the call. */
struct ct_cover_way {
    uint64_t count;
    uint32_t from, to;
};

/* A function without lines and without executions. Its instructions are counted but not stored. */
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
    size_t sorted;                /* instructions sorted by address, from the first one on */
    size_t it_insn;               /* index of the IT instruction whose block is being read */
    uint64_t it_next;             /* address of the next instruction of that block */
    unsigned it_left;             /* instructions left in that block */
    bool it_compares;             /* an instruction of that block changed the flags */
    struct ct_cover_unrun *unrun; /* sorted by address */
    size_t unrun_count, unrun_room;
    struct ct_cover_function *functions;
    struct ct_cover_block *blocks;
    struct ct_cover_way *ways; /* sorted by `to` */
    size_t way_count;
    uint64_t *entered; /* by block: executions that no edge of `ways` explains: calls of the function, returns
                          of longjmp */
    struct ct_cover_arc *arcs;
    struct ct_cover_line *lines;
    uint32_t *branches;
};

/* Returns the index of the first instruction at or behind `addr`, or insn_count. */
size_t ct_cover_find(const struct ct_cover_work *work, uint64_t addr);

/* Returns whether an instruction is a branch that, as far as is known, may be passed without being taken. */
bool ct_cover_decides(const struct ct_cover_insn *insn);

/* Returns whether a block continues, in the same function, the code behind a call. */
bool ct_cover_behind_call(const struct ct_cover_work *work, uint32_t block);

/* Updates `span` to contain the address, and returns it. Instructions come in order, so the symbols are
 * searched once a span. */
static inline const struct ct_symbol_span *ct_cover_span_at(const struct ct_cover_work *work, uint64_t addr,
                                                            struct ct_symbol_span *span)
{
    if (addr - span->from >= span->end - span->from)
        ct_symbols_around(work->source.symbols, addr, span);
    return span;
}

/* Returns the lines of the decision that a line belongs to: several ones, or only this line. `decisions` may
 * be NULL. */
struct ct_cover_extent ct_cover_decision_at(const struct ct_cover_decisions *decisions, uint32_t file,
                                            uint32_t line);

/* Returns whether the source of a file was read. */
bool ct_cover_is_read(const struct ct_cover_decisions *decisions, uint32_t file);

/* Returns the function that a scope belongs to. */
static inline uint32_t ct_cover_outermost(const struct ct_line_scope *scopes, uint32_t scope)
{
    while (scope != CT_LINE_NONE && scopes[scope].parent != CT_LINE_NONE)
        scope = scopes[scope].parent;
    return scope;
}

/* Finds the functions of all instructions, which are sorted. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_cover_make_functions(struct ct_cover_work *work);

/* The steps that make the report, in the order of their calls. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_cover_read_code(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_count(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_make_blocks(struct ct_cover_work *work);
int ct_cover_make_lines(struct ct_cover_work *work);
int ct_cover_make_conditions(struct ct_cover_work *work);
int ct_cover_count_units(struct ct_cover_work *work);

/* ---- the operations of the contract of analyses ---- */

/* Returns the table of programs of the coverage. */
struct ct_program_table;
struct ct_program_table *ct_cover_table(struct ct_cover *cover);

/* Numbers the programs as ct_program_table_sort does, with the same errors. */
int ct_cover_sort_programs(struct ct_cover *cover, uint32_t **numbers);

/* Compare two items, and sort a list of them: by kind, from, to and isa. */
static inline int ct_cover_compare(const struct ct_cover_item *a, const struct ct_cover_item *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->isa - b->isa;
}
void ct_cover_sort(struct ct_cover_item *items, size_t count);

/* Returns the counts of a program in one context, sorted. They belong to the coverage. */
const struct ct_cover_item *ct_cover_items_in(struct ct_cover *cover, uint32_t program, size_t context,
                                              size_t *count);

/* Adds many items of one program and context, whose kinds are known and whose padding is 0. The same errors
 * as those of ct_cover_add_item. */
int ct_cover_add_items(struct ct_cover *cover, uint32_t program, const struct ct_edge_context *context,
                       const struct ct_cover_item *items, size_t count);

/* Writes the counts of a program, those of all contexts together. CT_ERR_NOMEM. */
int ct_cover_save_items(struct ct_save *to, struct ct_cover *cover, uint32_t program);

/* Loads a line that begins with "run", of a program and of no context. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_cover_load_run(struct ct_load *from, struct ct_cover *cover, uint32_t program);

int ct_cover_part(const struct ct_analysis *analysis, struct ct_analysis **out);
int ct_cover_set_programs(struct ct_analysis *analysis, struct ct_programs *programs);
int ct_cover_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
/* Adds numbers of instructions that ran, and of those outside of all programs. */
void ct_cover_add_share(struct ct_cover *cover, const struct ct_cover_share *more);
int ct_cover_merge(struct ct_analysis *into, struct ct_analysis *other);
void ct_cover_free_analysis(struct ct_analysis *analysis);
