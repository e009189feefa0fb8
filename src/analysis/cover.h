/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the coverage report: the program as arrays, filled by one step after the other. */
#ifndef CT_ANALYSIS_COVER_H
#define CT_ANALYSIS_COVER_H

#include "coretap/cover.h"

#include <stdbool.h>

/* A way from block to block within one function. Calls are passed over: the
 * way goes to what is behind them. */
struct ct_cover_way {
    uint64_t count;
    uint32_t from, to;
};

struct ct_cover_work {
    struct ct_cover_report report; /* has to be the first member */
    struct ct_ctx *ctx;
    struct ct_cover_source source;
    struct ct_cover_insn *insns;
    uint32_t *scopes; /* of each instruction: innermost scope, or CT_LINE_NONE */
    size_t insn_room;
    size_t it_insn;   /* the IT instruction … */
    uint64_t it_next; /* … whose block goes on here … */
    unsigned it_left; /* … for so many instructions */
    struct ct_cover_function *functions;
    struct ct_cover_block *blocks;
    struct ct_cover_way *ways; /* by `to` */
    size_t way_count;
    uint64_t *entered; /* of each block: executions that came by no way: calls of the function, returns of
                          longjmp */
    struct ct_cover_arc *arcs;
    struct ct_cover_line *lines;
    uint32_t *branches;
};

/* The first instruction at or behind `addr`; insn_count when there is none. */
size_t ct_cover_find(const struct ct_cover_work *work, uint64_t addr);

/* True for a branch that can be passed by, as far as is known. */
bool ct_cover_decides(const struct ct_cover_insn *insn);

/* The steps, in this order. CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_cover_read_code(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_count(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count);
int ct_cover_make_blocks(struct ct_cover_work *work);
int ct_cover_make_lines(struct ct_cover_work *work);

/* ---- what the contract asks of coverage ---- */

/* Its programs. */
struct ct_program_table;
struct ct_program_table *ct_cover_table(struct ct_cover *cover);

int ct_cover_part(const struct ct_analysis *analysis, struct ct_analysis **out);
int ct_cover_set_programs(struct ct_analysis *analysis, struct ct_programs *programs);
int ct_cover_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
int ct_cover_merge(struct ct_analysis *into, struct ct_analysis *other);
void ct_cover_free_analysis(struct ct_analysis *analysis);

#endif
