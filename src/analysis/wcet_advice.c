/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a model is too large for the solver, and what makes it smaller. */
#include "analysis/wcet_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

/* most functions to name, and most candidates to try for each */
#define NAMED 4
#define TRIED 2000

/* stops when this fraction of the model is left */
#define ENOUGH 20

/* The call graph of the model, by function. */
struct callers {
    const struct ct_wcet_model *m;
    uint32_t *first;    /* by function: index of its first callee; that of the next function ends the list */
    uint32_t *callees;  /* with repetitions */
    uint32_t *vertices; /* by function: number of its vertices */
    uint32_t *queue;
    uint8_t *cut;     /* by function: 1 when its calls are to be measured */
    uint8_t *reached; /* by function */
};

static void free_callers(struct callers *g)
{
    free(g->first);
    free(g->callees);
    free(g->vertices);
    free(g->queue);
    free(g->cut);
    free(g->reached);
}

static uint32_t function_of(const struct ct_wcet_model *m, uint32_t block)
{
    return block == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[block].function;
}

/* Returns whether a column leads into another function. */
static bool is_call(const struct ct_wcet_model *m, uint32_t column, uint32_t *from, uint32_t *to)
{
    *from = function_of(m, m->vertices[m->columns[column].vertex].end);
    *to = function_of(m, m->columns[column].to);
    return *from != *to && *from != CT_CFG_NONE && *to != CT_CFG_NONE;
}

static bool make_callers(const struct ct_wcet_model *m, struct callers *g)
{
    const size_t count = m->function_count + 2;
    uint32_t from, to;
    *g = (struct callers){.m = m,
                          .first = calloc(count, sizeof *g->first),
                          .callees = calloc(m->column_count + 1, sizeof *g->callees),
                          .vertices = calloc(count, sizeof *g->vertices),
                          .queue = calloc(count, sizeof *g->queue),
                          .cut = calloc(count, 1),
                          .reached = calloc(count, 1)};
    if (!g->first || !g->callees || !g->vertices || !g->queue || !g->cut || !g->reached)
        return false;
    for (uint32_t c = 0; c < m->column_count; c++)
        if (is_call(m, c, &from, &to))
            g->first[from + 2]++;
    for (size_t f = 2; f < count; f++)
        g->first[f] += g->first[f - 1];
    for (uint32_t c = 0; c < m->column_count; c++)
        if (is_call(m, c, &from, &to))
            g->callees[g->first[from + 1]++] = to;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        const uint32_t f = function_of(m, m->vertices[v].end);
        if (f != CT_CFG_NONE)
            g->vertices[f]++;
    }
    return true;
}

/* Counts the vertices of the functions that the entry reaches without those in `cut`. */
static size_t count_reached(struct callers *g, size_t *functions)
{
    const uint32_t entry = g->m->options->entry;
    size_t vertices = 0, count = 0;
    memset(g->reached, 0, g->m->function_count);
    g->queue[count++] = entry;
    g->reached[entry] = 1;
    for (size_t i = 0; i < count; i++) {
        const uint32_t f = g->queue[i];
        vertices += g->vertices[f];
        for (uint32_t c = g->first[f]; c < g->first[f + 1]; c++) {
            const uint32_t to = g->callees[c];
            if (g->reached[to] || g->cut[to])
                continue;
            g->reached[to] = 1;
            g->queue[count++] = to;
        }
    }
    *functions = count;
    return vertices;
}

/* Finds the function, among those whose calls were measured, whose removal makes the model smallest. *all is
 * the number of vertices, and becomes the number left. Returns CT_CFG_NONE when no removal helps. */
static uint32_t find_best(struct callers *g, size_t *all)
{
    const struct ct_wcet_model *m = g->m;
    uint32_t best = CT_CFG_NONE;
    size_t functions, tried = 0, least = *all;
    for (uint32_t f = 0; f < m->function_count && tried < TRIED; f++) {
        const struct ct_wcet_runs *runs = g->vertices[f] && !g->cut[f] && f != m->options->entry
                                              ? ct_wcet_runs_of(m->w, m->functions[f].entry)
                                              : NULL;
        if (!runs || !runs->all.runs)
            continue;
        tried++;
        g->cut[f] = 1;
        const size_t left = count_reached(g, &functions);
        g->cut[f] = 0;
        if (left < least) {
            least = left;
            best = f;
        }
    }
    *all = least;
    return best;
}

static unsigned percent_unseen(const struct ct_wcet_model *m)
{
    uint64_t unseen = 0;
    for (uint32_t c = 0; c < m->column_count; c++)
        unseen += !m->columns[c].seen;
    return m->column_count ? (unsigned)(unseen * 100 / m->column_count) : 0;
}

/* Writes "NAME (12 % stays)" for the functions that help most, each given those before it. */
static void name_best(struct callers *g, char *text, size_t size)
{
    size_t functions;
    const size_t whole = count_reached(g, &functions);
    size_t left = whole, used = 0;
    for (int i = 0; i < NAMED && used < size && left > whole / ENOUGH; i++) {
        const uint32_t f = find_best(g, &left);
        if (f == CT_CFG_NONE)
            return;
        g->cut[f] = 1;
        used += (size_t)snprintf(text + used, size - used, "%s'measured %.80s' (leaves %zu %% of it)",
                                 i ? ", then " : "", g->m->functions[f].name, left * 100 / whole);
    }
}

int ct_wcet_model_refuse(const struct ct_wcet_model *m, unsigned seconds)
{
    struct callers g;
    char best[600] = "";
    size_t functions = 0;
    if (make_callers(m, &g)) {
        (void)count_reached(&g, &functions);
        name_best(&g, best, sizeof best);
    }
    free_callers(&g);
    return ct_fail(m->w->ctx, CT_ERR_LIMIT,
                   "%s: the model could not be solved in %u s of processor time; it has %zu constraints and "
                   "%zu functions, and %u %% of its edges never ran; omit these with --unobserved exclude "
                   "(the result is then no bound), or allow more time with --seconds%s%s",
                   m->functions[m->options->entry].label, seconds, m->ilp.row_count, functions,
                   percent_unseen(m),
                   best[0] ? ", or take functions out of the model in the file of bounds: " : "", best);
}
