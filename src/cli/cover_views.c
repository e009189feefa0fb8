/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cover_views.h"

#include <stdlib.h>

static bool add_contexts(struct cli_counts *c, struct ct_program *p, struct ct_cover_view *view)
{
    struct ct_cover_context *rows;
    const bool fine = cli_counts_contexts(c, p, &rows, &view->context_count);
    view->contexts = rows;
    return fine;
}

bool cli_cover_views_make(struct cli_counts *c, struct cli_cover_views *out)
{
    const size_t count = ct_programs_count(c->read.programs);
    *out = (struct cli_cover_views){.count = count};
    out->views = calloc(count + 1, sizeof *out->views);
    out->sources = calloc(count + 1, sizeof *out->sources);
    out->reports = calloc(count + 1, sizeof(struct ct_cover_report *));
    if (!out->views || !out->sources || !out->reports) {
        cli_no_memory();
        return false;
    }
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        struct ct_program *p = ct_programs_at(c->read.programs, i);
        if (!cli_counts_is_first(c, p))
            continue;
        if (!cli_counts_report(c, p, &out->sources[i], &out->reports[i]))
            return false;
        struct ct_cover_view *view = &out->views[shown++];
        *view = (struct ct_cover_view){.program = p->path,
                                       .report = out->reports[i],
                                       .lines = out->sources[i].lines,
                                       .memory = out->sources[i].memory};
        if (c->contexts && !add_contexts(c, p, view))
            return false;
    }
    const int others = c->read.args->rest_count - 1;
    snprintf(out->several, sizeof out->several, "%s and %d more", c->read.args->operand, others);
    out->list = (struct ct_cover_views){.views = out->views,
                                        .count = shown,
                                        .title = others > 0 ? out->several : c->read.args->operand,
                                        .captures = cli_counts_captures(c)};
    return true;
}

void cli_cover_views_free(struct cli_cover_views *views)
{
    for (size_t i = 0; views->reports && i < views->count; i++)
        ct_cover_report_free(views->reports[i]);
    for (size_t i = 0; views->views && i < views->count; i++)
        free((void *)(uintptr_t)views->views[i].contexts);
    free(views->reports);
    free(views->sources);
    free(views->views);
}
