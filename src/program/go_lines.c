/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of a Go program without debug information, from the table of its runtime. */
#include "base/ctx.h"
#include "base/room.h"
#include "program/dwarf_lines.h"
#include "program/go_table.h"

/* The rows read from a table; there are at most as many as bytes in the file. */
struct rows {
    struct ct_dwarf_reader *reader;
    const struct ct_go_table *table;
    size_t room;
    uint64_t left;
};

static int add_row(struct rows *rows, const struct ct_line *row)
{
    struct ct_lines *lines = rows->reader->lines;
    if (!CT_MAKE_ROOM(lines->rows, rows->room, lines->row_count + 1))
        return ct_fail_nomem(rows->reader->ctx, rows->reader->name);
    lines->rows[lines->row_count++] = *row;
    return CT_OK;
}

/* Adds the rows of a function. Lines and files change at independent addresses. */
static int add_function(struct rows *rows, const struct ct_go_function *f)
{
    const struct ct_go_table *t = rows->table;
    struct ct_dwarf_reader *reader = rows->reader;
    struct ct_go_values line = ct_go_values_of(f, f->line);
    struct ct_go_values file = ct_go_values_of(f, f->file);
    int result = CT_OK;
    bool more = ct_go_values_next(t, &line) && ct_go_values_next(t, &file);
    uint32_t number = more ? ct_dwarf_file(reader, NULL, ct_go_table_file(t, f, file.value)) : CT_LINE_NONE;
    for (uint64_t addr = f->addr; more && result == CT_OK && addr < f->end && rows->left; rows->left--) {
        uint64_t end = line.addr < file.addr ? line.addr : file.addr;
        end = end < f->end ? end : f->end;
        const struct ct_line row = {.addr = addr + reader->bias,
                                    .end = end + reader->bias,
                                    .file = number,
                                    .line = line.value > 0 ? (uint32_t)line.value : 0,
                                    .flags = CT_LINE_STMT};
        if (number != CT_LINE_NONE)
            result = add_row(rows, &row);
        if (line.addr == end)
            more = ct_go_values_next(t, &line);
        if (more && file.addr == end) {
            more = ct_go_values_next(t, &file);
            number = more ? ct_dwarf_file(reader, NULL, ct_go_table_file(t, f, file.value)) : CT_LINE_NONE;
        }
        addr = end;
    }
    return result == CT_OK ? reader->result : result;
}

int ct_go_read_lines(struct ct_dwarf_reader *reader, const void *bytes, size_t size)
{
    struct ct_elf elf = {0};
    struct ct_go_table table;
    struct rows rows = {.reader = reader, .table = &table, .left = size};
    int result = ct_elf_open(reader->ctx, reader->name, bytes, size, &elf);
    if (result != CT_OK)
        return result;
    uint64_t end = 0;
    const int found = ct_go_table_find(&elf, &table);
    for (uint64_t i = 0; found == CT_OK && result == CT_OK && i < table.count; i++) {
        struct ct_go_function f;
        if (!ct_go_table_function(&table, i, &f) || f.addr < end || f.end + reader->bias < f.end)
            continue;
        end = f.end;
        result = add_function(&rows, &f);
    }
    ct_elf_close(&elf);
    return result;
}
