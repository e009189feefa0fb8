/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the coverage of each program. */
#include "format/cover.h"

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool ct_cover_is_first(struct ct_cover *cover, struct ct_programs *programs, struct ct_program *program)
{
    uint32_t number = 0;
    uint32_t other = 0;
    (void)ct_cover_number(cover, program, &number); /* cannot fail: all programs are in the counts */
    for (size_t i = 0; ct_programs_at(programs, i) != program; i++)
        if (ct_cover_number(cover, ct_programs_at(programs, i), &other) == CT_OK && other == number)
            return false;
    return true;
}

static bool in_context(const struct ct_cover_choice *choice, const struct ct_edge_context *context)
{
    bool found = choice->context_count == 0;
    for (size_t i = 0; i < choice->context_count && !found; i++)
        found = context->known & CT_CONTEXT_CTXT && context->ctxt == choice->contexts[i] && !context->others;
    return found;
}

/* Adds the items of the wanted contexts to `chosen`. */
static int choose(struct ct_cover *cover, uint32_t program, const struct ct_cover_choice *choice,
                  struct ct_cover *chosen, uint32_t *number)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(cover, &contexts);
    const struct ct_program_identity id = ct_cover_program_at(cover, program);
    int result = ct_cover_program(chosen, &id, number);
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        struct ct_cover_item *some = NULL;
        size_t n = 0;
        if (!in_context(choice, &all[i]))
            continue;
        result = ct_cover_items(cover, program, i, &some, &n);
        for (size_t k = 0; result == CT_OK && k < n; k++)
            result = ct_cover_add_item(chosen, *number, &all[i], &some[k]);
        free(some);
    }
    return result;
}

int ct_cover_choose(struct ct_cover *cover, struct ct_program *p, const struct ct_cover_choice *choice,
                    struct ct_cover_item **items, size_t *count)
{
    uint32_t program;
    uint32_t number = 0;
    struct ct_cover *chosen;
    int result = ct_cover_number(cover, p, &program);
    if (result != CT_OK || !choice->context_count)
        return result ? result : ct_cover_items(cover, program, CT_EDGES_ALL, items, count);
    result = ct_cover_new(ct_cover_analysis(cover)->ctx, &chosen);
    if (result != CT_OK)
        return result;
    result = choose(cover, program, choice, chosen, &number);
    if (result == CT_OK)
        result = ct_cover_items(chosen, number, CT_EDGES_ALL, items, count);
    ct_cover_free(chosen);
    return result;
}

int ct_cover_source_of(struct ct_program *p, const struct ct_cover_choice *choice,
                       struct ct_cover_source *source)
{
    *source = (struct ct_cover_source){
        .size = sizeof *source, .all_functions = choice->all_functions, .decisions = choice->decisions};
    if (choice->arch)
        source->arch = *choice->arch;
    else
        (void)ct_arch_by_name("ARM-AA64", &source->arch);
    int rc = ct_program_memory(p, &source->memory); /* first: the other parts are read from its bytes */
    if (!rc)
        rc = ct_program_symbols(p, &source->symbols);
    if (!rc)
        rc = ct_program_code(p, &source->code, &source->code_count);
    return rc ? rc : ct_program_lines(p, &source->lines);
}

int ct_cover_report_of(struct ct_cover *cover, struct ct_program *p, const struct ct_cover_choice *choice,
                       struct ct_cover_source *source, struct ct_cover_report **report)
{
    struct ct_cover_item *items;
    size_t count;
    int result = ct_cover_source_of(p, choice, source);
    if (result == CT_OK)
        result = ct_cover_choose(cover, p, choice, &items, &count);
    if (result == CT_OK) {
        result = ct_cover_report_new(ct_cover_analysis(cover)->ctx, source, items, count, report);
        free(items);
    }
    return result;
}

/* ---- contexts ---- */

/* Computes the sums of one context. Sets *ran when anything of the program ran in it. */
static int sum_context(struct ct_cover *cover, struct ct_program *p, const struct ct_cover_source *source,
                       size_t context, struct ct_cover_sums *sums, bool *ran)
{
    struct ct_cover_report *report;
    struct ct_cover_item *items = NULL;
    uint32_t number;
    size_t count = 0;
    *ran = false;
    int result = ct_cover_number(cover, p, &number);
    if (result == CT_OK)
        result = ct_cover_items(cover, number, context, &items, &count);
    if (result == CT_OK && count)
        result = ct_cover_report_new(ct_cover_analysis(cover)->ctx, source, items, count, &report);
    free(items);
    if (result != CT_OK || !count)
        return result;
    *sums = report->sums;
    *ran = true;
    ct_cover_report_free(report);
    return CT_OK;
}

static int by_who(const void *a, const void *b)
{
    const struct ct_cover_context *x = a;
    const struct ct_cover_context *y = b;
    return ct_edge_context_order(&x->context, &y->context);
}

static int add_contexts(struct ct_cover *cover, struct ct_program *p, const struct ct_cover_choice *choice,
                        const struct ct_cover_source *source, struct ct_cover_view *view)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(cover, &contexts);
    struct ct_cover_context *rows = calloc(contexts + 1, sizeof *rows);
    int result = CT_OK;
    if (!rows)
        return ct_fail_nomem(ct_cover_analysis(cover)->ctx, "coverage");
    view->contexts = rows;
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        bool ran = false;
        if (in_context(choice, &all[i]))
            result = sum_context(cover, p, source, i, &rows[view->context_count].sums, &ran);
        if (ran)
            rows[view->context_count++].context = all[i];
    }
    qsort(rows, view->context_count, sizeof *rows, by_who);
    return result;
}

/* ---- all programs ---- */

static int add_view(struct ct_cover_views *views, struct ct_cover *cover, struct ct_program *program,
                    const struct ct_cover_views_options *options)
{
    struct ct_cover_choice choice = {.arch = options->arch,
                                     .contexts = options->contexts,
                                     .context_count = options->contexts ? options->context_count : 0,
                                     .all_functions = options->all_functions};
    struct ct_cover_view *view = &views->views[views->count];
    struct ct_cover_source source;
    int result = ct_cover_source_of(program, &choice, &source);
    if (result == CT_OK)
        result = ct_cover_decisions_new(views->ctx, source.lines, &view->decisions);
    choice.decisions = view->decisions;
    views->count++; /* the view exists, and is freed with the others */
    if (result == CT_OK)
        result = ct_cover_report_of(cover, program, &choice, &source, &view->report);
    if (result != CT_OK)
        return result;
    view->program = program->path;
    view->lines = source.lines;
    view->memory = source.memory;
    if (!ct_cover_sort_functions(view))
        return ct_fail_nomem(views->ctx, "coverage");
    return options->each_context ? add_contexts(cover, program, &choice, &source, view) : CT_OK;
}

static int fill(struct ct_cover_views *views, struct ct_cover *cover, struct ct_programs *programs,
                const struct ct_cover_views_options *options)
{
    const size_t count = ct_programs_count(programs);
    int result = CT_OK;
    views->captures = ct_cover_analysis(cover)->captures;
    views->share = *ct_cover_ran(cover);
    views->title = strdup(options->title ? options->title : "capture");
    views->views = calloc(count + 1, sizeof *views->views);
    if (!views->title || !views->views)
        return ct_fail_nomem(views->ctx, "coverage");
    for (size_t i = 0; i < count && result == CT_OK; i++) {
        struct ct_program *program = ct_programs_at(programs, i);
        if (ct_cover_is_first(cover, programs, program))
            result = add_view(views, cover, program, options);
    }
    return result;
}

int ct_cover_views_new(struct ct_cover *cover, struct ct_programs *programs,
                       const struct ct_cover_views_options *options, struct ct_cover_views **out)
{
    struct ct_cover_views_options mine;
    struct ct_ctx *ctx = cover ? ct_cover_analysis(cover)->ctx : NULL;
    CT_REQUIRE_OUT(ctx, out, cover, programs);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    struct ct_cover_views *views = calloc(1, sizeof *views);
    if (!views)
        return ct_fail_nomem(ctx, "coverage");
    views->ctx = ctx;
    const int result = fill(views, cover, programs, &mine);
    if (result == CT_OK)
        *out = views;
    else
        ct_cover_views_free(views);
    return result;
}

void ct_cover_views_free(struct ct_cover_views *views)
{
    for (size_t i = 0; views && i < views->count; i++) {
        ct_cover_report_free(views->views[i].report);
        ct_cover_decisions_free(views->views[i].decisions);
        free(views->views[i].contexts);
        free(views->views[i].by_file);
    }
    if (views) {
        free(views->views);
        free(views->title);
    }
    free(views);
}

size_t ct_cover_views_count(const struct ct_cover_views *views)
{
    return views ? views->count : 0;
}

const struct ct_cover_report *ct_cover_views_report(const struct ct_cover_views *views, size_t number)
{
    return views && number < views->count ? views->views[number].report : NULL;
}

static int write_as(FILE *out, const struct ct_cover_views *views,
                    const struct ct_cover_write_options *options)
{
    switch (options->format) {
    case CT_COVER_FORMAT_TEXT:
        ct_cover_text(out, views, options->functions);
        break;
    case CT_COVER_FORMAT_LCOV:
        if (!ct_cover_lcov(out, views))
            return ct_fail(
                views->ctx, CT_ERR_NOT_FOUND,
                "%s: the tracefile is empty, because no line that is known is one of a source file; "
                "choose another format",
                views->title);
        break;
    case CT_COVER_FORMAT_COBERTURA:
        ct_cover_cobertura(out, views, options->seconds ? options->seconds : (uint64_t)time(NULL));
        break;
    case CT_COVER_FORMAT_JSON:
        ct_cover_json(out, views);
        break;
    case CT_COVER_FORMAT_SONARQUBE:
        ct_cover_sonarqube(out, views);
        break;
    default:
        return ct_tell_nomem(views->ctx, "coverage", ct_cover_html(out, views));
    }
    return CT_OK;
}

int ct_cover_views_write(const struct ct_cover_views *views, const struct ct_cover_write_options *options,
                         ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct ct_cover_write_options mine;
    struct ct_out out;
    CT_REQUIRE_OF(views, write);
    if (ct_options_read(views->ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_COVER_FORMAT_SONARQUBE)
        return ct_fail(views->ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    return ct_out_open(&out, views->ctx, write, user) ?: ct_out_close(&out, write_as(out.file, views, &mine));
}
