/* SPDX-License-Identifier: Apache-2.0 */
/* Times as rows of tables. */
#include "base/require.h"
#include "export/tables.h"

/* ---- edges ---- */

/* Returns how execution followed an edge, as a word. */
static const char *edge_kind(const struct ct_timing_edge *edge)
{
    static const char *const taken[] = {
        [CT_TIMING_BRANCH_UNKNOWN] = "taken", [CT_TIMING_BRANCH_NONE] = "on",
        [CT_TIMING_BRANCH_COND] = "taken",    [CT_TIMING_BRANCH_JUMP] = "jump",
        [CT_TIMING_BRANCH_CALL] = "call",     [CT_TIMING_BRANCH_RETURN] = "return",
    };
    if (edge->kind != CT_EDGE_NEXT)
        return edge->kind == CT_EDGE_OPEN ? "open" : "interrupted";
    return edge->exec ? taken[edge->branch] : "not-taken";
}

/* Returns a program by its number; NULL for code in no program. */
static const struct ct_program_identity *program_of(const struct ct_timing_sums *sums, uint32_t number,
                                                    struct ct_program_identity *room)
{
    if (number == CT_TIMING_NO_PROGRAM)
        return NULL;
    *room = ct_timing_sums_program(sums, number);
    return room;
}

static void put_edge(const struct ct_table_rows *rows, const struct ct_timing_sums *sums,
                     const struct ct_timing_edge *edge)
{
    struct ct_program_identity from, to;
    struct ct_rows *file = ct_table_row(rows, CT_TABLE_EDGES, program_of(sums, edge->program, &from));
    const bool goes_on = edge->next != 0;
    ct_rows_text(file, ct_timing_sums_kind()->name);
    ct_rows_text(file, edge_kind(edge));
    ct_rows_number(file, edge->last);
    if (goes_on)
        ct_rows_number(file, edge->next);
    else
        ct_rows_nothing(file);
    ct_table_put_program(file, goes_on ? program_of(sums, edge->next_program, &to) : NULL);
    ct_rows_number(file, edge->count);
    ct_rows_number(file, edge->n);
    ct_rows_number(file, edge->cycles.count);
    ct_rows_number(file, edge->cycles.sum);
    if (edge->cycles.count) {
        ct_rows_number(file, edge->cycles.min);
        ct_rows_number(file, edge->cycles.max);
    } else {
        ct_rows_nothing(file);
        ct_rows_nothing(file);
    }
}

/* ---- functions and pairs ---- */

/* A function or a pair of places, which a distribution belongs to. */
struct subject {
    const struct ct_program_identity *program;
    const struct ct_timing_function *function; /* NULL: a pair */
    const char *pair;
};

/* Begins a row of `times`, up to its measure. */
static struct ct_rows *begin_times(const struct ct_table_rows *rows, const struct subject *of,
                                   const char *measure)
{
    struct ct_rows *file = ct_table_row(rows, CT_TABLE_TIMES, of->program);
    ct_rows_text(file, of->function ? of->function->label : NULL);
    if (of->function)
        ct_rows_number(file, of->function->addr);
    else
        ct_rows_nothing(file);
    ct_rows_text(file, of->pair);
    ct_rows_text(file, measure);
    return file;
}

/* Ends a row of `times` with the place of the longest run, if it is known. */
static void end_times(struct ct_rows *file, const struct ct_timing_longest *longest)
{
    static const struct ct_timing_longest unknown = {0};
    const struct ct_timing_longest *of = longest && longest->cycles ? longest : &unknown;
    ct_rows_text(file, of->capture);
    ct_rows_text(file, of->buffer);
    const uint64_t numbers[] = {of->id, of->from, of->to};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (of != &unknown)
            ct_rows_number(file, numbers[i]);
        else
            ct_rows_nothing(file);
    }
}

/* Writes a sum that has no distribution. */
static void put_sum(const struct ct_table_rows *rows, const struct subject *of, const char *measure,
                    uint64_t count, uint64_t cycles)
{
    struct ct_rows *file = begin_times(rows, of, measure);
    ct_rows_number(file, count);
    ct_rows_number(file, 0);
    ct_rows_number(file, cycles);
    for (int i = 0; i < 7; i++)
        ct_rows_nothing(file);
    end_times(file, NULL);
}

/* Writes a distribution, unless it is empty. `cut`: the runs of unknown time. `longest`: where the largest
 * time was, or NULL. */
static void put_dist(const struct ct_table_rows *rows, const struct subject *of, const char *measure,
                     const struct ct_dist *dist, uint64_t cut, const struct ct_timing_longest *longest)
{
    if (!dist->count && !cut)
        return;
    struct ct_rows *file = begin_times(rows, of, measure);
    ct_rows_number(file, dist->count);
    ct_rows_number(file, cut);
    ct_rows_number(file, dist->sum);
    if (dist->count) {
        ct_rows_number(file, dist->min);
        ct_rows_number(file, dist->max);
        ct_rows_real(file, ct_dist_mean(dist));
        ct_rows_real(file, ct_dist_deviation(dist));
    }
    for (int i = 0; i < 4 && !dist->count; i++)
        ct_rows_nothing(file);
    static const double parts[] = {0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (dist->histogram)
            ct_rows_number(file, ct_dist_quantile(dist, parts[i]));
        else
            ct_rows_nothing(file);
    }
    end_times(file, longest);
}

static void put_function(const struct ct_table_rows *rows, const struct ct_timing_sums *sums,
                         const struct ct_timing_function *f)
{
    struct ct_program_identity room;
    const struct subject of = {.program = program_of(sums, f->program, &room), .function = f};
    put_sum(rows, &of, "steps", f->steps, f->cycles);
    put_dist(rows, &of, "inclusive", &f->inclusive, f->cut, &f->longest);
    put_dist(rows, &of, "self", &f->self, f->cut, NULL);
    put_dist(rows, &of, "recursive", &f->recursive, 0, NULL);
    put_dist(rows, &of, "preempted", &f->preempted, 0, NULL);
}

static void put_pair(const struct ct_table_rows *rows, const struct ct_timing_pair *pair)
{
    const struct subject of = {.pair = pair->name};
    put_dist(rows, &of, "direct", &pair->direct, pair->lost, NULL);
    put_dist(rows, &of, "interrupted", &pair->preempted, 0, NULL);
}

/* ---- times ---- */

int ct_tables_add_timing(struct ct_tables *tables, struct ct_timing_sums *sums,
                         const struct ct_tables_origin *origin)
{
    struct ct_table_rows rows;
    struct ct_timing_found found = {0};
    CT_REQUIRE_OF(tables, sums, origin);
    int rc = ct_timing_sums_find(sums, &found);
    if (!rc)
        rc = ct_table_rows_begin(tables, origin, ct_timing_sums_analysis(sums), __func__, &rows);
    for (size_t i = 0; i < found.edge_count && !rc; i++)
        put_edge(&rows, sums, &found.edges[i]);
    for (size_t i = 0; i < found.function_count && !rc; i++)
        put_function(&rows, sums, &found.functions[i]);
    for (size_t i = 0; i < found.pair_count && !rc; i++)
        put_pair(&rows, &found.pairs[i]);
    return rc ? rc : ct_tables_result(tables);
}
