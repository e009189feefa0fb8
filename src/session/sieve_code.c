/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which code a filter wants, by module and function. */
#include "session/sieve.h"

#include "base/ctx.h"
#include "base/name_suffix.h"
#include "base/path.h"
#include "base/room.h"
#include "coretap/program.h"

#include <stdlib.h>
#include <string.h>

enum {
    WANTED = 1,
    UNWANTED = 2,
};

static bool is_module(const struct ct_program *program, const char *name)
{
    return strcmp(program->path, name) == 0 || strcmp(ct_base_name(program->path), name) == 0;
}

/* ---- names in no program ---- */

static bool has_module(struct ct_programs *programs, const char *name)
{
    const struct ct_program *program;
    for (size_t i = 0; (program = ct_programs_at(programs, i)); i++)
        if (is_module(program, name))
            return true;
    return false;
}

/* Returns whether a function has a name, or is a copy or part of the function with that name. */
static bool is_function(const struct ct_symbols *symbols, const struct ct_symbol *symbol, const char *name)
{
    return ct_symbols_is_named(symbols, symbol, name) || ct_name_is_of(symbol->name, name) ||
           ct_name_is_of(ct_symbols_label(symbols, symbol), name);
}

static bool has_function(const struct ct_program_place *places, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        size_t symbols;
        const struct ct_symbol *all = ct_symbols_all(places[i].symbols, &symbols);
        for (size_t k = 0; k < symbols; k++)
            if (is_function(places[i].symbols, &all[k], name))
                return true;
    }
    return false;
}

int ct_sieve_code_check(const struct ct_sieve_code *c)
{
    const struct ct_filter *f = c->filter;
    const struct ct_program_place *places = NULL;
    size_t count = 0;
    for (size_t i = 0; i < f->module_count; i++)
        if (!c->programs || !has_module(c->programs, f->modules[i]))
            return ct_fail(c->ctx, CT_ERR_NOT_FOUND,
                           "module '%s': no program with this name ran, so nothing is selected; choose one "
                           "that 'coretap info' lists",
                           f->modules[i]);
    const int rc =
        f->function_count && c->programs ? ct_programs_places(c->programs, &places, &count) : CT_OK;
    for (size_t i = 0; i < f->function_count && !rc; i++)
        if (!has_function(places, count, f->functions[i]))
            return ct_fail(c->ctx, CT_ERR_NOT_FOUND,
                           "function '%s': no program that ran has a function with this name, so nothing is "
                           "selected; choose one that 'coretap cover --functions' lists",
                           f->functions[i]);
    return rc;
}

/* ---- nodes ---- */

static bool in_modules(const struct ct_sieve_code *c, const struct ct_node *node)
{
    struct ct_program *program;
    for (size_t i = 0; (program = ct_programs_at(c->programs, i)); i++)
        for (size_t k = 0; k < c->filter->module_count; k++)
            if (is_module(program, c->filter->modules[k]) &&
                ct_program_has(program, node->start, node->memory))
                return true;
    return c->filter->module_count == 0;
}

static bool is_named(const struct ct_sieve_code *c, const struct ct_program_place *place, uint64_t addr)
{
    const struct ct_symbol *symbol = ct_symbols_at(place->symbols, addr - place->shift, NULL);
    for (size_t k = 0; symbol && k < c->filter->function_count; k++)
        if (is_function(place->symbols, symbol, c->filter->functions[k]))
            return true;
    return false;
}

static int in_functions(const struct ct_sieve_code *c, const struct ct_node *node)
{
    const struct ct_program_place *places;
    size_t count;
    if (c->filter->function_count == 0)
        return true;
    const int rc = ct_programs_places(c->programs, &places, &count);
    for (size_t i = 0; !rc && i < count; i++)
        if (ct_memory_set_has(&places[i].memories, node->memory) && is_named(c, &places[i], node->start))
            return true;
    return rc;
}

int ct_sieve_code_wants(struct ct_sieve_code *c, const struct ct_graph *graph, uint32_t number)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(graph, &count);
    if (number >= c->room && !CT_MAKE_ZEROED_ROOM(c->verdicts, c->room, count))
        return ct_fail_nomem(c->ctx, "filter");
    if (!c->verdicts[number]) {
        const int rc = in_modules(c, &nodes[number]) ? in_functions(c, &nodes[number]) : 0;
        if (rc < 0)
            return rc;
        c->verdicts[number] = rc ? WANTED : UNWANTED;
    }
    return c->verdicts[number] == WANTED;
}
