/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints of accesses to memory, as in an event log of coretap fractal. */
#include <stdlib.h>
#include <string.h>

#include "analysis/number.h"
#include "analysis/watch.h"
#include "base/ctx.h"
#include "base/path.h"

#define MOST_NAME 1024

/* Removes `word` from the end of a name. Returns false when the name does not end with it. */
static bool take_end(char *name, const char *word)
{
    const size_t size = strlen(name);
    const size_t length = strlen(word);
    if (size <= length || strcmp(name + size - length, word) != 0)
        return false;
    name[size - length] = '\0';
    return true;
}

/* Removes the suffixes of a name. Returns which accesses they select, as bits. */
static uint64_t take_suffixes(char *name)
{
    static const struct {
        const char *word;
        enum ct_watch_access which;
    } words[] = {{".read", CT_WATCH_ACCESS_READ},
                 {".write", CT_WATCH_ACCESS_WRITE},
                 {".fetch", CT_WATCH_ACCESS_FETCH}};
    uint64_t number = take_end(name, ".physical") ? CT_WATCH_ACCESS_PHYSICAL : 0;
    if (!number)
        (void)take_end(name, ".address");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take_end(name, words[i].word))
            return number | words[i].which;
    return number;
}

/* Reads a range LO..HI, without HI. */
static bool read_range(const char *text, uint64_t *lo, uint64_t *hi)
{
    if (!ct_number_take(&text, lo) || strncmp(text, "..", 2) != 0)
        return false;
    text += 2;
    return ct_number_take(&text, hi) && !*text && *hi > *lo;
}

static int add_place(struct ct_watches *w, uint64_t lo, uint64_t size, uint8_t program)
{
    return ct_watches_place(
        w, &(struct ct_watch_place){
               .addr = lo, .end = lo + (size ? size : 1), .kind = CT_WATCH_ACCESS, .program = program});
}

/* Returns the file name of the program that a process runs, when it is known and in the set: names are then
 * looked up only there. NULL: in all programs. */
static const char *program_of(const struct ct_watches *w, uint64_t process)
{
    const char *name = NULL;
    struct ct_program *program;
    for (size_t s = 0; s < w->context_sets && !name; s++)
        for (size_t i = 0; i < w->contexts[s].names.name_count && !name; i++)
            if (w->contexts[s].names.names[i].process == process)
                name = w->contexts[s].names.names[i].name;
    for (size_t p = 0; name && (program = ct_programs_at(w->programs, p)); p++)
        if (strcmp(ct_base_name(program->path), name) == 0)
            return name;
    return NULL;
}

/* Adds the code of the functions of a program with this name. */
static int add_functions(struct ct_watches *w, size_t number, const char *name)
{
    struct ct_program *program = ct_programs_at(w->programs, number);
    const struct ct_symbols *symbols;
    size_t count;
    int rc = ct_program_symbols(program, &symbols);
    const struct ct_symbol *all = rc ? NULL : ct_symbols_all_code(symbols, &count);
    for (size_t i = 0; !rc && i < count; i++)
        if (ct_symbols_is_named(symbols, &all[i], name))
            rc = add_place(w, all[i].addr + program->shift, all[i].size, ct_watches_program_byte(number));
    return rc;
}

/* Adds the places of a name, functions or a variable: in all programs or, with `only`, in those of that file
 * name. */
static int add_named(struct ct_watches *w, const char *spec, const char *name, const char *only)
{
    struct ct_watched_variable variable;
    struct ct_program *program;
    int rc = CT_OK;
    for (size_t p = 0; !rc && (program = ct_programs_at(w->programs, p)); p++) {
        const char *base = ct_base_name(program->path);
        const uint32_t before = w->points[w->count - 1].places;
        if (only && strcmp(base, only) != 0)
            continue;
        rc = add_functions(w, p, name);
        if (rc || w->points[w->count - 1].places > before)
            continue;
        const int found = ct_watches_find_variable(w, spec, name, base, &variable);
        rc = found == CT_ERR_NOMEM ? found : CT_OK;
        if (!found)
            rc = add_place(w, variable.addr, variable.is->size, ct_watches_program_byte(p));
    }
    if (rc || w->points[w->count - 1].places)
        return rc;
    return ct_watches_find_variable(w, spec, name, only, &variable); /* reports why there is none */
}

/* Adds the places of a name or a range. */
static int add_places(struct ct_watches *w, const char *spec, const char *name, const char *only)
{
    uint64_t lo, hi;
    return read_range(name, &lo, &hi) ? add_place(w, lo, hi - lo, 0) : add_named(w, spec, name, only);
}

/* Reads the number of an observation point, as in the header of the log. */
static bool read_point(const char *name, uint64_t *number)
{
    static const char word[] = "point:";
    const char *text = name + sizeof word - 1;
    uint64_t point;
    if (strncmp(name, word, sizeof word - 1) != 0 || !ct_number_take(&text, &point) || *text ||
        point >= UINT32_MAX)
        return false;
    *number |= CT_WATCH_ACCESS_POINT | point << 32;
    return true;
}

int ct_watches_add_memory(struct ct_watches *w, const char *spec, bool *is_memory)
{
    static const char prefix[] = "access:";
    char room[MOST_NAME];
    *is_memory = strncmp(spec, prefix, sizeof prefix - 1) == 0;
    if (!*is_memory)
        return CT_OK;
    const char *text = spec + sizeof prefix - 1;
    const char *colon = text;
    uint64_t process = 0;
    if (ct_number_take(&colon, &process) && *colon == ':' && process <= 0xff)
        text = colon + 1;
    else
        process = 0;
    if (!*text || strlen(text) >= sizeof room)
        return ct_fail(
            w->ctx, CT_ERR_NOT_FOUND,
            "watchpoint '%s': the place after access: is missing or too long; write a function, a variable, "
            "a range or point:NUMBER, after the number of a process that is not the program: access:table, "
            "access:1:main, access:0x4000..0x5000, access:point:3, access:table.write",
            spec);
    memcpy(room, text, strlen(text) + 1);
    uint64_t number = take_suffixes(room) | process << 8;
    const bool is_point = read_point(room, &number);
    const int rc = ct_watches_point(w, spec, CT_WATCH_ACCESS, number);
    return rc || is_point ? rc : add_places(w, spec, room, program_of(w, process));
}
