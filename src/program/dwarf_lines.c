/* SPDX-License-Identifier: Apache-2.0 */
/* Loads debug information into tables, and answers queries from them. The file's size limits how much is
 * read. */
#define _GNU_SOURCE /* asprintf */
#include "program/dwarf_lines.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/search.h"
#include "program/memory.h"
#include "program/part_file.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ct_lines_free(struct ct_lines *lines)
{
    if (!lines)
        return;
    if (lines->file) {
        ct_part_file_close(lines->file);
    } else {
        free(lines->rows);
        free(lines->labels);
        free(lines->scopes);
        free(lines->more);
        free(lines->segments);
    }
    ct_names_free(&lines->files);
    ct_names_free(&lines->names);
    if (lines->sources)
        ct_source_roots_free(lines->sources);
    free(lines->sources);
    free(lines);
}

/* ---- loading ---- */

int ct_dwarf_status(const struct ct_dwarf_reader *reader, int result)
{
    return ct_unless_nomem(reader->ctx, reader->name, result ? result : reader->result);
}

/* Removes redundant parts of a path: "//", "./", and "NAME/../". */
static void simplify(char *path)
{
    const size_t root = path[0] == '/'; /* length of the part that no ".." removes */
    size_t n = root;
    size_t fixed = root;
    for (const char *part = path + root; *part;) {
        const size_t length = strcspn(part, "/");
        const bool up = length == 2 && part[0] == '.' && part[1] == '.';
        if (up && n > fixed) {
            n--; /* the slash */
            while (n > fixed && path[n - 1] != '/')
                n--;
        } else if (length && !(length == 1 && part[0] == '.') && !(up && root)) {
            memmove(path + n, part, length);
            n += length;
            path[n++] = '/';
            fixed = up ? n : fixed;
        }
        part += length + (part[length] == '/');
    }
    path[n > root ? n - 1 : n] = '\0';
}

/* Returns whether a path is one in a folder already, because libdw has joined both. */
static bool begins_with(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

uint32_t ct_dwarf_file(struct ct_dwarf_reader *reader, const char *folder, const char *path)
{
    char *plain = NULL;
    if (!path)
        return CT_LINE_NONE;
    const bool joins = folder && path[0] != '/' && path[0] != '<' && !begins_with(path, folder);
    if (asprintf(&plain, "%s%s%s/", joins ? folder : "", joins ? "/" : "", path) < 0) {
        reader->result = ct_fail_nomem(reader->ctx, reader->name);
        return CT_LINE_NONE;
    }
    simplify(plain);
    uint32_t file = ct_names_add_printable(&reader->lines->files, plain);
    if (file == CT_NAMES_NONE)
        reader->result = ct_fail_nomem(reader->ctx, reader->name);
    free(plain);
    return file;
}

const char *ct_dwarf_folder(struct ct_dwarf_reader *reader, Dwarf_CU *unit)
{
    Dwarf_Attribute value;
    Dwarf_Die die;
    const bool known = unit && dwarf_cu_die(unit, &die, NULL, NULL, NULL, NULL, NULL, NULL) &&
                       dwarf_attr(&die, DW_AT_comp_dir, &value);
    return known ? ct_dwarf_text(reader, &value) : NULL;
}

struct ct_lines *ct_lines_new(struct ct_ctx *ctx, const char *name, const char *path,
                              const struct ct_debug_files *files)
{
    struct ct_lines *lines = calloc(1, sizeof *lines);
    if (lines)
        lines->sources = calloc(1, sizeof *lines->sources);
    if (!lines || !lines->sources) {
        ct_lines_free(lines);
        ct_fail_nomem(ctx, name);
        return NULL;
    }
    if (ct_source_roots_make(lines->sources, ctx, path, files) == CT_OK)
        return lines;
    ct_lines_free(lines);
    return NULL;
}

static int read_lines(struct ct_dwarf_reader *reader)
{
    const int result = ct_dwarf_read_rows(reader);
    return result == CT_OK ? ct_dwarf_status(reader, ct_dwarf_read_scopes(reader)) : result;
}

int ct_lines_make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                  const struct ct_line_options *options, struct ct_lines **out)
{
    struct ct_dwarf_reader reader = {
        .ctx = ctx, .name = name, .path = path, .files = options->files, .bias = options->bias};
    reader.lines = ct_lines_new(ctx, name, path, options->files);
    int result = reader.lines ? ct_dwarf_read_file(&reader, bytes, size, read_lines) : CT_ERR_NOMEM;
    if (result == CT_OK && !reader.size)
        result = ct_go_read_lines(&reader, bytes, size);
    if (result != CT_OK) {
        ct_lines_free(reader.lines);
        return result;
    }
    *out = reader.lines;
    return CT_OK;
}

int ct_lines_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                        struct ct_lines **out)
{
    const struct ct_line_options options = {.size = sizeof options, .bias = bias};
    CT_REQUIRE_OUT(ctx, out, name, bytes);
    return ct_lines_make(ctx, name, NULL, bytes, size, &options, out);
}

int ct_lines_load_with(struct ct_ctx *ctx, const char *path, const struct ct_line_options *options,
                       struct ct_lines **out)
{
    struct ct_line_options o;
    struct ct_mapped_file *file;
    CT_REQUIRE_OUT(ctx, out, path);
    int result = ct_options_read(ctx, "ct_lines_load_with", options, &o, sizeof o);
    if (result == CT_OK)
        result = ct_mapped_file_open(ctx, path, o.placed, &file);
    if (result != CT_OK)
        return result;
    result = ct_lines_make(ctx, path, path, file->bytes, file->size, &o, out);
    ct_mapped_file_close(file);
    return result;
}

int ct_lines_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_lines **out)
{
    const struct ct_line_options options = {.size = sizeof options, .bias = bias};
    return ct_lines_load_with(ctx, path, &options, out);
}

/* ---- looking up ---- */

const struct ct_line *ct_lines_all(const struct ct_lines *lines, size_t *count)
{
    return CT_ARRAY_OF(lines, rows, row_count, count);
}

const struct ct_line *ct_lines_at(const struct ct_lines *lines, uint64_t addr)
{
    if (!lines)
        return NULL;
    const size_t low = CT_COUNT_UP_TO(lines->rows, lines->row_count, addr, addr);
    return low && addr < lines->rows[low - 1].end ? &lines->rows[low - 1] : NULL;
}

const char *ct_lines_file(const struct ct_lines *lines, uint32_t file)
{
    if (!lines)
        return NULL;
    return file < lines->files.count ? lines->files.names[file] : NULL;
}

int ct_lines_source(const struct ct_lines *lines, uint32_t file, char **text, size_t *size)
{
    CT_REQUIRE(NULL, lines, text);
    return ct_source_read(lines->sources, ct_lines_file(lines, file), text, size);
}

uint32_t ct_lines_file_count(const struct ct_lines *lines)
{
    if (!lines)
        return 0;
    return lines->files.count;
}

int ct_lines_file_is(const struct ct_lines *lines, uint32_t file, const char *name)
{
    if (!lines || !name)
        return 0;
    const char *path = ct_lines_file(lines, file);
    while (strncmp(name, "./", 2) == 0) /* as completed by shells */
        name += 2;
    size_t length = strlen(name);
    size_t whole = path ? strlen(path) : 0;
    if (length == 0 || whole < length || strcmp(path + whole - length, name) != 0)
        return 0;
    return whole == length || path[whole - length - 1] == '/';
}

/* Returns the first line from `line` on with code in one of the wanted files; 0 when there is none. */
static uint32_t nearest_line(const struct ct_lines *lines, const bool *wanted, uint32_t line)
{
    uint32_t best = 0;
    for (size_t i = 0; i < lines->row_count; i++) {
        const struct ct_line *row = &lines->rows[i];
        if (wanted[row->file] && row->flags & CT_LINE_STMT && row->line >= line &&
            (!best || row->line < best))
            best = row->line;
    }
    return best;
}

static bool same_line(const struct ct_line *a, const struct ct_line *b)
{
    return a->file == b->file && a->line == b->line;
}

/* Returns true when row i only continues the line of the row before it, or has the same address as another
 * row of the line. */
static bool continues(const struct ct_lines *lines, size_t i)
{
    const struct ct_line *row = &lines->rows[i];
    for (size_t k = i; k > 0 && lines->rows[k - 1].end == row->addr; k--) {
        const struct ct_line *before = &lines->rows[k - 1];
        if (same_line(before, row) && before->flags & CT_LINE_STMT)
            return true;
        if (before->addr != before->end)
            return same_line(before, row);
    }
    return false;
}

static int find(const struct ct_lines *lines, const bool *wanted, uint32_t line, uint64_t *addrs, size_t most,
                size_t *count)
{
    for (size_t i = 0; i < lines->row_count; i++) {
        const struct ct_line *row = &lines->rows[i];
        if (!wanted[row->file] || row->line != line || !(row->flags & CT_LINE_STMT) || continues(lines, i))
            continue;
        if (*count < most)
            addrs[*count] = row->addr;
        ++*count;
    }
    return CT_OK;
}

int ct_lines_find(const struct ct_lines *lines, const char *name, uint32_t line, uint64_t *addrs, size_t most,
                  size_t *count, uint32_t *found)
{
    CT_REQUIRE(NULL, lines, name, addrs || !most, count);
    *count = 0;
    if (lines->files.count == 0)
        return CT_ERR_NOT_FOUND;
    bool *wanted = calloc(lines->files.count, sizeof *wanted);
    if (!wanted)
        return CT_ERR_NOMEM;
    for (uint32_t i = 0; i < lines->files.count; i++)
        wanted[i] = ct_lines_file_is(lines, i, name);
    uint32_t taken = nearest_line(lines, wanted, line ? line : 1);
    if (found)
        *found = taken;
    int result = taken ? find(lines, wanted, taken, addrs, most, count) : CT_ERR_NOT_FOUND;
    free(wanted);
    return result;
}

const struct ct_line *ct_lines_labels(const struct ct_lines *lines, size_t *count)
{
    return CT_ARRAY_OF(lines, labels, label_count, count);
}

const struct ct_line_scope *ct_lines_scopes(const struct ct_lines *lines, size_t *count)
{
    return CT_ARRAY_OF(lines, scopes, scope_count, count);
}

uint32_t ct_lines_scope_at(const struct ct_lines *lines, uint64_t addr)
{
    if (!lines)
        return CT_LINE_NONE;
    return ct_segments_at(lines->segments, lines->segment_count, addr);
}

uint32_t ct_lines_call_discriminator(const struct ct_lines *lines, uint32_t scope)
{
    return lines && scope < lines->scope_count ? lines->more[scope].call_discriminator : 0;
}

int ct_lines_is_llvm(const struct ct_lines *lines, uint32_t scope)
{
    return lines && scope < lines->scope_count && lines->more[scope].by_llvm;
}

uint32_t ct_lines_unit(const struct ct_lines *lines, uint32_t scope)
{
    return lines && scope < lines->scope_count ? lines->more[scope].unit : CT_LINE_NONE;
}

int ct_lines_is_optimised(const struct ct_lines *lines, uint32_t scope)
{
    return lines && scope < lines->scope_count && lines->more[scope].optimised;
}
