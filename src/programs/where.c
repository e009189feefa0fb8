/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions and lines of addresses in the set of programs. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/require.h"

#include <stdlib.h>
#include <string.h>

int ct_programs_places(struct ct_programs *p, const struct ct_program_place **out, size_t *count)
{
    CT_REQUIRE_OUT(p ? p->ctx : NULL, out, p, count);
    const size_t room = p->count + p->map_count + p->image_count + 1;
    struct ct_program_place *places = p->places;
    int rc = CT_OK;
    *count = 0;
    if (p->place_room != room)
        places = realloc(places, room * sizeof *places);
    if (!places)
        return ct_fail_nomem(p->ctx, "programs");
    p->places = places;
    p->place_room = room;
    for (size_t i = 0; i < p->count; i++) {
        struct ct_program *program = &p->all[i]->is;
        struct ct_program_place place = {
            .shift = program->shift, .memories = program->memories, .program = program};
        const int loaded = ct_program_symbols(program, &place.symbols);
        if (loaded == CT_ERR_NOMEM)
            return loaded;
        if (!loaded)
            places[(*count)++] = place;
        rc = rc ? rc : loaded;
    }
    for (size_t i = 0; i < p->map_count; i++)
        if (!p->maps[i].nowhere)
            places[(*count)++] = (struct ct_program_place){.symbols = p->maps[i].symbols};
    for (size_t i = 0; i < p->image_count; i++)
        places[(*count)++] = (struct ct_program_place){.symbols = p->images[i].symbols};
    *out = places;
    return rc;
}

static int line_of(struct ct_program *program, uint64_t addr, struct ct_program_where *out)
{
    const struct ct_lines *lines;
    const int rc = ct_program_lines(program, &lines);
    const struct ct_line *row = rc ? NULL : ct_lines_at(lines, addr - program->shift);
    if (row && row->line) {
        out->file = ct_lines_file(lines, row->file);
        out->line = row->line;
    }
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

int ct_program_at(struct ct_program *program, uint64_t addr, struct ct_program_where *out)
{
    const struct ct_symbols *symbols;
    uint64_t offset = 0;
    CT_REQUIRE(NULL, program, out);
    *out = (struct ct_program_where){0};
    const int rc = ct_program_symbols(program, &symbols);
    const struct ct_symbol *symbol = rc ? NULL : ct_symbols_code_at(symbols, addr - program->shift, &offset);
    if (!symbol)
        return rc == CT_ERR_NOMEM ? rc : CT_OK;
    out->offset = offset;
    out->program = program;
    out->function = ct_symbols_label(symbols, symbol);
    return line_of(program, addr, out);
}

/* Finds a name for code outside of programs. Returns false when the symbols have none. */
static bool name_at(const struct ct_symbols *symbols, uint64_t addr, struct ct_program_where *out)
{
    const struct ct_symbol *symbol = ct_symbols_code_at(symbols, addr, &out->offset);
    out->function = symbol ? ct_symbols_label(symbols, symbol) : NULL;
    return symbol;
}

int ct_programs_where(struct ct_programs *p, uint64_t addr, struct ct_program_where *out)
{
    CT_REQUIRE_OF(p, out);
    *out = (struct ct_program_where){0};
    for (size_t i = 0; i < p->count; i++) {
        const int rc = ct_program_at(&p->all[i]->is, addr, out);
        if (rc || out->program)
            return rc;
    }
    for (size_t i = 0; i < p->map_count; i++)
        if (!p->maps[i].nowhere && name_at(p->maps[i].symbols, addr, out))
            return CT_OK;
    for (size_t i = 0; i < p->image_count && !name_at(p->images[i].symbols, addr, out);)
        i++;
    return CT_OK;
}

/* ---- functions by name ---- */

/* Returns whether a name is this one, possibly with the suffix of a copy or with parameters. */
static bool begins_with(const char *name, const char *text)
{
    const size_t length = strlen(text);
    return strncmp(name, text, length) == 0 && (!name[length] || strchr(". (", name[length]));
}

/* Returns whether a symbol of a program, or the program and an address, give the name. An error in the
 * symbols is reported when the control flow is read. */
static bool is_named_in(struct ct_program *program, const char *name)
{
    const struct ct_symbols *symbols = NULL;
    size_t count = 0;
    const struct ct_symbol *all =
        ct_program_symbols(program, &symbols) ? NULL : ct_symbols_all(symbols, &count);
    for (size_t i = 0; i < count; i++)
        if (begins_with(all[i].name, name) || begins_with(ct_symbols_label(symbols, &all[i]), name))
            return true;
    const char *module = symbols ? ct_symbols_module(symbols) : "";
    const size_t length = strlen(module);
    return length && strncmp(name, module, length) == 0 && name[length] == '+';
}

/* Searches the control flow of a program. *function stays CT_CFG_NONE when the name is not there. */
static int find_function(struct ct_program *program, const char *name, uint32_t *function)
{
    struct ct_cfg *cfg;
    size_t count;
    const int rc = ct_program_cfg(program, &cfg);
    const struct ct_cfg_function *all = rc ? NULL : ct_cfg_functions(cfg, &count);
    const uint32_t f = all ? ct_cfg_function_named(cfg, name) : CT_CFG_NONE;
    if (f != CT_CFG_NONE && all[f].block != CT_CFG_NONE)
        *function = f;
    return rc;
}

/* Returns whether the control flow of a program, none of whose symbols gives the name, can have the function:
 * without symbols, or with a place as its name. */
static bool is_worth_reading(struct ct_program *program, const char *name)
{
    const struct ct_symbols *symbols;
    return strstr(name, "+0x") || ct_program_symbols(program, &symbols) != CT_OK;
}

int ct_programs_function(struct ct_programs *p, const char *name, struct ct_program **out, uint32_t *function)
{
    CT_REQUIRE_OUT(p ? p->ctx : NULL, out, p, name, function);
    struct ct_program *program;
    int rc = CT_OK;
    *function = CT_CFG_NONE;
    for (int named = 1; named >= 0; named--)
        for (size_t i = 0; !*out && (program = ct_programs_at(p, i)); i++) {
            const bool is_next = named ? is_named_in(program, name)
                                       : !is_named_in(program, name) && is_worth_reading(program, name);
            if (is_next && (rc = find_function(program, name, function)))
                return rc;
            *out = *function == CT_CFG_NONE ? NULL : program;
        }
    if (*out)
        return CT_OK;
    return ct_fail(p->ctx, CT_ERR_NOT_FOUND,
                   strstr(name, "+0x")
                       ? "%s: no function begins at this address; give --entry a function that 'coretap "
                         "graph' lists, declare it as a function with --targets, or name the program with "
                         "--elf"
                       : "%s: no program has a function of that name with code, or several have one; give "
                         "the name as 'coretap graph' lists it, or name the program with --elf",
                   name);
}
