/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the report: runs its steps and adds up its sums. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/table_memory.h"

#include <stdlib.h>

void ct_cover_report_free(struct ct_cover_report *report)
{
    struct ct_cover_work *work = (struct ct_cover_work *)report;
    if (!work)
        return;
    ct_array_free(work->insns, work->insn_room, sizeof *work->insns);
    ct_array_free(work->scopes, work->scope_room, sizeof *work->scopes);
    free(work->unrun);
    free(work->functions);
    free(work->blocks);
    free(work->ways);
    free(work->entered);
    free(work->arcs);
    free(work->lines);
    free(work->branches);
    free(work);
}

static void count_in(struct ct_cover_ratio *ratio, bool seen)
{
    ratio->all++;
    ratio->seen += seen;
}

static void sum_insns(struct ct_cover_work *work)
{
    struct ct_cover_sums *sums = &work->report.sums;
    for (size_t i = 0; i < work->report.insn_count; i++) {
        const struct ct_cover_insn *insn = &work->insns[i];
        struct ct_cover_function *function = &work->functions[insn->function];
        count_in(&sums->insns, insn->count > 0);
        function->insns++;
        function->insns_run += insn->count > 0;
        if (insn->sub == CT_INSN_SUB_LINK)
            count_in(&sums->calls, insn->taken > 0);
        if (insn->flags & CT_COVER_HIDDEN)
            count_in(&sums->hidden, insn->count > 0);
        if (!ct_cover_decides(insn))
            continue;
        count_in(&sums->branches, insn->taken > 0);
        count_in(&sums->branches, insn->not_taken > 0);
        count_in(&sums->conditions, insn->taken > 0 && insn->not_taken > 0);
        function->branches += 2;
        function->branches_run += (insn->taken > 0 ? 1u : 0u) + (insn->not_taken > 0 ? 1u : 0u);
    }
}

/* Adds the counts of functions whose instructions were not stored. */
static void sum_unrun(struct ct_cover_work *work)
{
    struct ct_cover_sums *sums = &work->report.sums;
    for (size_t i = 0; i < work->unrun_count; i++) {
        sums->insns.all += work->unrun[i].insns;
        sums->calls.all += work->unrun[i].calls;
        sums->hidden.all += work->unrun[i].hidden;
        sums->branches.all += 2 * (uint64_t)work->unrun[i].decisions;
        sums->conditions.all += work->unrun[i].decisions;
    }
}

static void sum_lines(struct ct_cover_work *work)
{
    struct ct_cover_sums *sums = &work->report.sums;
    for (size_t i = 0; i < work->report.line_count; i++) {
        const struct ct_cover_line *line = &work->lines[i];
        count_in(&sums->lines, line->count > 0);
        sums->partial_lines += line->insns_run > 0 && line->insns_run < line->insns;
        sums->joined_lines += line->joined > 0;
        if (line->function == CT_COVER_NONE)
            continue;
        work->functions[line->function].lines++;
        work->functions[line->function].lines_run += line->count > 0;
    }
    for (size_t i = 0; i < work->report.function_count; i++)
        count_in(&sums->functions, work->functions[i].insns_run > 0);
}

int ct_cover_report_new(struct ct_ctx *ctx, const struct ct_cover_source *source,
                        const struct ct_cover_item *items, size_t count, struct ct_cover_report **out)
{
    struct ct_cover_source given;
    CT_REQUIRE_OUT(ctx, out, source, items || !count);
    int result = ct_options_read(ctx, __func__, source, &given, sizeof given);
    if (result != CT_OK)
        return result;
    CT_REQUIRE(ctx, given.memory, given.symbols, given.lines);
    struct ct_cover_work *work = calloc(1, sizeof *work);
    if (!work)
        return ct_fail_nomem(ctx, "coverage");
    work->ctx = ctx;
    work->source = given;
    result = ct_cover_read_code(work, items, count);
    if (result == CT_OK)
        result = ct_cover_count(work, items, count);
    if (result == CT_OK)
        result = ct_cover_make_blocks(work);
    if (result == CT_OK)
        result = ct_cover_make_lines(work);
    if (result == CT_OK)
        result = ct_cover_count_units(work);
    if (result != CT_OK) {
        ct_cover_report_free(&work->report);
        return result;
    }
    sum_insns(work);
    sum_unrun(work);
    sum_lines(work);
    struct ct_cover_report *report = &work->report;
    report->insns = work->insns;
    report->blocks = work->blocks;
    report->arcs = work->arcs;
    report->functions = work->functions;
    report->lines = work->lines;
    report->branches = work->branches;
    *out = report;
    return CT_OK;
}
