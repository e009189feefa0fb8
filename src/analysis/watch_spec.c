/* SPDX-License-Identifier: Apache-2.0 */
/* Finds watchpoints by name: lines, functions, addresses, edges. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/number.h"
#include "analysis/watch.h"
#include "base/name_suffix.h"
#include "base/ctx.h"
#include "base/require.h"

#define MOST_NAME      1024
#define MOST_EXCEPTION 1023 /* an ETMv4 has ten bits for it, other protocols fewer */

static const char *behind(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static int missing(struct ct_watches *w, const char *spec, const char *why)
{
    return ct_fail(w->ctx, CT_ERR_NOT_FOUND, "watchpoint '%s': %s", spec, why);
}

/* Adds a place in the program with this number. `addr` and `end` are load addresses. */
static int place(struct ct_watches *w, enum ct_watch_kind kind, size_t program, uint64_t addr, uint64_t end)
{
    return ct_watches_place(
        w, &(struct ct_watch_place){
               .addr = addr, .end = end, .kind = (uint8_t)kind, .program = ct_watches_program_byte(program)});
}

/* ---- functions ---- */

/* Removes the last watchpoint if it has no place. Otherwise sets *found. */
static int keep(struct ct_watches *w, bool *found)
{
    bool has_place = w->points[w->count - 1].places > 0;
    *found |= has_place;
    w->count -= !has_place;
    return CT_OK;
}

/* Adds the entries or returns of the functions with a name, including copies that the compiler made. */
static int functions(struct ct_watches *w, const char *spec, enum ct_watch_kind kind, const char *name,
                     bool *found)
{
    const unsigned wanted = CT_NAME_COPY | CT_NAME_WHOLE | (kind == CT_WATCH_RETURN ? CT_NAME_COLD : 0);
    int rc = ct_watches_point(w, spec, kind, 0);
    struct ct_program *program;
    for (size_t p = 0; !rc && (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_symbols *symbols;
        size_t count;
        rc = ct_program_symbols(program, &symbols);
        const struct ct_symbol *all = rc ? NULL : ct_symbols_all_code(symbols, &count);
        for (size_t i = 0; !rc && i < count; i++) {
            const uint64_t addr = all[i].addr + program->shift;
            const unsigned suffixes =
                ct_name_is_of(ct_symbols_label(symbols, &all[i]), name) | ct_name_is_of(all[i].name, name);
            if ((suffixes && !(suffixes & ~wanted)) || ct_symbols_is_named(symbols, &all[i], name))
                rc = place(w, kind, p, addr, addr + all[i].size);
        }
    }
    return rc ? rc : keep(w, found);
}

/* Adds the places where a function was inlined: the instructions with which it begins. They have no call, so
 * nothing tells from where execution came. */
static int inlined_entries(struct ct_watches *w, const char *spec, const char *name, bool *found)
{
    int rc = ct_watches_point(w, spec, CT_WATCH_ENTRY, 1);
    struct ct_program *program;
    for (size_t p = 0; !rc && (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_lines *lines;
        size_t count;
        rc = ct_program_lines(program, &lines);
        const struct ct_line_scope *all = rc ? NULL : ct_lines_scopes(lines, &count);
        for (size_t i = 0; !rc && i < count; i++)
            if (all[i].depth && strcmp(all[i].name, name) == 0)
                rc =
                    place(w, CT_WATCH_ENTRY, p, all[i].entry + program->shift, all[i].entry + program->shift);
    }
    return rc ? rc : keep(w, found);
}

/* Returns whether a C++ function has the name with or without scopes before it and parameters behind it. */
static bool is_within(const char *label, const char *name)
{
    const char *at = strstr(label, name);
    const char after = at ? at[strlen(name)] : '\0';
    return at && at - label >= 2 && at[-1] == ':' && at[-2] == ':' &&
           (!after || after == '(' || after == '<');
}

/* Finds the function that a name probably stands for: the one with scopes, or the nearest name. NULL: none.
 * Sets *whole to whether a program has more names than those of its dynamic linker. */
static const char *similar(struct ct_watches *w, const char *name, bool *whole)
{
    const char *near = NULL;
    struct ct_program *program;
    *whole = false;
    for (size_t p = 0; !near && (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_symbols *symbols;
        size_t size = 0;
        if (ct_program_symbols(program, &symbols) != CT_OK)
            continue;
        const struct ct_symbol *all = ct_symbols_all_code(symbols, &size);
        const char **names = calloc(size + 1, sizeof *names);
        size_t named = 0;
        for (size_t i = 0; names && i < size; i++) {
            if (all[i].source == CT_SYMBOL_UNWIND || all[i].source == CT_SYMBOL_CODE)
                continue;
            names[named++] = ct_symbols_label(symbols, &all[i]);
            *whole |= all[i].source != CT_SYMBOL_DYNSYM && all[i].source != CT_SYMBOL_PLT;
            if (!near && is_within(names[named - 1], name))
                near = names[named - 1];
        }
        near = near || !names ? near : ct_nearest_name(name, names);
        free(names);
    }
    return near;
}

/* Reports that no program has a function of the name. */
static int no_symbol(struct ct_watches *w, const char *spec, const char *name)
{
    bool whole;
    const char *near = similar(w, name, &whole);
    if (near)
        return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                       "watchpoint '%s': no program has a function with this name; did you mean '%s'?", spec,
                       near);
    return missing(
        w, spec,
        whole || !ct_programs_at(w->programs, 0)
            ? "no program has a function with this name; list the functions of a program with "
              "'coretap graph'"
            : "the program is stripped, so its functions have no names; name it with --elf as it was "
              "before, or its file of debug information");
}

/* Reports that a name was not found. What stands before a colon may have been meant as a kind of place. */
static int no_function(struct ct_watches *w, const char *spec)
{
    const size_t word = strspn(spec, "abcdefghijklmnopqrstuvwxyz-");
    if (!word || spec[word] != ':' || spec[word + 1] == ':')
        return no_symbol(w, spec, spec);
    return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                   "watchpoint '%s': '%.*s' is not a kind of place, and no program has a function with the "
                   "whole name; use one of function, entry, return, line, edge, exception, context, itm, "
                   "stm, dwt, event, load, store, value, text, begin and end",
                   spec, (int)word, spec);
}

enum which {
    ENTRIES = 1,
    RETURNS = 2,
};

static int function(struct ct_watches *w, const char *spec, const char *name, unsigned which)
{
    bool found = false;
    int rc = CT_OK;
    if (which & ENTRIES)
        rc = functions(w, spec, CT_WATCH_ENTRY, name, &found);
    if (!rc && which & ENTRIES)
        rc = inlined_entries(w, spec, name, &found);
    if (!rc && which & RETURNS)
        rc = functions(w, spec, CT_WATCH_RETURN, name, &found);
    if (rc || found)
        return rc;
    if (name == spec)
        return no_function(w, spec);
    if (which != RETURNS)
        return no_symbol(w, spec, name);
    return missing(w, spec,
                   "no program has a symbol with this name (an inlined function has no return); watch its "
                   "entry, or name the program with --elf");
}

/* ---- addresses, lines, edges ---- */

#define NO_PROGRAM SIZE_MAX

/* Adds an address. `program` is the number of the program with the name that gave it, or NO_PROGRAM. */
static int address(struct ct_watches *w, const char *spec, size_t program, uint64_t addr)
{
    int rc = ct_watches_point(w, spec, CT_WATCH_ADDR, 0);
    return rc ? rc : place(w, CT_WATCH_ADDR, program, addr, 0);
}

/* Adds an address to the last watchpoint, unless the watchpoint has it: symbols may share an address, and so
 * may programs that ran one after the other. */
static int add_address(struct ct_watches *w, size_t program, uint64_t addr)
{
    const size_t of_others = w->point_count - w->points[w->count - 1].places;
    for (size_t i = of_others; i < w->point_count; i++)
        if (w->points_at[i].addr == addr)
            return CT_OK;
    return place(w, CT_WATCH_ADDR, program, addr, 0);
}

/* Adds an offset in the functions with a name, in all programs. Sets *found when there are any. */
static int offset_in_functions(struct ct_watches *w, const char *name, uint64_t offset, bool *found)
{
    struct ct_program *program;
    int rc = CT_OK;
    for (size_t p = 0; !rc && (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_symbols *symbols;
        size_t count;
        rc = ct_program_symbols(program, &symbols);
        const struct ct_symbol *all = rc ? NULL : ct_symbols_all(symbols, &count);
        for (size_t i = 0; !rc && i < count; i++) {
            if (!ct_symbols_is_named(symbols, &all[i], name))
                continue;
            *found = true;
            if (!offset || !all[i].size || offset < all[i].size)
                rc = add_address(w, p, all[i].addr + program->shift + offset);
        }
    }
    return rc;
}

/* Adds an offset in the files with a name. Sets *found when there are any. */
static int offset_in_files(struct ct_watches *w, const char *name, uint64_t offset, bool *found)
{
    struct ct_program *program;
    int rc = CT_OK;
    for (size_t p = 0; !rc && (program = ct_programs_at(w->programs, p)); p++) {
        const struct ct_symbols *symbols;
        size_t count;
        if (ct_program_symbols(program, &symbols) != CT_OK || strcmp(ct_symbols_module(symbols), name) != 0)
            continue;
        *found = true;
        const struct ct_code_range *code = ct_symbols_code(symbols, &count);
        if (ct_code_has(code, count, program->bias - program->shift + offset))
            rc = add_address(w, p, program->bias + offset);
    }
    return rc;
}

/* Adds a place such as main+0x10. */
static int offset_in(struct ct_watches *w, const char *spec, const char *plus, uint64_t offset)
{
    char name[MOST_NAME];
    bool function = false, file = false;
    size_t length = (size_t)(plus - spec);
    if (length >= sizeof name)
        return missing(w, spec, "the name is longer than 1023 characters, which is the limit; shorten it");
    memcpy(name, spec, length);
    name[length] = '\0';
    int rc = ct_watches_point(w, spec, CT_WATCH_ADDR, 0);
    if (!rc)
        rc = offset_in_functions(w, name, offset, &function);
    if (!rc && !function)
        rc = offset_in_files(w, name, offset, &file);
    if (rc || w->points[w->count - 1].places)
        return rc;
    w->count--;
    if (!function && !file)
        return no_symbol(w, spec, name);
    return missing(w, spec,
                   function ? "the function ends before this offset; give a smaller offset"
                            : "the program has no code at this offset; give another offset");
}

static int line_places(struct ct_watches *w, size_t program_at, const char *file, uint32_t line)
{
    struct ct_program *program = ct_programs_at(w->programs, program_at);
    const struct ct_lines *lines;
    size_t count;
    uint32_t found;
    int rc = ct_program_lines(program, &lines);
    if (rc)
        return rc;
    rc = ct_lines_find(lines, file, line, NULL, 0, &count, &found);
    if (rc != CT_OK)
        return rc == CT_ERR_NOMEM ? ct_fail_nomem(w->ctx, "watchpoints") : CT_OK;
    uint64_t *addrs = malloc((count + 1) * sizeof *addrs);
    if (!addrs)
        return ct_fail_nomem(w->ctx, "watchpoints");
    if (ct_lines_find(lines, file, line, addrs, count, &count, &found) == CT_ERR_NOMEM)
        rc = ct_fail_nomem(w->ctx, "watchpoints");
    for (size_t i = 0; !rc && i < count; i++)
        rc = place(w, CT_WATCH_LINE, program_at, addrs[i] + program->shift, 0);
    free(addrs);
    w->points[w->count - 1].number = found;
    return rc;
}

static int line_of(struct ct_watches *w, const char *spec, const char *text, const char *colon, uint64_t line)
{
    char file[MOST_NAME];
    size_t length = (size_t)(colon - text);
    if (length >= sizeof file || !line || line > UINT32_MAX)
        return missing(w, spec,
                       "the file name is too long, or the line number is not from 1 to 2^32-1; correct it");
    memcpy(file, text, length);
    file[length] = '\0';
    int rc = ct_watches_point(w, spec, CT_WATCH_LINE, line);
    for (size_t p = 0; !rc && ct_programs_at(w->programs, p); p++)
        rc = line_places(w, p, file, (uint32_t)line);
    if (rc)
        return rc;
    const struct ct_watchpoint *point = &w->points[w->count - 1];
    if (point->places && point->number != line)
        ct_log(w->ctx, CT_LOG_NOTE,
               "watchpoint '%s': no statement begins on this line; line %" PRIu64 " is watched instead", spec,
               point->number);
    if (point->places)
        return CT_OK;
    w->count--;
    return missing(w, spec,
                   "no program has debug information with code for this file at or after this line; compile "
                   "it with -g and name it with --elf");
}

static int edge(struct ct_watches *w, const char *spec, uint64_t id)
{
    struct ct_program *program;
    for (size_t p = 0; (program = ct_programs_at(w->programs, p)); p++) {
        size_t edges, blocks;
        struct ct_cfg *cfg;
        int rc = ct_program_cfg(program, &cfg);
        if (rc)
            return rc;
        const struct ct_cfg_edge *all = ct_cfg_edges(cfg, &edges);
        if (id >= edges)
            continue;
        const struct ct_cfg_block *from = &ct_cfg_blocks(cfg, &blocks)[all[id].from];
        const struct ct_watch_place place = {.addr = from->last + program->shift,
                                             .end = all[id].target ? all[id].target + program->shift : 0,
                                             .kind = CT_WATCH_EDGE,
                                             .edge = all[id].kind,
                                             .branches =
                                                 from->type == CT_INSN_BR || from->type == CT_INSN_IBR};
        rc = ct_watches_point(w, spec, CT_WATCH_EDGE, id);
        return rc ? rc : ct_watches_place(w, &place);
    }
    return missing(
        w, spec, "no program has an edge with this number; list the edges of a program with 'coretap graph'");
}

/* ---- any place ---- */

static int by_word(struct ct_watches *w, const char *spec, bool *is_word)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = {
        {"exception", CT_WATCH_EXCEPTION}, {"exception-return", CT_WATCH_EXCEPTION_RETURN},
        {"context", CT_WATCH_CONTEXT},     {"gap", CT_WATCH_GAP},
        {"overflow", CT_WATCH_OVERFLOW},   {"no-access", CT_WATCH_NO_ACCESS},
        {"timestamp", CT_WATCH_TIMESTAMP},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(spec, words[i].word) == 0) {
            *is_word = true;
            return ct_watches_point(w, spec, (enum ct_watch_kind)words[i].kind, CT_WATCH_ANY);
        }
    return CT_OK;
}

static int parse(struct ct_watches *w, const char *spec)
{
    uint64_t value;
    bool is_word = false;
    const char *rest;
    int rc = by_word(w, spec, &is_word);
    if (!rc && !is_word)
        rc = ct_watches_add_value(w, spec, &is_word);
    if (rc || is_word)
        return rc;
    if ((rest = behind(spec, "function:")))
        return function(w, spec, rest, ENTRIES | RETURNS);
    if ((rest = behind(spec, "entry:")))
        return function(w, spec, rest, ENTRIES);
    if ((rest = behind(spec, "return:")))
        return function(w, spec, rest, RETURNS);
    if ((rest = behind(spec, "edge:")) && ct_number_read(rest, &value))
        return edge(w, spec, value);
    if ((rest = behind(spec, "exception:")) && ct_number_read(rest, &value))
        return value <= MOST_EXCEPTION
                   ? ct_watches_point(w, spec, CT_WATCH_EXCEPTION, value)
                   : missing(w, spec, "the exception number is too large; use a number from 0 to 1023");
    if (ct_number_read(spec, &value))
        return address(w, spec, NO_PROGRAM, value);
    rest = behind(spec, "line:");
    const char *text = rest ? rest : spec;
    const char *colon = strrchr(text, ':');
    if (colon && ct_number_read(colon + 1, &value))
        return line_of(w, spec, text, colon, value);
    const char *plus = strrchr(spec, '+');
    if (plus && ct_number_read(plus + 1, &value))
        return offset_in(w, spec, plus, value);
    return function(w, spec, spec, ENTRIES | RETURNS);
}

/* Removes everything added since `before`. The older places are in front and still sorted. */
static void take_back(struct ct_watches *w, const struct ct_watches *before)
{
    w->count = before->count;
    w->point_count = before->point_count;
    w->return_count = before->return_count;
    w->variable_count = before->variable_count;
    w->marks = before->marks;
    w->sorted = before->sorted;
}

int ct_watches_add(struct ct_watches *w, const char *spec, uint32_t *first, uint32_t *count)
{
    CT_REQUIRE_OF(w, spec);
    const struct ct_watches before = *w;
    int rc = parse(w, spec);
    if (!rc && w->watched)
        rc = ct_watches_sort(w);
    if (rc)
        take_back(w, &before);
    if (first)
        *first = (uint32_t)before.count;
    if (count)
        *count = (uint32_t)(w->count - before.count);
    return rc;
}
