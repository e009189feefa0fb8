/* SPDX-License-Identifier: Apache-2.0 */
/* The places where tracing begins and ends: addresses, or functions of the program. */
#include "coretap/programs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/name_suffix.h"
#include "record/capture.h"

/* The search for a function. */
struct search {
    struct ct_ctx *ctx;
    const struct ct_recording *o;
    struct ct_programs *programs;
    const char *name;
    size_t files; /* with the function */
    uint64_t addr;
};

/* Returns the index of the function with a name, otherwise of the only copy of it or function with that name
 * and parameters; `count`: none, or several. */
static size_t function_named(const struct ct_symbols *symbols, const struct ct_symbol *all, size_t count,
                             const char *name)
{
    size_t other = count;
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        if (ct_symbols_is_named(symbols, &all[i], name))
            return i;
        if (ct_name_enters(all[i].name, name) || ct_name_enters(ct_symbols_label(symbols, &all[i]), name)) {
            other = i;
            others++;
        }
    }
    return others == 1 ? other : count;
}

/* Searches a file. The address of a program is relative to the start of its code, that of firmware is not. */
static int search_file(struct search *s, const char *path)
{
    struct ct_program *program;
    const struct ct_symbols *symbols;
    size_t count, ranges;
    int rc = ct_programs_add(s->programs, path, NULL, NULL, &program);
    if (!rc)
        rc = ct_program_symbols(program, &symbols);
    if (rc)
        return rc;
    const struct ct_symbol *all = ct_symbols_all(symbols, &count);
    const struct ct_code_range *code = ct_symbols_code(symbols, &ranges);
    const size_t i = function_named(symbols, all, count, s->name);
    if (i == count)
        return CT_OK;
    s->addr = all[i].addr - (ranges && !s->o->system ? code[0].low : 0);
    s->files++;
    return CT_OK;
}

static int find_function(struct search *s, const struct ct_programs_options *names)
{
    struct ct_record_programs files = {0};
    int rc = ct_recording_files(s->ctx, s->o, s->name, &files);
    if (!rc)
        rc = ct_programs_new(s->ctx, names, &s->programs);
    for (size_t i = 0; i < files.count && !rc; i++)
        rc = search_file(s, files.all[i].path);
    if (!rc && !s->files)
        rc = ct_fail(s->ctx, CT_ERR_NOT_FOUND,
                     "'%s': this is neither a hexadecimal address nor a function of %s; nothing is recorded; "
                     "correct the name",
                     s->name, files.count > 1 ? "the files that the machine loads" : files.all[0].path);
    else if (!rc && s->files > 1)
        rc = ct_fail(s->ctx, CT_ERR_ARG,
                     "'%s': %zu files that the machine loads have a function with this name; nothing is "
                     "recorded; give the address of the one that you mean",
                     s->name, s->files);
    ct_programs_free(s->programs);
    ct_record_programs_free(&files);
    return rc;
}

static int find_point(struct ct_ctx *ctx, const struct ct_recording *o,
                      const struct ct_programs_options *names, const char *text,
                      struct ct_recording_point *point)
{
    struct search search = {.ctx = ctx, .o = o, .name = text};
    char *end;
    point->given = text != NULL;
    if (!text)
        return CT_OK;
    errno = 0;
    point->addr = strtoull(text, &end, 16);
    point->in_program = end == text || *end || errno;
    if (!point->in_program)
        return CT_OK;
    const int rc = find_function(&search, names);
    point->addr = search.addr;
    return rc;
}

int ct_recording_points(struct ct_ctx *ctx, const struct ct_record_options *given,
                        struct ct_recording *recording)
{
    const int rc = find_point(ctx, recording, given->names, given->start, &recording->start);
    return rc ? rc : find_point(ctx, recording, given->names, given->stop, &recording->stop);
}
