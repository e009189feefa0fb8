/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "analysis/program_table.h"

#include "base/ctx.h"
#include "base/printable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ct_tabled_program {
    char *name;
    uint64_t low, high;
    uint8_t build_id[CT_MOST_BUILD_ID];
    size_t build_id_size;
    bool started;
};

struct ct_program_identity ct_program_table_at(const struct ct_program_table *table, uint32_t number)
{
    const struct ct_tabled_program *p = &table->programs[number];
    return (struct ct_program_identity){.name = p->name,
                                        .low = p->low,
                                        .high = p->high,
                                        .build_id = p->build_id,
                                        .build_id_size = p->build_id_size,
                                        .started = p->started};
}

void ct_program_table_clear(struct ct_program_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->programs[i].name);
    free(table->programs);
    *table = (struct ct_program_table){0};
}

/* A build id that was given to the linker by hand may be that of several programs, which mostly have code of
 * different size. The files of one build, stripped or not, have their code at the same addresses. */
bool ct_program_is_same(const struct ct_program_identity *a, const struct ct_program_identity *b)
{
    if (a->build_id_size || b->build_id_size)
        return a->build_id_size == b->build_id_size && a->low == b->low && a->high == b->high &&
               memcmp(a->build_id, b->build_id, b->build_id_size) == 0;
    return strcmp(a->name, b->name) == 0;
}

/* Merges another mention of a program into its entry. Of several names keeps the first by alphabet, so that
 * their order does not matter. Returns false when out of memory. */
static bool add_to(struct ct_tabled_program *have, const struct ct_program_identity *program)
{
    if (strcmp(program->name, have->name) < 0) {
        char *copy = strdup(program->name);
        if (!copy)
            return false;
        free(have->name);
        have->name = copy;
    }
    have->started |= program->started != 0;
    have->low = program->low < have->low ? program->low : have->low;
    have->high = program->high > have->high ? program->high : have->high;
    return true;
}

static bool add_new(struct ct_program_table *table, const struct ct_program_identity *program)
{
    struct ct_tabled_program *programs = realloc(table->programs, (table->count + 1) * sizeof *programs);
    if (!programs)
        return false;
    table->programs = programs;
    struct ct_tabled_program *fresh = &programs[table->count];
    *fresh = (struct ct_tabled_program){.name = strdup(program->name),
                                        .low = program->low,
                                        .high = program->high,
                                        .build_id_size = program->build_id_size,
                                        .started = program->started != 0};
    if (program->build_id_size)
        memcpy(fresh->build_id, program->build_id, program->build_id_size);
    table->count += fresh->name != NULL;
    return fresh->name != NULL;
}

int ct_program_table_add(struct ct_program_table *table, const struct ct_analysis *analysis,
                         const struct ct_program_identity *program, uint32_t *number)
{
    const size_t length = program->name ? strlen(program->name) : 0;
    if (!length || length > CT_MOST_NAME || program->build_id_size > CT_MOST_BUILD_ID)
        return ct_fail(analysis->ctx, CT_ERR_ARG,
                       "%s: a program has a name of %zu bytes and a build id of %zu, and one of them is "
                       "longer than the limit; it was not added",
                       analysis->kind->name, length, program->build_id_size);
    size_t i = 0;
    for (; i < table->count; i++) {
        const struct ct_program_identity have = ct_program_table_at(table, (uint32_t)i);
        if (ct_program_is_same(&have, program))
            break;
    }
    *number = (uint32_t)i;
    const bool fine = i < table->count ? add_to(&table->programs[i], program) : add_new(table, program);
    return fine ? CT_OK : ct_fail_nomem(analysis->ctx, program->name);
}

uint32_t *ct_program_table_join(struct ct_program_table *table, const struct ct_analysis *analysis,
                                const struct ct_program_table *from, int *rc)
{
    uint32_t *numbers = calloc(from->count + 1, sizeof *numbers);
    *rc = numbers ? CT_OK : ct_fail_nomem(analysis->ctx, analysis->kind->name);
    for (uint32_t i = 0; i < from->count && !*rc; i++) {
        const struct ct_program_identity program = ct_program_table_at(from, i);
        *rc = ct_program_table_add(table, analysis, &program, &numbers[i]);
    }
    if (!*rc)
        return numbers;
    free(numbers);
    return NULL;
}

static int by_identity(const void *a, const void *b, void *user)
{
    const struct ct_tabled_program *programs = user;
    const struct ct_tabled_program *x = &programs[*(const uint32_t *)a];
    const struct ct_tabled_program *y = &programs[*(const uint32_t *)b];
    if (x->build_id_size != y->build_id_size)
        return x->build_id_size < y->build_id_size ? -1 : 1;
    const int order = memcmp(x->build_id, y->build_id, x->build_id_size);
    if (order || !x->build_id_size)
        return order ? order : strcmp(x->name, y->name);
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->high < y->high ? -1 : x->high > y->high;
}

uint32_t *ct_program_table_order(const struct ct_program_table *table)
{
    uint32_t *order = calloc(table->count + 1, sizeof *order);
    for (uint32_t i = 0; order && i < table->count; i++)
        order[i] = i;
    if (order && table->count)
        qsort_r(order, table->count, sizeof *order, by_identity, table->programs);
    return order;
}

static bool is_sorted(const struct ct_program_table *table)
{
    const uint32_t pair[] = {0, 1};
    size_t i = 1;
    while (i < table->count && by_identity(&pair[0], &pair[1], table->programs + i - 1) < 0)
        i++;
    return i >= table->count;
}

int ct_program_table_sort(struct ct_program_table *table, uint32_t **numbers)
{
    *numbers = NULL;
    if (is_sorted(table))
        return CT_OK;
    uint32_t *order = ct_program_table_order(table);
    struct ct_tabled_program *programs = malloc(table->count * sizeof *programs);
    uint32_t *places = calloc(table->count, sizeof *places);
    const bool fine = order && programs && places;
    for (uint32_t i = 0; fine && i < table->count; i++) {
        programs[i] = table->programs[order[i]];
        places[order[i]] = i;
    }
    free(order);
    if (fine) {
        free(table->programs);
        table->programs = programs;
        *numbers = places;
        return CT_OK;
    }
    free(programs);
    free(places);
    return CT_ERR_NOMEM;
}

int ct_program_identify(struct ct_program *program, struct ct_program_identity *identity)
{
    const struct ct_symbols *symbols;
    size_t count;
    const int rc = ct_program_headers(program, &symbols);
    if (rc)
        return rc;
    *identity = (struct ct_program_identity){.name = program->path, .started = program->started};
    const struct ct_code_range *code = ct_symbols_code(symbols, &count);
    identity->low = count ? code[0].low : 0;
    for (size_t i = 0; i < count; i++)
        identity->high = code[i].high > identity->high ? code[i].high : identity->high;
    identity->build_id = ct_symbols_build_id(symbols, &identity->build_id_size);
    return CT_OK;
}

int ct_plain_name(struct ct_ctx *ctx, const char *name, char **plain)
{
    errno = 0;
    *plain = ct_demangle(name);
    return *plain ? CT_OK : ct_unless_nomem(ctx, name, CT_OK);
}

/* ---- files ---- */

void ct_save_program(struct ct_save *to, const struct ct_program_identity *program)
{
    char build_id[2 * CT_MOST_BUILD_ID + 1] = "-";
    char name[CT_PRINTABLE_ROOM(CT_MOST_NAME + 1)];
    for (size_t i = 0; i < program->build_id_size; i++)
        snprintf(build_id + 2 * i, 3, "%02x", program->build_id[i]);
    ct_escape_to_read(program->name, name);
    ct_save_line(to, "program %" PRIx64 " %" PRIx64 " %s %s", program->low, program->high, build_id, name);
    if (program->started)
        ct_save_line(to, "started");
}

static bool read_build_id(const struct ct_load_word *hex, uint8_t id[CT_MOST_BUILD_ID])
{
    for (size_t i = 0; i < hex->size / 2; i++) {
        const struct ct_load one = {.words = {{hex->text + 2 * i, 2}}, .word_count = 1};
        uint64_t byte;
        if (!ct_load_number(&one, 0, 16, &byte))
            return false;
        id[i] = (uint8_t)byte;
    }
    return true;
}

/* Reads a line: program LOW HIGH BUILD-ID|- NAME */
int ct_load_program(struct ct_load *from, struct ct_program_table *table, const struct ct_analysis *analysis,
                    bool started, uint32_t *number)
{
    char name[CT_PRINTABLE_ROOM(CT_MOST_NAME) + 1];
    uint8_t id[CT_MOST_BUILD_ID];
    struct ct_program_identity program = {.name = name, .build_id = id, .started = started};
    ct_load_split(from, 5);
    if (from->word_count != 5 || !ct_load_number(from, 1, 16, &program.low) ||
        !ct_load_number(from, 2, 16, &program.high))
        return ct_load_bad(from,
                           "the line is not 'program LOW HIGH BUILD-ID NAME' with hexadecimal addresses");
    const struct ct_load_word *hex = &from->words[3];
    const struct ct_load_word *path = &from->words[4];
    program.build_id_size = ct_load_is(from, 3, "-") ? 0 : hex->size / 2;
    if (!ct_load_is(from, 3, "-") &&
        (hex->size % 2 || program.build_id_size > sizeof id || !read_build_id(hex, id)))
        return ct_load_bad(from, "the build id must be '-' or have 2 to 128 hexadecimal digits");
    if (path->size == 0 || path->size > CT_PRINTABLE_ROOM(CT_MOST_NAME) ||
        memchr(path->text, '\0', path->size))
        return ct_load_bad(from, "the name of a program must have 1 to 4096 bytes");
    memcpy(name, path->text, path->size);
    name[path->size] = '\0';
    if (!ct_unescape(name) || strlen(name) > CT_MOST_NAME)
        return ct_load_bad(from, "the name of a program must have 1 to 4096 bytes, none of them zero");
    return ct_program_table_add(table, analysis, &program, number);
}

int ct_load_started(struct ct_load *from, struct ct_program_table *table, uint32_t number)
{
    if (from->word_count != 1 || number >= table->count)
        return ct_load_bad(from, "'started' must be alone on the line after its 'program'");
    table->programs[number].started = true;
    return CT_OK;
}
