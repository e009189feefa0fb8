/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a report's functions and edges from the sums of captures and saved results, identified by the build
 * id of their program and their address in its file. */
#include "base/search.h"
#include "format/report_sums.h"

#include <stdlib.h>

#include "base/path.h"
#include "format/program_match.h"

/* A program in the sums, with the program that ran. */
struct known {
    struct ct_program_identity identity;
    struct ct_program *program; /* NULL when missing; its source is then unknown */
};

/* The identity of a function of the page: a program and an address. */
struct key {
    uint32_t program; /* index in `known`, or CT_STACK_NONE */
    uint32_t function;
    uint64_t addr;
};

struct making {
    struct ct_report_sums *into;
    struct ct_stack_found stacks;
    struct ct_timing_found times;
    struct known *known;
    size_t known_count;
    uint32_t *of_stacks, *of_times; /* indices in `known` by the numbers of the sums */
    struct key *keys;
    size_t key_count;
};

/* ---- programs ---- */

static uint32_t know(struct making *m, const struct ct_program_identity *identity,
                     struct ct_programs *programs)
{
    for (size_t i = 0; i < m->known_count; i++)
        if (ct_identity_is(&m->known[i].identity, identity))
            return (uint32_t)i;
    struct known *fresh = &m->known[m->known_count];
    *fresh = (struct known){.identity = *identity};
    for (size_t i = 0; i < ct_programs_count(programs) && !fresh->program; i++)
        if (ct_identity_is_of(identity, ct_programs_at(programs, i)))
            fresh->program = ct_programs_at(programs, i);
    return (uint32_t)m->known_count++;
}

static int know_all(struct making *m, struct ct_programs *programs, const struct ct_stack_sums *stacks,
                    const struct ct_timing_sums *times)
{
    const size_t count = m->stacks.program_count + m->times.program_count;
    m->known = calloc(count + 1, sizeof *m->known);
    m->of_stacks = calloc(m->stacks.program_count + 1, sizeof *m->of_stacks);
    m->of_times = calloc(m->times.program_count + 1, sizeof *m->of_times);
    if (!m->known || !m->of_stacks || !m->of_times)
        return CT_ERR_NOMEM;
    for (uint32_t i = 0; i < m->stacks.program_count; i++) {
        const struct ct_program_identity program = ct_stack_sums_program(stacks, i);
        m->of_stacks[i] = know(m, &program, programs);
    }
    for (uint32_t i = 0; i < m->times.program_count; i++) {
        const struct ct_program_identity program = ct_timing_sums_program(times, i);
        m->of_times[i] = know(m, &program, programs);
    }
    return CT_OK;
}

/* ---- places ---- */

/* Finds the source line of an address in the file of a program, and the function if the place has none. */
static int find_source(const struct making *m, uint32_t program, struct ct_report_place *place)
{
    struct ct_program *p = program == CT_STACK_NONE ? NULL : m->known[program].program;
    const struct ct_symbols *symbols = NULL;
    const struct ct_lines *lines = NULL;
    int rc = p ? ct_program_symbols(p, &symbols) : CT_OK;
    if (!rc && p)
        rc = ct_program_lines(p, &lines);
    if (rc || !p)
        return rc == CT_ERR_NOMEM ? rc : CT_OK;
    const uint64_t moved = place->addr + p->bias - p->shift;
    const struct ct_symbol *symbol =
        place->function ? NULL : ct_symbols_code_at(symbols, moved, &place->offset);
    const struct ct_line *row = ct_lines_at(lines, moved);
    if (symbol)
        place->function = ct_symbols_label(symbols, symbol);
    if (row && row->line) {
        place->file = ct_base_name(ct_lines_file(lines, row->file));
        place->line = row->line;
    }
    return CT_OK;
}

/* Names a place by the last function of the sums that begins there or before it, for a missing program. */
static void name_by_sums(const struct making *m, uint32_t program, struct ct_report_place *place)
{
    const struct ct_timing_function *best = NULL;
    for (size_t i = 0; i < m->times.function_count; i++) {
        const struct ct_timing_function *f = &m->times.functions[i];
        if (f->program == program && f->addr <= place->addr && (!best || f->addr > best->addr))
            best = f;
    }
    const bool found = best && program != CT_TIMING_NO_PROGRAM;
    place->function = found ? best->label : CT_SYMBOL_UNKNOWN;
    place->offset = found ? place->addr - best->addr : 0;
}

static int find_place(const struct making *m, uint32_t program, uint64_t addr, struct ct_report_place *place)
{
    *place = (struct ct_report_place){.addr = addr};
    const int rc =
        find_source(m, program == CT_TIMING_NO_PROGRAM ? CT_STACK_NONE : m->of_times[program], place);
    if (!place->function)
        name_by_sums(m, program, place);
    return rc;
}

/* ---- functions ---- */

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    return ct_order(x->program, y->program) ?: ct_order(x->addr, y->addr);
}

static int add_function(struct making *m, uint32_t program, uint64_t addr, const char *label)
{
    struct ct_report_sums *into = m->into;
    struct ct_report_function *fresh = &into->functions[into->function_count];
    fresh->number = (uint32_t)into->function_count++;
    fresh->place = (struct ct_report_place){.function = label, .addr = addr};
    fresh->module = program == CT_STACK_NONE ? NULL : m->known[program].identity.name;
    fresh->in_file = addr;
    m->keys[m->key_count++] = (struct key){program, fresh->number, addr};
    return find_source(m, program, &fresh->place);
}

/* Adds the functions of the stacks, which keep their numbers. */
static int add_stacks(struct making *m)
{
    uint32_t *index_of = calloc(m->stacks.function_count + 1, sizeof *index_of);
    int rc = index_of ? CT_OK : CT_ERR_NOMEM;
    for (size_t i = 0; i < m->stacks.function_count && !rc; i++) {
        const struct ct_stack_function *f = &m->stacks.functions[i];
        index_of[i] = (uint32_t)i;
        rc = add_function(m, f->program == CT_STACK_NONE ? CT_STACK_NONE : m->of_stacks[f->program], f->addr,
                          f->label);
    }
    m->into->ran_count = m->into->function_count;
    m->into->places = m->stacks.places;
    m->into->place_count = m->stacks.place_count;
    if (!rc)
        rc = ct_report_add_up(m->into->places, m->into->place_count, index_of, m->into->functions);
    free(index_of);
    if (m->key_count)
        qsort(m->keys, m->key_count, sizeof *m->keys, by_key);
    return rc;
}

/* ---- threads ---- */

/* Returns the index in `known` of a program that ran, or CT_STACK_NONE when the sums do not have it. */
static uint32_t known_as(const struct making *m, struct ct_program *program)
{
    for (size_t i = 0; i < m->known_count; i++)
        if (m->known[i].program == program)
            return (uint32_t)i;
    for (size_t i = 0; i < m->known_count; i++)
        if (ct_identity_is_of(&m->known[i].identity, program))
            return (uint32_t)i;
    return CT_STACK_NONE;
}

/* Finds the number of each function of the kept threads. */
static uint32_t *number_kept(const struct making *m, const struct ct_report_kept *kept)
{
    uint32_t *numbers = calloc(kept->key_count + 1, sizeof *numbers);
    uint32_t *programs = calloc(kept->program_count + 1, sizeof *programs);
    for (size_t i = 0; programs && i < kept->program_count; i++)
        programs[i] = known_as(m, kept->programs[i]);
    for (size_t i = 0; numbers && programs && i < kept->key_count; i++) {
        const struct ct_report_key *key = &kept->keys[i];
        const struct key wanted = {.program =
                                       key->program == CT_STACK_NONE ? CT_STACK_NONE : programs[key->program],
                                   .addr = key->addr};
        const struct key *found = bsearch(&wanted, m->keys, m->key_count, sizeof wanted, by_key);
        numbers[i] = found ? found->function : CT_STACK_NONE;
    }
    free(programs);
    if (programs)
        return numbers;
    free(numbers);
    return NULL;
}

static bool has_all(const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == CT_STACK_NONE)
            return false;
    return true;
}

/* Copies a kept thread, with its functions as `numbers`. CT_ERR_NOMEM. */
static int copy_thread(struct ct_report_thread *to, const struct ct_report_thread *from,
                       const uint32_t *numbers)
{
    *to = *from;
    to->places = calloc(from->place_count + 1, sizeof *to->places);
    if (!to->places)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < from->place_count; i++) {
        to->places[i] = from->places[i];
        to->places[i].function = numbers[from->places[i].function];
    }
    return CT_OK;
}

/* Copies the kept threads, with their functions as numbers here: a page may be written again, from other
 * sums. Copies none if the sums lack one of the functions, so that none can be selected. CT_ERR_NOMEM. */
static int name_threads(const struct making *m, const struct ct_report_kept *kept)
{
    const struct ct_report_threads *from = &kept->threads;
    struct ct_report_threads *to = &m->into->threads;
    uint32_t *numbers = number_kept(m, kept);
    int rc = numbers ? CT_OK : CT_ERR_NOMEM;
    if (!rc && has_all(numbers, kept->key_count)) {
        to->left_out = from->left_out;
        to->threads = calloc(from->count + 1, sizeof *to->threads);
        rc = to->threads ? CT_OK : CT_ERR_NOMEM;
        for (; !rc && to->count < from->count; to->count++)
            rc = copy_thread(&to->threads[to->count], &from->threads[to->count], numbers);
    }
    free(numbers);
    return rc;
}

/* ---- times ---- */

/* Adds the functions of the times, unless the stacks have them. Keys are sorted. */
static int add_times(struct making *m)
{
    const size_t known = m->key_count;
    int rc = CT_OK;
    for (size_t i = 0; i < m->times.function_count && !rc; i++) {
        const struct ct_timing_function *f = &m->times.functions[i];
        const uint32_t program = f->program == CT_TIMING_NO_PROGRAM ? CT_STACK_NONE : m->of_times[f->program];
        const struct key wanted = {.program = program, .addr = f->addr};
        if (!f->inclusive.count)
            continue;
        const struct key *found = known ? bsearch(&wanted, m->keys, known, sizeof wanted, by_key) : NULL;
        const size_t index = found ? found->function : m->into->function_count;
        if (!found)
            rc = add_function(m, program, f->addr, f->label);
        if (!rc)
            rc = ct_dist_merge(&m->into->functions[index].inclusive, &f->inclusive);
        if (!rc)
            rc = ct_dist_merge(&m->into->functions[index].self, &f->self);
    }
    return rc;
}

/* ---- edges ---- */

static int add_edge(struct making *m, const struct ct_timing_edge *edge)
{
    struct ct_report_edge *into = &m->into->edges[m->into->edge_count++];
    *into = (struct ct_report_edge){.way = ct_report_way(edge), .count = edge->count, .cycles = edge->cycles};
    into->cycles.buckets = 0;
    into->cycles.histogram = NULL; /* stays with the sums */
    const int rc = find_place(m, edge->program, edge->start, &into->from);
    return rc ? rc : find_place(m, edge->next_program, edge->next, &into->to);
}

static int add_edges(struct making *m)
{
    size_t used;
    size_t *order = ct_report_choose_edges(m->times.edges, m->times.edge_count, m->into->cycles, &used,
                                           &m->into->edges_left_out);
    int rc = order ? CT_OK : CT_ERR_NOMEM;
    m->into->edges = calloc(used + 1, sizeof *m->into->edges);
    if (!m->into->edges)
        rc = CT_ERR_NOMEM;
    for (size_t i = 0; i < used && !rc; i++)
        rc = add_edge(m, &m->times.edges[order[i]]);
    free(order);
    return rc;
}

/* ---- the whole ---- */

static bool has_cycles(const struct making *m)
{
    uint64_t all = m->times.totals.cycles;
    for (size_t i = 0; i < m->stacks.place_count && !all; i++)
        all = m->stacks.places[i].cycles;
    return all > 0;
}

static int make(struct making *m, struct ct_programs *programs, const struct ct_stack_sums *stacks,
                const struct ct_timing_sums *times, const struct ct_report_kept *kept)
{
    const size_t count = m->stacks.function_count + m->times.function_count;
    m->into->cycles = has_cycles(m);
    m->into->all_cycles = m->times.totals.cycles;
    m->into->functions = calloc(count + 1, sizeof *m->into->functions);
    m->keys = calloc(count + 1, sizeof *m->keys);
    int rc = m->into->functions && m->keys ? know_all(m, programs, stacks, times) : CT_ERR_NOMEM;
    if (!rc)
        rc = add_stacks(m);
    if (!rc)
        rc = name_threads(m, kept);
    if (!rc)
        rc = add_times(m);
    return rc ? rc : add_edges(m);
}

int ct_report_sums_make(struct ct_programs *programs, struct ct_stack_sums *stacks,
                        struct ct_timing_sums *times, const struct ct_report_kept *kept,
                        struct ct_report_sums *into)
{
    struct making m = {.into = into};
    int rc = ct_stack_sums_find(stacks, &m.stacks);
    if (!rc)
        rc = ct_timing_sums_find(times, &m.times);
    if (!rc)
        rc = make(&m, programs, stacks, times, kept);
    free(m.keys);
    free(m.of_stacks);
    free(m.of_times);
    free(m.known);
    return rc;
}

void ct_report_sums_free(struct ct_report_sums *sums)
{
    for (size_t i = 0; i < sums->function_count; i++) {
        ct_dist_free(&sums->functions[i].inclusive);
        ct_dist_free(&sums->functions[i].self);
    }
    ct_report_threads_free(&sums->threads);
    free(sums->functions);
    free(sums->edges);
}
