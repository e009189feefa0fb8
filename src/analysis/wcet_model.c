/* SPDX-License-Identifier: Apache-2.0 */
/* The model. A vertex is a block that something jumps to, together with the blocks that run behind it up to
 * the next branch, like a step of the trace. Its ways out are the columns. The value of a column is how often
 * the longest path takes it. */
#include "analysis/wcet_model.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/room.h"

int ct_wcet_model_init(struct ct_wcet_model *m, struct ct_wcet *w, const struct ct_wcet_options *options)
{
    size_t count;
    *m = (struct ct_wcet_model){.w = w, .options = options};
    m->functions = ct_cfg_functions(w->cfg, &m->function_count);
    m->blocks = ct_cfg_blocks(w->cfg, &m->block_count);
    m->edges = ct_cfg_edges(w->cfg, &m->edge_count);
    m->loops = ct_cfg_loops(w->cfg, &count);
    m->heads = malloc((count + 1) * sizeof *m->heads);
    m->entered = malloc((count + 1) * sizeof *m->entered);
    m->rounds = malloc((count + 1) * sizeof *m->rounds);
    m->next_head = malloc((m->block_count + 1) * sizeof *m->next_head);
    m->uncalled = calloc(m->function_count + 1, sizeof *m->uncalled);
    m->vertex_of = malloc((m->block_count + 1) * sizeof *m->vertex_of);
    m->ends = malloc((m->block_count + 1) * sizeof *m->ends);
    m->covers = malloc((m->block_count + 1) * sizeof *m->covers);
    m->in = malloc((m->block_count + 1) * sizeof *m->in);
    if (!m->vertex_of || !m->ends || !m->covers || !m->in || !m->heads || !m->entered || !m->rounds ||
        !m->next_head || !m->uncalled)
        return ct_fail_nomem(w->ctx, "wcet");
    for (size_t i = 0; i < m->block_count; i++)
        m->vertex_of[i] = m->ends[i] = m->covers[i] = m->in[i] = CT_CFG_NONE;
    for (size_t l = 0; l < count; l++) {
        m->heads[l] = m->entered[l] = m->rounds[l] = CT_CFG_NONE;
        w->loops[l].used = 0;
    }
    for (size_t i = m->block_count; i-- > 0;)
        if (m->blocks[i].head) {
            m->next_head[i] = m->heads[m->blocks[i].loop];
            m->heads[m->blocks[i].loop] = (uint32_t)i;
        }
    ct_wcet_rate(w, options->quantile, &m->rate_cycles, &m->rate_insns);
    return CT_OK;
}

void ct_wcet_model_free(struct ct_wcet_model *m)
{
    free(m->vertex_of);
    free(m->ends);
    free(m->covers);
    free(m->in);
    free(m->vertices);
    free(m->columns);
    free(m->cover_list);
    free(m->heads);
    free(m->next_head);
    free(m->entered);
    free(m->rounds);
    free(m->uncalled);
    free(m->totals);
    ct_ilp_free(&m->ilp);
}

/* ---- vertices ---- */

static bool runs_on(const struct ct_cfg_block *block)
{
    return block->type != CT_INSN_BR && block->type != CT_INSN_IBR && block->type != CT_INSN_ISB;
}

uint32_t ct_wcet_model_behind(const struct ct_wcet_model *m, uint32_t block)
{
    if (!runs_on(&m->blocks[block]))
        return CT_CFG_NONE;
    for (uint32_t e = m->blocks[block].first_out; e != CT_CFG_NONE; e = m->edges[e].next_out)
        if (m->edges[e].kind == CT_CFG_NEXT)
            return m->edges[e].to;
    return CT_CFG_NONE;
}

static int add_cover(struct ct_wcet_model *m, uint32_t block, uint32_t vertex)
{
    if (!CT_MAKE_ROOM(m->cover_list, m->cover_room, m->cover_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    m->cover_list[m->cover_count] = (struct ct_wcet_cover){vertex, m->covers[block]};
    m->covers[block] = (uint32_t)m->cover_count++;
    return CT_OK;
}

static int make_vertex(struct ct_wcet_model *m, uint32_t block)
{
    if (block == CT_CFG_NONE || m->vertex_of[block] != CT_CFG_NONE)
        return CT_OK;
    if (!CT_MAKE_ROOM(m->vertices, m->vertex_room, m->vertex_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    int rc = CT_OK;
    uint32_t number = (uint32_t)m->vertex_count++;
    struct ct_wcet_vertex *v = &m->vertices[number];
    *v = (struct ct_wcet_vertex){.block = block, .end = block};
    m->vertex_of[block] = number;
    for (uint32_t b = block; !rc && b != CT_CFG_NONE; b = ct_wcet_model_behind(m, b)) {
        v->end = b;
        v->n += m->blocks[b].n;
        rc = add_cover(m, b, number);
    }
    return rc;
}

/* ---- columns ---- */

/* Returns whether a function is a stub for a function of another program: a jump that was seen to lead there.
 * Its first execution leads to the code that looks the function up, which all stubs share. */
static bool is_stub(const struct ct_wcet_model *m, const struct ct_cfg_function *f)
{
    const struct ct_cfg_block *block = &m->blocks[f->block];
    return f->count == 1 && block->type == CT_INSN_IBR && block->sub == CT_INSN_SUB_NONE &&
           ct_wcet_call_out(m->w, block->last).runs;
}

/* Returns what replaces a call that is not modelled: the longest measured run. */
static struct ct_wcet_call call_of(const struct ct_wcet_model *m, const struct ct_cfg_edge *e)
{
    const uint32_t f = e->to == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[e->to].function;
    if (ct_wcet_model_leads_out(e))
        return ct_wcet_call_out(m->w, m->blocks[e->from].last);
    if ((e->kind != CT_CFG_CALL && e->kind != CT_CFG_TAIL) || f == CT_CFG_NONE ||
        m->functions[f].block != e->to ||
        !((m->w->measured && m->w->measured[f]) || is_stub(m, &m->functions[f])))
        return (struct ct_wcet_call){0};
    const struct ct_wcet_runs *runs = ct_wcet_runs_of(m->w, m->functions[f].entry);
    return runs ? runs->all : (struct ct_wcet_call){0};
}

static int add_column(struct ct_wcet_model *m, uint32_t vertex, uint32_t edge)
{
    const struct ct_wcet_vertex *v = &m->vertices[vertex];
    const struct ct_cfg_edge *e = &m->edges[edge];
    const struct ct_wcet_cost cost =
        ct_wcet_cost_of(m->w, m->blocks[v->block].start, m->blocks[v->end].last, e, m->options->quantile);
    const struct ct_wcet_call call = call_of(m, e);
    if (!cost.seen && m->options->exclude)
        return CT_OK;
    if (!CT_MAKE_ROOM(m->columns, m->column_room, m->column_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    struct ct_wcet_column *c = &m->columns[m->column_count];
    *c = (struct ct_wcet_column){.vertex = vertex,
                                 .edge = edge,
                                 .to = call.runs ? CT_CFG_NONE : e->to,
                                 .next_in = CT_CFG_NONE,
                                 .call = call.cycles,
                                 .runs = call.runs,
                                 .seen = cost.seen,
                                 .shared = cost.shared};
    c->cycles =
        call.cycles + (cost.seen ? cost.cycles : (v->n * m->rate_cycles + m->rate_insns - 1) / m->rate_insns);
    c->next_end = m->ends[v->end];
    m->ends[v->end] = (uint32_t)m->column_count;
    if (c->to != CT_CFG_NONE) {
        c->next_in = m->in[c->to];
        m->in[c->to] = (uint32_t)m->column_count;
    }
    char name[32];
    uint32_t column;
    snprintf(name, sizeof name, "b%" PRIu32 "_e%" PRIu32, v->block, edge);
    m->column_count++;
    return ct_ilp_column(&m->ilp, name, c->cycles, &column);
}

/* Returns whether a target of a computed branch is known. */
static bool has_targets(const struct ct_wcet_model *m, uint32_t block)
{
    for (uint32_t e = m->blocks[block].first_out; e != CT_CFG_NONE; e = m->edges[e].next_out)
        if (m->edges[e].origin == CT_CFG_LEARNT || m->edges[e].origin == CT_CFG_USER)
            return true;
    return false;
}

bool ct_wcet_model_leads_out(const struct ct_cfg_edge *e)
{
    return e->to == CT_CFG_NONE && e->kind != CT_CFG_RETURN;
}

/* Returns whether an edge is a column. Excludes edges from a call to the block behind it, whose flow is that
 * of the call, and those into what is left out. A branch or call leaves the program when calls of other
 * programs were measured; a call without any known target calls nothing. */
static bool is_way(struct ct_wcet_model *m, const struct ct_cfg_edge *e)
{
    const struct ct_cfg_block *from = &m->blocks[e->from];
    if (e->kind == CT_CFG_CALLED)
        return false;
    if (ct_wcet_model_leads_out(e))
        return ct_wcet_call_out(m->w, from->last).runs ||
               (from->sub == CT_INSN_SUB_LINK && e->kind != CT_CFG_NEXT && !has_targets(m, e->from));
    return !ct_wcet_model_leaves_out(m, e);
}

/* Returns whether a vertex runs on into what is left out. */
static bool runs_into_left_out(struct ct_wcet_model *m, const struct ct_wcet_vertex *v)
{
    for (uint32_t b = v->block; b != v->end; b = ct_wcet_model_behind(m, b))
        for (uint32_t e = m->blocks[b].first_out; e != CT_CFG_NONE; e = m->edges[e].next_out)
            if (m->edges[e].kind == CT_CFG_NEXT && ct_wcet_model_leaves_out(m, &m->edges[e]))
                return true;
    return false;
}

/* Adds the ways out of a vertex. The block behind a call becomes a vertex when one of them is the call. */
static int make_ways(struct ct_wcet_model *m, uint32_t vertex)
{
    const uint32_t first = (uint32_t)m->column_count;
    const bool ends = runs_into_left_out(m, &m->vertices[vertex]);
    const uint32_t out = ends ? CT_CFG_NONE : m->blocks[m->vertices[vertex].end].first_out;
    int rc = CT_OK;
    bool calls = false;
    for (uint32_t e = out; !rc && e != CT_CFG_NONE; e = m->edges[e].next_out) {
        const size_t before = m->column_count;
        if (is_way(m, &m->edges[e]))
            rc = add_column(m, vertex, e);
        if (rc || m->column_count == before)
            continue;
        calls |= m->edges[e].kind == CT_CFG_CALL || m->edges[e].kind == CT_CFG_UNKNOWN;
        rc = make_vertex(m, m->columns[before].to);
    }
    for (uint32_t e = out; !rc && calls && e != CT_CFG_NONE; e = m->edges[e].next_out)
        if (m->edges[e].kind == CT_CFG_CALLED)
            rc = make_vertex(m, m->edges[e].to);
    m->vertices[vertex].first = first;
    m->vertices[vertex].count = (uint32_t)m->column_count - first;
    return rc;
}

/* Adds the columns of everything that the entry can reach. */
int ct_wcet_model_columns(struct ct_wcet_model *m)
{
    int rc = make_vertex(m, m->functions[m->options->entry].block);
    for (uint32_t v = 0; !rc && v < m->vertex_count; v++)
        rc = make_ways(m, v);
    return rc;
}

/* ---- sums of traversals ---- */

/* Adds to the last row the number of traversals of an edge, times `factor`. */
static int add_edge(struct ct_wcet_model *m, uint32_t edge, int64_t factor)
{
    const struct ct_cfg_edge *e = &m->edges[edge];
    int rc = CT_OK;
    for (uint32_t c = m->ends[e->from]; !rc && c != CT_CFG_NONE; c = m->columns[c].next_end)
        if (m->columns[c].edge == edge)
            rc = ct_ilp_term(&m->ilp, c, factor);
    if (e->kind != CT_CFG_NEXT || !runs_on(&m->blocks[e->from]))
        return rc;
    for (uint32_t i = m->covers[e->from]; !rc && i != CT_CFG_NONE; i = m->cover_list[i].next) {
        const struct ct_wcet_vertex *v = &m->vertices[m->cover_list[i].vertex];
        for (uint32_t c = v->first; !rc && v->end != e->from && c < v->first + v->count; c++)
            rc = ct_ilp_term(&m->ilp, c, factor);
    }
    return rc;
}

/* Adds to the last row the number of returns of a call, which equals that of the call. */
static int add_called(struct ct_wcet_model *m, uint32_t edge, int64_t factor)
{
    int rc = CT_OK;
    for (uint32_t c = m->ends[m->edges[edge].from]; !rc && c != CT_CFG_NONE; c = m->columns[c].next_end) {
        unsigned kind = m->edges[m->columns[c].edge].kind;
        if (kind == CT_CFG_CALL || kind == CT_CFG_UNKNOWN)
            rc = ct_ilp_term(&m->ilp, c, factor);
    }
    return rc;
}

/* Adds to the last row the number of executions of a block. */
static int add_block(struct ct_wcet_model *m, uint32_t block, int64_t factor)
{
    int rc = CT_OK;
    for (uint32_t i = m->covers[block]; !rc && i != CT_CFG_NONE; i = m->cover_list[i].next) {
        const struct ct_wcet_vertex *v = &m->vertices[m->cover_list[i].vertex];
        for (uint32_t c = v->first; !rc && c < v->first + v->count; c++)
            rc = ct_ilp_term(&m->ilp, c, factor);
    }
    return rc;
}

/* ---- rows ---- */

/* Adds the row that equates the flow into a vertex and out of it. The flow into a call also enters the vertex
 * behind the call. */
static int flow_row(struct ct_wcet_model *m, uint32_t vertex)
{
    const struct ct_wcet_vertex *v = &m->vertices[vertex];
    bool is_entry = v->block == m->functions[m->options->entry].block;
    char name[32];
    snprintf(name, sizeof name, "flow_b%" PRIu32, v->block);
    int rc = ct_ilp_row(&m->ilp, name, CT_ILP_EQ, is_entry);
    for (uint32_t c = v->first; !rc && c < v->first + v->count; c++)
        rc = ct_ilp_term(&m->ilp, c, 1);
    for (uint32_t c = m->in [v->block]; !rc && c != CT_CFG_NONE; c = m->columns[c].next_in)
        rc = ct_ilp_term(&m->ilp, c, -1);
    for (uint32_t e = m->blocks[v->block].first_in; !rc && e != CT_CFG_NONE; e = m->edges[e].next_in)
        if (m->edges[e].kind == CT_CFG_CALLED)
            rc = add_called(m, e, -1);
    return rc;
}

int ct_wcet_model_add(struct ct_wcet_model *m, uint32_t edge, int64_t factor)
{
    return m->edges[edge].kind == CT_CFG_CALLED ? add_called(m, edge, factor) : add_edge(m, edge, factor);
}

static int rule_rows(struct ct_wcet_model *m)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < m->w->rule_count; i++) {
        const struct ct_wcet_rule *rule = &m->w->rules[i];
        char name[32];
        snprintf(name, sizeof name, "told_%zu", i + 1);
        rc = ct_ilp_row(&m->ilp, name, (enum ct_ilp_sense)rule->sense, rule->right);
        for (uint32_t t = rule->first; !rc && t < rule->first + rule->count; t++) {
            const struct ct_wcet_term *term = &m->w->terms[t];
            rc = term->block != CT_CFG_NONE ? add_block(m, term->block, term->factor)
                                            : add_edge(m, term->edge, term->factor);
        }
    }
    return rc;
}

int ct_wcet_model_rows(struct ct_wcet_model *m)
{
    int rc = ct_wcet_model_check_depth(m);
    for (uint32_t v = 0; !rc && v < m->vertex_count; v++)
        rc = flow_row(m, v);
    if (!rc)
        rc = ct_wcet_model_loops(m);
    if (!rc)
        rc = ct_wcet_model_nests(m);
    if (!rc)
        rc = ct_wcet_model_depths(m);
    return rc ? rc : rule_rows(m);
}
