/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables by name in the tree of debugging entries. */
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "program/dwarf_variables.h"
#include "program/layout.h"
#include "program/memory.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME   1024 /* bytes of a requested name */
#define MOST_LISTED 400  /* bytes of names in a message */

/* Where a variable is stored. */
enum where {
    IN_MEMORY,
    DECLARED, /* in another program */
    REMOVED,  /* by the compiler */
    CONSTANT,
    LOCAL, /* on the stack, in registers */
    OF_THREAD,
};

/* A variable with the requested name. */
struct ct_variable_candidate {
    Dwarf_Die die;
    uint64_t addr; /* IN_MEMORY */
    const char *name;
    const char *unit;
    enum where where;
    bool is_whole; /* the requested name includes all its scopes */
};

/* A variable with the requested name that is declared in a class or a namespace. */
struct ct_variable_declaration {
    Dwarf_Off offset;
    const char *name;
    bool is_whole;
};

struct owned_variable {
    struct ct_variable is; /* must come first: the caller's pointer is to this member */
    struct ct_arena arena;
};

static int no_memory(struct ct_variable_search *s)
{
    return ct_fail_nomem(s->reader.ctx, s->reader.name);
}

/* ---- names ---- */

/* Splits the requested name into a file, a name with scopes, and the path to a part. */
static int cut_name(struct ct_variable_search *s)
{
    const char *text = s->name;
    for (const char *at = text; *at; at++) {
        if (*at != ':')
            continue;
        if (at[1] == ':') {
            at++;
            continue;
        }
        s->file = ct_arena_strndup(s->arena, text, (size_t)(at - text));
        if (!s->file)
            return no_memory(s);
        text = at + 1;
    }
    const size_t size = strcspn(text, ".[");
    s->scoped = ct_arena_strndup(s->arena, text, size);
    if (!s->scoped)
        return no_memory(s);
    s->path = text + size;
    s->last = s->scoped;
    for (const char *at; (at = strstr(s->last, "::"));)
        s->last = at + 2;
    if (!*s->last || strlen(s->name) > MOST_NAME)
        return ct_fail(s->reader.ctx, CT_ERR_NOT_FOUND,
                       "variable '%.100s': this is not the name of a variable; write a name such as speed, "
                       "motor.speed or table[3]",
                       s->name);
    return CT_OK;
}

/* Returns whether the requested scopes are the innermost ones around the entry. Scopes without a name, and
 * blocks in functions, may be left out. */
static bool in_scopes(const struct ct_variable_search *s, bool *is_whole)
{
    const char *end = s->last; /* end of the scopes that were not compared yet */
    *is_whole = true;
    for (unsigned i = s->depth; i-- > 0;) {
        const char *scope = s->scopes[i];
        const size_t size = scope ? strlen(scope) : 0;
        const size_t left = (size_t)(end - s->scoped);
        if (!scope)
            continue;
        if (!left)
            *is_whole = false;
        else if (left >= size + 2 && memcmp(end - 2 - size, scope, size) == 0 &&
                 (left == size + 2 || end[-3 - (ptrdiff_t)size] == ':'))
            end -= size + 2;
        else
            return false;
    }
    return end == s->scoped;
}

/* Returns a name with the scopes around it. Returns NULL when out of memory. */
static const char *whole_name(struct ct_variable_search *s)
{
    const char *name = s->last;
    for (unsigned i = s->depth; name && i-- > 0;)
        if (s->scopes[i])
            name = ct_arena_printf(s->arena, "%s::%s", s->scopes[i], name);
    return name;
}

/* ---- locations ---- */

static bool has(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return dwarf_attr_integrate(die, attribute, &value) != NULL;
}

static enum where without_location(Dwarf_Die *die)
{
    Dwarf_Attribute value;
    if (has(die, DW_AT_const_value))
        return CONSTANT;
    return dwarf_attr(die, DW_AT_declaration, &value) ? DECLARED : REMOVED;
}

/* Finds the location of a variable: an address, or an address plus an offset. */
static enum where locate(const struct ct_variable_search *s, Dwarf_Die *die, uint64_t *addr)
{
    Dwarf_Attribute value, address;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_location, &value))
        return without_location(die);
    if (dwarf_getlocation(&value, &ops, &count) != 0)
        return LOCAL; /* a location list: it changes its place */
    if (!count)
        return without_location(die);
    for (size_t i = 0; i < count; i++)
        if (ops[i].atom == DW_OP_form_tls_address || ops[i].atom == DW_OP_GNU_push_tls_address)
            return OF_THREAD;
    const bool is_numbered = ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index;
    if (ops[0].atom == DW_OP_addr)
        *addr = ops[0].number;
    else if (is_numbered && s->split.reads) {
        if (!ct_split_numbered(&s->split, ops[0].number, addr))
            return LOCAL;
    } else if (!is_numbered || dwarf_getlocation_attr(&value, ops, &address) != 0 ||
               dwarf_formaddr(&address, addr) != 0)
        return LOCAL;
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
        *addr += ops[1].number;
    else if (count > 1)
        return LOCAL;
    return *addr ? IN_MEMORY : REMOVED; /* the linker writes 0 for what it discarded */
}

struct ct_variable_split {
    struct ct_variable_split *next;
    struct ct_dwarf_split *file;
};

/* ---- candidates ---- */

/* Records a declaration, to which a definition may refer. */
static int declare(struct ct_variable_search *s, Dwarf_Die *die, bool is_whole)
{
    const char *name = whole_name(s);
    struct ct_variable_declaration *all =
        name ? ct_arena_push(s->arena, s->declarations, &s->declaration_count, sizeof *all) : NULL;
    if (!all)
        return no_memory(s);
    s->declarations = all;
    all[s->declaration_count - 1] = (struct ct_variable_declaration){dwarf_dieoffset(die), name, is_whole};
    return CT_OK;
}

/* Returns the declaration that an entry completes, or NULL. */
static const struct ct_variable_declaration *declaration_of(const struct ct_variable_search *s,
                                                            Dwarf_Die *die)
{
    Dwarf_Attribute value;
    Dwarf_Die declared;
    if (!dwarf_attr(die, DW_AT_specification, &value) || !dwarf_formref_die(&value, &declared))
        return NULL;
    for (size_t i = s->declaration_count; i-- > 0;)
        if (s->declarations[i].offset == dwarf_dieoffset(&declared))
            return &s->declarations[i];
    return NULL;
}

/* Returns whether a path is the requested file: all of it, or its end after a slash. */
static bool is_file(const char *path, const char *wanted)
{
    if (!path)
        return false;
    const size_t size = strlen(path);
    const size_t length = strlen(wanted);
    return size >= length && strcmp(path + size - length, wanted) == 0 &&
           (size == length || path[size - length - 1] == '/');
}

static int add_candidate(struct ct_variable_search *s, struct ct_variable_candidate *c)
{
    for (size_t i = 0; i < s->candidate_count; i++)
        if (s->candidates[i].where == c->where && s->candidates[i].addr == c->addr) {
            s->candidates[i].is_whole |= c->is_whole;
            return CT_OK;
        }
    struct ct_variable_candidate *all =
        ct_arena_push(s->arena, s->candidates, &s->candidate_count, sizeof *all);
    if (!all)
        return no_memory(s);
    s->candidates = all;
    all[s->candidate_count - 1] = *c;
    return CT_OK;
}

/* Adds a variable, called `name` with its scopes. */
static int add_variable(struct ct_variable_search *s, Dwarf_Die *die, const char *name, bool is_whole)
{
    const char *path = dwarf_decl_file(die);
    if (s->file && !is_file(path, s->file) && !is_file(s->unit, s->file))
        return CT_OK;
    struct ct_variable_candidate c = {
        .die = *die, .unit = path ? path : s->unit, .name = name, .is_whole = is_whole};
    c.where = locate(s, die, &c.addr);
    return name ? add_candidate(s, &c) : no_memory(s);
}

/* Examines a variable, or a member of a class, which counts only if it is static. A definition that takes its
 * scopes from a declaration waits for the end of the unit, because the declaration may follow. */
static int look_at(struct ct_variable_search *s, Dwarf_Die *die)
{
    Dwarf_Attribute value;
    const char *name = ct_dwarf_name(s, die);
    bool is_whole;
    if (!name || strcmp(name, s->last) != 0)
        return CT_OK;
    const bool is_declaration = dwarf_attr(die, DW_AT_declaration, &value) != NULL;
    if (dwarf_tag(die) == DW_TAG_member && !is_declaration && !dwarf_attr(die, DW_AT_external, &value))
        return CT_OK;
    if (dwarf_attr(die, DW_AT_specification, &value)) {
        Dwarf_Die *all = ct_arena_push(s->arena, s->definitions, &s->definition_count, sizeof *all);
        if (!all)
            return no_memory(s);
        s->definitions = all;
        all[s->definition_count - 1] = *die;
        return CT_OK;
    }
    if (!in_scopes(s, &is_whole))
        return CT_OK;
    const int rc = is_declaration ? declare(s, die, is_whole) : CT_OK;
    return rc ? rc : add_variable(s, die, whole_name(s), is_whole);
}

/* Adds the definitions of variables declared in the unit. */
static int define_all(struct ct_variable_search *s)
{
    int rc = CT_OK;
    for (size_t i = 0; i < s->definition_count && !rc; i++) {
        const struct ct_variable_declaration *declaration = declaration_of(s, &s->definitions[i]);
        if (declaration)
            rc = add_variable(s, &s->definitions[i], declaration->name, declaration->is_whole);
    }
    s->declaration_count = s->definition_count = 0;
    s->declarations = NULL;
    s->definitions = NULL;
    return rc;
}

/* ---- the tree ---- */

static int read_children(struct ct_variable_search *s, Dwarf_Die *die);

/* Reads the children of an entry, which is a scope called `name`. NULL: a scope without a name. */
static int read_scope(struct ct_variable_search *s, Dwarf_Die *die, const char *name)
{
    if (s->depth == CT_VARIABLE_DEPTH)
        return CT_OK;
    s->scopes[s->depth++] = name;
    const int rc = read_children(s, die);
    s->depth--;
    return rc;
}

static int read_entry(struct ct_variable_search *s, Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_variable:
    case DW_TAG_member:
        return look_at(s, die);
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
        return read_scope(s, die, ct_dwarf_name(s, die));
    case DW_TAG_lexical_block:
        return read_scope(s, die, NULL);
    default:
        return CT_OK;
    }
}

static int read_children(struct ct_variable_search *s, Dwarf_Die *die)
{
    Dwarf_Die child;
    int rc = CT_OK;
    for (int end = dwarf_child(die, &child); !end && !rc && s->budget;
         end = dwarf_siblingof(&child, &child)) {
        s->budget--;
        rc = read_entry(s, &child);
    }
    return rc;
}

static int read_unit(void *user, Dwarf_Die *unit)
{
    struct ct_variable_search *s = user;
    s->unit = ct_dwarf_name(s, unit);
    s->depth = 0;
    return read_children(s, unit) ?: define_all(s);
}

/* Keeps a file open that contains candidates. */
static int keep(struct ct_variable_search *s, struct ct_dwarf_split *file)
{
    struct ct_variable_split *split = ct_arena_alloc(s->arena, sizeof *split);
    if (!split) {
        ct_dwarf_split_free(file);
        return no_memory(s);
    }
    *split = (struct ct_variable_split){.next = s->splits, .file = file};
    s->splits = split;
    return CT_OK;
}

/* Reads the split unit of `skeleton`. */
static int read_split(struct ct_variable_search *s, Dwarf_CU *unit, Dwarf_Die *skeleton)
{
    const size_t before = s->candidate_count;
    const size_t budget = s->budget;
    struct ct_dwarf_split *file = NULL;
    s->budget = SIZE_MAX; /* the number of entries is limited by the size of the file, which is below 4 GiB */
    const int rc = ct_split_read(&s->split, unit, skeleton, read_unit, s, &file);
    s->budget = budget;
    if (!rc && s->candidate_count > before)
        return keep(s, file);
    ct_dwarf_split_free(file);
    return rc;
}

static void free_splits(struct ct_variable_search *s)
{
    for (; s->splits; s->splits = s->splits->next)
        ct_dwarf_split_free(s->splits->file);
    ct_split_end(&s->split);
}

static int read_units(struct ct_variable_search *s)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int rc = CT_OK;
    while (!rc && dwarf_get_units(s->reader.dwarf, unit, &unit, NULL, &type, &die, NULL) == 0 &&
           ct_dwarf_status(&s->reader, CT_OK) == CT_OK && s->budget--) {
        rc = type == DW_UT_skeleton ? read_split(s, unit, &die) : read_unit(s, &die);
    }
    return rc;
}

/* ---- choosing ---- */

static int ambiguous(const struct ct_variable_search *s, bool whole)
{
    char names[MOST_LISTED] = "";
    size_t used = 0;
    for (size_t i = 0; i < s->candidate_count && used < sizeof names; i++) {
        const struct ct_variable_candidate *c = &s->candidates[i];
        if (c->where == IN_MEMORY && (!whole || c->is_whole))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s%s%s at 0x%" PRIx64,
                                     used ? ", " : "", c->unit ? c->unit : "", c->unit ? ":" : "", c->name,
                                     c->addr);
    }
    return ct_fail(s->reader.ctx, CT_ERR_UNSUPPORTED,
                   "%s: variable '%s': several variables have this name: %s; to choose one, write its file "
                   "or scope before the name",
                   s->reader.name, s->name, names);
}

/* Reports why no variable with the name can be watched. */
static int nowhere(const struct ct_variable_search *s)
{
    static const char *const why[] = {
        [DECLARED] = "it is only declared here and defined in another program; name that program with --elf",
        [REMOVED] =
            "the compiler has optimised it away, so it is not in memory (or each thread has its own copy, "
            "which some compilers do not describe); make it volatile, or compile with -O0 or -Og",
        [CONSTANT] = "the compiler has replaced it by a constant, so it is not in memory; make it volatile, "
                     "or compile with -O0 or -Og",
        [LOCAL] = "it is a local variable, in registers or on the stack, so it has no fixed address; make it "
                  "static",
        [OF_THREAD] = "each thread has its own copy, so it has no fixed address; watch a variable that all "
                      "threads share",
    };
    enum where where = DECLARED;
    for (size_t i = 0; i < s->candidate_count; i++)
        if (where == DECLARED)
            where = s->candidates[i].where;
    if (s->candidate_count)
        return ct_fail(s->reader.ctx, CT_ERR_UNSUPPORTED, "%s: variable '%s': %s", s->reader.name, s->name,
                       why[where]);
    return ct_fail(
        s->reader.ctx, CT_ERR_NOT_FOUND,
        "%s: the program has no variable '%s'; check the spelling, or name the program that defines it",
        s->reader.name, s->name);
}

/* Reports the file that may contain the variable and cannot be read. */
static int no_split(const struct ct_variable_search *s)
{
    const struct ct_split_finder *f = &s->split;
    return ct_fail(
        s->reader.ctx, CT_ERR_UNSUPPORTED,
        "%s: variable '%s': a part of the debug information is in %s, which %s, so the variable is unknown; "
        "put %s, or put a DWARF package beside the program (PROGRAM.dwp), or compile without -gsplit-dwarf",
        s->reader.name, s->name, f->missing ? f->missing : f->stale,
        f->missing ? "is missing or cannot be read" : "belongs to another build",
        f->missing ? "the file there" : "the right file there");
}

static int choose(struct ct_variable_search *s)
{
    struct ct_variable_candidate *found = NULL;
    size_t count[2] = {0};
    for (size_t i = 0; i < s->candidate_count; i++) {
        struct ct_variable_candidate *c = &s->candidates[i];
        if (c->where != IN_MEMORY)
            continue;
        count[c->is_whole]++;
        if (!found || (c->is_whole && !found->is_whole))
            found = c;
    }
    if (!found && !s->candidate_count && (s->split.missing || s->split.stale))
        return no_split(s);
    if (!found)
        return nowhere(s);
    if (count[found->is_whole] > 1)
        return ambiguous(s, found->is_whole);
    s->out->name = ct_arena_printf(s->arena, "%s%s", found->name, s->path);
    return s->out->name ? ct_dwarf_read_type(s, &found->die, found->addr + s->reader.bias) : no_memory(s);
}

static int read_variable(struct ct_dwarf_reader *reader)
{
    struct ct_variable_search *s = (struct ct_variable_search *)reader;
    s->budget = reader->size;
    s->split = (struct ct_split_finder){.reader = reader, .arena = s->arena};
    int rc = ct_dwarf_status(reader, read_units(s));
    s->budget = reader->size;
    rc = rc ? rc : ct_dwarf_status(reader, choose(s));
    free_splits(s);
    return rc;
}

/* ---- without debug information ---- */

static int read_symbol(struct ct_variable_search *s, const struct ct_area *symbol)
{
    struct ct_variable *out = s->out;
    const bool is_number = symbol->size && symbol->size <= 8 && !(symbol->size & (symbol->size - 1));
    if (*s->path || !symbol->size)
        return ct_fail(s->reader.ctx, CT_ERR_UNSUPPORTED,
                       "%s: variable '%s': the program has no debug information for it, so its %s "
                       "unknown; compile it with -g",
                       s->reader.name, s->name, *s->path ? "parts are" : "size is");
    out->name = ct_arena_strdup(s->arena, symbol->name);
    out->type = "";
    out->addr = symbol->addr;
    out->size = symbol->size;
    out->form = is_number ? CT_VARIABLE_RAW : CT_VARIABLE_BLOCK;
    out->bits = (uint8_t)(is_number ? 8 * symbol->size : 0);
    return out->name ? CT_OK : no_memory(s);
}

/* Finds a variable in the symbol table. */
static int find_symbol(struct ct_variable_search *s, const void *bytes, size_t size)
{
    struct ct_layout *layout;
    int rc = ct_layout_make(s->reader.ctx, s->reader.name, bytes, size, s->reader.bias, &layout);
    if (rc)
        return rc;
    const struct ct_area *found = NULL;
    for (size_t i = 0; i < layout->object_count && !found && !s->file && s->scoped; i++)
        if (strcmp(layout->objects[i].name, s->scoped) == 0)
            found = &layout->objects[i];
    rc = found ? read_symbol(s, found) : nowhere(s);
    ct_layout_free(layout);
    return rc;
}

/* ---- all places ---- */

static int find(struct ct_variable_search *s, const void *bytes, size_t size, struct ct_variable **out)
{
    struct owned_variable *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(s);
    s->arena = &made->arena;
    s->out = &made->is;
    int rc = cut_name(s) ?: ct_dwarf_read_file(&s->reader, bytes, size, read_variable);
    if (rc == CT_ERR_NOT_FOUND || (!rc && !made->is.name))
        rc = find_symbol(s, bytes, size);
    if (rc)
        ct_variable_free(&made->is);
    else
        *out = &made->is;
    return rc;
}

int ct_variable_find(struct ct_ctx *ctx, const char *path, const struct ct_line_options *options,
                     const char *name, struct ct_variable **out)
{
    struct ct_line_options o;
    struct ct_mapped_file *file;
    CT_REQUIRE_OUT(ctx, out, path, name);
    int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (!rc)
        rc = ct_mapped_file_open(ctx, path, o.placed, &file);
    if (rc)
        return rc;
    struct ct_variable_search s = {
        .reader = {.ctx = ctx, .name = path, .path = path, .files = o.files, .bias = o.bias}, .name = name};
    rc = find(&s, file->bytes, file->size, out);
    ct_mapped_file_close(file);
    return rc;
}

int ct_variable_find_bytes(struct ct_ctx *ctx, const char *file, const void *bytes, size_t size,
                           const char *name, struct ct_variable **out)
{
    CT_REQUIRE_OUT(ctx, out, file, bytes, name);
    struct ct_variable_search s = {.reader = {.ctx = ctx, .name = file}, .name = name};
    return find(&s, bytes, size, out);
}

void ct_variable_free(struct ct_variable *variable)
{
    struct owned_variable *owned = (struct owned_variable *)variable;
    if (!owned)
        return;
    ct_arena_free(&owned->arena);
    free(owned);
}

const char *ct_variable_value_name(const struct ct_variable *variable, uint64_t value)
{
    for (size_t i = 0; variable && i < variable->name_count; i++)
        if (variable->names[i].value == value)
            return variable->names[i].name;
    return NULL;
}
