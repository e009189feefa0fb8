/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the source lines: what the readers of line tables and of scopes share. */
#ifndef CT_PROGRAM_DWARF_LINES_H
#define CT_PROGRAM_DWARF_LINES_H

#include "base/names.h"
#include "coretap/source_lines.h"
#include "program/segments.h"
#include "program/source_files.h"

#include <elfutils/libdw.h>

struct ct_lines {
    struct ct_line *rows;
    size_t row_count;
    struct ct_line *labels;
    size_t label_count;
    struct ct_line_scope *scopes;
    size_t scope_count;
    struct ct_segment *segments; /* of scopes */
    size_t segment_count;
    struct ct_names files;
    struct ct_names names; /* of functions */
    struct ct_source_roots *sources;
};

/* What the reading of one file needs. */
struct ct_dwarf_reader {
    struct ct_ctx *ctx;
    const char *name;
    const char *path; /* of the file that is read, or NULL */
    struct ct_debug_files *files;
    Dwarf *dwarf;
    uint64_t bias;
    size_t size;            /* of the debug information: nothing in it can be more than this many */
    uint64_t unpacked_left; /* bytes that packed sections may still claim */
    struct ct_lines *lines;
    int result; /* CT_ERR_NOMEM once something could not be kept */
};

/* Number of a path, written without what does nothing in it ("./", "//"). CT_LINE_NONE without a path or
 * memory, which reader->result tells. */
uint32_t ct_dwarf_file(struct ct_dwarf_reader *reader, const char *path);

/* The result of what was read with libdw since errno was 0, when it itself came to `result`. */
int ct_dwarf_status(const struct ct_dwarf_reader *reader, int result);

/* Fill in lines->rows, and scopes and segments. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_dwarf_read_rows(struct ct_dwarf_reader *reader);
int ct_dwarf_read_scopes(struct ct_dwarf_reader *reader);

/* The next row that has room in an array which doubles; CT_ERR_NOMEM. */
int ct_dwarf_grow(struct ct_dwarf_reader *reader, void **array, size_t count, size_t *room, size_t size);

#endif
