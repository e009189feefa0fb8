/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr, vasprintf */
#include "live/places.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/room.h"
#include "base/search.h"

#define MOST        50 /* most entries of a list */
#define PORTS       32 /* ports of an ITM, and channels of an STM, that are offered */
#define COMPARATORS 4  /* comparators of a DWT */

struct program {
    const struct ct_symbols *symbols;
    const struct ct_lines *lines;
    const struct ct_layout *layout; /* NULL also when no trace contains variable accesses */
};

/* A growing list of allocated names. */
struct names {
    char **all;
    size_t count;
    bool lacks; /* out of memory */
};

struct ct_live_places {
    struct names values; /* places with values, and contexts */
    size_t count;
    struct program programs[];
};

/* ---- values ---- */

static void __attribute__((format(printf, 2, 3))) add_name(struct names *n, const char *format, ...)
{
    char *name = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&name, format, args) < 0)
        name = NULL;
    va_end(args);
    if (!name || !CT_PUSH_ROOM(n->all, n->count)) {
        n->lacks = true;
        free(name);
        return;
    }
    n->all[n->count++] = name;
}

/* Adds the places with values that a trace source provides by its protocol. */
static void add_source(struct names *n, const struct ct_source *source)
{
    static const char *const parts[] = {"", ".read", ".write", ".address", ".pc"};
    const bool itm = source->protocol == CT_PROTOCOL_ITM, stm = source->protocol == CT_PROTOCOL_STM;
    for (unsigned port = 0; (itm || stm) && port < PORTS; port++)
        add_name(n, "%s:%u", itm ? "itm" : "stm", port);
    for (unsigned i = 0; itm && i < COMPARATORS; i++)
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            add_name(n, "dwt:%u%s", i, parts[k]);
    for (unsigned i = 0; i < CT_SOURCE_EVENTS; i++)
        if (source->events[i])
            add_name(n, "event:%s", source->events[i]);
}

/* Adds the named events of a program. */
static void add_named(struct names *n, struct ct_program *program)
{
    static const char *const kinds[] = {[CT_NAMED_TEXT] = "text",
                                        [CT_NAMED_VALUE] = "value",
                                        [CT_NAMED_BEGIN] = "begin",
                                        [CT_NAMED_END] = "end"};
    const struct ct_named_table *table;
    size_t count = 0;
    if (ct_program_named(program, &table) != CT_OK)
        return; /* a file with a damaged table provides no names */
    const struct ct_named_entry *all = ct_named_table_entries(table, &count);
    for (size_t i = 0; i < count; i++)
        add_name(n, "%s:%s", kinds[all[i].kind], all[i].text);
}

static void add_values(struct names *n, const struct ct_live_options *o)
{
    for (size_t i = 0; i < o->buffer->source_count && !o->log; i++)
        add_source(n, &o->buffer->sources[i]);
    for (size_t i = 0; i < ct_programs_count(o->programs) && !o->log; i++)
        add_named(n, ct_programs_at(o->programs, i));
    for (size_t i = 0; i < o->buffer->name_count; i++)
        add_name(n, "context:%s", o->buffer->names[i].name);
}

/* ---- creation and end ---- */

/* Returns whether a source can provide loads and stores: by DWT comparators, or by data trace. */
static bool has_variables(const struct ct_live_options *o)
{
    for (size_t i = 0; i < o->buffer->source_count && !o->log; i++) {
        const struct ct_source *source = &o->buffer->sources[i];
        if (source->protocol == CT_PROTOCOL_ITM || ct_source_traces_data(source))
            return true;
    }
    return false;
}

struct ct_live_places *ct_live_places_new(const struct ct_live_options *options)
{
    const size_t count = ct_programs_count(options->programs);
    struct ct_live_places *p = calloc(1, sizeof *p + count * sizeof *p->programs);
    if (!p)
        return NULL;
    const bool variables = has_variables(options);
    for (size_t i = 0; i < count; i++) {
        struct ct_program *program = ct_programs_at(options->programs, i);
        struct program *to = &p->programs[p->count++];
        if (ct_program_symbols(program, &to->symbols) != CT_OK)
            to->symbols = NULL;
        if (ct_program_lines(program, &to->lines) != CT_OK)
            to->lines = NULL;
        if (!variables || ct_program_layout(program, &to->layout) != CT_OK)
            to->layout = NULL;
    }
    add_values(&p->values, options);
    if (!p->values.lacks)
        return p;
    ct_live_places_free(p);
    return NULL;
}

void ct_live_places_free(struct ct_live_places *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->values.count; i++)
        free(p->values.all[i]);
    free(p->values.all);
    free(p);
}

/* ---- answers ---- */

/* Names found, best matches first. */
struct found {
    const char *names[MOST + 1];
    size_t count;
};

static bool begins(const char *name, const char *text)
{
    return strncasecmp(name, text, strlen(text)) == 0;
}

/* Adds a name if it contains the text: names that begin with the text come before the others. */
static void offer(struct found *f, const char *name, const char *text)
{
    size_t at = f->count;
    if (!strcasestr(name, text))
        return;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->names[i], name) == 0)
            return;
    while (begins(name, text) && at && !begins(f->names[at - 1], text))
        at--;
    if (at == MOST)
        return;
    f->count += f->count < MOST;
    memmove(&f->names[at + 1], &f->names[at], (f->count - 1 - at) * sizeof *f->names);
    f->names[at] = name;
}

static void put_found(const struct found *found, const char *what, struct ct_json *j)
{
    ct_json_array(j, what);
    for (size_t i = 0; i < found->count; i++)
        ct_json_text(j, NULL, found->names[i]);
    ct_json_array_end(j);
}

static void put_functions(const struct ct_live_places *p, const char *text, struct ct_json *j)
{
    struct found found = {.count = 0};
    for (size_t i = 0; i < p->count; i++) {
        size_t count = 0;
        const struct ct_symbol *all =
            p->programs[i].symbols ? ct_symbols_all(p->programs[i].symbols, &count) : NULL;
        for (size_t k = 0; k < count; k++)
            offer(&found, all[k].name, text);
    }
    put_found(&found, "functions", j);
}

static void put_variables(const struct ct_live_places *p, const char *text, struct ct_json *j)
{
    struct found found = {.count = 0};
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_layout *layout = p->programs[i].layout;
        for (size_t k = 0; layout && k < layout->object_count; k++)
            offer(&found, layout->objects[k].name, text);
    }
    put_found(&found, "variables", j);
}

static void put_values(const struct ct_live_places *p, const char *text, struct ct_json *j)
{
    struct found found = {.count = 0};
    for (size_t i = 0; i < p->values.count; i++)
        offer(&found, p->values.all[i], text);
    put_found(&found, "values", j);
}

/* A line offered for selection. */
struct line {
    const char *file;
    uint32_t line;
};

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return strcmp(x->file, y->file) ?: ct_order(x->line, y->line);
}

/* Returns whether FILE:LINE begins with the text, or the file name contains it. */
static bool is_line(const char *file, uint32_t line, const char *text)
{
    char name[600];
    if (strchr(text, ':')) {
        snprintf(name, sizeof name, "%s:%u", file, line);
        return begins(name, text);
    }
    return strcasestr(file, text) != NULL;
}

/* Inserts a line into a sorted list that keeps the first MOST lines. */
static void offer_line(struct line *all, size_t *count, struct line one)
{
    size_t at = *count;
    while (at && by_line(&all[at - 1], &one) > 0)
        at--;
    if (at == MOST || (at && by_line(&all[at - 1], &one) == 0))
        return;
    *count += *count < MOST;
    memmove(&all[at + 1], &all[at], (*count - 1 - at) * sizeof *all);
    all[at] = one;
}

static void put_lines(const struct ct_live_places *p, const char *text, struct ct_json *j)
{
    struct line found[MOST + 1];
    size_t count = 0;
    for (size_t i = 0; *text && i < p->count; i++) {
        size_t rows = 0;
        const struct ct_lines *lines = p->programs[i].lines;
        const struct ct_line *all = lines ? ct_lines_all(lines, &rows) : NULL;
        for (size_t k = 0; k < rows; k++) {
            const char *file = all[k].flags & CT_LINE_STMT ? ct_lines_file(lines, all[k].file) : NULL;
            if (file && all[k].line && is_line(ct_base_name(file), all[k].line, text))
                offer_line(found, &count, (struct line){ct_base_name(file), all[k].line});
        }
    }
    ct_json_array(j, "lines");
    for (size_t i = 0; i < count; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s:%u", found[i].file, found[i].line);
        ct_json_text(j, NULL, name);
    }
    ct_json_array_end(j);
}

void ct_live_places_json(const struct ct_live_places *p, const char *text, struct ct_json *j)
{
    static const char *const others[] = {"exception", "exception-return", "context",  "gap",
                                         "overflow",  "no-access",        "timestamp"};
    ct_json_object(j, NULL);
    put_functions(p, text, j);
    put_lines(p, text, j);
    put_values(p, text, j);
    put_variables(p, text, j);
    ct_json_array(j, "others");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ct_json_text(j, NULL, others[i]);
    ct_json_array_end(j);
    ct_json_object_end(j);
}
