/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the longest time of a function: the model, its solution, and the assumptions of the solution. */
#include "coretap/wcet.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/wcet.h"
#include "analysis/wcet_model.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"

int ct_wcet_new(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_lines *lines, struct ct_wcet **out)
{
    CT_REQUIRE_OUT(ctx, out, cfg);
    struct ct_wcet *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "wcet");
    w->ctx = ctx;
    w->cfg = cfg;
    w->lines = lines;
    w->entry = w->entry_block = CT_CFG_NONE;
    *out = w;
    return CT_OK;
}

void ct_wcet_tell_runs_of(struct ct_wcet *w, uint32_t function)
{
    if (!w)
        return;
    w->entry = function;
}

void ct_wcet_free(struct ct_wcet *w)
{
    if (!w)
        return;
    ct_wcet_free_streams(w);
    for (size_t i = 0; i < w->way_count; i++)
        ct_dist_free(&w->ways[i].cycles);
    free(w->uncounted);
    void *const lists[] = {w->ways,       w->runs,          w->loops,    w->rules,      w->recursive,
                           w->outs,       w->terms,         w->depths,   w->path,       w->assumed,
                           w->piece,      w->measured,      w->run_most, w->nest_first, w->nest_most,
                           w->depth_most, w->run_calls_most};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    ct_addr_map_free(&w->way_at);
    ct_addr_map_free(&w->run_at);
    ct_addr_map_free(&w->out_at);
    free(w);
}

const char *ct_wcet_origin_name(enum ct_wcet_origin origin)
{
    static const char *const names[] = {"", "told", "comment", "counted", "observed"};
    return (unsigned)origin < sizeof names / sizeof *names ? names[origin] : "?";
}

/* ---- the solution ---- */

static int add_assumed(struct ct_wcet *w, struct ct_wcet_result *result, struct ct_wcet_assumed assumed)
{
    if (!CT_MAKE_ROOM(w->assumed, w->assumed_room, result->assumed_count + 1))
        return ct_fail_nomem(w->ctx, "wcet");
    w->assumed[result->assumed_count++] = assumed;
    return CT_OK;
}

/* Divides the cycles of a vertex among its blocks by their instructions. The cycles of a measured call go to
 * the last block. */
static void spread(const struct ct_wcet_model *m, const struct ct_wcet_column *c, uint64_t count,
                   struct ct_wcet_step *steps)
{
    const struct ct_wcet_vertex *v = &m->vertices[c->vertex];
    unsigned __int128 all = (unsigned __int128)(c->cycles - c->call) * count;
    uint64_t n = 0;
    for (uint32_t b = v->block; b != CT_CFG_NONE; b = ct_wcet_model_behind(m, b)) {
        const struct ct_cfg_block *block = &m->blocks[b];
        uint64_t before = (uint64_t)(all * n / v->n);
        n += block->n;
        steps[b].count += count;
        steps[b].cycles += (uint64_t)(all * n / v->n) - before;
        steps[b].assumed |= !c->seen;
    }
    steps[v->end].cycles += c->call * count;
    steps[v->end].measured += c->call * count;
}

/* Returns whether a column is the first on the longest path to make its measured call. */
static bool is_first_call(const struct ct_wcet_model *m, uint32_t column, const uint64_t *values)
{
    const struct ct_wcet_column *c = &m->columns[column];
    uint32_t other = m->ends[m->vertices[c->vertex].end];
    while (other != CT_CFG_NONE && (other >= column || !values[other] || m->columns[other].edge != c->edge))
        other = m->columns[other].next_end;
    return c->runs && other == CT_CFG_NONE;
}

/* Returns whether any path that ends with the same block as that of a column was observed. */
static bool has_run(const struct ct_wcet_model *m, const struct ct_wcet_column *c)
{
    uint32_t other = m->ends[m->vertices[c->vertex].end];
    while (other != CT_CFG_NONE && !m->columns[other].seen)
        other = m->columns[other].next_end;
    return other != CT_CFG_NONE;
}

static int assume_way(const struct ct_wcet_model *m, uint32_t column, const uint64_t *values,
                      struct ct_wcet_result *result)
{
    const struct ct_wcet_column *c = &m->columns[column];
    struct ct_wcet_assumed a = {.kind = c->seen ? CT_WCET_SHARED : CT_WCET_CYCLES,
                                .what = m->vertices[c->vertex].end,
                                .within = CT_CFG_NONE,
                                .value = (c->cycles - c->call) * values[column]};
    if (!c->seen && has_run(m, c))
        a.within = m->vertices[c->vertex].block;
    int rc = !c->seen || c->shared ? add_assumed(m->w, result, a) : CT_OK;
    a.within = CT_CFG_NONE;
    a.kind = c->runs ? CT_WCET_MEASURED : CT_WCET_CALL;
    a.value = c->call;
    a.runs = c->runs;
    if (!rc && (c->runs ? is_first_call(m, column, values) : ct_wcet_model_leads_out(&m->edges[c->edge])))
        rc = add_assumed(m->w, result, a);
    return rc;
}

static int assume_ways(const struct ct_wcet_model *m, const uint64_t *values, struct ct_wcet_result *result)
{
    int rc = CT_OK;
    for (uint32_t i = 0; !rc && i < m->column_count; i++)
        if (values[i])
            rc = assume_way(m, i, values, result);
    return rc;
}

/* Returns whether code outside of the graph may follow a vertex, to which no path leads in the model. The
 * targets of a computed branch are complete as soon as one is known. */
static bool ends_open(const struct ct_wcet_model *m, const struct ct_wcet_vertex *v)
{
    bool open = m->blocks[v->end].cut;
    for (uint32_t e = m->blocks[v->end].first_out; e != CT_CFG_NONE; e = m->edges[e].next_out) {
        bool way = v->count && m->edges[e].kind == CT_CFG_UNKNOWN;
        for (uint32_t c = v->first; c < v->first + v->count; c++)
            way |= m->columns[c].edge == e;
        open |= !way && ct_wcet_model_leads_out(&m->edges[e]);
    }
    return open;
}

/* Notes the branches that lead to code outside of the graph. CT_ERR_NOMEM. */
static int assume_ends(const struct ct_wcet_model *m, struct ct_wcet_result *result)
{
    int rc = CT_OK;
    for (uint32_t v = 0; !rc && !m->options->exclude && v < m->vertex_count; v++) {
        const struct ct_wcet_assumed a = {CT_WCET_WAY_OUT, m->vertices[v].end, CT_CFG_NONE, 0, 0, 0};
        if (ends_open(m, &m->vertices[v]))
            rc = add_assumed(m->w, result, a);
    }
    return rc;
}

/* Returns whether the longest path goes round a loop. */
static bool runs(const struct ct_wcet_model *m, uint32_t loop, const uint64_t *values)
{
    return m->rounds[loop] != CT_CFG_NONE && values[m->rounds[loop]];
}

static int assume_loops(const struct ct_wcet_model *m, const uint64_t *values, struct ct_wcet_result *result)
{
    int rc = CT_OK;
    for (uint32_t l = 0; !rc && l < m->w->loop_count; l++) {
        const struct ct_wcet_loop *loop = &m->w->loops[l];
        const struct ct_wcet_assumed a = {CT_WCET_LOOP, l, CT_CFG_NONE, 0, loop->bound, 0};
        const struct ct_wcet_assumed left_out = {CT_WCET_LEFT_OUT, l, CT_CFG_NONE, 0, 0, 0};
        if (loop->origin == CT_WCET_OBSERVED && runs(m, l, values))
            rc = add_assumed(m->w, result, a);
        if (loop->used && loop->origin == CT_WCET_NOBODY && !m->options->exclude)
            rc = add_assumed(m->w, result, left_out);
    }
    return rc;
}

/* Notes the observed totals that the longest path reaches: without them the path would be longer.
 * CT_ERR_NOMEM. */
static int assume_totals(const struct ct_wcet_model *m, const uint64_t *values,
                         const struct ct_wcet_step *steps, struct ct_wcet_result *result)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < m->total_count; i++) {
        const struct ct_wcet_total *t = &m->totals[i];
        bool loop = t->loop != CT_CFG_NONE;
        uint32_t block = loop ? m->loops[t->loop].head : m->functions[t->within].block;
        const struct ct_wcet_assumed a = {loop ? CT_WCET_TOTAL : CT_WCET_DEPTH,
                                          loop ? t->loop : block,
                                          loop         ? t->within
                                          : t->per_run ? m->functions[m->options->entry].block
                                                       : CT_CFG_NONE,
                                          0,
                                          t->most,
                                          0};
        if ((loop ? runs(m, t->loop, values) : steps[block].count) && ct_ilp_reaches(&m->ilp, t->row, values))
            rc = add_assumed(m->w, result, a);
    }
    return rc;
}

/* Notes the functions that are left out because they call themselves and never ran. CT_ERR_NOMEM. */
static int assume_uncalled(const struct ct_wcet_model *m, struct ct_wcet_result *result)
{
    int rc = CT_OK;
    for (uint32_t f = 0; !rc && !m->options->exclude && f < m->function_count; f++) {
        const struct ct_wcet_assumed a = {CT_WCET_UNCALLED, m->functions[f].block, CT_CFG_NONE, 0, 0, 0};
        if (m->uncalled[f])
            rc = add_assumed(m->w, result, a);
    }
    return rc;
}

static int assume(const struct ct_wcet_model *m, const uint64_t *values, const struct ct_wcet_step *steps,
                  struct ct_wcet_result *result)
{
    int rc = assume_ways(m, values, result);
    if (!rc)
        rc = assume_ends(m, result);
    if (!rc)
        rc = assume_loops(m, values, result);
    if (!rc)
        rc = assume_totals(m, values, steps, result);
    return rc ? rc : assume_uncalled(m, result);
}

/* Returns whether no run can take longer, provided that each piece takes no longer than was measured or
 * assumed for it. */
static bool is_bound(const struct ct_wcet_model *m, const struct ct_wcet_result *result)
{
    bool bound = !m->options->exclude && m->options->quantile <= 0;
    for (size_t i = 0; i < result->assumed_count; i++)
        bound &= m->w->assumed[i].kind == CT_WCET_CYCLES || m->w->assumed[i].kind == CT_WCET_SHARED;
    return bound;
}

static int by_place(const void *a, const void *b)
{
    const struct ct_wcet_step *x = a;
    const struct ct_wcet_step *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

static int tell(const struct ct_wcet_model *m, const uint64_t *values, struct ct_wcet_result *result)
{
    struct ct_wcet *w = m->w;
    struct ct_wcet_step *steps = calloc(m->block_count + 1, sizeof *steps);
    if (!steps)
        return ct_fail_nomem(w->ctx, "wcet");
    for (uint32_t i = 0; i < m->column_count; i++)
        if (values[i]) {
            spread(m, &m->columns[i], values[i], steps);
            result->measured += m->columns[i].call * values[i];
        }
    int rc = assume(m, values, steps, result);
    result->path_count = 0;
    for (uint32_t b = 0; b < m->block_count; b++)
        if (steps[b].count) {
            steps[b].block = b;
            steps[result->path_count++] = steps[b];
        }
    if (result->path_count)
        qsort(steps, result->path_count, sizeof *steps, by_place);
    free(w->path);
    w->path = steps;
    result->path = steps;
    result->assumed = w->assumed;
    result->is_bound = is_bound(m, result);
    return rc;
}

static bool is_timed(const struct ct_wcet *w)
{
    for (size_t i = 0; i < w->way_count; i++)
        if (w->ways[i].cycles.count)
            return true;
    return false;
}

static int check(const struct ct_wcet *w, const struct ct_wcet_options *options)
{
    size_t count;
    const struct ct_cfg_function *functions = ct_cfg_functions(w->cfg, &count);
    if (options->entry >= count || functions[options->entry].block == CT_CFG_NONE)
        return ct_fail(w->ctx, CT_ERR_ARG,
                       "wcet: the entry is not a function with code; choose another entry");
    if (!is_timed(w))
        return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                       "wcet: no cycles of the program were measured, because the trace has no cycle counts "
                       "or does not cover the program; record with cycle counts");
    return CT_OK;
}

static void tell_runs(const struct ct_wcet_model *m, struct ct_wcet_result *result)
{
    const struct ct_wcet_runs *runs = ct_wcet_runs_of(m->w, m->functions[m->options->entry].entry);
    result->observed_max = runs ? runs->max : 0;
    result->observed_runs = runs ? runs->count : 0;
}

static int write_model(const struct ct_wcet_model *m, ct_write_fn *write, void *user)
{
    char *text = NULL;
    size_t size = 0;
    FILE *lp = open_memstream(&text, &size);
    if (!lp)
        return CT_ERR_NOMEM;
    ct_ilp_write(&m->ilp, lp);
    int rc = fclose(lp) ? CT_ERR_NOMEM : CT_OK;
    if (!rc && (rc = write(user, text, size)))
        ct_fail(m->w->ctx, rc, "wcet: the model could not be written");
    free(text);
    return rc;
}

static int solve(struct ct_wcet_model *m, ct_write_fn *write, void *user, struct ct_wcet_result *result)
{
    int rc = ct_wcet_model_columns(m);
    if (!rc)
        rc = ct_wcet_model_rows(m);
    if (!rc && write)
        rc = write_model(m, write, user);
    if (!rc)
        rc = ct_wcet_model_check_returns(m);
    uint64_t *values = rc ? NULL : calloc(m->ilp.column_count + 1, sizeof *values);
    if (rc || !values)
        return rc == CT_ERR_NOMEM || !rc ? ct_fail_nomem(m->w->ctx, "wcet") : rc;
    const unsigned seconds = m->options->seconds ? (unsigned)m->options->seconds : CT_WCET_SECONDS;
    bool relaxed = false, too_long = false;
    rc = ct_ilp_solve(m->w->ctx, &m->ilp, seconds, values, &result->wcet, &relaxed, &too_long);
    if (too_long)
        rc = ct_wcet_model_refuse(m, seconds);
    result->relaxed = relaxed;
    result->rate_cycles = m->rate_cycles;
    result->rate_insns = m->rate_insns;
    tell_runs(m, result);
    if (!rc)
        rc = tell(m, values, result);
    free(values);
    return rc;
}

int ct_wcet_solve(struct ct_wcet *w, const struct ct_wcet_options *options, ct_write_fn *write, void *user,
                  struct ct_wcet_result *result)
{
    CT_REQUIRE_OF(w, result);
    struct ct_wcet_model model = {0};
    struct ct_wcet_options o;
    *result = (struct ct_wcet_result){0};
    int rc = ct_options_read(w->ctx, "ct_wcet_solve", options, &o, sizeof o);
    if (!rc)
        rc = check(w, &o);
    if (!rc)
        rc = ct_wcet_make_loops(w);
    if (!rc)
        rc = ct_wcet_find_uncounted(w);
    if (!rc)
        rc = ct_wcet_model_init(&model, w, &o);
    if (!rc)
        rc = solve(&model, write, user, result);
    ct_wcet_model_free(&model);
    return rc;
}
