/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as an lcov tracefile, with the records described in geninfo(1). Function names of C++ and
 * Rust are mangled, as gcov writes them, because readable names have commas; 'genhtml --demangle-cpp' reads
 * the mangled ones. */
#include "format/cover.h"

#include <inttypes.h>

static void functions(FILE *out, const struct ct_cover_view *view, uint32_t file)
{
    const struct ct_cover_report *report = view->report;
    uint64_t all = 0;
    uint64_t seen = 0;
    for (size_t i = 0; i < report->function_count; i++) {
        const struct ct_cover_function *f = &report->functions[i];
        if (f->file == file)
            fprintf(out, "FN:%" PRIu32 ",%s\n", f->line, f->linkage_name);
    }
    for (size_t i = 0; i < report->function_count; i++) {
        const struct ct_cover_function *f = &report->functions[i];
        if (f->file != file)
            continue;
        fprintf(out, "FNDA:%" PRIu64 ",%s\n", f->count, f->linkage_name);
        all++;
        seen += f->count > 0;
    }
    fprintf(out, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", all, seen);
}

static void direction(FILE *out, const struct ct_cover_line *line, uint32_t block, unsigned branch,
                      bool executed, uint64_t count)
{
    fprintf(out, "BRDA:%" PRIu32 ",%" PRIu32 ",%u,", line->line, block, branch);
    if (executed)
        fprintf(out, "%" PRIu64 "\n", count);
    else
        fprintf(out, "-\n");
}

static void branches(FILE *out, const struct ct_cover_view *view, const struct ct_cover_slice *slice)
{
    const struct ct_cover_report *report = view->report;
    for (size_t i = 0; i < slice->count; i++) {
        const struct ct_cover_line *line = &slice->lines[i];
        for (uint32_t k = 0; k < line->branches; k++) {
            const struct ct_cover_insn *insn = &report->insns[report->branches[line->first_branch + k]];
            direction(out, line, k, 0, insn->count > 0, insn->taken);
            direction(out, line, k, 1, insn->count > 0, insn->not_taken);
        }
    }
}

static void file(FILE *out, const struct ct_cover_view *view, const struct ct_cover_slice *slice)
{
    struct ct_cover_sums sums = ct_cover_file_sums(view, slice);
    fprintf(out, "TN:\nSF:%s\n", slice->path);
    functions(out, view, slice->file);
    branches(out, view, slice);
    fprintf(out, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", sums.branches.all, sums.branches.seen);
    for (size_t i = 0; i < slice->count; i++)
        fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", slice->lines[i].line, slice->lines[i].count);
    fprintf(out, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", sums.lines.all, sums.lines.seen);
}

void ct_cover_lcov(FILE *out, const struct ct_cover_views *views)
{
    for (size_t i = 0; i < views->count; i++) {
        struct ct_cover_slice slice = {0};
        while (ct_cover_next_file(&views->views[i], &slice))
            file(out, &views->views[i], &slice);
    }
}
