/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of all line tables, and sorts them by address without overlaps. */
#include "base/ctx.h"
#include "base/room.h"
#include "base/search.h"
#include "program/dwarf_lines.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

/* A row while tables are read. `order` keeps the table's order for rows with equal addresses. */
struct raw_row {
    struct ct_line line;
    size_t order;
};

struct rows {
    struct raw_row *rows;
    size_t count;
    size_t room;
    struct ct_extent *code; /* executable sections */
    size_t code_count;
    const char *folder; /* in which the unit of the table was compiled */
    const char *path;   /* of the last row, as libdw gives it, and its number */
    uint32_t file;
};

static int read_sections(struct ct_dwarf_reader *reader, struct rows *rows)
{
    Elf *elf = dwarf_getelf(reader->dwarf);
    size_t room = 0;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            header.sh_size > UINT64_MAX - header.sh_addr)
            continue;
        if (!CT_MAKE_ROOM(rows->code, room, rows->code_count + 1))
            return ct_fail_nomem(reader->ctx, reader->name);
        rows->code[rows->code_count++] =
            (struct ct_extent){.addr = header.sh_addr, .end = header.sh_addr + header.sh_size};
    }
    return CT_OK;
}

/* Returns whether an address is code. Code that the linker discarded keeps its rows, at or near address 0. */
static bool is_code(const struct rows *rows, uint64_t addr)
{
    for (size_t i = 0; i < rows->code_count; i++)
        if (addr >= rows->code[i].addr && addr < rows->code[i].end)
            return true;
    return false;
}

static uint32_t flags_of(Dwarf_Line *line)
{
    bool stmt = false;
    bool block = false;
    bool prologue = false;
    bool epilogue = false;
    (void)dwarf_linebeginstatement(line, &stmt);
    (void)dwarf_lineblock(line, &block);
    (void)dwarf_lineprologueend(line, &prologue);
    (void)dwarf_lineepiloguebegin(line, &epilogue);
    return (stmt ? CT_LINE_STMT : 0u) | (block ? CT_LINE_BLOCK : 0u) |
           (prologue ? CT_LINE_PROLOGUE_END : 0u) | (epilogue ? CT_LINE_EPILOGUE_BEGIN : 0u);
}

static uint32_t number(int value)
{
    return value > 0 ? (uint32_t)value : 0;
}

/* Reads a row. Returns false when a part of it cannot be read. */
static bool read_row(struct ct_dwarf_reader *reader, struct rows *rows, Dwarf_Line *line, struct ct_line *out)
{
    Dwarf_Addr addr;
    int number_of_line;
    int column = 0;
    unsigned discriminator = 0;
    const char *path = dwarf_linesrc(line, NULL, NULL);
    if (!path || dwarf_lineaddr(line, &addr) != 0 || dwarf_lineno(line, &number_of_line) != 0)
        return false;
    (void)dwarf_linecol(line, &column);
    (void)dwarf_linediscriminator(line, &discriminator);
    if (path != rows->path)
        rows->file = ct_dwarf_file(reader, rows->folder, path);
    rows->path = path;
    *out = (struct ct_line){.addr = addr,
                            .file = rows->file,
                            .line = number(number_of_line),
                            .column = number(column),
                            .discriminator = discriminator,
                            .flags = flags_of(line)};
    return out->file != CT_LINE_NONE;
}

/* Reads rows [first, last) of a table, where `last` ends their sequence. */
static int read_sequence(struct ct_dwarf_reader *reader, struct rows *rows, Dwarf_Lines *table, size_t first,
                         size_t last)
{
    Dwarf_Addr start;
    if (dwarf_lineaddr(dwarf_onesrcline(table, first), &start) != 0 || !is_code(rows, start))
        return CT_OK;
    for (size_t i = first; i < last; i++) {
        if (!CT_MAKE_ROOM(rows->rows, rows->room, rows->count + 1))
            return ct_fail_nomem(reader->ctx, reader->name);
        struct raw_row *row = &rows->rows[rows->count];
        Dwarf_Addr end;
        if (!read_row(reader, rows, dwarf_onesrcline(table, i), &row->line) ||
            dwarf_lineaddr(dwarf_onesrcline(table, i + 1), &end) != 0 || end < row->line.addr)
            continue;
        row->line.end = end;
        row->order = rows->count++;
    }
    return CT_OK;
}

static int read_table(struct ct_dwarf_reader *reader, struct rows *rows, Dwarf_Lines *table, size_t count)
{
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        bool ends = false;
        if (dwarf_lineendsequence(dwarf_onesrcline(table, i), &ends) != 0 || !ends)
            continue;
        int result = i > first ? read_sequence(reader, rows, table, first, i) : CT_OK;
        if (result != CT_OK)
            return result;
        first = i + 1;
    }
    return CT_OK;
}

/* Returns the folder in which the unit of a table was compiled, or NULL. Tables of DWARF 5 begin with it;
 * libdw finds the unit of older ones. */
static const char *folder_of(struct ct_dwarf_reader *reader, Dwarf_CU *unit, Dwarf_Files *files)
{
    const char *const *folders;
    size_t count;
    if (unit || dwarf_getsrcdirs(files, &folders, &count) != 0 || !count)
        return ct_dwarf_folder(reader, unit);
    return folders[0];
}

static int read_tables(struct ct_dwarf_reader *reader, struct rows *rows)
{
    Dwarf_Off offset = 0;
    Dwarf_CU *unit = NULL;
    for (;;) {
        Dwarf_Off next;
        Dwarf_Files *files = NULL;
        Dwarf_Lines *table = NULL;
        size_t count = 0;
        int more = dwarf_next_lines(reader->dwarf, offset, &next, &unit, &files, NULL, &table, &count);
        if (more == 1)
            return CT_OK;
        if (ct_dwarf_status(reader, CT_OK) != CT_OK)
            return CT_ERR_NOMEM;
        if (more != 0 || next <= offset) {
            ct_log(reader->ctx, CT_LOG_WARNING,
                   "%s: .debug_line+0x%llx: the line table cannot be read: %s; the source lines after this "
                   "offset are missing; use an undamaged copy of the file",
                   reader->name, (unsigned long long)offset, dwarf_errmsg(-1));
            return CT_OK;
        }
        rows->folder = folder_of(reader, unit, files);
        rows->path = NULL;
        int result = read_table(reader, rows, table, count);
        if (result != CT_OK)
            return result;
        offset = next;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct raw_row *x = a, *y = b;
    return ct_order(x->line.addr, y->line.addr)
           ?: ct_order(x->line.addr != x->line.end, y->line.addr != y->line.end) /* empty ones first */
           ?: ct_order(x->order, y->order);
}

/* Sorts the rows. Where two overlap, the later one ends the earlier one; of two rows with the same start the
 * first wins. */
static int arrange(struct ct_dwarf_reader *reader, struct rows *rows)
{
    struct ct_lines *lines = reader->lines;
    if (rows->count == 0)
        return CT_OK;
    qsort(rows->rows, rows->count, sizeof *rows->rows, by_address);
    lines->rows = malloc(rows->count * sizeof *lines->rows);
    if (!lines->rows)
        return ct_fail_nomem(reader->ctx, reader->name);
    struct ct_line *last = NULL; /* the last one with instructions */
    for (size_t i = 0; i < rows->count; i++) {
        struct ct_line row = rows->rows[i].line;
        bool empty = row.addr == row.end;
        row.addr += reader->bias;
        row.end += reader->bias;
        if (row.end < row.addr || (last && !empty && last->addr == row.addr))
            continue;
        if (last && last->end > row.addr && !empty)
            last->end = row.addr;
        struct ct_line *put = &lines->rows[lines->row_count++];
        *put = row;
        if (!empty)
            last = put;
    }
    return CT_OK;
}

int ct_dwarf_read_rows(struct ct_dwarf_reader *reader)
{
    struct rows rows = {0};
    int result = read_sections(reader, &rows);
    if (result == CT_OK)
        result = read_tables(reader, &rows);
    if (result == CT_OK)
        result = ct_dwarf_status(reader, arrange(reader, &rows));
    free(rows.rows);
    free(rows.code);
    return result;
}
