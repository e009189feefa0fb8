/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage by file, for all formats that have it. */
#define _GNU_SOURCE
#include "format/cover.h"
#include "base/saturate.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

static int by_file(const void *a, const void *b, void *functions)
{
    const struct ct_cover_function *x = &((const struct ct_cover_function *)functions)[*(const uint32_t *)a];
    const struct ct_cover_function *y = &((const struct ct_cover_function *)functions)[*(const uint32_t *)b];
    return ct_order(x->file, y->file)
           ?: ct_order(x->line, y->line)
           ?: strcmp(x->name, y->name)
           ?: strcmp(x->linkage_name, y->linkage_name);
}

bool ct_cover_sort_functions(struct ct_cover_view *view)
{
    const struct ct_cover_report *report = view->report;
    view->by_file = malloc((report->function_count + 1) * sizeof *view->by_file);
    if (!view->by_file)
        return false;
    for (uint32_t i = 0; i < report->function_count; i++)
        view->by_file[i] = i;
    qsort_r(view->by_file, report->function_count, sizeof *view->by_file, by_file, (void *)report->functions);
    return true;
}

static const struct ct_cover_function *function_at(const struct ct_cover_view *view, size_t i)
{
    return &view->report->functions[view->by_file[i]];
}

static size_t first_of(const struct ct_cover_view *view, uint32_t file)
{
    return CT_COUNT_WHILE(view->report->function_count, i, function_at(view, i)->file < file);
}

bool ct_cover_next_function(const struct ct_cover_view *view, uint32_t file, enum ct_cover_names names,
                            size_t *next, struct ct_cover_function *function)
{
    const size_t count = view->report->function_count;
    if (!*next)
        *next = first_of(view, file);
    if (*next == count || function_at(view, *next)->file != file)
        return false;
    *function = *function_at(view, *next);
    while (++*next < count) {
        const struct ct_cover_function *copy = function_at(view, *next);
        if (copy->file != file || copy->line != function->line || strcmp(copy->name, function->name) != 0 ||
            (names == CT_COVER_LINKAGE_NAMES && strcmp(copy->linkage_name, function->linkage_name) != 0))
            break;
        ct_add_up(&function->count, copy->count);
        function->lines += copy->lines;
        function->lines_run += copy->lines_run;
        function->branches += copy->branches;
        function->branches_run += copy->branches_run;
    }
    return true;
}

bool ct_cover_next_file(const struct ct_cover_view *view, struct ct_cover_slice *slice)
{
    const struct ct_cover_report *report = view->report;
    size_t first = slice->lines ? (size_t)(slice->lines - report->lines) + slice->count : 0;
    if (first >= report->line_count)
        return false;
    slice->lines = &report->lines[first];
    slice->file = slice->lines->file;
    slice->path = ct_lines_file(view->lines, slice->file);
    slice->count = 0;
    while (first + slice->count < report->line_count && slice->lines[slice->count].file == slice->file)
        slice->count++;
    return true;
}

static void add(struct ct_cover_ratio *ratio, bool seen)
{
    ratio->all++;
    ratio->seen += seen ? 1 : 0;
}

struct ct_cover_ratio ct_cover_line_branches(const struct ct_cover_report *report,
                                             const struct ct_cover_line *line)
{
    struct ct_cover_ratio branches = {0};
    for (uint32_t k = 0; k < line->branches; k++) {
        const struct ct_cover_insn *insn = &report->insns[report->branches[line->first_branch + k]];
        add(&branches, insn->taken > 0);
        add(&branches, insn->not_taken > 0);
    }
    return branches;
}

struct ct_cover_sums ct_cover_file_sums(const struct ct_cover_view *view, const struct ct_cover_slice *slice)
{
    const struct ct_cover_report *report = view->report;
    struct ct_cover_sums sums = {0};
    for (size_t i = 0; i < slice->count; i++) {
        const struct ct_cover_line *line = &slice->lines[i];
        add(&sums.lines, line->count > 0);
        sums.insns.all += line->insns;
        sums.insns.seen += line->insns_run;
        sums.partial_lines += line->insns_run && line->insns_run < line->insns;
        for (uint32_t k = 0; k < line->branches; k++) {
            const struct ct_cover_insn *insn = &report->insns[report->branches[line->first_branch + k]];
            add(&sums.branches, insn->taken > 0);
            add(&sums.branches, insn->not_taken > 0);
            add(&sums.conditions, insn->taken > 0 && insn->not_taken > 0);
        }
    }
    for (size_t i = first_of(view, slice->file);
         i < report->function_count && function_at(view, i)->file == slice->file; i++)
        add(&sums.functions, function_at(view, i)->insns_run > 0);
    return sums;
}

double ct_cover_rate(struct ct_cover_ratio ratio)
{
    return ratio.all ? (double)ratio.seen / (double)ratio.all : 1.0;
}

const char *ct_cover_percent(char text[CT_NUMBER_SIZE], struct ct_cover_ratio ratio)
{
    return ct_number_percent(text, ratio.seen, ratio.all);
}
