/* SPDX-License-Identifier: Apache-2.0 */
/* A report: captures are added up when they are over, and written as a page. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "format/out.h"
#include "format/report_own.h"
#include "format/report_saved.h"

/* Executions of functions in the timeline, at most: the longest ones. */
#define SLICES 20000

/* ---- after a capture ---- */

/* Functions that are on a stack somewhere, by their number, with what was executed in them. */
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
    const struct ct_report_function *x = a;
    const struct ct_report_function *y = b;
    return x->place.addr < y->place.addr ? -1 : x->place.addr > y->place.addr;
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

/* The path of the only program, or of the only one that was named or started; NULL: there are several. */
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

static int by_number(const void *a, const void *b)
{
    const struct ct_report_function *x = a;
    const struct ct_report_function *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds the functions, which are in that order, to the sums, by their number in the stacks. `numbers` are
 * those in the sums. */
static int keep_functions(struct ct_report *r, uint32_t *numbers)
{
    struct ct_report_collected *now = &r->now;
    int rc = CT_OK;
    for (size_t i = 0; i < now->function_count && !rc; i++) {
        const struct ct_report_function *f = &now->functions[i];
        size_t program;
        const struct ct_symbol *symbol = ct_stacks_symbol(now->stacks, f->number, &program);
        const struct ct_program *file = symbol ? now->places[program].program : NULL;
        const struct ct_report_key key = {
            .program = file ? file->path : "", .addr = symbol ? symbol->addr : 0, .name = f->place.function};
        rc = ct_report_sums_function(&r->sums, &key, f, &numbers[f->number]);
    }
    return rc;
}

/* Adds the slices to those of all captures; what was left out stays so. */
static int keep_slices(struct ct_report *r, const uint32_t *numbers)
{
    const struct ct_slices *from = &r->now.slices;
    int rc = CT_OK;
    r->slices.left_out += from->left_out;
    if (from->shortest > r->slices.shortest)
        r->slices.shortest = from->shortest;
    for (size_t i = 0; i < from->count && !rc; i++) {
        struct ct_slice slice = from->slices[i];
        slice.lane = r->now.stream_of[slice.lane];
        slice.function = numbers[slice.function];
        rc = ct_slices_add(&r->slices, &slice);
    }
    return rc;
}

/* Adds all that was found to what captures before have. */
static int keep(struct ct_report *r)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(r->now.stacks, &count);
    const size_t functions = r->now.function_count;
    if (functions)
        qsort(r->now.functions, functions, sizeof *r->now.functions, by_number);
    const uint32_t most = functions ? r->now.functions[functions - 1].number : 0;
    uint32_t *numbers = calloc((size_t)most + 1, sizeof *numbers);
    int rc = numbers ? keep_functions(r, numbers) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_report_sums_places(&r->sums, places, count, numbers);
    if (!rc)
        rc = keep_slices(r, numbers);
    free(numbers);
    return rc;
}

static int add_up_capture(struct ct_report *r)
{
    uint32_t *index_of = NULL;
    int rc = r->now.stacks ? CT_OK : ct_report_make_stacks(r);
    if (!rc)
        rc = ct_stacks_end(r->now.stacks);
    if (!rc)
        rc = ct_report_take_slices(r);
    if (!rc)
        rc = add_functions(r, &index_of);
    if (!rc)
        rc = add_up(r, index_of);
    free(index_of);
    if (!rc)
        rc = give_runs(r);
    return rc ? rc : keep(r);
}

/* Cycles and instructions do not add up. */
static int check_unit(struct ct_report *r, const char *name, bool has_steps)
{
    if (has_steps && r->has_steps && r->cycles != r->now.cycles)
        return ct_fail(r->ctx, CT_ERR_ARG,
                       "%s: its trace has %s cycle counts, and that of the captures before it has %s: times "
                       "do not add up; write a report of each",
                       name, r->now.cycles ? "" : "no", r->now.cycles ? "none" : "them");
    if (has_steps)
        r->cycles = r->now.cycles;
    r->has_steps = r->has_steps || has_steps;
    return CT_OK;
}

static int add_capture(struct ct_report *r, const char *name, const char *kind)
{
    struct ct_arena *arena = &r->sums.arena;
    struct ct_report_capture *captures = realloc(r->captures, (r->capture_count + 1) * sizeof *captures);
    if (!captures)
        return CT_ERR_NOMEM;
    r->captures = captures;
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
    *now = (struct ct_report_collected){.slices = window};
    r->has_now = false;
}

static int end_capture(struct ct_report *r, const char *name, const char *kind)
{
    int rc = check_unit(r, name, r->now.stacks != NULL);
    r->renewed += r->now.stacks ? ct_stacks_renewed(r->now.stacks) : 0;
    if (!rc)
        rc = add_up_capture(r);
    if (!rc)
        rc = add_capture(r, name, kind);
    forget_capture(r);
    return ct_tell_nomem(r->ctx, "report", rc);
}

int ct_report_end(struct ct_report *r, const char *name, const char *kind)
{
    if (!r || !name || !kind)
        return ct_fail_null(r ? r->ctx : NULL, __func__);
    if (r->over)
        return ct_fail(r->ctx, CT_ERR_ARG, "%s: %s", __func__, CT_REPORT_WRITTEN);
    return end_capture(r, name, kind);
}

/* ---- after all ---- */

static int by_cycles(const void *a, const void *b)
{
    const struct ct_report_function *x = a;
    const struct ct_report_function *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    if (x->insns != y->insns)
        return x->insns > y->insns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_edge_time(const void *a, const void *b)
{
    const struct ct_report_edge *x = a;
    const struct ct_report_edge *y = b;
    if (x->cycles.sum != y->cycles.sum)
        return x->cycles.sum > y->cycles.sum ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->from.addr != y->from.addr)
        return x->from.addr < y->from.addr ? -1 : 1;
    if (x->to.addr != y->to.addr)
        return x->to.addr < y->to.addr ? -1 : 1;
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

void ct_report_sort(struct ct_report_function *functions, size_t function_count, struct ct_report_edge *edges,
                    size_t edge_count)
{
    if (function_count)
        qsort(functions, function_count, sizeof *functions, by_cycles);
    if (edge_count)
        qsort(edges, edge_count, sizeof *edges, by_edge_time);
}

/* Sorts what was added up. A report of which nothing was ended is of one capture. */
static int finish(struct ct_report *r, const struct ct_report_write_options *options)
{
    int rc = CT_OK;
    if (r->has_now || (!r->capture_count && !options->input_count))
        rc = end_capture(r, options->capture ? options->capture : "capture",
                         options->kind ? options->kind : "trace");
    if (rc)
        return rc;
    ct_slices_end(&r->slices);
    ct_report_sort(r->sums.functions, r->sums.function_count, r->edges, r->edge_count);
    return CT_OK;
}

/* ---- the object ---- */

int ct_report_new(struct ct_ctx *ctx, struct ct_programs *programs, const struct ct_report_options *options,
                  struct ct_report **out)
{
    struct ct_report_options o;
    if (!programs || !out)
        return ct_fail_null(ctx, __func__);
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
    *out = r;
    return CT_OK;
}

void ct_report_free(struct ct_report *r)
{
    if (!r)
        return;
    forget_capture(r);
    ct_slices_free(&r->slices);
    ct_report_sums_free(&r->sums);
    free(r->captures);
    free(r->streams);
    free(r->edges);
    free(r);
}

uint64_t ct_report_renewed(const struct ct_report *r)
{
    if (!r)
        return 0;
    return r->renewed + (r->now.stacks ? ct_stacks_renewed(r->now.stacks) : 0);
}

/* The names of functions in slices, by their number. NULL without memory. */
static const char **slice_names(const struct ct_report *r)
{
    const char **names = calloc(r->sums.function_count + 1, sizeof *names);
    for (size_t i = 0; names && i < r->sums.function_count; i++)
        names[r->sums.functions[i].number] = r->sums.functions[i].place.function;
    return names;
}

/* Writes the page with the sums over captures and saved results in the place of what was collected. */
static int write_saved(const struct ct_report *r, const struct ct_report_write_options *options,
                       struct ct_report_page *page, FILE *out)
{
    struct ct_report_saved sums = {0};
    const char **names = slice_names(r);
    int rc = names ? ct_report_saved_make(r->programs, options, &sums) : CT_ERR_NOMEM;
    ct_report_sort(sums.functions, sums.ran_count, sums.edges, sums.edge_count);
    page->cycles = sums.cycles;
    page->functions = sums.functions;
    page->function_count = sums.function_count;
    page->ran_count = sums.ran_count;
    page->edges = sums.edges;
    page->edge_count = sums.edge_count;
    page->edges_left_out = sums.edges_left_out;
    page->places = sums.places;
    page->place_count = sums.place_count;
    page->all_cycles = sums.all_cycles;
    page->slice_names = names;
    page->slice_name_count = r->sums.function_count;
    if (!rc)
        rc = ct_report_html(out, page);
    ct_report_saved_free(&sums);
    free(names);
    return rc;
}

static int write_page(const struct ct_report *r, const struct ct_report_write_options *options, FILE *out)
{
    struct ct_report_page page = {
        .captures = r->captures,
        .capture_count = r->capture_count,
        .program = r->programs_differ ? NULL : r->program,
        .cycles = r->cycles,
        .losses = options->losses,
        .streams = r->streams,
        .stream_count = r->stream_count,
        .functions = r->sums.functions,
        .function_count = r->sums.function_count,
        .ran_count = r->sums.function_count,
        .edges = r->edges,
        .edge_count = r->edge_count,
        .edges_left_out = r->edges_left_out,
        .places = r->sums.places,
        .place_count = r->sums.place_count,
        .slices = &r->slices,
        .slice_cycles = r->cycles,
        .inputs = options->inputs,
        .input_count = options->input_count,
        .cover = options->cover,
        .wcet = options->wcet,
        .no_wcet = options->no_wcet,
    };
    const int rc = options->input_count ? write_saved(r, options, &page, out) : ct_report_html(out, &page);
    return ct_tell_nomem(r->ctx, "report", rc);
}

int ct_report_write(struct ct_report *r, const struct ct_report_write_options *options, ct_write_fn *write,
                    void *user)
{
    struct ct_report_write_options o;
    struct ct_out out;
    if (!r || !write)
        return ct_fail_null(r ? r->ctx : NULL, __func__);
    int rc = ct_options_read(r->ctx, __func__, options, &o, sizeof o);
    if (!rc && !r->over) {
        r->over = true;
        r->result = finish(r, &o);
    }
    if (!rc)
        rc = r->result;
    if (!rc)
        rc = ct_out_open(&out, r->ctx, write, user);
    return rc ? rc : ct_out_close(&out, write_page(r, &o, out.file));
}
