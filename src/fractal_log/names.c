/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses: functions, objects, sections, regions. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/search.h"
#include "base/room.h"
#include "coretap/programs.h"
#include "fractal_log/names.h"

struct ct_fractal_names {
    struct ct_ctx *ctx;
    struct ct_arena texts; /* the texts of the names */
    struct ct_fractal_name
        *all; /* symbols, sections and regions, each part sorted by lo; finally the unknown name */
    size_t count, symbols, sections, capacity;
    uint64_t code, end;
    struct ct_programs *programs; /* provides the names of functions */
};

static const struct ct_fractal_name unknown = {.text = CT_SYMBOL_UNKNOWN, .kind = CT_FRACTAL_ELSEWHERE};

/* Copies a text in printable form. */
static const char *keep(struct ct_fractal_names *n, const char *text)
{
    char *copy = ct_arena_alloc(&n->texts, CT_PRINTABLE_ROOM(strlen(text) + 1));
    if (copy)
        ct_escape(text, copy);
    return copy;
}

static int push(struct ct_fractal_names *n, uint64_t lo, uint64_t size, const char *text, uint8_t kind)
{
    const char *printable = CT_MAKE_ROOM(n->all, n->capacity, n->count + 2) ? keep(n, text) : NULL;
    if (!printable)
        return 0;
    n->all[n->count++] = (struct ct_fractal_name){.lo = lo, .hi = lo + size, .text = printable, .kind = kind};
    n->all[n->count] = unknown;
    return 1;
}

static int by_address(const void *a, const void *b)
{
    const struct ct_fractal_name *x = a, *y = b;
    /* of several names at one address the longest range counts, then the first in alphabetical order, so that
     * the choice is always the same */
    return ct_order(x->lo, y->lo) ?: ct_order(y->hi, x->hi) ?: strcmp(x->text, y->text);
}

/* Removes aliases, and ends each symbol without a size where the next one begins. */
static void tidy_symbols(struct ct_fractal_names *n)
{
    if (n->count)
        qsort(n->all, n->count, sizeof *n->all, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++)
        if (!kept || n->all[i].lo != n->all[kept - 1].lo)
            n->all[kept++] = n->all[i];
    for (size_t i = 0; i < kept; i++)
        if (n->all[i].hi == n->all[i].lo)
            n->all[i].hi = i + 1 < kept ? n->all[i + 1].lo : n->all[i].lo + 4;
    n->count = n->symbols = kept;
    n->all[kept] = unknown;
}

/* Adds all functions that the name service knows, including those of stripped programs. */
static int add_functions(struct ct_fractal_names *n, const struct ct_symbols *functions)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(functions, &count);
    int fine = 1;
    for (size_t i = 0; fine && i < count; i++) {
        fine = push(n, all[i].addr, all[i].size, ct_symbols_label(functions, &all[i]), CT_FRACTAL_FUNCTION);
        if (fine)
            n->all[n->count - 1].raw = all[i].name;
    }
    const struct ct_code_range *code = ct_symbols_code(functions, &count);
    n->code = count ? code[0].low : 0;
    return fine;
}

/* Adds the objects of a program. The name in the file stays known when the text is demangled. */
static int add_objects(struct ct_fractal_names *n, const struct ct_layout *layout, bool raw_names)
{
    int fine = 1;
    for (size_t i = 0; fine && i < layout->object_count; i++) {
        const struct ct_area *object = &layout->objects[i];
        errno = 0;
        char *label = raw_names ? NULL : ct_demangle(object->name);
        fine = (label || errno != ENOMEM) &&
               push(n, object->addr, object->size, label ? label : object->name, CT_FRACTAL_OBJECT);
        if (fine && label)
            n->all[n->count - 1].raw = object->name;
        free(label);
    }
    return fine;
}

static int add_sections(struct ct_fractal_names *n, const struct ct_layout *layout)
{
    int fine = 1;
    for (size_t i = 0; fine && i < layout->section_count; i++)
        fine = push(n, layout->sections[i].addr, layout->sections[i].size, layout->sections[i].name,
                    CT_FRACTAL_SECTION);
    return fine;
}

static int add_layout(struct ct_fractal_names *n, const struct ct_layout *layout, bool raw_names)
{
    if (!add_objects(n, layout, raw_names))
        return 0;
    tidy_symbols(n);
    if (!add_sections(n, layout))
        return 0;
    if (n->count > n->symbols)
        qsort(n->all + n->symbols, n->count - n->symbols, sizeof *n->all, by_address);
    n->sections = n->count;
    n->end = layout->end;
    return 1;
}

static int add_program(struct ct_fractal_names *n, const struct ct_fractal_names_options *from)
{
    struct ct_program *program;
    const struct ct_symbols *functions;
    const struct ct_layout *layout;
    const struct ct_programs_options options = {
        .size = sizeof options, .files = from->files, .raw_names = from->raw_names};
    int rc = ct_programs_new(n->ctx, &options, &n->programs);
    if (rc == CT_OK)
        rc = ct_programs_add(n->programs, from->program, NULL, NULL, &program);
    if (rc == CT_OK)
        rc = ct_program_symbols(program, &functions);
    if (rc == CT_OK)
        rc = ct_program_layout(program, &layout);
    if (rc != CT_OK)
        return rc;
    return add_functions(n, functions) && add_layout(n, layout, from->raw_names)
               ? CT_OK
               : ct_fail_nomem(n->ctx, from->program);
}

/* Creates and fills the list of names, which ends with the unknown name. */
static int fill(struct ct_fractal_names *n, const struct ct_fractal_names_options *options)
{
    if (!push(n, 0, 0, "", CT_FRACTAL_ELSEWHERE))
        return ct_fail_nomem(n->ctx, options->program ? options->program : "names");
    n->count = 0;
    n->all[0] = unknown;
    const int rc = options->program ? add_program(n, options) : CT_OK;
    return rc == CT_OK && options->bias ? ct_fractal_names_move(n, *options->bias) : rc;
}

int ct_fractal_names_new(struct ct_ctx *ctx, const struct ct_fractal_names_options *options,
                         struct ct_fractal_names **out)
{
    struct ct_fractal_names_options own;
    CT_REQUIRE_OUT(ctx, out);
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    if (rc != CT_OK)
        return rc;
    struct ct_fractal_names *n = calloc(1, sizeof *n);
    if (!n)
        return ct_fail_nomem(ctx, "names");
    n->ctx = ctx;
    rc = fill(n, &own);
    if (rc == CT_OK)
        *out = n;
    else
        ct_fractal_names_free(n);
    return rc;
}

int ct_fractal_names_move(struct ct_fractal_names *n, uint64_t by)
{
    CT_REQUIRE(NULL, n);
    for (size_t i = 0; i < n->sections; i++) {
        n->all[i].lo += by;
        n->all[i].hi += by;
    }
    n->code += by;
    n->end += by;
    return CT_OK;
}

/* Copies a name of another program to a list. Returns 0 when out of memory. */
static int join_one(struct ct_fractal_names *n, const struct ct_fractal_name *from, uint8_t process,
                    struct ct_fractal_name *to)
{
    const uint64_t key = (uint64_t)process << CT_FRACTAL_KEY_BITS;
    const size_t room = strlen(from->text) + sizeof "255:";
    char *text = ct_arena_alloc(&n->texts, room);
    if (!text)
        return 0;
    snprintf(text, room, "%u:%s", process, from->text);
    *to = *from;
    to->lo |= key;
    to->hi |= key;
    to->text = text;
    return 1;
}

/* Appends the names at [first, last) of another list. */
static int join_part(struct ct_fractal_names *n, const struct ct_fractal_names *other, uint8_t process,
                     size_t first, size_t last, struct ct_fractal_name **at)
{
    for (size_t i = first; i < last; i++)
        if (!join_one(n, &other->all[i], process, (*at)++))
            return 0;
    return 1;
}

/* Appends the names at [first, last) of the list itself. */
static void keep_part(const struct ct_fractal_names *n, size_t first, size_t last,
                      struct ct_fractal_name **at)
{
    memcpy(*at, n->all + first, (last - first) * sizeof **at);
    *at += last - first;
}

int ct_fractal_names_join(struct ct_fractal_names *n, const struct ct_fractal_names *other, uint8_t process)
{
    const size_t count = n->count + other->count, symbols = n->symbols + other->symbols;
    struct ct_fractal_name *all = calloc(count + 1, sizeof *all), *at = all;
    bool fine = all != NULL;
    if (fine) {
        keep_part(n, 0, n->symbols, &at);
        fine = join_part(n, other, process, 0, other->symbols, &at);
    }
    if (fine) {
        keep_part(n, n->symbols, n->sections, &at);
        fine = join_part(n, other, process, other->symbols, other->sections, &at);
    }
    if (fine) {
        keep_part(n, n->sections, n->count, &at);
        fine = join_part(n, other, process, other->sections, other->count, &at);
    }
    if (!fine) {
        free(all);
        return ct_fail_nomem(n->ctx, "names");
    }
    free(n->all);
    n->all = all;
    n->all[count] = unknown;
    n->sections = symbols + (n->sections - n->symbols) + (other->sections - other->symbols);
    n->symbols = symbols;
    n->count = count;
    n->capacity = count + 1;
    return CT_OK;
}

void ct_fractal_names_free(struct ct_fractal_names *n)
{
    if (!n)
        return;
    ct_arena_free(&n->texts);
    ct_programs_free(n->programs);
    free(n->all);
    free(n);
}

/* Returns the region with this name that begins at an address, or NULL. */
static struct ct_fractal_name *find_region(struct ct_fractal_names *n, uint64_t lo, const char *text)
{
    struct ct_fractal_name *regions = n->all + n->sections;
    size_t i = CT_COUNT_UP_TO(regions, n->count - n->sections, lo, lo);
    while (i && regions[i - 1].lo == lo && strcmp(regions[i - 1].text, text) != 0)
        i--;
    return i && regions[i - 1].lo == lo ? &regions[i - 1] : NULL;
}

/* Moves the last region to its sorted position. */
static void place_last(struct ct_fractal_names *n)
{
    const struct ct_fractal_name last = n->all[n->count - 1];
    size_t at = n->count - 1;
    for (; at > n->sections && by_address(&n->all[at - 1], &last) > 0; at--)
        n->all[at] = n->all[at - 1];
    n->all[at] = last;
}

int ct_fractal_names_region(struct ct_fractal_names *n, uint64_t lo, uint64_t hi, const char *text)
{
    if (!n || !text || lo > hi)
        return n ? ct_fail(n->ctx, CT_ERR_ARG,
                           "%s: the region has no text, or ends before it begins; it was not added", __func__)
                 : CT_ERR_ARG;
    struct ct_fractal_name *known = find_region(n, lo, text);
    if (known) {
        known->hi = known->hi < hi ? hi : known->hi;
        return CT_OK;
    }
    if (!push(n, lo, hi - lo, text, CT_FRACTAL_REGION))
        return ct_fail_nomem(n->ctx, "names");
    place_last(n);
    return CT_OK;
}

static const struct ct_fractal_name *lookup(const struct ct_fractal_name *first, size_t count, uint64_t va)
{
    const size_t lo = CT_COUNT_UP_TO(first, count, lo, va);
    return lo && va < first[lo - 1].hi ? &first[lo - 1] : NULL;
}

/* Looks up a line, for logs that record only lines: returns the name of its first byte, or else the first
 * name that begins in the line. */
static const struct ct_fractal_name *lookup_line(const struct ct_fractal_name *first, size_t count,
                                                 uint64_t va)
{
    const struct ct_fractal_name *at = lookup(first, count, va);
    return at || va & 63 ? at : lookup(first, count, va + 63);
}

/* Looks up the region of an address: of nested regions, the one that begins last. */
static const struct ct_fractal_name *lookup_region(const struct ct_fractal_names *n, uint64_t va)
{
    const struct ct_fractal_name *regions = n->all + n->sections;
    size_t i = CT_COUNT_UP_TO(regions, n->count - n->sections, lo, va);
    while (i && va >= regions[i - 1].hi)
        i--;
    return i ? &regions[i - 1] : NULL;
}

const struct ct_fractal_name *ct_fractal_names_at(const struct ct_fractal_names *n, uint64_t va)
{
    if (!n)
        return NULL;
    const struct ct_fractal_name *at = lookup_line(n->all, n->symbols, va);
    if (!at)
        at = lookup_line(n->all + n->symbols, n->sections - n->symbols, va);
    if (!at)
        at = lookup_region(n, va);
    return at ? at : &n->all[n->count];
}

const struct ct_fractal_name *ct_fractal_names_find(const struct ct_fractal_names *n, const char *text,
                                                    int section)
{
    if (!n || !text)
        return NULL;
    const size_t first = section ? n->symbols : 0, last = section ? n->sections : n->symbols;
    for (size_t i = first; i < last; i++)
        if (!strcmp(n->all[i].text, text) || (n->all[i].raw && !strcmp(n->all[i].raw, text)))
            return &n->all[i];
    return NULL;
}

int ct_fractal_names_extent(const struct ct_fractal_names *n, uint64_t *code, uint64_t *end)
{
    CT_REQUIRE_OF(n, code, end);
    *code = n->code;
    *end = n->end;
    return CT_OK;
}

const struct ct_fractal_name *ct_fractal_names_all(const struct ct_fractal_names *n, size_t *count)
{
    if (ct_no_array(n, count))
        return NULL;
    *count = n->count + 1;
    return n->all;
}
