/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as text. */
#include "format/cover.h"
#include "base/printable.h"

#include <inttypes.h>

static void ratio(FILE *out, const char *what, struct ct_cover_ratio ratio)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out, "  %-13s %8" PRIu64 " of %8" PRIu64 "  %8s\n", what, ratio.seen, ratio.all,
            ct_cover_percent(text, ratio));
}

static void files(FILE *out, const struct ct_cover_view *view)
{
    char a[CT_NUMBER_SIZE];
    char b[CT_NUMBER_SIZE];
    char c[CT_NUMBER_SIZE];
    struct ct_cover_slice slice = {0};
    if (view->report->line_count)
        fprintf(out, "\n     lines  branches functions  file\n");
    while (ct_cover_next_file(view, &slice)) {
        struct ct_cover_sums sums = ct_cover_file_sums(view, &slice);
        fprintf(out, "  %8s  %8s  %8s  %s\n", ct_cover_percent(a, sums.lines),
                ct_cover_percent(b, sums.branches), ct_cover_percent(c, sums.functions), slice.path);
    }
}

static void list_functions(FILE *out, const struct ct_cover_view *view)
{
    char a[CT_NUMBER_SIZE];
    char b[CT_NUMBER_SIZE];
    fprintf(out, "\n      runs  instructions  branches  function\n");
    for (size_t i = 0; i < view->report->function_count; i++) {
        const struct ct_cover_function *f = &view->report->functions[i];
        struct ct_cover_ratio insns = {f->insns_run, f->insns};
        struct ct_cover_ratio branches = {f->branches_run, f->branches};
        fprintf(out, "  %8" PRIu64 "      %8s  %8s  %s\n", f->count, ct_cover_percent(a, insns),
                ct_cover_percent(b, branches), f->name);
    }
}

/* Writes the parts of a context that the trace tells. */
static void name_context(FILE *out, const struct ct_edge_context *c)
{
    if (c->others)
        fputs(" all others together", out);
    if (c->known & CT_CONTEXT_CTXT)
        fprintf(out, " id=%" PRIx32, c->ctxt);
    if (c->known & CT_CONTEXT_VMID)
        fprintf(out, " vmid=%" PRIx32, c->vmid);
    if (c->known & CT_CONTEXT_EL)
        fprintf(out, " el=%u", c->el_sec & 3u);
    if (!c->known && !c->others)
        fputs(" not known", out);
    fputc('\n', out);
}

static void list_contexts(FILE *out, const struct ct_cover_view *view)
{
    fprintf(out, "\n     lines  branches functions  instructions  conditions     calls  context\n");
    for (size_t i = 0; i < view->context_count; i++) {
        const struct ct_cover_sums *s = &view->contexts[i].sums;
        const struct ct_cover_ratio cells[] = {s->lines, s->branches,   s->functions,
                                               s->insns, s->conditions, s->calls};
        static const int widths[] = {10, 10, 10, 14, 12, 10};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            char text[CT_NUMBER_SIZE];
            fprintf(out, "%*s", widths[k], ct_cover_percent(text, cells[k]));
        }
        fputc(' ', out);
        name_context(out, &view->contexts[i].context);
    }
}

void ct_cover_text(FILE *out, const struct ct_cover_views *views, bool functions)
{
    for (size_t i = 0; i < views->count; i++) {
        const struct ct_cover_view *view = &views->views[i];
        const struct ct_cover_sums *sums = &view->report->sums;
        if (i)
            fputc('\n', out);
        ct_put_printable(out, view->program);
        fputc('\n', out);
        ratio(out, "functions", sums->functions);
        ratio(out, "lines", sums->lines);
        ratio(out, "instructions", sums->insns);
        ratio(out, "branches", sums->branches);
        ratio(out, "conditions", sums->conditions);
        ratio(out, "calls", sums->calls);
        if (sums->partial_lines)
            fprintf(out, "  %" PRIu64 " line%s ran in part\n", sums->partial_lines,
                    sums->partial_lines == 1 ? "" : "s");
        if (sums->hidden.all)
            fprintf(out,
                    "  %" PRIu64 " condition%s not observable (no branch shows %s); %" PRIu64 " executed\n",
                    sums->hidden.all, sums->hidden.all == 1 ? " is" : "s are",
                    sums->hidden.all == 1 ? "it" : "them", sums->hidden.seen);
        if (sums->joined_lines)
            fprintf(out, "  %" PRIu64 " line%s joined conditions, whose both ways do not prove MC/DC\n",
                    sums->joined_lines, sums->joined_lines == 1 ? " has" : "s have");
        if (view->report->unread_files)
            fprintf(out,
                    "  %" PRIu32 " source file%s not read, so decisions end there with the line "
                    "(--source-root)\n",
                    view->report->unread_files, view->report->unread_files == 1 ? " was" : "s were");
        if (view->report->elsewhere)
            fprintf(out,
                    "  %" PRIu64 " instructions ran in functions that are not listed (--all-functions)\n",
                    view->report->elsewhere);
        files(out, view);
        if (view->contexts)
            list_contexts(out, view);
        if (functions)
            list_functions(out, view);
    }
}
