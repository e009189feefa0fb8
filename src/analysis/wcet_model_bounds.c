/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that bound the model: loops, observed totals of nested loops, and recursive functions. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/wcet_model.h"
#include "base/ctx.h"
#include "base/room.h"

/* ---- loops ---- */

/* Returns whether the entry begins with a head of the loop, so that no edge enters the loop. */
static bool starts_at(const struct ct_wcet_model *m, uint32_t loop)
{
    const struct ct_cfg_block *entry = &m->blocks[m->functions[m->options->entry].block];
    return entry->head && entry->loop == loop;
}

/* Makes a column for how often the heads of a loop run or, with `enters`, are entered from outside. It keeps
 * the rows of nested loops short, however many edges lead to the heads. */
static int sum_column(struct ct_wcet_model *m, uint32_t loop, bool enters, uint32_t *column)
{
    char name[32];
    if (*column != CT_CFG_NONE)
        return CT_OK;
    snprintf(name, sizeof name, "%s_%" PRIu32, enters ? "entries" : "rounds", loop);
    int rc = ct_ilp_column(&m->ilp, name, 0, column);
    if (!rc)
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_EQ, starts_at(m, loop));
    if (!rc)
        rc = ct_ilp_term(&m->ilp, *column, 1);
    for (uint32_t h = m->heads[loop]; !rc && h != CT_CFG_NONE; h = m->next_head[h])
        for (uint32_t e = m->blocks[h].first_in; !rc && e != CT_CFG_NONE; e = m->edges[e].next_in)
            if (!enters || ct_wcet_enters(m->w, &m->edges[e], loop))
                rc = ct_wcet_model_add(m, e, -1);
    return rc;
}

/* Adds the row that limits the runs of the heads to `bound` for each entry of loop `within`: the loop itself
 * or one around it. */
static int rounds_row(struct ct_wcet_model *m, const char *name, uint32_t loop, uint32_t within,
                      uint64_t bound)
{
    int rc = sum_column(m, loop, false, &m->rounds[loop]);
    if (!rc)
        rc = sum_column(m, within, true, &m->entered[within]);
    if (!rc)
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, 0);
    if (!rc)
        rc = ct_ilp_term(&m->ilp, m->rounds[loop], 1);
    return rc ? rc : ct_ilp_term(&m->ilp, m->entered[within], -(int64_t)bound);
}

static int loop_row(struct ct_wcet_model *m, uint32_t loop, uint64_t bound)
{
    char name[32];
    snprintf(name, sizeof name, "loop_%" PRIu32, loop);
    return rounds_row(m, name, loop, loop, bound);
}

/* Returns whether a head of the loop is in the model. */
static bool is_covered(const struct ct_wcet_model *m, uint32_t loop)
{
    uint32_t h = m->heads[loop];
    while (h != CT_CFG_NONE && m->covers[h] == CT_CFG_NONE)
        h = m->next_head[h];
    return h != CT_CFG_NONE;
}

/* Finds the best known bound: from the user, from a comment, counted in the code, or observed. More rounds
 * than the code counts were observed where something outside of the loop set its counter, such as longjmp. */
static void find_bound(struct ct_wcet_model *m, uint32_t loop)
{
    struct ct_wcet_loop *l = &m->w->loops[loop];
    if (l->used)
        return;
    l->used = 1;
    if (l->origin == CT_WCET_USER || l->origin == CT_WCET_COMMENT)
        return;
    l->bound = ct_cfg_loop_count(m->w->cfg, loop);
    l->origin = CT_WCET_COUNTED;
    if (!l->bound || ct_wcet_exceeds(m->w, loop, l->bound)) {
        l->bound = l->observed;
        l->origin = l->observed ? CT_WCET_OBSERVED : CT_WCET_NOBODY;
    }
}

static bool is_uncounted(const struct ct_wcet_model *m, uint32_t block)
{
    return m->w->uncounted && m->w->uncounted[block];
}

/* Returns whether a saved file has runs without counts of this loop, so that other observed counts may be too
 * low. */
static bool is_half_counted(const struct ct_wcet_model *m, uint32_t loop)
{
    const uint8_t origin = m->w->loops[loop].origin;
    const bool is_told = origin != CT_WCET_OBSERVED && origin != CT_WCET_NOBODY;
    uint32_t h = is_told ? CT_CFG_NONE : m->heads[loop];
    while (h != CT_CFG_NONE && !is_uncounted(m, h))
        h = m->next_head[h];
    return h != CT_CFG_NONE;
}

static int check_counted(const struct ct_wcet_model *m, uint32_t loop)
{
    if (!is_half_counted(m, loop))
        return CT_OK;
    return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                   "%s: the loop at 0x%" PRIx64
                   " ran, but a saved file of times does not contain the iterations of loops; give a bound "
                   "for the loop, or give the capture instead of the file",
                   m->functions[m->loops[loop].function].label, m->blocks[m->loops[loop].head].start);
}

/* Returns whether a loop has no bound and never ran. Not with the option to exclude paths that were never
 * observed: then the way back to the head is one of those. Not when the entry begins with the head, which
 * then runs once without any edge. */
static bool is_left_out(struct ct_wcet_model *m, uint32_t loop)
{
    if (m->options->exclude || starts_at(m, loop))
        return false;
    find_bound(m, loop);
    return !m->w->loops[loop].bound && !is_half_counted(m, loop);
}

int ct_wcet_model_loops(struct ct_wcet_model *m)
{
    int rc = CT_OK;
    for (uint32_t l = 0; !rc && l < m->w->loop_count; l++) {
        if (!is_covered(m, l))
            continue;
        find_bound(m, l);
        rc = check_counted(m, l);
        if (!rc)
            rc = loop_row(m, l, m->w->loops[l].bound || is_left_out(m, l) ? m->w->loops[l].bound : 1);
    }
    return rc;
}

/* Notes that the last row only states an observation. CT_ERR_NOMEM. */
static int add_total(struct ct_wcet_model *m, uint64_t most, uint32_t loop, uint32_t within)
{
    if (!CT_MAKE_ROOM(m->totals, m->total_room, m->total_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    m->totals[m->total_count++] = (struct ct_wcet_total){
        .most = most, .row = (uint32_t)m->ilp.row_count - 1, .loop = loop, .within = within};
    return CT_OK;
}

/* ---- nested loops ---- */

/* Returns whether only observation bounds the loop. */
static bool is_observed(const struct ct_wcet_model *m, uint32_t loop)
{
    const struct ct_wcet_loop *l = &m->w->loops[loop];
    return l->used && l->bound == l->observed;
}

/* Adds rows for the totals in the surrounding loops, up to the first one with a bound other than the observed
 * one. */
static int nest_rows(struct ct_wcet_model *m, uint32_t loop)
{
    uint32_t nest = m->w->nest_first[loop];
    int rc = CT_OK;
    for (uint32_t a = m->loops[loop].parent; !rc && a != CT_CFG_NONE && is_observed(m, a);
         a = m->loops[a].parent, nest++) {
        char name[32];
        uint64_t most = m->w->nest_most[nest];
        if (!most)
            continue;
        snprintf(name, sizeof name, "nest_%" PRIu32 "_%" PRIu32, loop, a);
        rc = rounds_row(m, name, loop, a, most);
        if (!rc)
            rc = add_total(m, most, loop, a);
    }
    return rc;
}

/* Adds the row for the total in a run of the entry. */
static int run_row(struct ct_wcet_model *m, uint32_t loop)
{
    char name[32];
    uint64_t most = m->w->run_most[loop];
    snprintf(name, sizeof name, "run_%" PRIu32, loop);
    int rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, (int64_t)most);
    if (!rc)
        rc = ct_ilp_term(&m->ilp, m->rounds[loop], 1);
    return rc ? rc : add_total(m, most, loop, CT_CFG_NONE);
}

/* Returns whether a loop around the block may go round more often than observed. */
static bool is_loose(const struct ct_wcet_model *m, uint32_t block)
{
    uint32_t l = m->blocks[block].loop;
    while (l != CT_CFG_NONE && is_observed(m, l))
        l = m->loops[l].parent;
    return l != CT_CFG_NONE;
}

/* Marks the functions that are called from such loops, directly or indirectly. */
static void find_loose(const struct ct_wcet_model *m, uint8_t *loose)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < m->column_count; c++) {
            const struct ct_cfg_edge *e = &m->edges[m->columns[c].edge];
            uint32_t from = m->blocks[e->from].function;
            uint32_t into = m->columns[c].to;
            uint32_t to = into == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[into].function;
            if (to == CT_CFG_NONE || to == from || loose[to] || (!loose[from] && !is_loose(m, e->from)))
                continue;
            loose[to] = 1;
            changed = true;
        }
    }
}

/* Returns an array, to be freed by the caller, that marks the functions that may run more often in a run of
 * the entry than observed. Returns NULL when out of memory. */
static uint8_t *list_loose(const struct ct_wcet_model *m)
{
    uint8_t *loose = calloc(m->function_count + 1, 1);
    for (size_t i = 0; loose && i < m->w->depth_count; i++)
        loose[m->w->depths[i].function] = 1;
    if (loose)
        find_loose(m, loose);
    return loose;
}

static bool knows_runs(const struct ct_wcet_model *m)
{
    return m->w->entry == m->options->entry && !m->w->no_runs;
}

int ct_wcet_model_nests(struct ct_wcet_model *m)
{
    const struct ct_wcet *w = m->w;
    const bool runs = knows_runs(m);
    int rc = CT_OK;
    if (m->options->product)
        return CT_OK;
    uint8_t *loose = list_loose(m);
    if (!loose)
        return ct_fail_nomem(w->ctx, "wcet");
    for (uint32_t l = 0; !rc && l < w->loop_count; l++) {
        if (m->rounds[l] == CT_CFG_NONE || w->loops[l].origin != CT_WCET_OBSERVED)
            continue;
        rc = nest_rows(m, l);
        if (!rc && runs && w->run_most[l] && !loose[m->loops[l].function] && !is_loose(m, m->loops[l].head))
            rc = run_row(m, l);
    }
    free(loose);
    return rc;
}

/* ---- recursion ---- */

/* The callers of recursive functions, as lists. A compiler has thousands of such functions in one piece of
 * the call graph, and as many calls from outside of it, so no work may be done for each pair. */
struct calls {
    uint32_t *first;   /* by function: the first column that calls it, or CT_CFG_NONE */
    uint32_t *next;    /* by column: the next one that calls the same function */
    uint32_t *mate;    /* by piece: its first function, or CT_CFG_NONE */
    uint32_t *mates;   /* by function: the next one of its piece */
    uint32_t *outside; /* by piece: the column of calls from outside, or CT_CFG_NONE */
};

/* Returns the function that a column calls, if it is recursive. CT_CFG_NONE otherwise. */
static uint32_t callee_of(const struct ct_wcet_model *m, uint32_t column)
{
    const struct ct_cfg_edge *e = &m->edges[m->columns[column].edge];
    const uint32_t block = m->columns[column].to;
    const uint32_t to = block == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[block].function;
    const bool calls = e->kind == CT_CFG_CALL || e->kind == CT_CFG_TAIL;
    return calls && to != CT_CFG_NONE && m->w->recursive[to] ? to : CT_CFG_NONE;
}

static int list_calls(const struct ct_wcet_model *m, struct calls *calls)
{
    const size_t functions = m->function_count + 1;
    const size_t all = 4 * functions + m->column_count;
    uint32_t *lists = calloc(all, sizeof *lists);
    if (!lists)
        return ct_fail_nomem(m->w->ctx, "wcet");
    for (size_t i = 0; i < all; i++)
        lists[i] = CT_CFG_NONE;
    *calls = (struct calls){.first = lists,
                            .mate = lists + functions,
                            .mates = lists + 2 * functions,
                            .outside = lists + 3 * functions,
                            .next = lists + 4 * functions};
    for (uint32_t f = (uint32_t)m->function_count; f-- > 0;) {
        calls->mates[f] = calls->mate[m->w->piece[f]];
        calls->mate[m->w->piece[f]] = f;
    }
    for (uint32_t c = (uint32_t)m->column_count; c-- > 0;) {
        const uint32_t to = callee_of(m, c);
        if (to == CT_CFG_NONE)
            continue;
        calls->next[c] = calls->first[to];
        calls->first[to] = c;
    }
    return CT_OK;
}

/* Adds the column that counts the calls of a piece from outside, including a run of the entry. Does so
 * once. */
static int outside_column(struct ct_wcet_model *m, uint32_t piece, struct calls *calls)
{
    char name[32];
    if (calls->outside[piece] != CT_CFG_NONE)
        return CT_OK;
    snprintf(name, sizeof name, "outside_%" PRIu32, piece);
    int rc = ct_ilp_column(&m->ilp, name, 0, &calls->outside[piece]);
    if (!rc)
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_EQ, m->w->piece[m->options->entry] == piece);
    if (!rc)
        rc = ct_ilp_term(&m->ilp, calls->outside[piece], 1);
    for (uint32_t f = calls->mate[piece]; !rc && f != CT_CFG_NONE; f = calls->mates[f])
        for (uint32_t c = calls->first[f]; !rc && c != CT_CFG_NONE; c = calls->next[c]) {
            const uint32_t from = m->blocks[m->edges[m->columns[c].edge].from].function;
            if (from == CT_CFG_NONE || m->w->piece[from] != piece)
                rc = ct_ilp_term(&m->ilp, c, -1);
        }
    return rc;
}

/* Adds the row that limits the runs of a recursive function for each call from outside of the recursion. */
static int depth_row(struct ct_wcet_model *m, uint32_t function, uint64_t runs, struct calls *calls)
{
    char name[32];
    const uint32_t piece = m->w->piece[function];
    const bool starts = m->options->entry == function;
    int rc = outside_column(m, piece, calls);
    snprintf(name, sizeof name, "recursion_%" PRIu32, function);
    if (!rc)
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, -(int64_t)starts);
    if (!rc)
        rc = ct_ilp_term(&m->ilp, calls->outside[piece], -(int64_t)runs);
    for (uint32_t c = calls->first[function]; !rc && c != CT_CFG_NONE; c = calls->next[c])
        rc = ct_ilp_term(&m->ilp, c, 1);
    return rc;
}

/* Returns the most runs of a function for a call from outside: the user's number, or else the most observed.
 * Sets *told when it is the user's. */
static uint64_t depth_of(const struct ct_wcet_model *m, uint32_t function, bool *told)
{
    *told = true;
    for (size_t i = 0; i < m->w->depth_count; i++)
        if (m->w->depths[i].function == function)
            return m->w->depths[i].runs;
    *told = false;
    if (m->w->depth_most[function] && !is_uncounted(m, m->functions[function].block))
        return m->w->depth_most[function];
    const struct ct_wcet_runs *runs = ct_wcet_runs_of(m->w, m->functions[function].entry);
    return runs ? runs->begun : 0; /* all runs observed are at least those of one call */
}

/* Returns whether a function is in the model and recursive. */
static bool has_depth(const struct ct_wcet_model *m, uint32_t function)
{
    const uint32_t block = m->functions[function].block;
    return m->w->recursive[function] && block != CT_CFG_NONE && m->covers[block] != CT_CFG_NONE;
}

/* Adds the rows that limit the runs of recursive functions in a run of the entry to the observed total. A
 * recursion inside of another one or of a loop is called from outside less often than the product of the
 * bounds allows. */
static int run_calls_rows(struct ct_wcet_model *m, const struct calls *calls)
{
    uint8_t *loose = list_loose(m);
    int rc = CT_OK;
    if (!loose)
        return ct_fail_nomem(m->w->ctx, "wcet");
    for (uint32_t f = 0; !rc && f < m->function_count; f++) {
        char name[32];
        const uint64_t most = m->w->run_calls_most[f];
        if (!most || loose[f] || !has_depth(m, f) || is_uncounted(m, m->functions[f].block))
            continue;
        snprintf(name, sizeof name, "calls_%" PRIu32, f);
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, (int64_t)most - (m->options->entry == f));
        for (uint32_t c = calls->first[f]; !rc && c != CT_CFG_NONE; c = calls->next[c])
            rc = ct_ilp_term(&m->ilp, c, 1);
        if (!rc)
            rc = add_total(m, most, CT_CFG_NONE, f);
        if (!rc)
            m->totals[m->total_count - 1].per_run = true;
    }
    free(loose);
    return rc;
}

int ct_wcet_model_check_depth(const struct ct_wcet_model *m)
{
    bool told;
    const uint32_t f = m->options->entry;
    /* No path leads to other recursive functions that never ran. */
    if (m->options->exclude || !has_depth(m, f) || depth_of(m, f, &told))
        return CT_OK;
    return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                   "%s: the function calls itself without a known limit; give one with 'recursion %s N' in "
                   "the file of bounds",
                   m->functions[f].label, m->functions[f].name);
}

/* Adds the row that limits the runs of the heads of a loop in a recursive function, for each call from
 * outside of the recursion, to the observed number. */
static int deep_row(struct ct_wcet_model *m, uint32_t loop, struct calls *calls)
{
    char name[32];
    const uint32_t piece = m->w->piece[m->loops[loop].function];
    int rc = outside_column(m, piece, calls);
    snprintf(name, sizeof name, "deep_%" PRIu32, loop);
    if (!rc)
        rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, 0);
    if (!rc)
        rc = ct_ilp_term(&m->ilp, m->rounds[loop], 1);
    return rc ? rc : ct_ilp_term(&m->ilp, calls->outside[piece], -(int64_t)m->w->loops[loop].observed);
}

static int deep_rows(struct ct_wcet_model *m, struct calls *calls)
{
    int rc = CT_OK;
    for (uint32_t l = 0; !rc && l < m->w->loop_count; l++)
        if (m->rounds[l] != CT_CFG_NONE && m->w->loops[l].origin == CT_WCET_OBSERVED &&
            m->w->recursive[m->loops[l].function])
            rc = deep_row(m, l, calls);
    return rc;
}

int ct_wcet_model_depths(struct ct_wcet_model *m)
{
    struct calls calls = {0};
    int rc = list_calls(m, &calls);
    if (!calls.first)
        return rc;
    for (uint32_t f = 0; !rc && f < m->function_count; f++) {
        bool told;
        if (!has_depth(m, f))
            continue;
        const uint64_t runs = depth_of(m, f, &told);
        rc = depth_row(m, f, runs, &calls);
        if (!rc && !told)
            rc = add_total(m, runs, CT_CFG_NONE, f);
    }
    if (!rc && !m->options->product)
        rc = deep_rows(m, &calls);
    if (!rc && !m->options->product && knows_runs(m))
        rc = run_calls_rows(m, &calls);
    free(calls.first); /* all lists are in this block of memory */
    return rc;
}

/* ---- what is left out ---- */

bool ct_wcet_model_leaves_out(struct ct_wcet_model *m, const struct ct_cfg_edge *e)
{
    bool told;
    const struct ct_cfg_block *to = e->to == CT_CFG_NONE ? NULL : &m->blocks[e->to];
    if (!to)
        return false;
    if (to->head && is_left_out(m, to->loop))
        return true;
    if (to->function == CT_CFG_NONE || to->function == m->blocks[e->from].function ||
        !m->w->recursive[to->function] || to->function == m->options->entry ||
        depth_of(m, to->function, &told) || told)
        return false;
    m->uncalled[to->function] = 1;
    return true;
}
