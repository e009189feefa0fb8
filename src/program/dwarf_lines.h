/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of line tables and of scopes. */
#pragma once

#include "base/names.h"
#include "coretap/source_lines.h"
#include "program/segments.h"
#include "program/source_files.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Members of a scope that ct_line_scope has no room for. */
struct ct_scope_more {
    uint32_t call_discriminator;
    uint32_t unit;  /* number of the unit that it belongs to */
    bool by_llvm;   /* made by a compiler of LLVM */
    bool optimised; /* made by a compiler that says that it optimised */
};

struct ct_lines {
    struct ct_line *rows;
    size_t row_count;
    struct ct_line *labels;
    size_t label_count;
    struct ct_line_scope *scopes;
    struct ct_scope_more *more; /* one for each scope */
    size_t scope_count;
    struct ct_segment *segments; /* of scopes */
    size_t segment_count;
    struct ct_names files;
    struct ct_names names; /* of functions */
    struct ct_source_roots *sources;
    struct ct_part_file *file; /* that has the arrays and texts; NULL: they are allocated */
};

/* The state of the reader of one file. */
struct ct_dwarf_reader {
    struct ct_ctx *ctx;
    const char *name;
    const char *path; /* path of the file, or NULL */
    struct ct_debug_files *files;
    Dwarf *dwarf;
    uint64_t bias;
    size_t size;            /* size of the debug information, which limits all numbers in it */
    uint64_t unpacked_left; /* bytes to which compressed sections may still be uncompressed */
    int (*read)(struct ct_dwarf_reader *reader); /* reads the wanted parts of `dwarf` */
    struct ct_lines *lines; /* filled in by ct_dwarf_read_rows and ct_dwarf_read_scopes */
    const char *section;    /* bytes of the section in which ct_dwarf_text found the last text */
    size_t section_size;
    int result; /* CT_ERR_NOMEM once something could not be stored */
};

/* Returns the number of a path, without redundant parts. A relative path is one in `folder`,
 * which may be NULL. CT_LINE_NONE without a path or when out of memory; reader->result says which. */
uint32_t ct_dwarf_file(struct ct_dwarf_reader *reader, const char *folder, const char *path);

/* Returns the folder in which a unit was compiled, or NULL. */
const char *ct_dwarf_folder(struct ct_dwarf_reader *reader, Dwarf_CU *unit);

/* Returns the result of reading with libdw, given libdw's own: CT_ERR_NOMEM if errno, set to 0 before, is
 * ENOMEM. */
int ct_dwarf_status(const struct ct_dwarf_reader *reader, int result);

/* Returns the name of a string table of debug information whose last string is not terminated, or NULL. */
const char *ct_dwarf_unended_strings(Elf *elf);

/* Returns whether libdw can read the abbreviation tables for all units with memory and time proportional to
 * the size of the debug information. */
bool ct_dwarf_abbrevs_fit(Dwarf *dwarf, Elf *elf);

/* Returns the text of an attribute; NULL when it has none, or when the text does not end within its
 * section. */
const char *ct_dwarf_text(struct ct_dwarf_reader *reader, Dwarf_Attribute *value);

/* Opens the debug information of a file in memory, and calls `read` for it. If the file has none and
 * reader->path is not NULL, uses its separate file. Without any, `read` is not called, and reader->size is 0.
 * The errors of ct_lines_load_with, and those of `read`. */
int ct_dwarf_read_file(struct ct_dwarf_reader *reader, const void *bytes, size_t size,
                       int (*read)(struct ct_dwarf_reader *reader));

/* Makes lines without rows. Returns NULL when out of memory. */
struct ct_lines *ct_lines_new(struct ct_ctx *ctx, const char *name, const char *path,
                              const struct ct_debug_files *files);

/* Reads the lines of a file from its bytes. `name` is its name in messages; `path`, near which separate files
 * are searched, may be NULL. The errors of ct_lines_load_with. */
int ct_lines_make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                  const struct ct_line_options *options, struct ct_lines **out);

/* The part of a program's debug information that the compiler wrote to a separate file (.dwo). */
struct ct_dwarf_split;

/* Opens such a file; *out is NULL when it does not exist or cannot be read. To be freed before the program's
 * debug information is closed. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_dwarf_split_open(struct ct_dwarf_reader *reader, const char *path, struct ct_dwarf_split **out);
/* Opens the unit with an ID in a package of such files, called `path`; *out is NULL when the package does not
 * have it. */
struct ct_mapped_file;
int ct_dwarf_split_packed(struct ct_dwarf_reader *reader, const char *path,
                          const struct ct_mapped_file *package, uint64_t id, struct ct_dwarf_split **out);
Dwarf *ct_dwarf_split_dwarf(const struct ct_dwarf_split *split);
void ct_dwarf_split_free(struct ct_dwarf_split *split);

/* Fill in lines->rows, or scopes and segments. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_dwarf_read_rows(struct ct_dwarf_reader *reader);
int ct_dwarf_read_scopes(struct ct_dwarf_reader *reader);

/* Fills in lines->rows of a program of Go without debug information. The errors of ct_elf_open,
 * CT_ERR_NOMEM. */
int ct_go_read_lines(struct ct_dwarf_reader *reader, const void *bytes, size_t size);
