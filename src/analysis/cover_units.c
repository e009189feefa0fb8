/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the compile units of the program, and those that a compiler optimised: their branches are not the
 * conditions of the source. */
#include "analysis/cover.h"
#include "base/ctx.h"

#include <stdlib.h>

int ct_cover_count_units(struct ct_cover_work *work)
{
    const struct ct_lines *lines = work->source.lines;
    struct ct_cover_report *report = &work->report;
    size_t count;
    const struct ct_line_scope *scopes = ct_lines_scopes(lines, &count);
    bool *used = calloc(count + 1, sizeof *used); /* by scope: it is a function with instructions */
    if (!used)
        return ct_fail_nomem(work->ctx, "coverage");
    for (size_t i = 0; i < report->insn_count; i++)
        if (work->scopes[i] != CT_LINE_NONE)
            used[ct_cover_outermost(scopes, work->scopes[i])] = true;
    uint32_t unit = CT_LINE_NONE;      /* of the last function */
    uint32_t optimised = CT_LINE_NONE; /* the last unit that counted */
    for (uint32_t i = 0; i < count; i++) {
        if (!used[i])
            continue;
        report->units += ct_lines_unit(lines, i) != unit;
        unit = ct_lines_unit(lines, i);
        if (!ct_lines_is_optimised(lines, i) || unit == optimised)
            continue;
        report->optimised_units++;
        optimised = unit;
    }
    free(used);
    return CT_OK;
}
