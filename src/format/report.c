/* SPDX-License-Identifier: Apache-2.0 */
/* The report: adds up captures when they end, and writes the page. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/c_locale.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "base/room.h"
#include "base/search.h"
#include "format/report_own.h"
#include "format/report_sums.h"

/* most executions of functions in the timeline; the longest are kept */
#define SLICES 20000

/* ---- the end of a capture ---- */

/* Sets the module of a function. Memory outside of programs has the name of its symbols. */
static void add_module(struct ct_report_function *function, const struct ct_program_place *place,
                       const struct ct_symbol *symbol)
{
    function->module = place->program ? place->program->path : ct_symbols_module(place->symbols);
    function->in_file = symbol->addr - ct_symbols_bias(place->symbols);
}

/* Adds the functions on any stack, and what was executed in them. (*index_of)[f] becomes the index of
 * function f of the stacks. */
static int add_functions(struct ct_report *r, uint32_t **index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(r->now.stacks, &count);
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (places[i].function > most)
            most = places[i].function;
    *index_of = calloc((size_t)most + 1, sizeof **index_of);
    r->now.functions = calloc((size_t)most + 1, sizeof *r->now.functions);
    if (!*index_of || !r->now.functions)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        (*index_of)[places[i].function] = 1;
    for (uint32_t f = 0; f <= most; f++) {
        if (!(*index_of)[f])
            continue;
        size_t program;
        const struct ct_symbol *symbol = ct_stacks_symbol(r->now.stacks, f, &program);
        struct ct_report_function *into = &r->now.functions[r->now.function_count];
        into->number = f;
        const int rc =
            symbol ? ct_report_find_place(r, symbol->addr + r->now.places[program].shift, &into->place)
                   : CT_OK;
        if (rc)
            return rc;
        into->place.function = ct_stacks_name(r->now.stacks, f);
        if (symbol)
            add_module(into, &r->now.places[program], symbol);
        (*index_of)[f] = (uint32_t)r->now.function_count++;
    }
    return CT_OK;
}

static bool is_within_itself(const struct ct_stack_place *places, size_t place)
{
    for (uint32_t at = places[place].parent; at != CT_STACK_NONE; at = places[at].parent)
        if (places[at].function == places[place].function)
            return true;
    return false;
}

int ct_report_add_up(const struct ct_stack_place *places, size_t count, const uint32_t *index_of,
                     struct ct_report_function *functions)
{
    struct below {
        uint64_t insns, cycles;
    } *below = calloc(count + 1, sizeof *below);
    if (!below)
        return CT_ERR_NOMEM;
    for (size_t i = count; i-- > 0;) {
        struct ct_report_function *f = &functions[index_of[places[i].function]];
        f->insns += places[i].insns;
        f->cycles += places[i].cycles;
        f->calls += places[i].calls;
        below[i].insns += places[i].insns;
        below[i].cycles += places[i].cycles;
        if (!is_within_itself(places, i)) {
            f->all_insns += below[i].insns;
            f->all_cycles += below[i].cycles;
        }
        if (places[i].parent != CT_STACK_NONE) {
            below[places[i].parent].insns += below[i].insns;
            below[places[i].parent].cycles += below[i].cycles;
        }
    }
    free(below);
    return CT_OK;
}

static int add_up(struct ct_report *r, const uint32_t *index_of)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(r->now.stacks, &count);
    return ct_report_add_up(places, count, index_of, r->now.functions);
}

static int by_addr(const void *a, const void *b)
{
    const struct ct_report_function *x = a, *y = b;
    return ct_order(x->place.addr, y->place.addr);
}

static int give_runs(struct ct_report *r)
{
    int rc = CT_OK;
    qsort(r->now.functions, r->now.function_count, sizeof *r->now.functions, by_addr);
    for (size_t i = 0; i < r->now.run_count && !rc; i++) {
        const struct ct_report_function wanted = {.place.addr = r->now.runs[i].addr};
        struct ct_report_function *f =
            bsearch(&wanted, r->now.functions, r->now.function_count, sizeof *r->now.functions, by_addr);
        if (!f)
            continue;
        rc = ct_dist_merge(&f->inclusive, &r->now.runs[i].inclusive);
        if (!rc)
            rc = ct_dist_merge(&f->self, &r->now.runs[i].self);
    }
    return rc;
}

/* Returns the path of the only program, or of the only one that was named or started. NULL when there are
 * several. */
static const char *program_of(const struct ct_programs *programs)
{
    const char *path = NULL;
    const struct ct_program *program;
    size_t count = 0;
    for (size_t i = 0; (program = ct_programs_at(programs, i)); i++)
        if (ct_programs_count(programs) == 1 || program->named || program->started) {
            path = program->path;
            count++;
        }
    return count == 1 ? path : NULL;
}

/* Adds the slices of the capture to those of all captures. */
static int keep_slices(struct ct_report *r)
{
    const struct ct_slices *from = &r->now.slices;
    int rc = CT_OK;
    r->slices.left_out += from->left_out;
    if (from->shortest > r->slices.shortest)
        r->slices.shortest = from->shortest;
    for (size_t i = 0; i < from->count && !rc; i++) {
        struct ct_slice slice = from->slices[i];
        slice.lane = r->now.stream_of[slice.lane];
        if (r->several) {
            const char *name = ct_stacks_name(r->now.stacks, slice.function);
            slice.function = ct_names_add(&r->names, name, strlen(name));
        }
        rc = slice.function == CT_NAMES_NONE ? CT_ERR_NOMEM : ct_slices_add(&r->slices, &slice);
    }
    return rc;
}

/* Adds the functions of one capture to the sums. */
static int add_up_functions(struct ct_report *r)
{
    uint32_t *index_of = NULL;
    int rc = add_functions(r, &index_of);
    if (!rc)
        rc = add_up(r, index_of);
    free(index_of);
    return rc ? rc : give_runs(r);
}

/* Adds the stacks of the capture to the sums, and keeps those of its threads. */
static int keep_stacks(struct ct_report *r)
{
    const int rc = ct_stack_sums_add(r->stacks, r->now.stacks);
    return rc ? rc
              : ct_report_kept_add(&r->kept, r->now.stacks, r->now.places, r->now.stream_of, r->now.cycles);
}

static int add_up_capture(struct ct_report *r)
{
    int rc = r->now.stacks ? CT_OK : ct_report_make_stacks(r);
    if (!rc)
        rc = ct_stacks_finish(r->now.stacks);
    if (!rc)
        rc = ct_report_take_slices(r);
    if (!rc)
        rc = r->several ? keep_stacks(r) : add_up_functions(r);
    return rc ? rc : keep_slices(r);
}

/* Refuses a capture whose times are in another unit, because cycles and instructions do not add up.
 * CT_ERR_ARG. */
static int check_unit(struct ct_report *r, const char *name, bool has_steps)
{
    if (has_steps && r->has_steps && r->cycles != r->now.cycles)
        return ct_fail(r->ctx, CT_ERR_ARG,
                       "%s: its trace has %s cycle counts, and that of the earlier captures has %s, so times "
                       "cannot be added; write a report for each",
                       name, r->now.cycles ? "" : "no", r->now.cycles ? "none" : "them");
    if (has_steps)
        r->cycles = r->now.cycles;
    r->has_steps = r->has_steps || has_steps;
    return CT_OK;
}

static int add_capture(struct ct_report *r, const char *name, const char *kind)
{
    struct ct_arena *arena = &r->arena;
    if (!CT_PUSH_ROOM(r->captures, r->capture_count))
        return CT_ERR_NOMEM;
    struct ct_report_capture *captures = r->captures;
    captures[r->capture_count] =
        (struct ct_report_capture){ct_arena_strdup(arena, name), ct_arena_strdup(arena, kind)};
    if (!captures[r->capture_count].name || !captures[r->capture_count].kind)
        return CT_ERR_NOMEM;
    const char *path = program_of(r->programs);
    r->programs_differ =
        r->programs_differ || !path || (r->capture_count && (!r->program || strcmp(r->program, path) != 0));
    if (path && !(r->program = ct_arena_strdup(arena, path)))
        return CT_ERR_NOMEM;
    r->capture_count++;
    return CT_OK;
}

static void forget_capture(struct ct_report *r)
{
    struct ct_report_collected *now = &r->now;
    const struct ct_slices window = {.most = SLICES, .begin = now->slices.begin, .end = now->slices.end};
    ct_report_close_streams(r);
    for (size_t i = 0; i < now->run_count; i++) {
        ct_dist_free(&now->runs[i].inclusive);
        ct_dist_free(&now->runs[i].self);
    }
    for (size_t i = 0; i < now->function_count; i++) {
        ct_dist_free(&now->functions[i].inclusive);
        ct_dist_free(&now->functions[i].self);
    }
    ct_slices_free(&now->slices);
    ct_stacks_free(now->stacks);
    free(now->runs);
    free(now->functions);
    free(now->stream_of);
    *now = (struct ct_report_collected){.slices = window};
    r->has_now = false;
}

static int end_capture(struct ct_report *r, const char *name, const char *kind)
{
    int rc = check_unit(r, name, r->now.stacks != NULL);
    r->renewed += r->now.stacks ? ct_stacks_renewed(r->now.stacks) : 0;
    if (!rc)
        rc = add_up_capture(r);
    return ct_tell_nomem(r->ctx, "report", rc ? rc : add_capture(r, name, kind));
}

int ct_report_events(struct ct_report *r, const struct ct_event_origin *origin,
                     const struct ct_timed_event *events, size_t count)
{
    CT_REQUIRE_OF(r, origin, events || !count);
    if (r->over || r->several)
        return ct_fail(
            r->ctx, CT_ERR_ARG, "%s: %s", __func__,
            r->over
                ? CT_REPORT_WRITTEN
                : "the report is of several captures, but events belong to one capture; nothing was added");
    return ct_report_named_add(&r->named, origin, events, count);
}

int ct_report_end(struct ct_report *r, const char *name, const char *kind)
{
    CT_REQUIRE_OF(r, name, kind);
    if (r->over || !r->several)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__,
                       r->over
                           ? CT_REPORT_WRITTEN
                           : "the report is of one capture; set options.several to add results of several");
    const int rc = end_capture(r, name, kind);
    forget_capture(r);
    return rc;
}

/* ---- the end of all captures ---- */

static int by_cycles(const void *a, const void *b)
{
    const struct ct_report_function *x = a, *y = b;
    return ct_order(y->cycles, x->cycles) ?: ct_order(y->insns, x->insns) ?: ct_order(x->number, y->number);
}

static int by_edge_time(const void *a, const void *b)
{
    const struct ct_report_edge *x = a, *y = b;
    return ct_order(y->cycles.sum, x->cycles.sum)
           ?: ct_order(y->count, x->count)
           ?: ct_order(x->from.addr, y->from.addr)
           ?: ct_order(x->to.addr, y->to.addr)
           ?: ct_order(x->stream, y->stream);
}

/* Sorts functions and edges, those with the most time first. */
static void sort(struct ct_report_function *functions, size_t function_count, struct ct_report_edge *edges,
                 size_t edge_count)
{
    if (function_count)
        qsort(functions, function_count, sizeof *functions, by_cycles);
    if (edge_count)
        qsort(edges, edge_count, sizeof *edges, by_edge_time);
}

/* Ends the only capture, or one that the caller did not end. */
static int finish(struct ct_report *r, const struct ct_report_write_options *options)
{
    int rc = CT_OK;
    if (r->has_now || !r->several)
        rc = end_capture(r, options->capture ? options->capture : "capture",
                         options->kind ? options->kind : "trace");
    if (rc)
        return rc;
    rc = ct_report_named_end(&r->named);
    if (rc)
        return ct_fail_nomem(r->ctx, "report");
    ct_slices_end(&r->slices);
    sort(r->now.functions, r->now.function_count, r->edges, r->edge_count);
    return CT_OK;
}

/* ---- the object ---- */

static int make_sums(struct ct_report *r, uint8_t raw_names)
{
    const struct ct_stack_sums_options names = {.size = sizeof names, .raw_names = raw_names};
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes, .raw_names = raw_names};
    const int rc = ct_stack_sums_new(r->ctx, &names, &r->stacks);
    return rc ? rc : ct_timing_sums_new(r->ctx, &wishes, &r->times);
}

int ct_report_new(struct ct_ctx *ctx, struct ct_programs *programs, const struct ct_report_options *options,
                  struct ct_report **out)
{
    struct ct_report_options o;
    CT_REQUIRE_OUT(ctx, out, programs);
    const int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    struct ct_report *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "report");
    r->ctx = ctx;
    r->programs = programs;
    r->slices = (struct ct_slices){.most = SLICES, .begin = o.from, .end = o.to ? o.to : UINT64_MAX};
    r->now.slices = r->slices;
    r->several = o.several;
    r->together = o.together;
    r->named.ctx = r->named.lines.ctx = ctx;
    r->named.lines.programs = programs;
    const int made = o.several ? make_sums(r, o.raw_names) : CT_OK;
    if (made)
        ct_report_free(r);
    else
        *out = r;
    return made;
}

struct ct_stack_sums *ct_report_stacks(const struct ct_report *r)
{
    return r ? r->stacks : NULL;
}

struct ct_timing_sums *ct_report_times(const struct ct_report *r)
{
    return r ? r->times : NULL;
}

void ct_report_free(struct ct_report *r)
{
    if (!r)
        return;
    forget_capture(r);
    ct_slices_free(&r->slices);
    ct_stack_sums_free(r->stacks);
    ct_timing_sums_free(r->times);
    ct_names_free(&r->names);
    ct_report_kept_free(&r->kept);
    ct_report_named_free(&r->named);
    ct_arena_free(&r->arena);
    free(r->captures);
    for (size_t i = 0; i < r->stream_count; i++)
        ct_report_clock_free(&r->streams[i].clock);
    free(r->streams);
    free(r->edges);
    free(r);
}

uint64_t ct_report_renewed(const struct ct_report *r)
{
    if (!r)
        return 0;
    return r->renewed + (r->now.stacks && !r->over ? ct_stacks_renewed(r->now.stacks) : 0);
}

/* Writes the page with the sums over captures and saved results. */
static int write_sums(struct ct_report *r, struct ct_report_page *page, FILE *out)
{
    struct ct_report_sums sums = {0};
    int rc = ct_report_sums_make(r->programs, r->stacks, r->times, &r->kept, &sums);
    sort(sums.functions, sums.ran_count, sums.edges, sums.edge_count);
    page->cycles = sums.cycles;
    page->functions = sums.functions;
    page->function_count = sums.function_count;
    page->ran_count = sums.ran_count;
    page->edges = sums.edges;
    page->edge_count = sums.edge_count;
    page->edges_left_out = sums.edges_left_out;
    page->places = sums.places;
    page->place_count = sums.place_count;
    page->threads = sums.threads.count > 1 ? &sums.threads : NULL;
    page->all_cycles = sums.all_cycles;
    page->slice_names = r->names.names;
    page->slice_name_count = r->names.count;
    if (!rc)
        rc = ct_report_html(out, page);
    page->threads = NULL;
    ct_report_sums_free(&sums);
    return rc;
}

/* Writes the page of the only capture. */
static int write_capture(const struct ct_report *r, struct ct_report_page *page, FILE *out)
{
    page->functions = r->now.functions;
    page->function_count = page->ran_count = r->now.function_count;
    page->edges = r->edges;
    page->edge_count = r->edge_count;
    page->edges_left_out = r->edges_left_out;
    struct ct_report_threads threads = {0};
    int rc = ct_report_threads_make(r->now.stacks, r->now.stream_of, r->cycles, &threads);
    page->places = threads.places;
    page->place_count = threads.place_count;
    page->threads = threads.count > 1 ? &threads : NULL;
    if (!rc)
        rc = ct_report_html(out, page);
    page->threads = NULL;
    page->places = NULL;
    ct_report_threads_free(&threads);
    return rc;
}

static int write_page(struct ct_report *r, const struct ct_report_write_options *options, FILE *out)
{
    struct ct_report_page page = {
        .captures = r->captures,
        .capture_count = r->capture_count,
        .program = r->programs_differ ? NULL : r->program,
        .cycles = r->cycles,
        .losses = options->losses,
        .streams = r->streams,
        .stream_count = r->stream_count,
        .slices = &r->slices,
        .slice_cycles = r->cycles,
        .together = !r->several || r->together,
        .named = r->named.row_count || r->named.text_count ? &r->named : NULL,
        .inputs = options->inputs,
        .input_count = options->input_count,
        .cover = options->cover,
        .wcet = options->wcet,
        .no_wcet = options->no_wcet,
    };
    return ct_tell_nomem(r->ctx, "report",
                         r->several ? write_sums(r, &page, out) : write_capture(r, &page, out));
}

int ct_report_write(struct ct_report *r, const struct ct_report_write_options *options, ct_write_fn *write,
                    void *user)
{
    CT_C_LOCALE;
    struct ct_report_write_options o;
    struct ct_out out;
    CT_REQUIRE_OF(r, write);
    int rc = ct_options_read(r->ctx, __func__, options, &o, sizeof o);
    if (!rc && r->several != (o.input_count > 0))
        return ct_fail(r->ctx, CT_ERR_ARG,
                       "%s: only a report of several captures has inputs; set options.several", __func__);
    if (!rc && !r->over) {
        r->result = finish(r, &o);
        r->over = true;
    }
    if (!rc)
        rc = r->result;
    if (!rc)
        rc = ct_out_open(&out, r->ctx, write, user);
    return rc ? rc : ct_out_close(&out, write_page(r, &o, out.file));
}
