/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of times over streams and captures: the object and its operations of the contract of analyses. */
#include "analysis/timing_sums.h"
#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

static struct ct_timing_sums *of(struct ct_analysis *analysis)
{
    return (struct ct_timing_sums *)analysis;
}

int ct_timing_sums_new(struct ct_ctx *ctx, const struct ct_timing_sums_options *options,
                       struct ct_timing_sums **out)
{
    struct ct_timing_sums_options o;
    CT_REQUIRE(ctx, out);
    const int rc = ct_options_read(ctx, "ct_timing_sums_new", options, &o, sizeof o);
    struct ct_timing_sums *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s)
        return rc ? rc : ct_fail_nomem(ctx, "timing");
    s->analysis = (struct ct_analysis){.kind = ct_timing_sums_kind(), .ctx = ctx};
    s->options = o;
    s->functions.kind = &ct_sum_functions;
    s->edges.kind = &ct_sum_edges;
    s->pairs.kind = &ct_sum_pairs;
    *out = s;
    return CT_OK;
}

void ct_timing_sums_free(struct ct_timing_sums *s)
{
    if (!s)
        return;
    ct_timing_streams_free(s);
    ct_runs_free(&s->analysis);
    ct_sum_list_clear(&s->functions);
    ct_sum_list_clear(&s->edges);
    ct_sum_list_clear(&s->pairs);
    ct_program_table_clear(&s->table);
    ct_arena_free(&s->arena);
    free(s);
}

struct ct_analysis *ct_timing_sums_analysis(struct ct_timing_sums *s)
{
    return s ? &s->analysis : NULL;
}

static int no_memory(const struct ct_timing_sums *s)
{
    return ct_fail_nomem(s->analysis.ctx, "timing");
}

int ct_timing_sums_add_pair(struct ct_timing_sums *s, const char *from, const char *to)
{
    CT_REQUIRE(NULL, s, from, to);
    const struct ct_timing_wanted pair = {ct_arena_strdup(&s->arena, from), ct_arena_strdup(&s->arena, to)};
    struct ct_timing_wanted *wanted =
        pair.from && pair.to ? ct_arena_push(&s->arena, s->wanted, &s->wanted_count, sizeof *wanted) : NULL;
    if (!wanted)
        return no_memory(s);
    s->wanted = wanted;
    wanted[s->wanted_count - 1] = pair;
    return CT_OK;
}

/* ---- adding ---- */

static const char *label_of(struct ct_timing_sums *s, const char *name)
{
    char *plain = NULL;
    if (!s->options.raw_names && ct_plain_name(s->analysis.ctx, name, &plain))
        return NULL;
    const char *label = plain ? ct_arena_strdup(&s->arena, plain) : name;
    free(plain);
    return label;
}

/* Copies the texts of the longest run of an added function. Without memory returns false, and the run has no
 * origin. */
static bool keep_origin(struct ct_timing_sums *s, struct ct_timing_longest *longest)
{
    if (!longest->capture)
        return true;
    longest->capture = ct_arena_strdup(&s->arena, longest->capture);
    longest->buffer = longest->capture ? ct_arena_strdup(&s->arena, longest->buffer) : NULL;
    if (!longest->buffer)
        longest->capture = NULL;
    return longest->buffer != NULL;
}

int ct_timing_sums_add_function(struct ct_timing_sums *s, const struct ct_timing_function *function)
{
    bool fresh;
    struct ct_timing_function *slot = ct_sum_list_slot(&s->functions, function, &fresh);
    if (!slot)
        return no_memory(s);
    if (fresh) {
        slot->addr = function->addr;
        slot->program = function->program;
        slot->name = ct_arena_strdup(&s->arena, function->name);
        slot->label = slot->name ? label_of(s, slot->name) : NULL;
    }
    /* an item without a name has no place in the list */
    if (!slot->label) {
        s->functions.count--;
        return no_memory(s);
    }
    const char *before = slot->longest.capture;
    if (ct_sum_functions.add(slot, function))
        return no_memory(s);
    return slot->longest.capture == before || keep_origin(s, &slot->longest) ? CT_OK : no_memory(s);
}

int ct_timing_sums_add_edge(struct ct_timing_sums *s, const struct ct_timing_edge *edge)
{
    bool fresh;
    struct ct_timing_edge *slot = ct_sum_list_slot(&s->edges, edge, &fresh);
    if (!slot)
        return no_memory(s);
    if (fresh) {
        *slot = *edge;
        slot->count = slot->shared = 0;
        slot->cycles = (struct ct_dist){0};
    }
    return ct_sum_edges.add(slot, edge) ? no_memory(s) : CT_OK;
}

int ct_timing_sums_put_pair(struct ct_timing_sums *s, const struct ct_timing_pair *pair)
{
    bool fresh;
    struct ct_timing_pair *slot = ct_sum_list_slot(&s->pairs, pair, &fresh);
    if (slot && fresh)
        slot->name = ct_arena_strdup(&s->arena, pair->name);
    if (slot && !slot->name)
        s->pairs.count--;
    if (!slot || !slot->name)
        return no_memory(s);
    return ct_sum_pairs.add(slot, pair) ? no_memory(s) : CT_OK;
}

void ct_timing_sums_add_totals(struct ct_timing_sums *s, const struct ct_timing_totals *more)
{
    struct ct_timing_totals *t = &s->totals;
    ct_add_up(&t->cycles, more->cycles);
    ct_add_up(&t->edges, more->edges);
    ct_add_up(&t->unplaced, more->unplaced);
    ct_add_up(&t->steps, more->steps);
    ct_add_up(&t->untimed, more->untimed);
    ct_add_up(&t->gaps, more->gaps);
    ct_add_up(&t->exceptions, more->exceptions);
    ct_add_up(&t->switches, more->switches);
    ct_add_up(&t->renewed, more->renewed);
}

/* ---- order ---- */

static uint32_t renumbered(const uint32_t *numbers, uint32_t program)
{
    return program == CT_TIMING_NO_PROGRAM ? program : numbers[program];
}

/* Numbers the programs in sorted order. CT_ERR_NOMEM. */
static int renumber(struct ct_timing_sums *s)
{
    uint32_t *numbers = NULL;
    if (ct_program_table_sort(&s->table, &numbers))
        return no_memory(s);
    struct ct_timing_function *functions = (struct ct_timing_function *)(void *)s->functions.items;
    struct ct_timing_edge *edges = (struct ct_timing_edge *)(void *)s->edges.items;
    for (size_t i = 0; numbers && i < s->functions.count; i++)
        functions[i].program = renumbered(numbers, functions[i].program);
    for (size_t i = 0; numbers && i < s->edges.count; i++) {
        edges[i].program = renumbered(numbers, edges[i].program);
        edges[i].next_program = renumbered(numbers, edges[i].next_program);
    }
    if (numbers)
        s->functions.sorted = s->edges.sorted = 0;
    free(numbers);
    return CT_OK;
}

static int settle(struct ct_timing_sums *s)
{
    int rc = renumber(s);
    if (!rc)
        rc = ct_sum_list_settle(&s->functions);
    if (!rc)
        rc = ct_sum_list_settle(&s->edges);
    if (!rc)
        rc = ct_sum_list_settle(&s->pairs);
    return rc ? no_memory(s) : CT_OK;
}

int ct_timing_sums_find(struct ct_timing_sums *s, struct ct_timing_found *found)
{
    CT_REQUIRE(NULL, s, found);
    const int rc = settle(s);
    *found = (struct ct_timing_found){
        .functions = (const struct ct_timing_function *)(const void *)s->functions.items,
        .function_count = s->functions.count,
        .edges = (const struct ct_timing_edge *)(const void *)s->edges.items,
        .edge_count = s->edges.count,
        .pairs = (const struct ct_timing_pair *)(const void *)s->pairs.items,
        .pair_count = s->pairs.count,
        .totals = s->totals,
        .program_count = s->table.count,
    };
    return rc;
}

struct ct_program_identity ct_timing_sums_program(const struct ct_timing_sums *s, uint32_t number)
{
    return s && number < s->table.count ? ct_program_table_at(&s->table, number)
                                        : (struct ct_program_identity){0};
}

/* ---- the operations of the contract of analyses ---- */

static int part(const struct ct_analysis *analysis, struct ct_analysis **out)
{
    const struct ct_timing_sums *whole = (const struct ct_timing_sums *)analysis;
    struct ct_timing_sums *s = NULL;
    int rc = ct_timing_sums_new(analysis->ctx, &whole->options, &s);
    if (!s)
        return rc;
    for (size_t i = 0; whole->wanted && i < whole->wanted_count && !rc; i++)
        rc = ct_timing_sums_add_pair(s, whole->wanted[i].from, whole->wanted[i].to);
    s->programs = whole->programs;
    if (rc)
        ct_timing_sums_free(s);
    else
        *out = &s->analysis;
    return rc;
}

static int set_programs(struct ct_analysis *analysis, struct ct_programs *programs)
{
    of(analysis)->programs = programs;
    return CT_OK;
}

static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    return ct_timing_streams_take(of(analysis), batch);
}

static int end(struct ct_analysis *analysis, uint32_t lane)
{
    return ct_timing_streams_end(of(analysis), lane);
}

static int merge(struct ct_analysis *analysis, struct ct_analysis *other)
{
    struct ct_timing_sums *into = of(analysis);
    struct ct_timing_found found = {0};
    uint32_t *numbers = NULL;
    int rc = settle(into);
    if (!rc)
        rc = ct_timing_sums_find(of(other), &found);
    if (!rc)
        numbers = ct_program_table_join(&into->table, &into->analysis, &of(other)->table, &rc);
    for (size_t i = 0; !rc && i < found.function_count; i++) {
        struct ct_timing_function function = found.functions[i];
        function.program = renumbered(numbers, function.program);
        rc = ct_timing_sums_add_function(into, &function);
    }
    for (size_t i = 0; !rc && i < found.edge_count; i++) {
        struct ct_timing_edge edge = found.edges[i];
        edge.program = renumbered(numbers, edge.program);
        edge.next_program = renumbered(numbers, edge.next_program);
        rc = ct_timing_sums_add_edge(into, &edge);
    }
    for (size_t i = 0; !rc && i < found.pair_count; i++)
        rc = ct_timing_sums_put_pair(into, &found.pairs[i]);
    if (!rc)
        ct_timing_sums_add_totals(into, &found.totals);
    free(numbers);
    return rc;
}

static void free_analysis(struct ct_analysis *analysis)
{
    ct_timing_sums_free(of(analysis));
}

static const struct ct_analysis_kind kind = {
    .size = sizeof(struct ct_analysis_kind),
    .name = "timing",
    .writer = "coretap timing --format data",
    .version = 5,
    .words = 5,
    .inputs = CT_INPUT_STEPS,
    .part = part,
    .programs = set_programs,
    .take = take,
    .end = end,
    .merge = merge,
    .save = ct_timing_sums_save,
    .load = ct_timing_sums_load,
    .free = free_analysis,
};

const struct ct_analysis_kind *ct_timing_sums_kind(void)
{
    return &kind;
}
