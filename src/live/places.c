/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strcasestr */
#include "live/places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#define MOST 50 /* of a list */

struct program {
    const struct ct_symbols *symbols;
    const struct ct_lines *lines;
};

struct ct_live_places {
    size_t count;
    struct program programs[];
};

struct ct_live_places *ct_live_places_new(struct ct_programs *programs)
{
    const size_t count = ct_programs_count(programs);
    struct ct_live_places *p = calloc(1, sizeof *p + count * sizeof *p->programs);
    if (!p)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct ct_program *program = ct_programs_at(programs, i);
        struct program *to = &p->programs[p->count++];
        if (ct_program_symbols(program, &to->symbols) != CT_OK)
            to->symbols = NULL;
        if (ct_program_lines(program, &to->lines) != CT_OK)
            to->lines = NULL;
    }
    return p;
}

void ct_live_places_free(struct ct_live_places *p)
{
    free(p);
}

/* Names that were found, the better ones first. */
struct found {
    const char *names[MOST + 1];
    size_t count;
};

static bool begins(const char *name, const char *text)
{
    return strncasecmp(name, text, strlen(text)) == 0;
}

/* Adds a name that has the text in it: behind those that begin with it, or before others. */
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
    ct_json_array(j, "functions");
    for (size_t i = 0; i < found.count; i++)
        ct_json_text(j, NULL, found.names[i]);
    ct_json_array_end(j);
}

/* A line that is offered. */
struct line {
    const char *file;
    uint32_t line;
};

static int by_line(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : x->line < y->line ? -1 : x->line > y->line;
}

/* Tells whether FILE:LINE begins with the text, or has it in the name of the file. */
static bool is_line(const char *file, uint32_t line, const char *text)
{
    char name[600];
    if (strchr(text, ':')) {
        snprintf(name, sizeof name, "%s:%u", file, line);
        return begins(name, text);
    }
    return strcasestr(file, text) != NULL;
}

/* Adds a line to a list that is in order and keeps the first ones. */
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
    ct_json_array(j, "others");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ct_json_text(j, NULL, others[i]);
    ct_json_array_end(j);
    ct_json_object_end(j);
}
