/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage by file, for all formats that have it. */
#include "format/cover.h"

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
    for (size_t i = 0; i < report->function_count; i++)
        if (report->functions[i].file == slice->file)
            add(&sums.functions, report->functions[i].insns_run > 0);
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
