/* SPDX-License-Identifier: Apache-2.0 */
/* Finds whether any path leads from the entry to its return, before the solver looks for the longest one. The
 * solver would take long to find none, and could not say why. */
#include "analysis/wcet_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/path.h"

struct work {
    const struct ct_wcet_model *m;
    bool *returns;   /* by vertex: a path leads from it to the return of its function */
    uint32_t *queue; /* of vertices, each at most once */
    size_t count;
    uint32_t *from; /* by vertex: predecessor in the search for a dead end, or CT_CFG_NONE */
};

/* Returns the block behind the call that ends a vertex, or CT_CFG_NONE. */
static uint32_t behind_call(const struct ct_wcet_model *m, uint32_t vertex)
{
    const struct ct_cfg_block *end = &m->blocks[m->vertices[vertex].end];
    for (uint32_t e = end->first_out; e != CT_CFG_NONE; e = m->edges[e].next_out)
        if (m->edges[e].kind == CT_CFG_CALLED)
            return m->edges[e].to;
    return CT_CFG_NONE;
}

/* Returns whether a path leads from a block to a return. `block` may be CT_CFG_NONE. */
static bool goes_on(const struct work *k, uint32_t block)
{
    const uint32_t vertex = block == CT_CFG_NONE ? CT_CFG_NONE : k->m->vertex_of[block];
    return vertex == CT_CFG_NONE || k->returns[vertex];
}

/* Adds a vertex if one of its ways out leads to a return. Both the call at its end and the block behind the
 * call must return. */
static void consider(struct work *k, uint32_t vertex)
{
    const struct ct_wcet_vertex *v = &k->m->vertices[vertex];
    const uint32_t behind = behind_call(k->m, vertex);
    for (uint32_t c = v->first; !k->returns[vertex] && c < v->first + v->count; c++)
        if (goes_on(k, k->m->columns[c].to) && goes_on(k, behind)) {
            k->returns[vertex] = true;
            k->queue[k->count++] = vertex;
        }
}

/* Finds all vertices with a path to a return, backwards from the returns. */
static void find_returning(struct work *k)
{
    const struct ct_wcet_model *m = k->m;
    for (uint32_t v = 0; v < m->vertex_count; v++)
        consider(k, v);
    for (size_t i = 0; i < k->count; i++) {
        const uint32_t block = m->vertices[k->queue[i]].block;
        for (uint32_t c = m->in[block]; c != CT_CFG_NONE; c = m->columns[c].next_in)
            consider(k, m->columns[c].vertex);
        for (uint32_t e = m->blocks[block].first_in; e != CT_CFG_NONE; e = m->edges[e].next_in)
            for (uint32_t c = m->edges[e].kind == CT_CFG_CALLED ? m->ends[m->edges[e].from] : CT_CFG_NONE;
                 c != CT_CFG_NONE; c = m->columns[c].next_end)
                consider(k, m->columns[c].vertex);
    }
}

/* Adds the vertex of a block to the search for a dead end, unless paths return from it or it was added
 * before. */
static void search(struct work *k, uint32_t block, uint32_t from)
{
    const uint32_t vertex = block == CT_CFG_NONE ? CT_CFG_NONE : k->m->vertex_of[block];
    if (vertex == CT_CFG_NONE || k->returns[vertex])
        return;
    k->returns[vertex] = true; /* so that it is added once */
    k->from[vertex] = from;
    k->queue[k->count++] = vertex;
}

/* Finds the first vertex, on the paths from the entry, that ends in a branch to code outside of the graph.
 * Returns CT_CFG_NONE when there is none. */
static uint32_t find_dead_end(struct work *k, uint32_t entry)
{
    const struct ct_wcet_model *m = k->m;
    k->count = 0;
    search(k, entry, CT_CFG_NONE);
    for (size_t i = 0; i < k->count; i++) {
        const struct ct_wcet_vertex *v = &m->vertices[k->queue[i]];
        const uint32_t out = m->blocks[v->end].first_out;
        if (!v->count && out != CT_CFG_NONE && ct_wcet_model_leads_out(&m->edges[out]))
            return k->queue[i];
        for (uint32_t c = v->first; c < v->first + v->count; c++)
            search(k, m->columns[c].to, k->queue[i]);
        search(k, behind_call(m, k->queue[i]), k->queue[i]);
    }
    return CT_CFG_NONE;
}

/* Returns the function entered last on the path to a vertex. The vertex may be in another function, because
 * all stubs of libraries continue in common code. */
static const struct ct_cfg_function *entered_last(const struct work *k, uint32_t vertex)
{
    for (; vertex != CT_CFG_NONE; vertex = k->from[vertex]) {
        const uint32_t block = k->m->vertices[vertex].block;
        const uint32_t function = k->m->blocks[block].function;
        if (function != CT_CFG_NONE && k->m->functions[function].block == block)
            return &k->m->functions[function];
    }
    return NULL;
}

/* Returns a function that is called on the searched paths but left out because it is recursive and never ran,
 * or NULL. */
static const struct ct_cfg_function *find_uncalled(const struct work *k)
{
    const struct ct_wcet_model *m = k->m;
    for (size_t i = 0; i < k->count; i++)
        for (uint32_t e = m->blocks[m->vertices[k->queue[i]].end].first_out; e != CT_CFG_NONE;
             e = m->edges[e].next_out) {
            const uint32_t to = m->edges[e].to;
            const uint32_t function = to == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[to].function;
            if (function != CT_CFG_NONE && m->uncalled[function])
                return &m->functions[function];
        }
    return NULL;
}

/* Returns a loop to which a block leads and that is left out because it has no bound and never ran, or
 * CT_CFG_NONE. */
static uint32_t left_out_behind(const struct ct_wcet_model *m, uint32_t block)
{
    for (uint32_t e = m->blocks[block].first_out; e != CT_CFG_NONE; e = m->edges[e].next_out) {
        const uint32_t to = m->edges[e].to;
        const uint32_t loop = to != CT_CFG_NONE && m->blocks[to].head ? m->blocks[to].loop : CT_CFG_NONE;
        if (loop != CT_CFG_NONE && m->w->loops[loop].used && !m->w->loops[loop].bound &&
            !m->functions[m->loops[loop].function].no_return)
            return loop;
    }
    return CT_CFG_NONE;
}

/* Returns such a loop on the searched paths. */
static uint32_t find_left_out(const struct work *k)
{
    uint32_t loop = CT_CFG_NONE;
    for (size_t i = 0; loop == CT_CFG_NONE && i < k->count; i++)
        for (uint32_t b = k->m->vertices[k->queue[i]].block; loop == CT_CFG_NONE && b != CT_CFG_NONE;
             b = ct_wcet_model_behind(k->m, b))
            loop = left_out_behind(k->m, b);
    return loop;
}

static int refuse_left_out(const struct ct_wcet_model *m, const struct ct_cfg_function *entry, uint32_t loop)
{
    char place[256];
    const uint64_t head = m->blocks[m->loops[loop].head].start;
    const struct ct_wcet_loop *l = &m->w->loops[loop];
    const char *path = l->line ? ct_lines_file(m->w->lines, l->file) : NULL;
    if (path)
        snprintf(place, sizeof place, "%.200s:%" PRIu32, ct_base_name(path), l->line);
    else
        snprintf(place, sizeof place, "0x%" PRIx64, head);
    return ct_fail(
        m->w->ctx, CT_ERR_NOT_FOUND,
        "%s: no path satisfies all constraints, because all of them lead through the loop at %s in "
        "%s, which never ran and has no bound; give one with 'loop %s N' in the file of bounds, or "
        "a capture in which the loop runs",
        entry->label, place, m->functions[m->loops[loop].function].label, place);
}

static int refuse(struct work *k, const struct ct_cfg_function *entry)
{
    const struct ct_wcet_model *m = k->m;
    const struct ct_cfg_function *last = entered_last(k, find_dead_end(k, entry->block));
    if (last)
        return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                       "%s: no path satisfies all constraints, because none returns from %s (0x%" PRIx64
                       "), which continues in code without a measured run, such as a library that was not "
                       "named; name it with --elf, give the targets with --targets, or choose another entry",
                       entry->label, last->label, last->entry);
    const struct ct_cfg_function *uncalled = find_uncalled(k);
    if (uncalled)
        return ct_fail(
            m->w->ctx, CT_ERR_NOT_FOUND,
            "%s: no path satisfies all constraints, because %s calls itself without a known limit and was "
            "never observed to return; give the limit with 'recursion %s N' in the file of bounds",
            entry->label, uncalled->label, uncalled->label);
    const uint32_t loop = m->options->exclude ? CT_CFG_NONE : find_left_out(k);
    if (loop != CT_CFG_NONE)
        return refuse_left_out(m, entry, loop);
    return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                   "%s: no path satisfies all constraints, because %s; choose an entry that returns",
                   entry->label,
                   m->options->exclude ? "no observed path leads to its return" : "it never returns");
}

int ct_wcet_model_check_returns(const struct ct_wcet_model *m)
{
    const struct ct_cfg_function *entry = &m->functions[m->options->entry];
    struct work k = {.m = m};
    k.returns = calloc(m->vertex_count + 1, sizeof *k.returns);
    k.queue = malloc((m->vertex_count + 1) * sizeof *k.queue);
    k.from = malloc((m->vertex_count + 1) * sizeof *k.from);
    int rc = CT_OK;
    if (k.returns && k.queue && k.from) {
        find_returning(&k);
        if (!k.returns[m->vertex_of[entry->block]])
            rc = refuse(&k, entry);
    } else {
        rc = ct_fail_nomem(m->w->ctx, "wcet");
    }
    free(k.returns);
    free(k.queue);
    free(k.from);
    return rc;
}
