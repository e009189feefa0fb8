/* SPDX-License-Identifier: Apache-2.0 */
/* Reads functions, and the calls that were inlined into them, from the tree of debugging entries. */
#include "base/ctx.h"
#include "base/room.h"
#include "base/search.h"
#include "program/dwarf_split.h"
#include "program/name_limit.h"
#include "program/producer.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Attributes of LLVM, missing in dwarf.h of elfutils: of inlined calls, and of units and functions. */
#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif
#ifndef DW_AT_APPLE_optimized
#define DW_AT_APPLE_optimized 0x3fe1
#endif

/* Maximal nesting of blocks, namespaces and inlined calls; deeper entries are left out. */
#define MOST_DEPTH 64

struct scopes {
    struct ct_dwarf_reader *reader;
    size_t room;
    size_t more_room;
    size_t label_room;
    struct ct_extent *extents;
    size_t extent_count;
    size_t extent_room;
    size_t budget;              /* entries and ranges that may still come; there cannot be more than bytes */
    struct ct_name_limit limit; /* of different names */
    size_t split_texts;         /* most bytes of names that a split unit had */
    const char *folder;         /* in which the unit was compiled */
    Dwarf_Files *files;
    size_t file_count;
    uint32_t unit;                /* number of the unit */
    bool by_llvm;                 /* a compiler of LLVM made the unit */
    bool optimises;               /* the unit says that its compiler optimised */
    struct ct_split_finder split; /* split units */
};

static bool spend(struct scopes *s)
{
    if (s->budget == 0)
        return false;
    s->budget--;
    return true;
}

/* The scope whose extents are added. */
struct owner {
    struct scopes *scopes;
    uint32_t number;
    uint64_t lowest;
};

/* Returns the address of the code at an address of the debug information. GNU as gives functions of T32
 * assembly the addresses of their symbols, with bit 0 set. */
static uint64_t code_at(const struct scopes *s, uint64_t addr)
{
    return (addr + s->reader->bias) & ~UINT64_C(1);
}

/* Adds an extent to a scope. Returns 1 when there are too many, else 0. */
static int add_extent(void *user, uint64_t start, uint64_t end)
{
    struct owner *owner = user;
    struct scopes *s = owner->scopes;
    if (!spend(s))
        return 1;
    start = code_at(s, start);
    end = code_at(s, end);
    if (end <= start)
        return CT_OK;
    if (!CT_MAKE_ROOM(s->extents, s->extent_room, s->extent_count + 1))
        return ct_fail_nomem(s->reader->ctx, s->reader->name);
    s->extents[s->extent_count++] = (struct ct_extent){.addr = start, .end = end, .owner = owner->number};
    if (start < owner->lowest)
        owner->lowest = start;
    return CT_OK;
}

static int add_extents(struct scopes *s, Dwarf_Die *die, uint32_t scope, uint64_t *lowest)
{
    struct owner owner = {s, scope, UINT64_MAX};
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    ptrdiff_t at = 0;
    int result = CT_OK;
    if (s->split.reads)
        result = ct_split_ranges(&s->split, die, add_extent, &owner);
    else
        while (result == CT_OK && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
            result = add_extent(&owner, start, end);
    *lowest = owner.lowest;
    return result > 0 ? CT_OK : result;
}

/* Returns the entry address of an entry with ranges, or the address of an entry that has only one. */
static bool entry_of(const struct scopes *s, Dwarf_Die *die, uint64_t *addr)
{
    if (s->split.reads)
        return ct_split_address(&s->split, die, DW_AT_entry_pc, addr) ||
               ct_split_address(&s->split, die, DW_AT_low_pc, addr);
    return dwarf_entrypc(die, addr) == 0;
}

static const char *name_of(struct scopes *s, const char *name)
{
    struct ct_names *names = &s->reader->lines->names;
    if (!name)
        return NULL;
    const uint64_t left = s->limit.left;
    const uint32_t count = names->count;
    name = ct_name_limit_apply(&s->limit, s->reader->ctx, s->split.arena, s->reader->name, name);
    uint32_t i = name ? ct_names_add_printable(names, name) : CT_NAMES_NONE;
    if (i == CT_NAMES_NONE)
        s->reader->result = ct_fail_nomem(s->reader->ctx, s->reader->name);
    else if (names->count == count) /* a name that is there already */
        s->limit.left = left;
    return i == CT_NAMES_NONE ? NULL : names->names[i];
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(die, attribute, &value) || dwarf_formudata(&value, &word) != 0 ||
        word > INT32_MAX)
        return 0;
    return (uint32_t)word;
}

/* Returns the file with this number in the unit. */
static uint32_t unit_file(struct scopes *s, uint32_t file)
{
    const char *path = s->files && file < s->file_count ? dwarf_filesrc(s->files, file, NULL, NULL) : NULL;
    return ct_dwarf_file(s->reader, s->folder, path);
}

/* Returns the file that declares an entry. libdw ignores file 0 of DWARF 5, which is the compiled file, and
 * knows no files for a unit whose line table is in another file. */
static uint32_t decl_file(struct scopes *s, Dwarf_Die *die)
{
    Dwarf_Attribute value;
    Dwarf_Word number;
    Dwarf_Half version = 0;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &value) || dwarf_formudata(&value, &number) != 0)
        return CT_LINE_NONE;
    if (value.cu != die->cu) /* completed by an entry of another unit */
        return ct_dwarf_file(s->reader, ct_dwarf_folder(s->reader, value.cu), dwarf_decl_file(die));
    (void)dwarf_cu_info(value.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
    return (number || version >= 5) && number < s->file_count ? unit_file(s, (uint32_t)number) : CT_LINE_NONE;
}

static void describe(struct scopes *s, Dwarf_Die *die, struct ct_line_scope *scope)
{
    Dwarf_Attribute value;
    int line;
    const char *name =
        name_of(s, dwarf_attr_integrate(die, DW_AT_name, &value) ? ct_dwarf_text(s->reader, &value) : NULL);
    scope->name = name ? name : "";
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &value) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &value))
        scope->linkage_name = name_of(s, ct_dwarf_text(s->reader, &value));
    scope->decl_file = decl_file(s, die);
    scope->decl_line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
    scope->call_file = CT_LINE_NONE;
    if (dwarf_tag(die) != DW_TAG_inlined_subroutine)
        return;
    scope->call_file = unit_file(s, number_of(die, DW_AT_call_file));
    scope->call_line = number_of(die, DW_AT_call_line);
}

/* Returns whether the compiler optimised a function. clang does not write its options, but that it described
 * all calls of a function, which it does only when it optimises ("AllCallsDescribed" in LLVM). */
static bool is_optimised(const struct scopes *s, Dwarf_Die *die)
{
    return s->optimises || (s->by_llvm && (dwarf_hasattr(die, DW_AT_call_all_calls) ||
                                           dwarf_hasattr(die, DW_AT_GNU_all_call_sites) ||
                                           dwarf_hasattr(die, DW_AT_APPLE_optimized)));
}

/* Adds a scope. *number receives its number, or CT_LINE_NONE for an entry without code. */
static int add_scope(struct scopes *s, Dwarf_Die *die, uint32_t parent, uint32_t *number)
{
    struct ct_lines *lines = s->reader->lines;
    *number = CT_LINE_NONE;
    if (lines->scope_count >= INT32_MAX)
        return ct_fail(
            s->reader->ctx, CT_ERR_LIMIT,
            "%s: the program has more than 2^31 functions, so they were not read; use a smaller program",
            s->reader->name);
    uint32_t mine = (uint32_t)lines->scope_count;
    size_t extents = s->extent_count;
    uint64_t lowest;
    int result = add_extents(s, die, mine, &lowest);
    if (result != CT_OK || extents == s->extent_count)
        return result;
    if (!CT_MAKE_ROOM(lines->scopes, s->room, lines->scope_count + 1) ||
        !CT_MAKE_ROOM(lines->more, s->more_room, lines->scope_count + 1))
        return ct_fail_nomem(s->reader->ctx, s->reader->name);
    struct ct_line_scope *scope = &lines->scopes[mine];
    *scope = (struct ct_line_scope){.parent = parent};
    if (parent != CT_LINE_NONE)
        scope->depth = lines->scopes[parent].depth + 1;
    uint64_t entry;
    scope->entry = entry_of(s, die, &entry) ? code_at(s, entry) : lowest;
    describe(s, die, scope);
    lines->more[mine] = (struct ct_scope_more){
        .call_discriminator = parent == CT_LINE_NONE ? 0 : number_of(die, DW_AT_GNU_discriminator),
        .unit = s->unit,
        .by_llvm = s->by_llvm,
        .optimised = is_optimised(s, die)};
    lines->scope_count++;
    *number = mine;
    return CT_OK;
}

static int add_label(struct scopes *s, Dwarf_Die *die)
{
    struct ct_lines *lines = s->reader->lines;
    uint64_t addr;
    int line;
    if (!entry_of(s, die, &addr) || dwarf_decl_line(die, &line) != 0 || line <= 0)
        return CT_OK;
    uint32_t file = decl_file(s, die);
    if (file == CT_LINE_NONE)
        return CT_OK;
    addr = code_at(s, addr);
    if (!CT_MAKE_ROOM(lines->labels, s->label_room, lines->label_count + 1))
        return ct_fail_nomem(s->reader->ctx, s->reader->name);
    lines->labels[lines->label_count++] =
        (struct ct_line){.addr = addr, .end = addr, .file = file, .line = (uint32_t)line};
    return CT_OK;
}

static int read_children(struct scopes *s, Dwarf_Die *die, uint32_t parent, unsigned depth);

static int read_entry(struct scopes *s, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
    uint32_t scope = parent;
    int result = CT_OK;
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        result = add_scope(s, die, CT_LINE_NONE, &scope);
        break;
    case DW_TAG_inlined_subroutine:
        if (parent == CT_LINE_NONE)
            return CT_OK;
        result = add_scope(s, die, parent, &scope);
        break;
    case DW_TAG_label:
        return add_label(s, die);
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_compile_unit:
    case DW_TAG_partial_unit:
        break;
    default:
        return CT_OK;
    }
    return result == CT_OK ? read_children(s, die, scope, depth) : result;
}

static int read_children(struct scopes *s, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
    Dwarf_Die child;
    if (depth == MOST_DEPTH || dwarf_child(die, &child) != 0)
        return CT_OK;
    do {
        if (!spend(s))
            return CT_OK;
        int result = read_entry(s, &child, parent, depth + 1);
        if (result != CT_OK)
            return result;
    } while (dwarf_siblingof(&child, &child) == 0);
    return CT_OK;
}

/* Finds the numbered files of a unit, and its folder. For a split unit, clang keeps the files with the
 * skeleton, gcc in the split file, and both keep the folder with the skeleton; so when a unit has none, those
 * found before are kept. */
static void find_files(struct scopes *s, Dwarf_Die *die)
{
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(die, &files, &count) != 0) {
        files = s->split.reads ? s->files : NULL;
        count = s->split.reads ? s->file_count : 0;
    }
    s->files = files;
    s->file_count = count;
    const char *folder = ct_dwarf_folder(s->reader, die->cu);
    if (folder || !s->split.reads)
        s->folder = folder;
}

static void read_producer(struct scopes *s, Dwarf_Die *die)
{
    Dwarf_Attribute value;
    const char *producer = dwarf_attr(die, DW_AT_producer, &value) ? ct_dwarf_text(s->reader, &value) : NULL;
    s->by_llvm = producer && ct_producer_is_llvm(producer);
    s->optimises = producer && ct_producer_optimises(producer);
}

static int read_unit(void *user, Dwarf_Die *die)
{
    struct scopes *s = user;
    const struct ct_split_finder *f = &s->split;
    if (f->reads) {
        s->budget = f->entries.size + f->numbered.size + f->ranges.size;
        ct_name_limit_grow(&s->limit, f->entries.size);
    }
    if (f->reads && f->texts.size > s->split_texts) { /* the units of a package share their names */
        ct_name_limit_grow(&s->limit, f->texts.size - s->split_texts);
        s->split_texts = f->texts.size;
    }
    find_files(s, die);
    read_producer(s, die);
    s->unit++;
    return read_entry(s, die, CT_LINE_NONE, 0);
}

/* Reads a split unit. Its bytes do not count against the budget of the main file. */
static int read_split(struct scopes *s, Dwarf_CU *unit, Dwarf_Die *skeleton)
{
    const size_t budget = s->budget;
    find_files(s, skeleton);
    const int result = ct_split_read(&s->split, unit, skeleton, read_unit, s, NULL);
    s->budget = budget;
    return result;
}

static int read_units(struct scopes *s)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int result = CT_OK;
    while (result == CT_OK && dwarf_get_units(s->reader->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0 &&
           ct_dwarf_status(s->reader, CT_OK) == CT_OK && spend(s))
        result = type == DW_UT_skeleton ? read_split(s, unit, &die) : read_unit(s, &die);
    return result;
}

/* Logs a warning when a part of the debug information is missing. */
static void tell_missing(const struct scopes *s)
{
    const struct ct_split_finder *f = &s->split;
    if (f->missing || f->stale)
        ct_log(s->reader->ctx, CT_LOG_WARNING,
               "%s: a part of its debug information is in %s, which %s; the functions and inlined calls in "
               "that part are unknown; put %s there, or put a DWARF package beside the program (PROGRAM.dwp)",
               s->reader->name, f->missing ? f->missing : f->stale,
               f->missing ? "is missing or cannot be read" : "belongs to another build",
               f->missing ? "it" : "the right file");
}

/* Orders extents such that outer scopes come first: a scope has a smaller number than those inlined into
 * it. */
static int by_address(const void *a, const void *b)
{
    const struct ct_extent *x = a, *y = b;
    return ct_order(x->addr, y->addr) ?: ct_order(y->end, x->end) ?: ct_order(x->owner, y->owner);
}

static int label_by_address(const void *a, const void *b)
{
    const struct ct_line *x = a, *y = b;
    return ct_order(x->addr, y->addr) ?: ct_order(x->line, y->line);
}

int ct_dwarf_read_scopes(struct ct_dwarf_reader *reader)
{
    struct ct_arena arena = {0};
    struct scopes s = {.reader = reader,
                       .budget = reader->size,
                       .limit = ct_name_limit_of(reader->size),
                       .split = {.reader = reader, .arena = &arena}};
    int result = read_units(&s);
    tell_missing(&s);
    ct_split_end(&s.split);
    ct_arena_free(&arena);
    if (result == CT_OK && s.extent_count) {
        qsort(s.extents, s.extent_count, sizeof *s.extents, by_address);
        result = ct_segments_make(s.extents, s.extent_count, &reader->lines->segments,
                                  &reader->lines->segment_count);
    }
    free(s.extents);
    if (reader->lines->label_count)
        qsort(reader->lines->labels, reader->lines->label_count, sizeof *reader->lines->labels,
              label_by_address);
    return result;
}
