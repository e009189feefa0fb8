/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names of events that coretap/itm.h stores in an ELF file. */
#include "base/arena.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/search.h"
#include "coretap/named.h"
#include "program/memory.h"
#include "program/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An entry consists of its kind, the kinds of its arguments, and its text, each aligned to UNIT. Its number
 * is its offset in units. */
#define SECTION      "coretap_events"
#define UNIT         8u
#define NUMBER_FIRST 0xc000u
#define NUMBERS      0x4000u

/* A constant range of the file's bytes. */
struct constant {
    uint64_t addr;
    const char *bytes;
    size_t size;
};

struct ct_named_table {
    struct ct_mapped_file *file; /* NULL: there are no entries */
    struct ct_arena arena;
    struct ct_named_entry *entries;
    size_t count;
    struct constant *constants;
    size_t constant_count;
};

/* The state of the reader. */
struct reader {
    struct ct_ctx *ctx;
    const char *path;
    struct ct_named_table *table;
    const char *bytes; /* of the section */
    size_t size;
    bool wide; /* 64-bit addresses */
};

static int damaged(const struct reader *r, size_t at)
{
    return ct_fail(r->ctx, CT_ERR_FORMAT,
                   "%s: section " SECTION
                   ": the data at 0x%zx is not an entry that coretap/itm.h writes; the named events of this "
                   "program are unknown; build it again with coretap/itm.h",
                   r->path, at);
}

/* Sets the types of arguments. Returns false for an unknown type. */
static bool set_types(const char *kinds, struct ct_named_entry *entry)
{
    static const char letters[] = "fdiulwp"; /* by enum ct_named_type */
    for (; entry->count <= CT_NAMED_ARGUMENTS && kinds[entry->count]; entry->count++) {
        const char *letter = strchr(letters, kinds[entry->count]);
        if (!letter || entry->count == CT_NAMED_ARGUMENTS)
            return false;
        entry->types[entry->count] = (uint8_t)(letter - letters);
        entry->words += (uint8_t)ct_named_words(entry, entry->count);
    }
    return true;
}

/* Reads the entry at *at, and advances *at past it. */
static int read_entry(const struct reader *r, size_t *at, struct ct_named_entry *entry)
{
    static const char letters[] = "tvbe"; /* by enum ct_named_kind */
    const char *bytes = r->bytes + *at;
    const size_t left = r->size - *at;
    const char *letter = strchr(letters, bytes[0]);
    const char *text = bytes + UNIT;
    const char *end = left > UNIT ? memchr(text, 0, left - UNIT) : NULL;
    *entry = (struct ct_named_entry){
        .text = text, .number = (uint16_t)(NUMBER_FIRST + *at / UNIT), .pointer_words = r->wide ? 2 : 1};
    if (!letter || !end || !set_types(bytes + 1, entry))
        return damaged(r, *at);
    entry->kind = (uint8_t)(letter - letters);
    if (entry->kind != CT_NAMED_TEXT && entry->count != (entry->kind == CT_NAMED_VALUE))
        return damaged(r, *at);
    *at = (size_t)(end + 1 - r->bytes);
    *at += -*at % UNIT;
    return CT_OK;
}

/* Reads all entries, skipping padding between them. */
static int read_entries(struct reader *r)
{
    struct ct_named_table *t = r->table;
    int rc = CT_OK;
    for (size_t at = 0; at < r->size && !rc;) {
        struct ct_named_entry entry;
        if (!r->bytes[at]) {
            at += UNIT;
            continue;
        }
        rc = read_entry(r, &at, &entry);
        struct ct_named_entry *entries =
            rc ? NULL : ct_arena_push(&t->arena, t->entries, &t->count, sizeof *entries);
        if (!rc && !entries)
            rc = ct_fail_nomem(r->ctx, r->path);
        if (rc)
            break;
        entries[t->count - 1] = entry;
        t->entries = entries;
    }
    return rc;
}

/* Records the constant segments of the program. */
static int read_constants(struct reader *r, const struct ct_elf *elf)
{
    struct ct_named_table *t = r->table;
    for (size_t i = 0; i < elf->segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            segment.p_flags & PF_W || segment.p_offset > t->file->size ||
            segment.p_filesz > t->file->size - segment.p_offset)
            continue;
        struct constant *all =
            ct_arena_push(&t->arena, t->constants, &t->constant_count, sizeof *t->constants);
        if (!all)
            return ct_fail_nomem(r->ctx, r->path);
        t->constants = all;
        all[t->constant_count - 1] =
            (struct constant){.addr = segment.p_vaddr,
                              .bytes = (const char *)t->file->bytes + segment.p_offset,
                              .size = (size_t)segment.p_filesz};
    }
    return CT_OK;
}

static int read_section(struct reader *r, const struct ct_elf *elf)
{
    GElf_Shdr header;
    Elf_Scn *scn = ct_elf_section(elf, SECTION, &header);
    const size_t file = r->table->file->size;
    if (!scn || header.sh_type == SHT_NOBITS || !header.sh_size)
        return CT_OK;
    if (header.sh_offset > file || header.sh_size > file - header.sh_offset)
        return ct_fail(r->ctx, CT_ERR_FORMAT,
                       "%s: section " SECTION " extends beyond the end of the file; the named events of this "
                       "program are unknown; use a complete copy",
                       r->path);
    if (header.sh_size > (uint64_t)NUMBERS * UNIT)
        return ct_fail(r->ctx, CT_ERR_LIMIT,
                       "%s: section " SECTION " has %" PRIu64
                       " bytes, but event numbers cover only %u; the named events of this program are "
                       "unknown; use fewer or shorter names and formats",
                       r->path, header.sh_size, NUMBERS * UNIT);
    r->bytes = (const char *)r->table->file->bytes + header.sh_offset;
    r->size = (size_t)header.sh_size;
    return read_entries(r) ?: read_constants(r, elf);
}

/* Fills a table whose file is open. The file stays open if there are entries, because their texts are in
 * it. */
static int fill(struct ct_ctx *ctx, struct ct_named_table *table)
{
    struct ct_elf elf = {0};
    int rc = ct_elf_open(ctx, table->file->path, table->file->bytes, table->file->size, &elf);
    if (rc)
        return rc;
    struct reader r = {
        .ctx = ctx, .path = table->file->path, .table = table, .wide = gelf_getclass(elf.elf) == ELFCLASS64};
    rc = read_section(&r, &elf);
    ct_elf_close(&elf);
    if (table->count)
        return rc;
    ct_mapped_file_close(table->file);
    table->file = NULL;
    return rc;
}

int ct_named_table_load(struct ct_ctx *ctx, const char *path, struct ct_named_table **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    struct ct_named_table *table = calloc(1, sizeof *table);
    if (!table)
        return ct_fail_nomem(ctx, path);
    int rc = ct_mapped_file_open(ctx, path, NULL, &table->file) ?: fill(ctx, table);
    if (rc)
        ct_named_table_free(table);
    else
        *out = table;
    return rc;
}

void ct_named_table_free(struct ct_named_table *table)
{
    if (!table)
        return;
    ct_mapped_file_close(table->file);
    ct_arena_free(&table->arena);
    free(table);
}

const struct ct_named_entry *ct_named_table_entries(const struct ct_named_table *table, size_t *count)
{
    return CT_ARRAY_OF(table, entries, count, count);
}

const struct ct_named_entry *ct_named_table_find(const struct ct_named_table *table, uint32_t number)
{
    if (!table)
        return NULL;
    const size_t i = CT_COUNT_WHILE(table->count, at, table->entries[at].number < number);
    return i < table->count && table->entries[i].number == number ? &table->entries[i] : NULL;
}

const char *ct_named_table_string(const struct ct_named_table *table, uint64_t addr)
{
    for (size_t i = 0; table && i < table->constant_count; i++) {
        const struct constant *c = &table->constants[i];
        if (addr >= c->addr && addr - c->addr < c->size) {
            const char *text = c->bytes + (addr - c->addr);
            return memchr(text, 0, c->size - (size_t)(addr - c->addr)) ? text : NULL;
        }
    }
    return NULL;
}
