/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that bound the model: loops, what was observed of loops inside of loops, functions that call
 * themselves. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/wcet_model.h"
#include "base/ctx.h"
#include "base/room.h"

/* ---- loops ---- */

/* Adds to the last row how often the head of a loop runs by ways that are in the model, times `factor`. */
static int add_rounds(struct ct_wcet_model *m, uint32_t loop, int64_t factor)
{
    int rc = CT_OK;
    for (uint32_t e = m->blocks[m->loops[loop].head].first_in; !rc && e != CT_CFG_NONE;
         e = m->edges[e].next_in)
        rc = ct_wcet_model_add(m, e, factor);
    return rc;
}

static int add_entry(struct ct_wcet_model *m, uint32_t edge)
{
    if (!CT_MAKE_ROOM(m->entries, m->entry_room, m->entry_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    m->entries[m->entry_count++] = edge;
    return CT_OK;
}

/* Lists the edges that enter a loop. A large function has many loops with a row for each loop around them, so
 * that its edges are looked through once a loop and not once a row. */
static int list_entries(struct ct_wcet_model *m, uint32_t loop)
{
    const struct ct_cfg_function *f = &m->functions[m->loops[loop].function];
    size_t count;
    const uint32_t *members = ct_cfg_members(m->w->cfg, &count);
    int rc = CT_OK;
    m->entered[loop] = (uint32_t)m->entry_count;
    for (uint32_t i = 0; !rc && i < f->count; i++)
        for (uint32_t e = m->blocks[members[f->first + i]].first_in; !rc && e != CT_CFG_NONE;
             e = m->edges[e].next_in)
            if (ct_wcet_enters(m->w, &m->edges[e], loop))
                rc = add_entry(m, e);
    return rc ? rc : add_entry(m, CT_CFG_NONE);
}

/* Adds to the last row how often a loop is entered, times `factor`. */
static int add_entries(struct ct_wcet_model *m, uint32_t loop, int64_t factor)
{
    int rc = m->entered[loop] == CT_CFG_NONE ? list_entries(m, loop) : CT_OK;
    for (size_t i = m->entered[loop]; !rc && m->entries[i] != CT_CFG_NONE; i++)
        rc = ct_wcet_model_add(m, m->entries[i], factor);
    return rc;
}

/* Returns 1 when the entry begins with the head of the loop, which is then entered and runs once by no
 * way. */
static int64_t starts_at(const struct ct_wcet_model *m, uint32_t loop)
{
    return m->functions[m->options->entry].block == m->loops[loop].head;
}

/* Adds the row that the head runs at most `bound` times for each time that the loop, or one around it, is
 * entered. */
static int rounds_row(struct ct_wcet_model *m, const char *name, uint32_t loop, uint32_t within,
                      uint64_t bound)
{
    int64_t right = starts_at(m, within) * (int64_t)bound - starts_at(m, loop);
    int rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, right);
    if (!rc)
        rc = add_rounds(m, loop, 1);
    return rc ? rc : add_entries(m, within, -(int64_t)bound);
}

static int loop_row(struct ct_wcet_model *m, uint32_t loop, uint64_t bound)
{
    char name[32];
    snprintf(name, sizeof name, "loop_%" PRIu32, loop);
    return rounds_row(m, name, loop, loop, bound);
}

static bool is_used(const struct ct_wcet_model *m, uint32_t loop)
{
    return m->covers[m->loops[loop].head] != CT_CFG_NONE;
}

/* Returns the best bound that is known: told by the user, in a comment, counted by the code, or observed. */
static uint64_t bound_of(struct ct_wcet_model *m, uint32_t loop)
{
    struct ct_wcet_loop *l = &m->w->loops[loop];
    l->used = 1;
    if (l->origin == CT_WCET_USER || l->origin == CT_WCET_COMMENT)
        return l->bound;
    l->bound = ct_cfg_loop_count(m->w->cfg, loop);
    l->origin = CT_WCET_COUNTED;
    if (!l->bound) {
        l->bound = l->observed;
        l->origin = l->observed ? CT_WCET_OBSERVED : CT_WCET_NOBODY;
    }
    return l->bound;
}

static bool is_uncounted(const struct ct_wcet_model *m, uint32_t block)
{
    return m->w->uncounted && m->w->uncounted[block];
}

/* Refuses a loop whose rounds were not counted in a saved file, because those counted elsewhere may be
 * fewer. */
static int check_counted(const struct ct_wcet_model *m, uint32_t loop)
{
    const uint8_t origin = m->w->loops[loop].origin;
    const uint32_t head = m->loops[loop].head;
    const bool is_told = origin != CT_WCET_OBSERVED && origin != CT_WCET_NOBODY;
    if (is_told || !is_uncounted(m, head))
        return CT_OK;
    return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                   "%s: the loop at 0x%" PRIx64
                   " ran in a saved file of times, which does not tell how often "
                   "loops go round: say its bound, or give the capture in place of the file",
                   m->functions[m->loops[loop].function].label, m->blocks[head].start);
}

int ct_wcet_model_loops(struct ct_wcet_model *m)
{
    int rc = CT_OK;
    for (uint32_t l = 0; !rc && l < m->w->loop_count; l++) {
        m->w->loops[l].used = 0;
        if (!is_used(m, l))
            continue;
        uint64_t bound = bound_of(m, l);
        /* Nothing bounds the loop, and it never ran. If ways are excluded that were never observed, the way
         * back to its head is one; and a head with which the entry begins runs once by no way. */
        if (m->w->loops[l].origin == CT_WCET_NOBODY && (m->options->exclude || starts_at(m, l)))
            bound = 1;
        rc = check_counted(m, l);
        if (!rc)
            rc = loop_row(m, l, bound);
    }
    return rc;
}

/* Notes that the last row only says what was observed. */
static int add_total(struct ct_wcet_model *m, uint64_t most, uint32_t loop, uint32_t within)
{
    if (!CT_MAKE_ROOM(m->totals, m->total_room, m->total_count + 1))
        return ct_fail_nomem(m->w->ctx, "wcet");
    m->totals[m->total_count++] = (struct ct_wcet_total){
        .most = most, .row = (uint32_t)m->ilp.row_count - 1, .loop = loop, .within = within};
    return CT_OK;
}

/* ---- loops inside of loops ---- */

/* Returns true when only what was observed bounds the loop. */
static bool is_observed(const struct ct_wcet_model *m, uint32_t loop)
{
    const struct ct_wcet_loop *l = &m->w->loops[loop];
    return l->used && l->bound == l->observed;
}

/* Adds rows for the totals in the loops around it, as long as these too go round as often as was observed. */
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
    int rc = ct_ilp_row(&m->ilp, name, CT_ILP_LE, (int64_t)most - starts_at(m, loop));
    if (!rc)
        rc = add_rounds(m, loop, 1);
    return rc ? rc : add_total(m, most, loop, CT_CFG_NONE);
}

/* Returns true when some loop around the block may go round more often than was observed. */
static bool is_loose(const struct ct_wcet_model *m, uint32_t block)
{
    uint32_t l = m->blocks[block].loop;
    while (l != CT_CFG_NONE && is_observed(m, l))
        l = m->loops[l].parent;
    return l != CT_CFG_NONE;
}

/* Marks the functions that are called from such loops, directly or not. */
static void find_loose(const struct ct_wcet_model *m, uint8_t *loose)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t c = 0; c < m->column_count; c++) {
            const struct ct_cfg_edge *e = &m->edges[m->columns[c].edge];
            uint32_t from = m->blocks[e->from].function;
            uint32_t to = e->to == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[e->to].function;
            if (to == CT_CFG_NONE || to == from || loose[to] || (!loose[from] && !is_loose(m, e->from)))
                continue;
            loose[to] = 1;
            changed = true;
        }
    }
}

int ct_wcet_model_nests(struct ct_wcet_model *m)
{
    const struct ct_wcet *w = m->w;
    bool runs = w->entry == m->options->entry && !w->no_runs;
    int rc = CT_OK;
    if (m->options->product)
        return CT_OK;
    uint8_t *loose = calloc(m->function_count + 1, 1);
    if (!loose)
        return ct_fail_nomem(w->ctx, "wcet");
    for (size_t i = 0; i < w->depth_count; i++)
        loose[w->depths[i].function] = 1;
    find_loose(m, loose);
    for (uint32_t l = 0; !rc && l < w->loop_count; l++) {
        if (!w->loops[l].used || w->loops[l].origin != CT_WCET_OBSERVED)
            continue;
        rc = nest_rows(m, l);
        if (!rc && runs && w->run_most[l] && !loose[m->loops[l].function] && !is_loose(m, m->loops[l].head))
            rc = run_row(m, l);
    }
    free(loose);
    return rc;
}

/* ---- recursion ---- */

/* Who calls the functions that call themselves, as lists. A compiler has thousands of such functions in one
 * piece of the call graph, and as many calls from outside of it, so that nothing may be done for each pair.
 */
struct calls {
    uint32_t *first;   /* by function: the first column that calls it, or CT_CFG_NONE */
    uint32_t *next;    /* by column: the next one that calls the same function */
    uint32_t *mate;    /* by piece: its first function, or CT_CFG_NONE */
    uint32_t *mates;   /* by function: the next one of its piece */
    uint32_t *outside; /* by piece: the column of calls from outside, or CT_CFG_NONE */
};

/* Returns the function that a column calls, if that calls itself; else CT_CFG_NONE. */
static uint32_t callee_of(const struct ct_wcet_model *m, uint32_t column)
{
    const struct ct_cfg_edge *e = &m->edges[m->columns[column].edge];
    const uint32_t to = e->to == CT_CFG_NONE ? CT_CFG_NONE : m->blocks[e->to].function;
    const bool calls = e->kind == CT_CFG_CALL || e->kind == CT_CFG_TAIL;
    return calls && to != CT_CFG_NONE && m->w->recursive[to] ? to : CT_CFG_NONE;
}

static int list_calls(const struct ct_wcet_model *m, struct calls *calls)
{
    const size_t functions = m->function_count + 1;
    const size_t all = 4 * functions + m->column_count;
    uint32_t *lists = malloc(all * sizeof *lists);
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

/* Adds a column that says how often a piece is called from outside, a run of the entry included, once. */
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

/* Adds the row that a function that calls itself runs at most so often for each call from outside of its
 * recursion. */
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

/* Returns the most runs of a function for a call from outside: as the user says, else as many as were
 * seen. */
static uint64_t depth_of(const struct ct_wcet_model *m, uint32_t function, bool *told)
{
    *told = true;
    for (size_t i = 0; i < m->w->depth_count; i++)
        if (m->w->depths[i].function == function)
            return m->w->depths[i].runs;
    *told = false;
    if (m->w->depth_most[function] && !is_uncounted(m, m->functions[function].block))
        return m->w->depth_most[function];
    for (size_t i = 0; i < m->w->run_count; i++) /* all that were seen are no fewer than those of one call */
        if (m->w->runs[i].entry == m->functions[function].entry)
            return m->w->runs[i].begun;
    return 0;
}

/* Tells whether a function of the model calls itself. */
static bool has_depth(const struct ct_wcet_model *m, uint32_t function)
{
    const uint32_t block = m->functions[function].block;
    return m->w->recursive[function] && block != CT_CFG_NONE && m->covers[block] != CT_CFG_NONE;
}

int ct_wcet_model_check_depth(const struct ct_wcet_model *m)
{
    bool told;
    const uint32_t f = m->options->entry;
    /* No path goes to another function that calls itself and never ran. */
    if (m->options->exclude || !has_depth(m, f) || depth_of(m, f, &told))
        return CT_OK;
    return ct_fail(m->w->ctx, CT_ERR_NOT_FOUND,
                   "%s: calls itself, and nothing says how often: say 'recursion %s N' in the file of bounds",
                   m->functions[f].label, m->functions[f].name);
}

int ct_wcet_model_depths(struct ct_wcet_model *m)
{
    struct calls calls = {0};
    int rc = list_calls(m, &calls);
    for (uint32_t f = 0; !rc && f < m->function_count; f++) {
        bool told;
        if (!has_depth(m, f))
            continue;
        const uint64_t runs = depth_of(m, f, &told);
        rc = depth_row(m, f, runs, &calls);
        if (!rc && !told)
            rc = add_total(m, runs, CT_CFG_NONE, f);
    }
    free(calls.first); /* all lists are in its block of memory */
    return rc;
}
