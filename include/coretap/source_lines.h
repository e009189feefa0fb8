/* SPDX-License-Identifier: Apache-2.0 */
/* coretap source lines: converts addresses to source lines and back, with the debug information of an ELF
 * file.
 *
 *     ct_lines_load(ctx, "firmware.elf", 0, &lines);
 *     const struct ct_line *row = ct_lines_at(lines, addr);
 *     if (row && row->line)
 *         printf("%s:%u\n", ct_lines_file(lines, row->file), row->line);
 *     ct_lines_free(lines); */
#ifndef CORETAP_SOURCE_LINES_H
#define CORETAP_SOURCE_LINES_H

#include "coretap/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_line_flag {
    CT_LINE_STMT = 1, /* a recommended place for a breakpoint (DWARF's is_stmt) */
    CT_LINE_BLOCK = 2,
    CT_LINE_PROLOGUE_END = 4,
    CT_LINE_EPILOGUE_BEGIN = 8,
};

/* No file, no scope. */
#define CT_LINE_NONE UINT32_MAX

/* A row of the line table (DWARF 5, 6.2): the instructions of [addr, end) come from this line. */
struct ct_line {
    uint64_t addr;          /* load bias included */
    uint64_t end;           /* equal to addr: a row without instructions */
    uint32_t file;          /* see ct_lines_file */
    uint32_t line;          /* from 1; 0: from no line */
    uint32_t column;        /* from 1; 0: unknown */
    uint32_t discriminator; /* tells apart blocks of one line, as in the file; 0: none */
    uint32_t flags;         /* enum ct_line_flag */
    uint32_t pad;
};

/* A function, or one place where a function was inlined. */
struct ct_line_scope {
    const char *name;         /* as in the source; never NULL */
    const char *linkage_name; /* of the symbol; NULL when the debug information gives none */
    uint64_t entry;           /* address of its first instruction */
    uint32_t decl_file;       /* where the function is declared; CT_LINE_NONE */
    uint32_t decl_line;       /* 0: unknown */
    uint32_t parent;          /* inlined: number of the scope it was inlined into; a function: CT_LINE_NONE */
    uint32_t call_file;       /* inlined: the place of the call; CT_LINE_NONE */
    uint32_t call_line;
    uint32_t depth; /* 0: a function, 1: inlined into one, … */
};

/* The debug information of one ELF file. Immutable once loaded: any number of threads may use it. */
struct ct_lines;

struct ct_debug_files; /* program.h */

struct ct_line_options {
    size_t size;                          /* sizeof(struct ct_line_options) */
    uint64_t bias;                        /* added to each address of the file */
    struct ct_debug_files *files;         /* where separate files are searched; NULL: the standard places */
    const struct ct_module_place *placed; /* see struct ct_image */
};

/* Reads the debug information of the ELF file at `path`: line tables, functions and inlined calls. If it has
 * none, reads the separate file that ct_symbols_load_with searches. Parts that dwz moved to a shared file
 * (.gnu_debugaltlink) are read from there: at the path in the link, or by build id. The errors of
 * ct_lines_load. */
CT_API int ct_lines_load_with(struct ct_ctx *ctx, const char *path, const struct ct_line_options *options,
                              struct ct_lines **out);

/* Reads the debug information of the ELF file at `path`, and adds `bias` to each address. Rows of code that
 * the linker discarded (outside of executable sections) are left out. A file without debug information is no
 * error: everything is empty then. Damaged parts are left out, with a warning in the context. CT_ERR_IO,
 * CT_ERR_FORMAT, CT_ERR_UNSUPPORTED (big-endian, for another machine, or an object file that was not linked
 * and so has no addresses), CT_ERR_LIMIT, CT_ERR_NOMEM. Time and memory grow with the debug information. */
CT_API int ct_lines_load(struct ct_ctx *ctx, const char *path, uint64_t bias, struct ct_lines **out);

/* The same from the bytes of a file, called `name` in messages, which are not needed afterwards. */
CT_API int ct_lines_load_bytes(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                               uint64_t bias, struct ct_lines **out);
CT_API void ct_lines_free(struct ct_lines *lines);

/* Returns all rows by address. Rows with instructions do not overlap; a row without instructions comes before
 * the one with the same address. */
CT_API const struct ct_line *ct_lines_all(const struct ct_lines *lines, size_t *count);

/* Finds the row whose instructions include `addr`, by binary search; NULL when there is none. */
CT_API const struct ct_line *ct_lines_at(const struct ct_lines *lines, uint64_t addr);

/* Returns the path of a file by its number, and the number of files. The path is that given to the compiler,
 * after its folder when that is known; NULL for unknown numbers. */
CT_API const char *ct_lines_file(const struct ct_lines *lines, uint32_t file);
CT_API uint32_t ct_lines_file_count(const struct ct_lines *lines);

/* Reads the text of a source file; the caller frees *text. Debug information may name any file, so this reads
 * only regular files of at most 64 MiB that are, with symbolic links resolved, in or below the folder of the
 * program or a folder of ct_debug_files_add_source_root. CT_ERR_NOT_FOUND for every other file, and for a
 * program that was loaded from bytes; CT_ERR_NOMEM. The first file elsewhere is reported as a note to the
 * context of the load, which must still exist. */
CT_API int ct_lines_source(const struct ct_lines *lines, uint32_t file, char **text, size_t *size);

/* Returns 1 when `name` is the path of the file, or its end after a slash: "main.c" and "src/main.c" match
 * "/project/src/main.c", "ain.c" does not. A leading "./" of `name` is ignored. */
CT_API int ct_lines_file_is(const struct ct_lines *lines, uint32_t file, const char *name);

/* Finds the addresses where a source line begins to execute. The file is called `name` (as in
 * ct_lines_file_is; all such files are searched). The addresses are those of its statements, in order,
 * without rows that only continue the line after another of its rows. For a line without code the next one
 * with code is used; *found (may be NULL) is the line used. Writes the first `most` addresses to `addrs`
 * (NULL when most is 0), and their total number to *count. CT_ERR_NOT_FOUND when there is no such file, or no
 * code at or after the line. */
CT_API int ct_lines_find(const struct ct_lines *lines, const char *name, uint32_t line, uint64_t *addrs,
                         size_t most, size_t *count, uint32_t *found);

/* Returns the named labels of the source, by address. They are rows without instructions, which ct_lines_all
 * does not have. In code without optimisation the label's first instruction is there. */
CT_API const struct ct_line *ct_lines_labels(const struct ct_lines *lines, size_t *count);

/* Returns functions and inlined calls. A function comes before what is inlined into it. */
CT_API const struct ct_line_scope *ct_lines_scopes(const struct ct_lines *lines, size_t *count);

/* Returns the number of the innermost scope at `addr`, CT_LINE_NONE when there is none. Its parents are the
 * callers that it was inlined into. */
CT_API uint32_t ct_lines_scope_at(const struct ct_lines *lines, uint64_t addr);

/* Returns the discriminator of an inlined call, as in the file. 0: none, or not an inlined call. */
CT_API uint32_t ct_lines_call_discriminator(const struct ct_lines *lines, uint32_t scope);

/* Returns 1 when a compiler of LLVM made the code of a scope. It composes discriminators of three numbers:
 * the block within the line, how many copies of the code an instruction stands for, and which copy it is
 * ("DILocation" in LLVM's documentation). 0: another compiler, or there is no such scope. */
CT_API int ct_lines_is_llvm(const struct ct_lines *lines, uint32_t scope);

/* Returns the number of the compile unit that a scope belongs to; units come in the order of their scopes.
 * CT_LINE_NONE when there is no such scope. */
CT_API uint32_t ct_lines_unit(const struct ct_lines *lines, uint32_t scope);

/* Returns 1 when the debug information says that the compiler optimised the code of a scope: the options of
 * gcc except -O0, of Go except -N, and the marks of clang from -O1 on. 0: it did not, it does not say
 * so (Rust), or there is no such scope. */
CT_API int ct_lines_is_optimised(const struct ct_lines *lines, uint32_t scope);

#ifdef __cplusplus
}
#endif
#endif
