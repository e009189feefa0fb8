/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of an ELF file's sections, which collect its functions. */
#pragma once

#include "base/arena.h"
#include "coretap/program.h"
#include "program/elf.h"
#include "program/mapping_symbols.h"
#include "program/memory.h"
#include "program/segments.h"

#include <stdbool.h>

#define CT_BUILD_ID_MOST 64 /* in bytes; SHA-1 has 20 */

/* A function from one section. */
struct ct_function {
    struct ct_symbol symbol; /* its name is NULL when the section only has bounds */
    uint64_t section_end;    /* with the load bias; 0 when unknown */
    uint8_t rank;            /* of the name: 0 global, 1 weak, 2 local, 3 made from another name */
};

/* Executable bytes of the file. */
struct ct_code_bytes {
    uint64_t addr; /* with the load bias */
    uint64_t end;
    const uint8_t *bytes;
};

/* The functions collected from a file. */
struct ct_collector {
    struct ct_ctx *ctx;
    const char *name;         /* of the file, for messages */
    const struct ct_elf *elf; /* the program itself */
    uint64_t bias;
    struct ct_arena *arena;             /* for names */
    struct ct_mapping_symbols *mapping; /* instruction sets, from the first symbol table with mapping
                                           symbols */
    struct ct_function *functions;
    size_t count, room;
    struct ct_function *labels; /* symbols of code without a type */
    size_t label_count, label_room;
    struct ct_code_bytes *code; /* sorted by address, without overlaps */
    size_t code_count;
};

/* Allocated arrays, or those of a file of the cache. */
struct ct_symbols {
    struct ct_ctx *ctx;
    struct ct_symbol *all; /* functions, followed by pieces of code */
    size_t functions, count;
    struct ct_segment *segments; /* segments whose owners are functions */
    size_t segment_count;
    struct ct_segment *pieces; /* segments whose owners are pieces of code */
    size_t piece_count;
    struct ct_mapping_symbols mapping;
    struct ct_arena arena; /* names */
    char **labels;         /* demangled names requested so far, by number; the name itself: not mangled */
    const char *module;
    uint64_t bias, base, entry;
    uint8_t build_id[CT_BUILD_ID_MOST];
    size_t build_id_size;
    struct ct_code_range *code;
    size_t code_count;
    bool raw_names;
    struct ct_part_file *file; /* that has the arrays and names; NULL: they are allocated */
};

/* Returns the name of the file as a module: the last component of its path, printable and owned by the
 * symbols. Returns NULL when out of memory. */
const char *ct_symbols_module_name(struct ct_symbols *symbols, const char *path);

/* Loads the functions of a file from its bytes. `name` is its name in messages; `path`, near which separate
 * files are searched, may be NULL. The errors of ct_symbols_load_with. */
int ct_symbols_make(struct ct_ctx *ctx, const char *name, const char *path, const void *bytes, size_t size,
                    const struct ct_symbol_options *options, struct ct_symbols **out);

/* Functions that are in no ELF file, sorted by address. */
struct ct_symbol_list {
    struct ct_arena names;
    struct ct_symbol *all;       /* allocated, as the segments */
    struct ct_segment *segments; /* whose owners are functions */
    size_t count, segment_count;
};

/* Makes symbols of the list, which becomes theirs. `path` is the file that has them. `rc` is the result of
 * making the list: after an error it is freed, and the error returned. CT_ERR_NOMEM. */
int ct_symbols_of_list(struct ct_ctx *ctx, const char *path, const struct ct_symbol_list *list, int rc,
                       struct ct_symbols **out);

/* ---- symbol_collect.c ---- */

/* Collects functions from all sections. Those of a stripped file are read only if .symtab is missing. `path`
 * may be NULL. The errors of ct_symbols_load_with. */
int ct_collect_all(struct ct_collector *collector, const struct ct_symbol_options *options, const char *path);

/* Sorts the functions, keeps one at each address, and limits sizes to the address space. */
void ct_collect_arrange(struct ct_collector *collector);

/* Adds labels as functions where no function covers the code, and as names of nameless functions, after
 * sorting: assembly seldom marks its symbols as functions. CT_ERR_NOMEM. */
int ct_collect_labels(struct ct_collector *collector);

/* Adds the code outside of the functions in `segments`. CT_ERR_NOMEM. */
int ct_collect_pieces(struct ct_collector *collector, const struct ct_segment *segments, size_t count);

/* Compares functions by address, for qsort. Of several at one address the first one's name is used. */
int ct_function_order(const void *a, const void *b);

/* Adds one function, or one label. CT_ERR_NOMEM. */
int ct_collect(struct ct_collector *collector, const struct ct_function *function);
int ct_collect_label(struct ct_collector *collector, const struct ct_function *label);

/* Returns the section with a name, and its header in *header; NULL when there is none. */
Elf_Scn *ct_elf_section(const struct ct_elf *elf, const char *name, GElf_Shdr *header);

/* Returns whether [addr, addr + size), with the load bias, is executable. */
bool ct_collect_is_code(const struct ct_collector *collector, uint64_t addr, uint64_t size);

/* Returns the end of the executable bytes around an address; 0: none. */
uint64_t ct_collect_code_end(const struct ct_collector *collector, uint64_t addr);

/* ---- symbol_tables.c ---- */

/* Adds the functions of the first table of a type (SHT_SYMTAB, SHT_DYNSYM) of `elf`, which is the program or
 * a file with its names; *found counts them. CT_ERR_FORMAT, CT_ERR_LIMIT, CT_ERR_NOMEM. */
int ct_collect_table(struct ct_collector *collector, const struct ct_elf *elf, uint32_t type,
                     enum ct_symbol_source source, size_t *found);

/* ---- unwind_functions.c ---- */

/* Adds the bounds of functions in .eh_frame and .ARM.exidx. CT_ERR_NOMEM. */
int ct_collect_unwind(struct ct_collector *collector);

/* ---- go_functions.c ---- */

/* Adds the functions of a Go program, from the table of its runtime. CT_ERR_NOMEM. */
int ct_collect_go(struct ct_collector *collector);

/* ---- plt_functions.c ---- */

/* Adds the entries of procedure linkage tables. CT_ERR_NOMEM. */
int ct_collect_plt(struct ct_collector *collector);

/* ---- kallsyms.c ---- */

/* Adds the functions of a kernel from the file kallsyms beside `path`, a copy of the kernel's memory, if
 * there is one. CT_ERR_NOMEM. */
int ct_collect_kallsyms(struct ct_collector *collector, const char *path);

/* ---- mini_debug.c ---- */

/* Uncompresses .gnu_debugdata to at most `limit` bytes. The caller frees *out, which is NULL when there is
 * none, or when it is damaged or larger; then a message is logged. CT_ERR_NOMEM. */
int ct_mini_debug(const struct ct_collector *collector, uint64_t limit, uint8_t **out, size_t *size);

/* ---- debug_files.c ---- */

/* Returns the folders added by ct_debug_files_add_source_root; none for NULL. */
const char *const *ct_debug_source_roots(const struct ct_debug_files *files, size_t *count);

/* Returns the limit for the uncompressed sections of one program, in bytes. */
uint64_t ct_debug_limit(const struct ct_debug_files *files);

struct ct_kept_part;

/* Returns the list of kept parts (kept_parts.h), or NULL when none are kept. */
struct ct_kept_part **ct_debug_kept_parts(struct ct_debug_files *files);

/* Opens the separate file with the debug information of the program at `path`. The caller closes *out, which
 * is NULL when there is none. `online`: servers may be asked. CT_ERR_NOMEM. */
int ct_debug_file_find(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path,
                       const struct ct_elf *elf, bool online, struct ct_mapped_file **out);

/* Opens the file to which dwz moved common parts of the debug information of the file at `path`, by its name
 * or build id. *out is NULL when it is not found. CT_ERR_NOMEM. */
int ct_debug_file_shared(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path, const char *name,
                         const uint8_t *id, size_t id_size, struct ct_mapped_file **out);

/* How the separate file of a program was searched since this was last zeroed. */
struct ct_debug_trail {
    bool searched, online;
    bool more;      /* other files were read too, so what was read is not in one or two files */
    char *separate; /* path of the separate file; NULL: none was found */
};

/* Returns the trail of the searches with `files`; NULL for NULL. */
struct ct_debug_trail *ct_debug_trail(struct ct_debug_files *files);

/* Searches as ct_debug_file_find does, but sets only the path of the file, which the caller frees; NULL when
 * there is none. CT_ERR_NOMEM. */
int ct_debug_file_look(struct ct_ctx *ctx, struct ct_debug_files *files, const char *path,
                       const struct ct_elf *elf, bool online, char **out);

struct ct_part_cache;

/* Returns the cache of parts (part_cache.h), or NULL when there is none. */
struct ct_part_cache *ct_debug_cache(struct ct_debug_files *files);

/* ---- elf_notes.c ---- */

/* Copies the build id and returns its size, 0 when there is none. `file_size` limits what is read. */
size_t ct_elf_build_id(const struct ct_elf *elf, size_t file_size, uint8_t id[CT_BUILD_ID_MOST]);

/* Returns the name in .gnu_debuglink, and its checksum in *crc; NULL when there is no valid one. */
const char *ct_elf_debug_link(const struct ct_elf *elf, uint32_t *crc);
