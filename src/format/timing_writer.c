/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the times of streams and sums to a receiver. */
#include "base/search.h"
#include "coretap/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ctx.h"
#include "base/name_suffix.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "format/program_match.h"
#include "format/svg_hist.h"
#include "format/timing_print.h"

#define TOP 20 /* default number of lines of a table */

struct ct_timing_writer {
    struct ct_ctx *ctx;
    struct ct_timing_write_options options;
    struct ct_out out;
    struct ct_json json;
    FILE *plots; /* in memory until their number is known; NULL: none yet */
    char *plots_text;
    size_t plots_size;
    size_t count;
    bool ended;
    bool is_open; /* the JSON array has begun; an error before its first entry writes nothing */
};

int ct_timing_writer_new(struct ct_ctx *ctx, const struct ct_timing_write_options *options,
                         ct_write_fn *write, void *user, struct ct_timing_writer **out)
{
    struct ct_timing_write_options mine;
    CT_REQUIRE_OUT(ctx, out, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    if (mine.format > CT_TIMING_FORMAT_SVG)
        return ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                       mine.format);
    struct ct_timing_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return ct_fail_nomem(ctx, "times");
    const int rc = ct_out_open(&writer->out, ctx, write, user);
    if (rc) {
        free(writer);
        return rc;
    }
    writer->ctx = ctx;
    writer->options = mine;
    writer->json.out = writer->out.file;
    *out = writer;
    return CT_OK;
}

static void close_array(struct ct_timing_writer *writer)
{
    if (writer->is_open)
        ct_json_array_end(&writer->json);
    writer->is_open = false;
}

/* Writes the file of all plots. Returns an enum ct_error. */
static int close_plots(struct ct_timing_writer *writer)
{
    if (!writer->plots)
        return CT_OK;
    bool lacks = ferror(writer->plots);
    lacks |= fclose(writer->plots) != 0;
    writer->plots = NULL;
    if (!lacks) {
        ct_svg_histograms_begin(writer->out.file, writer->count);
        fwrite(writer->plots_text, 1, writer->plots_size, writer->out.file);
        ct_svg_histograms_end(writer->out.file);
    }
    free(writer->plots_text);
    return lacks ? ct_fail_nomem(writer->ctx, "plots of times") : CT_OK;
}

void ct_timing_writer_free(struct ct_timing_writer *writer)
{
    CT_C_LOCALE;
    if (!writer)
        return;
    close_array(writer);
    (void)close_plots(writer);
    (void)ct_out_close(&writer->out, CT_OK);
    free(writer);
}

/* ---- control flow ---- */

/* Loads the control flow of the first program if the format needs it. */
static int load_cfg(const struct ct_timing_writer *writer, struct ct_timing_view *view)
{
    const struct ct_timing_write_options *options = &writer->options;
    const bool wanted = options->format == CT_TIMING_FORMAT_JSON || options->edges || options->blocks;
    struct ct_program *first = options->programs ? ct_programs_at(options->programs, 0) : NULL;
    struct ct_cfg *cfg = NULL;
    const int rc = wanted && first ? ct_program_cfg(first, &cfg) : CT_OK;
    view->cfg = cfg;
    return rc;
}

/* Returns the number of the first program in the sums, or CT_TIMING_NO_PROGRAM. */
static uint32_t first_program(const struct ct_timing_writer *writer, const struct ct_timing_view *view)
{
    struct ct_program *first = view->cfg ? ct_programs_at(writer->options.programs, 0) : NULL;
    for (uint32_t i = 0; first && i < view->found.program_count; i++) {
        const struct ct_program_identity program = ct_timing_sums_program(view->sums, i);
        if (ct_identity_is_of(&program, first))
            return i;
    }
    return CT_TIMING_NO_PROGRAM;
}

/* Computes the times of blocks from the edges of the graph's program, which are adjacent in sums. */
static void add_blocks(const struct ct_timing_view *view, struct ct_timing_block *blocks)
{
    const struct ct_timing_edge *edges = view->found.edges;
    size_t first = 0;
    while (first < view->found.edge_count && edges[first].program != view->cfg_program)
        first++;
    size_t end = first;
    while (end < view->found.edge_count && edges[end].program == view->cfg_program)
        end++;
    if (end > first)
        ct_timing_add_blocks(edges + first, end - first, view->cfg_shift, view->cfg, blocks);
}

/* ---- writing ---- */

/* Returns the distribution to plot, or NULL. */
static const struct ct_dist *plotted(const struct ct_timing_found *found, const char *name,
                                     const char **title)
{
    if (!name && found->pair_count) {
        *title = found->pairs[0].name;
        return &found->pairs[0].direct;
    }
    for (size_t i = 0; name && i < found->function_count; i++) {
        const struct ct_timing_function *f = &found->functions[i];
        if (f->inclusive.count &&
            (strcmp(f->name, name) == 0 || strcmp(f->label, name) == 0 || ct_name_enters(f->label, name))) {
            *title = f->label;
            return &f->inclusive;
        }
    }
    return NULL;
}

static int write_text(struct ct_timing_writer *writer, const struct ct_timing_view *view)
{
    const struct ct_timing_write_options *options = &writer->options;
    const struct ct_timing_wish wish = {.top = options->top ? (size_t)options->top : TOP,
                                        .edges = options->edges,
                                        .blocks = options->blocks,
                                        .longest = options->longest};
    return ct_tell_nomem(writer->ctx, "times", ct_timing_print_text(writer->out.file, view, &wish));
}

static int write_view(struct ct_timing_writer *writer, const struct ct_timing_view *view)
{
    const char *title = NULL;
    const struct ct_dist *dist;
    int rc = CT_OK;
    switch (writer->options.format) {
    case CT_TIMING_FORMAT_JSON:
        if (!writer->is_open)
            ct_json_array(&writer->json, NULL);
        writer->is_open = true;
        ct_timing_print_json(&writer->json, view);
        break;
    case CT_TIMING_FORMAT_SVG:
        dist = plotted(&view->found, writer->options.function, &title);
        if (!dist)
            return CT_OK;
        if (!writer->plots)
            writer->plots = open_memstream(&writer->plots_text, &writer->plots_size);
        if (!writer->plots)
            return ct_fail_nomem(writer->ctx, "plots of times");
        ct_svg_histogram(writer->plots, writer->count, title, view->core, dist);
        break;
    default:
        rc = write_text(writer, view);
        break;
    }
    writer->count++;
    fflush(writer->out.file);
    return writer->out.result ? writer->out.result : rc;
}

/* Computes the times of blocks, if there is a control flow, and writes everything. */
static int write_all(struct ct_timing_writer *writer, struct ct_timing_view *view)
{
    size_t count = 0;
    if (!view->cfg)
        return write_view(writer, view);
    ct_cfg_blocks(view->cfg, &count);
    struct ct_timing_block *blocks = calloc(count + 1, sizeof *blocks);
    if (!blocks)
        return ct_fail_nomem(writer->ctx, "times of blocks");
    add_blocks(view, blocks);
    view->blocks = blocks;
    const int rc = write_view(writer, view);
    free(blocks);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct ct_timing_edge *x = a, *y = b;
    const uint64_t left[] = {x->start, x->last, x->kind, !x->exec, x->next};
    const uint64_t right[] = {y->start, y->last, y->kind, !y->exec, y->next};
    size_t i = 0;
    while (i + 1 < sizeof left / sizeof *left && left[i] == right[i])
        i++;
    return ct_order(left[i], right[i]);
}

/* Writes the taken edges, sorted by address, because the order of edges, and the edges never taken, depend on
 * what else was decoded. */
static int write_in_order(struct ct_timing_writer *writer, struct ct_timing_view *view)
{
    struct ct_timing_edge *edges = malloc((view->found.edge_count + 1) * sizeof *edges);
    size_t count = 0;
    if (!edges)
        return ct_fail_nomem(writer->ctx, "times of edges");
    for (size_t i = 0; i < view->found.edge_count; i++)
        if (view->found.edges[i].count)
            edges[count++] = view->found.edges[i];
    if (count)
        qsort(edges, count, sizeof *edges, by_place);
    view->found.edges = edges;
    view->found.edge_count = count;
    const int rc = write_all(writer, view);
    free(edges);
    return rc;
}

int ct_timing_writer_stream(struct ct_timing_writer *writer, const struct ct_timing *timing,
                            const struct ct_timing_origin *origin)
{
    CT_C_LOCALE;
    CT_REQUIRE_OF(writer, timing, origin, origin->buffer, origin->core);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    struct ct_timing_view view = {.buffer = origin->buffer,
                                  .core = origin->core,
                                  .id = origin->id,
                                  .losses = origin->losses,
                                  .found = ct_timing_found_in(timing),
                                  .cfg_program = CT_TIMING_NO_PROGRAM};
    const int rc = load_cfg(writer, &view);
    if (rc)
        return rc;
    if (view.cfg)
        view.cfg_shift = ct_programs_at(writer->options.programs, 0)->shift;
    return write_in_order(writer, &view);
}

int ct_timing_writer_sums(struct ct_timing_writer *writer, struct ct_timing_sums *sums)
{
    CT_C_LOCALE;
    CT_REQUIRE_OF(writer, sums);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    const struct ct_analysis_captures *captures = &ct_timing_sums_analysis(sums)->captures;
    struct ct_timing_view view = {.sums = sums, .captures = captures, .losses = captures->losses};
    int rc = load_cfg(writer, &view) ?: ct_timing_sums_find(sums, &view.found);
    if (rc)
        return rc;
    view.cfg_program = first_program(writer, &view);
    if (view.cfg_program == CT_TIMING_NO_PROGRAM)
        view.cfg = NULL;
    return write_all(writer, &view);
}

int ct_timing_writer_end(struct ct_timing_writer *writer)
{
    CT_C_LOCALE;
    CT_REQUIRE(NULL, writer);
    if (writer->ended)
        return ct_fail_ended(writer->ctx, __func__);
    writer->ended = true;
    if (writer->options.format == CT_TIMING_FORMAT_JSON && !writer->is_open && !writer->count)
        ct_json_array(&writer->json, NULL);
    writer->is_open = writer->json.depth > 0;
    close_array(writer);
    const int rc = close_plots(writer);
    fflush(writer->out.file);
    return writer->out.result ? writer->out.result : rc;
}

size_t ct_timing_writer_count(const struct ct_timing_writer *writer)
{
    return writer ? writer->count : 0;
}
