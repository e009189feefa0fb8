/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the conditional branches of each line, and those of them in which conditions join. Those of a
 * decision that goes on over several lines belong to its first line. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/search.h"

#include <stdlib.h>

#define STEPS                                                                                                \
    64u /* instructions between two conditions of a decision that are followed; a longer way is none         \
         */

/* ---- joined conditions ---- */

/* Returns whether an instruction has a line of this decision, or no line. */
static bool is_within(const struct ct_cover_insn *insn, uint32_t file, struct ct_cover_extent decision)
{
    return !insn->line || (insn->file == file && insn->line >= decision.first && insn->line <= decision.last);
}

/* Returns the first conditional branch at or behind `addr` that code of the function and decision of `from`
 * leads to, without another branch that might go elsewhere. NULL when there is none. */
static const struct ct_cover_insn *next_condition(const struct ct_cover_work *work,
                                                  const struct ct_cover_insn *from, uint64_t addr)
{
    const struct ct_cover_extent decision =
        ct_cover_decision_at(work->source.decisions, from->file, from->line);
    for (unsigned steps = 0; steps < STEPS; steps++) {
        const size_t i = ct_cover_find(work, addr);
        const struct ct_cover_insn *insn = &work->insns[i];
        const bool is_here = i < work->report.insn_count && insn->addr == addr &&
                             insn->function == from->function && is_within(insn, from->file, decision);
        if (!is_here)
            return NULL;
        if (ct_cover_decides(insn))
            return insn->line ? insn : NULL;
        if (insn->type == CT_INSN_IBR && insn->sub != CT_INSN_SUB_LINK)
            return NULL;
        const bool jumps = insn->type == CT_INSN_BR && insn->sub != CT_INSN_SUB_LINK;
        addr = jumps ? insn->target : addr + insn->size;
    }
    return NULL;
}

/* Counts the ways that lead from a branch to others of its decision, all of which belong to `line`. `reached`
 * is by branch of the line. */
static void follow(const struct ct_cover_work *work, const struct ct_cover_line *line,
                   const struct ct_cover_insn *from, uint8_t *reached)
{
    const uint32_t *branches = &work->branches[line->first_branch];
    const uint64_t ways[] = {from->addr + from->size, from->type == CT_INSN_BR ? from->target : 0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct ct_cover_insn *next = next_condition(work, from, ways[i]);
        if (!next)
            continue;
        const uint32_t number = (uint32_t)(next - work->insns);
        const size_t at = CT_COUNT_WHILE(line->branches, k, branches[k] < number);
        if (reached[at] < 2)
            reached[at]++;
    }
}

/* Finds the branches of each line to which two ways lead. */
static int find_joined(struct ct_cover_work *work)
{
    uint8_t *reached = calloc(work->report.branch_count + 1, sizeof *reached);
    if (!reached)
        return ct_fail_nomem(work->ctx, "coverage");
    for (size_t i = 0; i < work->report.line_count; i++) {
        struct ct_cover_line *line = &work->lines[i];
        uint8_t *of_line = reached + line->first_branch;
        for (uint32_t k = 0; k < line->branches && line->branches > 1; k++)
            follow(work, line, &work->insns[work->branches[line->first_branch + k]], of_line);
        for (uint32_t k = 0; k < line->branches; k++)
            line->joined += of_line[k] > 1;
    }
    free(reached);
    return CT_OK;
}

/* ---- conditions by line ---- */

/* A conditional branch, and the line to which it belongs. */
struct condition {
    uint32_t file, line, insn;
};

static int by_line(const void *a, const void *b)
{
    const struct condition *x = a, *y = b;
    return ct_order(x->file, y->file) ?: ct_order(x->line, y->line) ?: ct_order(x->insn, y->insn);
}

static bool is_before(const struct ct_cover_line *line, uint32_t file, uint32_t number)
{
    return line->file < file || (line->file == file && line->line < number);
}

/* Returns the first line of a decision that the report has; the line of the branch when it has none. */
static uint32_t line_of(const struct ct_cover_work *work, const struct ct_cover_insn *insn)
{
    const struct ct_cover_extent decision =
        ct_cover_decision_at(work->source.decisions, insn->file, insn->line);
    const size_t i =
        CT_COUNT_WHILE(work->report.line_count, at, is_before(&work->lines[at], insn->file, decision.first));
    const bool has = i < work->report.line_count && work->lines[i].file == insn->file;
    return has && work->lines[i].line < insn->line ? work->lines[i].line : insn->line;
}

/* Counts the files with branches whose source was not read. */
static void count_unread(struct ct_cover_work *work, const struct condition *conditions, size_t count)
{
    for (size_t i = 0; i < count && work->source.decisions; i++)
        if (conditions[i].file != CT_LINE_NONE && (!i || conditions[i].file != conditions[i - 1].file))
            work->report.unread_files += !ct_cover_is_read(work->source.decisions, conditions[i].file);
}

int ct_cover_make_conditions(struct ct_cover_work *work)
{
    struct ct_cover_report *report = &work->report;
    struct condition *conditions = malloc((report->insn_count + 1) * sizeof *conditions);
    work->branches = malloc((report->insn_count + 1) * sizeof *work->branches);
    if (!conditions || !work->branches) {
        free(conditions);
        return ct_fail_nomem(work->ctx, "coverage");
    }
    size_t n = 0;
    for (size_t i = 0; i < report->insn_count; i++) {
        const struct ct_cover_insn *insn = &work->insns[i];
        if (ct_cover_decides(insn))
            conditions[n++] = (struct condition){insn->file, line_of(work, insn), (uint32_t)i};
    }
    if (n)
        qsort(conditions, n, sizeof *conditions, by_line);
    size_t line = 0;
    for (size_t i = 0; i < n; i++) {
        work->branches[i] = conditions[i].insn;
        while (line < report->line_count &&
               is_before(&work->lines[line], conditions[i].file, conditions[i].line))
            line++;
        if (line == report->line_count || work->lines[line].line != conditions[i].line ||
            work->lines[line].file != conditions[i].file)
            continue;
        if (work->lines[line].branches++ == 0)
            work->lines[line].first_branch = (uint32_t)i;
    }
    report->branch_count = n;
    count_unread(work, conditions, n);
    free(conditions);
    return find_joined(work);
}
