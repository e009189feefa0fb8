/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the parts of a program (symbols, lines, control flow) on first use. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/require.h"
#include "program/dwarf_lines.h"
#include "program/memory.h"
#include "program/part_cache.h"
#include "program/symbols.h"

#include <string.h>

/* Returns the program that holds the loaded parts of this one. */
static struct ct_known_program *owner(struct ct_program *program)
{
    return ((struct ct_known_program *)program)->first;
}

static struct ct_ctx *ctx_of(struct ct_program *program)
{
    return program ? owner(program)->set->ctx : NULL;
}

/* Returns how much is added to addresses of the file in the loaded parts. */
static uint64_t moved_by(const struct ct_known_program *p)
{
    return p->is.bias - p->is.shift;
}

static struct ct_symbol_options names_of(const struct ct_known_program *p)
{
    return (struct ct_symbol_options){.size = sizeof(struct ct_symbol_options),
                                      .bias = moved_by(p),
                                      .files = p->set->options.files,
                                      .raw_names = p->set->options.raw_names,
                                      .placed = p->placed};
}

static struct ct_line_options lines_of(const struct ct_known_program *p)
{
    return (struct ct_line_options){.size = sizeof(struct ct_line_options),
                                    .bias = moved_by(p),
                                    .files = p->set->options.files,
                                    .placed = p->placed};
}

static struct ct_image image_of(const struct ct_known_program *p)
{
    return (struct ct_image){
        .path = p->is.path, .addr = moved_by(p), .space = CT_SPACE_ANY, .is_elf = 1, .placed = p->placed};
}

/* Finds the bytes of the file: those that the memory of the program has, or, if it has none or they must be
 * `fresh`, reads them to *own, which the caller closes. */
static int read_file(const struct ct_known_program *p, bool fresh, struct ct_mapped_file **own,
                     const struct ct_mapped_file **file)
{
    uint64_t bias;
    *own = NULL;
    *file = p->memory && !fresh ? ct_memory_next_file(p->memory, NULL, &bias) : NULL;
    if (*file)
        return CT_OK;
    const int rc = ct_mapped_file_open(p->set->ctx, p->is.path, p->placed, own);
    *file = *own;
    return rc;
}

static int make_part(const struct ct_known_program *p, enum ct_part_kind kind, bool fresh, void **part)
{
    const struct ct_symbol_options names = names_of(p);
    const struct ct_line_options lines = lines_of(p);
    const char *path = p->is.path;
    struct ct_symbols *symbols = NULL;
    struct ct_lines *all = NULL;
    const struct ct_mapped_file *file;
    struct ct_mapped_file *own;
    int rc = read_file(p, fresh, &own, &file);
    if (!rc)
        rc = kind == CT_PART_SYMBOLS
                 ? ct_symbols_make(p->set->ctx, path, path, file->bytes, file->size, &names, &symbols)
                 : ct_lines_make(p->set->ctx, path, path, file->bytes, file->size, &lines, &all);
    ct_mapped_file_close(own);
    *part = symbols ? (void *)symbols : all;
    return rc;
}

/* Takes a part from the cache, or loads it and stores it there. */
static int load_cached(const struct ct_known_program *p, const struct ct_part_key *key, void **part)
{
    struct ct_part_slot slot;
    *part = ct_part_slot_begin(p->set->ctx, p->set->options.files, key, &slot);
    const int rc = *part ? CT_OK : make_part(p, key->kind, slot.fd >= 0, part);
    ct_part_slot_end(&slot, *part);
    return rc;
}

/* Loads symbols or lines, or takes those that were kept for later sets. Sets *part, and *kept when the part
 * belongs to the files of the set. */
static int load(const struct ct_known_program *p, enum ct_part_kind kind, void **part, bool *kept)
{
    const bool raw_names = kind == CT_PART_SYMBOLS && p->set->options.raw_names;
    struct ct_kept_part **all = p->placed ? NULL : ct_debug_kept_parts(p->set->options.files);
    struct ct_part_key key;
    if (all && !ct_part_describe(p->is.path, kind, moved_by(p), raw_names, &key))
        all = NULL;
    *part = all ? ct_kept_part_find(*all, &key) : NULL;
    *kept = *part;
    if (*part)
        return CT_OK;
    const int rc = all ? load_cached(p, &key, part) : make_part(p, kind, false, part);
    *kept = !rc && all && ct_kept_part_add(all, &key, *part);
    return rc;
}

static int load_symbols(struct ct_known_program *p)
{
    void *part;
    const int rc = load(p, CT_PART_SYMBOLS, &part, &p->keeps_symbols);
    p->symbols = part;
    return rc;
}

static int load_lines(struct ct_known_program *p)
{
    void *part;
    const int rc = load(p, CT_PART_LINES, &part, &p->keeps_lines);
    p->lines = part;
    return rc;
}

int ct_program_symbols(struct ct_program *program, const struct ct_symbols **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const int rc = p->symbols ? CT_OK : load_symbols(p);
    *out = rc ? NULL : p->symbols;
    return rc;
}

int ct_program_headers(struct ct_program *program, const struct ct_symbols **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    struct ct_symbol_options options = names_of(p);
    options.headers_alone = 1;
    const bool is_there = p->symbols || p->headers;
    const int rc = is_there ? CT_OK : ct_symbols_load_with(p->set->ctx, p->is.path, &options, &p->headers);
    *out = rc ? NULL : p->symbols ? p->symbols : p->headers;
    return rc;
}

int ct_program_lines(struct ct_program *program, const struct ct_lines **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const int rc = p->lines ? CT_OK : load_lines(p);
    *out = rc ? NULL : p->lines;
    return rc;
}

static int load_memory(struct ct_known_program *p)
{
    const struct ct_image image = image_of(p);
    struct ct_memory *memory;
    int rc = ct_memory_new(p->set->ctx, &memory);
    if (rc)
        return rc;
    rc = ct_memory_add_image(memory, &image);
    if (rc)
        ct_memory_free(memory);
    else
        p->memory = memory;
    return rc;
}

int ct_program_memory(struct ct_program *program, const struct ct_memory **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const int rc = p->memory ? CT_OK : load_memory(p);
    *out = rc ? NULL : p->memory;
    return rc;
}

int ct_program_cfg(struct ct_program *program, struct ct_cfg **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const struct ct_symbol_options names = names_of(p);
    const struct ct_cfg_options options = {.size = sizeof options,
                                           .bias = moved_by(p),
                                           .names = &names,
                                           .targets = p->set->options.targets,
                                           .targets_name = p->set->options.targets_name};
    const int rc = p->cfg ? CT_OK : ct_cfg_load(p->set->ctx, p->is.path, &options, &p->cfg);
    *out = rc ? NULL : p->cfg;
    return rc;
}

int ct_program_layout(struct ct_program *program, const struct ct_layout **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const struct ct_image image = image_of(p);
    const int rc = p->layout ? CT_OK : ct_layout_load(p->set->ctx, &image, &p->layout);
    *out = rc ? NULL : p->layout;
    return rc;
}

int ct_program_named(struct ct_program *program, const struct ct_named_table **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program);
    struct ct_known_program *p = owner(program);
    const int rc = p->named ? CT_OK : ct_named_table_load(p->set->ctx, p->is.path, &p->named);
    *out = rc ? NULL : p->named;
    return rc;
}

int ct_program_variable(struct ct_program *program, const char *name, const struct ct_variable **out)
{
    CT_REQUIRE_OUT(ctx_of(program), out, program, name);
    struct ct_known_program *p = owner(program);
    for (struct ct_known_variable *known = p->variables; known && !*out; known = known->next)
        if (strcmp(known->name, name) == 0)
            *out = known->variable;
    if (*out)
        return CT_OK;
    const struct ct_line_options options = lines_of(p);
    struct ct_known_variable *made = ct_arena_alloc(&p->set->arena, sizeof *made);
    if (!made || !(made->name = ct_arena_strdup(&p->set->arena, name)))
        return ct_fail_nomem(p->set->ctx, "programs");
    const int rc = ct_variable_find(p->set->ctx, p->is.path, &options, name, &made->variable);
    if (rc)
        return rc;
    made->next = p->variables;
    p->variables = made;
    *out = made->variable;
    return CT_OK;
}

int ct_programs_named(struct ct_programs *programs, const struct ct_named_table **table,
                      const struct ct_program **of, const struct ct_program **other)
{
    int rc = CT_OK;
    if (table)
        *table = NULL;
    if (of)
        *of = NULL;
    CT_REQUIRE_OUT(programs ? programs->ctx : NULL, other, programs, table, of);
    for (size_t i = 0; i < programs->count && !*other && rc != CT_ERR_NOMEM; i++) {
        struct ct_program *program = &programs->all[i]->is;
        const struct ct_named_table *names;
        size_t count = 0;
        const int loaded = ct_program_named(program, &names);
        if (!loaded)
            (void)ct_named_table_entries(names, &count);
        else if (loaded != CT_ERR_IO)
            rc = loaded;
        if (count && !*table) {
            *table = names;
            *of = program;
        } else if (count && names != *table) {
            *other = program;
        }
    }
    return rc;
}

int ct_program_has(struct ct_program *program, uint64_t addr, uint32_t memory)
{
    const struct ct_code_range *code;
    size_t count;
    if (!program || !ct_memory_set_has(&program->memories, memory) ||
        ct_program_code(program, &code, &count) != CT_OK)
        return 0;
    return ct_code_has(code, count, addr - program->shift);
}

void ct_known_program_unload(struct ct_known_program *p)
{
    if (!p->keeps_symbols)
        ct_symbols_free(p->symbols);
    ct_symbols_free(p->headers);
    if (!p->keeps_lines)
        ct_lines_free(p->lines);
    ct_memory_free(p->memory);
    ct_cfg_free(p->cfg);
    ct_layout_free(p->layout);
    ct_named_table_free(p->named);
    for (struct ct_known_variable *known = p->variables; known; known = known->next)
        ct_variable_free(known->variable);
}
