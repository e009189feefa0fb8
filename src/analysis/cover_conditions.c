/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the conditional branches of each line, and those of them in which conditions join. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/search.h"

#include <stdlib.h>

#define STEPS                                                                                                \
    64u /* instructions between two conditions of a line that are followed; a longer way is none             \
         */

/* ---- joined conditions ---- */

/* Returns the first conditional branch at or behind `addr` that code of the function and line of `from` leads
 * to, without another branch that might go elsewhere. NULL when there is none. */
static const struct ct_cover_insn *next_condition(const struct ct_cover_work *work,
                                                  const struct ct_cover_insn *from, uint64_t addr)
{
    for (unsigned steps = 0; steps < STEPS; steps++) {
        const size_t i = ct_cover_find(work, addr);
        const struct ct_cover_insn *insn = &work->insns[i];
        const bool is_here = i < work->report.insn_count && insn->addr == addr &&
                             insn->function == from->function &&
                             (!insn->line || (insn->line == from->line && insn->file == from->file));
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

/* Counts the ways that lead from a branch to others of its line. `reached` is by branch of the line. */
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

struct decision {
    uint32_t file, line, insn;
};

static int by_decision(const void *a, const void *b)
{
    const struct decision *x = a;
    const struct decision *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

int ct_cover_make_conditions(struct ct_cover_work *work)
{
    struct ct_cover_report *report = &work->report;
    struct decision *decisions = malloc((report->insn_count + 1) * sizeof *decisions);
    work->branches = malloc((report->insn_count + 1) * sizeof *work->branches);
    if (!decisions || !work->branches) {
        free(decisions);
        return ct_fail_nomem(work->ctx, "coverage");
    }
    size_t n = 0;
    for (size_t i = 0; i < report->insn_count; i++)
        if (ct_cover_decides(&work->insns[i]))
            decisions[n++] = (struct decision){work->insns[i].file, work->insns[i].line, (uint32_t)i};
    if (n)
        qsort(decisions, n, sizeof *decisions, by_decision);
    size_t line = 0;
    for (size_t i = 0; i < n; i++) {
        work->branches[i] = decisions[i].insn;
        while (line < report->line_count &&
               (work->lines[line].file < decisions[i].file ||
                (work->lines[line].file == decisions[i].file && work->lines[line].line < decisions[i].line)))
            line++;
        if (line == report->line_count || work->lines[line].line != decisions[i].line ||
            work->lines[line].file != decisions[i].file)
            continue;
        if (work->lines[line].branches++ == 0)
            work->lines[line].first_branch = (uint32_t)i;
    }
    report->branch_count = n;
    free(decisions);
    return find_joined(work);
}
