/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols and lines as sections of a file, and back. */
#include "program/part_file.h"

#include <stdlib.h>
#include <string.h>

#include "program/dwarf_lines.h"
#include "program/symbols.h"

/* Returns a copy of an array, which is never NULL unless memory ran out. */
static void *copy_of(const void *items, size_t size)
{
    void *copy = calloc(1, size + 1);
    if (copy && size)
        memcpy(copy, items, size);
    return copy;
}

static struct ct_part_section section(const void *items, size_t count, size_t size)
{
    return (struct ct_part_section){(void *)(uintptr_t)items, count * size};
}

/* ---- symbols ---- */

enum {
    SYMBOLS_VALUES = CT_PART_FIRST,
    SYMBOLS_ALL,
    SYMBOLS_SEGMENTS,
    SYMBOLS_PIECES,
    SYMBOLS_MAPPING,
    SYMBOLS_CODE
};

/* The numbers of symbols. */
struct symbol_values {
    uint64_t functions, base, entry, build_id_size;
    uint8_t build_id[CT_BUILD_ID_MOST];
};

bool ct_symbols_pack(const struct ct_symbols *s, struct ct_part_pack *pack)
{
    struct symbol_values *values = pack->other = calloc(1, sizeof *values);
    struct ct_symbol *all = pack->copy = copy_of(s->all, s->count * sizeof *all);
    bool fine = values && all;
    if (!fine)
        return false;
    *values = (struct symbol_values){
        .functions = s->functions, .base = s->base, .entry = s->entry, .build_id_size = s->build_id_size};
    memcpy(values->build_id, s->build_id, sizeof values->build_id);
    for (size_t i = 0; i < s->count; i++)
        all[i].name = ct_part_text(pack, all[i].name, &fine);
    pack->sections[SYMBOLS_VALUES] = section(values, 1, sizeof *values);
    pack->sections[SYMBOLS_ALL] = section(all, s->count, sizeof *all);
    pack->sections[SYMBOLS_SEGMENTS] = section(s->segments, s->segment_count, sizeof *s->segments);
    pack->sections[SYMBOLS_PIECES] = section(s->pieces, s->piece_count, sizeof *s->pieces);
    pack->sections[SYMBOLS_MAPPING] = section(s->mapping.points, s->mapping.count, sizeof *s->mapping.points);
    pack->sections[SYMBOLS_CODE] = section(s->code, s->code_count, sizeof *s->code);
    return fine;
}

struct ct_symbols *ct_symbols_unpack(struct ct_ctx *ctx, const char *path, bool raw_names,
                                     struct ct_part_file *file)
{
    const struct ct_part_section *of = file->sections;
    const struct symbol_values *values = of[SYMBOLS_VALUES].bytes;
    const size_t count = of[SYMBOLS_ALL].size / sizeof(struct ct_symbol);
    struct ct_symbols *s = calloc(1, sizeof *s);
    if (s && of[SYMBOLS_VALUES].size == sizeof *values) {
        s->labels = calloc(count + 1, sizeof *s->labels);
        s->module = ct_symbols_module_name(s, path);
    }
    if (!s || !s->labels || !s->module) {
        ct_symbols_free(s);
        return NULL;
    }
    s->ctx = ctx;
    s->raw_names = raw_names;
    s->file = file;
    s->all = of[SYMBOLS_ALL].bytes;
    s->count = count;
    s->functions = (size_t)values->functions;
    s->segments = of[SYMBOLS_SEGMENTS].bytes;
    s->segment_count = of[SYMBOLS_SEGMENTS].size / sizeof *s->segments;
    s->pieces = of[SYMBOLS_PIECES].bytes;
    s->piece_count = of[SYMBOLS_PIECES].size / sizeof *s->pieces;
    s->mapping.points = of[SYMBOLS_MAPPING].bytes;
    s->mapping.count = of[SYMBOLS_MAPPING].size / sizeof *s->mapping.points;
    s->code = of[SYMBOLS_CODE].bytes;
    s->code_count = of[SYMBOLS_CODE].size / sizeof *s->code;
    s->base = values->base;
    s->entry = values->entry;
    s->build_id_size = (size_t)values->build_id_size;
    memcpy(s->build_id, values->build_id, sizeof s->build_id);
    for (size_t i = 0; i < s->count; i++)
        s->all[i].name = ct_part_text_at(file, s->all[i].name);
    return s;
}

/* ---- lines ---- */

enum {
    LINES_FILES = CT_PART_FIRST,
    LINES_ROWS,
    LINES_LABELS,
    LINES_SCOPES,
    LINES_MORE,
    LINES_SEGMENTS
};

bool ct_lines_pack(const struct ct_lines *lines, struct ct_part_pack *pack)
{
    const char **files = pack->other = copy_of(lines->files.names, lines->files.count * sizeof *files);
    struct ct_line_scope *scopes = pack->copy = copy_of(lines->scopes, lines->scope_count * sizeof *scopes);
    bool fine = files && scopes;
    for (size_t i = 0; fine && i < lines->files.count; i++)
        files[i] = ct_part_text(pack, files[i], &fine);
    for (size_t i = 0; fine && i < lines->scope_count; i++) {
        scopes[i].name = ct_part_text(pack, scopes[i].name, &fine);
        scopes[i].linkage_name = ct_part_text(pack, scopes[i].linkage_name, &fine);
    }
    pack->sections[LINES_FILES] = section(files, lines->files.count, sizeof *files);
    pack->sections[LINES_ROWS] = section(lines->rows, lines->row_count, sizeof *lines->rows);
    pack->sections[LINES_LABELS] = section(lines->labels, lines->label_count, sizeof *lines->labels);
    pack->sections[LINES_SCOPES] = section(scopes, lines->scope_count, sizeof *scopes);
    pack->sections[LINES_MORE] = section(lines->more, lines->scope_count, sizeof *lines->more);
    pack->sections[LINES_SEGMENTS] = section(lines->segments, lines->segment_count, sizeof *lines->segments);
    return fine;
}

struct ct_lines *ct_lines_unpack(struct ct_ctx *ctx, const char *path, const struct ct_debug_files *files,
                                 struct ct_part_file *file)
{
    const struct ct_part_section *of = file->sections;
    const size_t count = of[LINES_FILES].size / sizeof(char *);
    struct ct_lines *lines = ct_lines_new(ctx, path, path, files);
    if (lines)
        lines->files.names = copy_of(of[LINES_FILES].bytes, of[LINES_FILES].size);
    if (!lines || !lines->files.names) {
        ct_lines_free(lines);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        lines->files.names[i] = ct_part_text_at(file, lines->files.names[i]);
    lines->files.count = (uint32_t)count;
    lines->rows = of[LINES_ROWS].bytes;
    lines->row_count = of[LINES_ROWS].size / sizeof *lines->rows;
    lines->labels = of[LINES_LABELS].bytes;
    lines->label_count = of[LINES_LABELS].size / sizeof *lines->labels;
    lines->scopes = of[LINES_SCOPES].bytes;
    lines->scope_count = of[LINES_SCOPES].size / sizeof *lines->scopes;
    lines->more = of[LINES_MORE].bytes;
    lines->segments = of[LINES_SEGMENTS].bytes;
    lines->segment_count = of[LINES_SEGMENTS].size / sizeof *lines->segments;
    lines->file = file;
    for (size_t i = 0; i < lines->scope_count; i++) {
        lines->scopes[i].name = ct_part_text_at(file, lines->scopes[i].name);
        lines->scopes[i].linkage_name = ct_part_text_at(file, lines->scopes[i].linkage_name);
    }
    return lines;
}
