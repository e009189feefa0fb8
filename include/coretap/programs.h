/* SPDX-License-Identifier: Apache-2.0 */
/* coretap programs: the ELF files that ran, and where they were loaded. Their symbols, source lines, memory
 * and control flow are loaded on first use, once for each file.
 *
 *     struct ct_programs *programs;
 *     struct ct_programs_options options = {.size = sizeof options};
 *     if (ct_programs_new(ctx, &options, &programs) == CT_OK &&
 *         ct_programs_add_capture(programs, capture) == CT_OK)
 *         for (size_t i = 0; i < ct_programs_count(programs); i++)
 *             puts(ct_programs_at(programs, i)->path);
 *     ct_programs_free(programs); */
#ifndef CORETAP_PROGRAMS_H
#define CORETAP_PROGRAMS_H

#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/graph.h"
#include "coretap/input.h"
#include "coretap/named.h"
#include "coretap/program.h"
#include "coretap/source_lines.h"
#include "coretap/variable.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of programs. Only one thread may use it at a time. */
struct ct_programs;

struct ct_programs_options {
    size_t size;                  /* sizeof(struct ct_programs_options) */
    struct ct_debug_files *files; /* where separate files with names are; NULL: only the standard places */
    const char *targets;          /* for control flow, as in struct ct_cfg_options */
    const char *targets_name;     /* name of `targets`, which must stay valid */
    uint8_t raw_names;            /* 1: ct_symbols_label does not demangle */
    /* 1: addresses in symbols, lines, memory and control flow include the load bias. 0: they are those of the
     * file, which ct_cover_report_new needs: with 1 nothing appears to have run in a program with a load
     * bias. Watchpoints accept both. */
    uint8_t moved;
    /* 1: all programs of a capture are added with it, as if each were in every memory. 0: where memory
     * changes, programs are added with their memory (ct_programs_in). */
    uint8_t all_memories;
};

/* One program. It stays valid as long as the set; members may change when others are added. */
struct ct_program {
    const char *path;
    uint64_t bias;  /* load bias, which is added to an address of the file */
    uint64_t shift; /* added to an address in its symbols, …: `bias`, or 0 with options.moved */
    struct ct_memory_set memories; /* the memories it was loaded in */
    const char *ran_as;            /* for one that was named: its path in the capture, or its own; else
                                      NULL */
    uint8_t named;                 /* 1: added by ct_programs_add */
    uint8_t started;               /* 1: no other program loaded it, as far as the capture says */
};

/* Makes an empty set of programs. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_new(struct ct_ctx *ctx, const struct ct_programs_options *options,
                           struct ct_programs **out);
CT_API void ct_programs_free(struct ct_programs *programs);

/* Adds the file at `path`. It replaces the program of `capture` (which may be NULL) that is the same file:
 * with this path, or else this name, or else its build id at `bias`. When there is no file at `path`, and
 * `path` is that program's or a name without folder, the program's own file is taken. `bias` NULL: the one in
 * the capture, or 0. *out (which may be NULL) receives the program, which may have existed. CT_ERR_IO when
 * there is no such file, unless the capture has it; whether it is a program is found out when its first part
 * is loaded. CT_ERR_CONFIG when the build id differs from that of the capture's program with its
 * name or address; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_add(struct ct_programs *programs, const char *path, const uint64_t *bias,
                           const struct ct_capture *capture, struct ct_program **out);

/* Adds the programs of a capture: the ELF images of all buffers, and those that it lists. Those replaced by a
 * named program are left out: with the same name and bias, or at the same bias other than 0. Other images
 * give names to code outside of programs (ct_programs_places). CT_ERR_IO when one of these cannot be read,
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_add_capture(struct ct_programs *programs, const struct ct_capture *capture);

/* Adds a symbol map (ct_symbols_load_map), which names code outside of programs. Those that a capture has are
 * added with it. The errors of ct_symbols_load_map. */
CT_API int ct_programs_add_symbol_map(struct ct_programs *programs, const char *path);

/* Returns copies of the buffers of the capture that was added. They only have sources, clocks and context
 * names. They belong to the set of programs; *count receives their number. */
CT_API const struct ct_buffer *ct_programs_sources(const struct ct_programs *programs, size_t *count);

/* Begins another capture: programs are loaded nowhere until they are added for it, or named for it, again.
 * Loaded symbols and so on are kept. */
CT_API void ct_programs_next_capture(struct ct_programs *programs);

/* Returns 1 when the capture says for each memory which programs it has, else 0. */
CT_API int ct_programs_by_memory(const struct ct_capture *capture);

/* Adds the programs of a memory, given by the number that nodes have. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_in(struct ct_programs *programs, const struct ct_maps *maps, uint32_t memory);

/* Adds programs that were named, and that the capture does not know, to the images of `buffer`. Adds nothing
 * when the capture describes the memory itself. The list of images belongs to `programs`. The errors of
 * ct_program_symbols. */
CT_API int ct_programs_give(struct ct_programs *programs, struct ct_buffer *buffer);

/* Returns the number of programs. */
CT_API size_t ct_programs_count(const struct ct_programs *programs);

/* Returns the program with a number below the count: named ones first, then in the order of adding. NULL for
 * other numbers. */
CT_API struct ct_program *ct_programs_at(const struct ct_programs *programs, size_t number);

/* Returns a part of a program, and loads it on first use; it belongs to the set. A part that could not be
 * loaded is tried again. The errors of ct_symbols_load_with, ct_lines_load_with, ct_memory_add_image,
 * ct_cfg_load, ct_layout_load and ct_named_table_load; CT_ERR_ARG. The headers are the symbols, or until
 * those are loaded only what options.headers_alone loads of them. Symbols and lines that are asked for after
 * the memory are read from its bytes; otherwise each reads the file. */
CT_API int ct_program_symbols(struct ct_program *program, const struct ct_symbols **out);
CT_API int ct_program_headers(struct ct_program *program, const struct ct_symbols **out);
CT_API int ct_program_lines(struct ct_program *program, const struct ct_lines **out);
CT_API int ct_program_memory(struct ct_program *program, const struct ct_memory **out);
CT_API int ct_program_cfg(struct ct_program *program, struct ct_cfg **out);
CT_API int ct_program_layout(struct ct_program *program, const struct ct_layout **out);
CT_API int ct_program_named(struct ct_program *program, const struct ct_named_table **out);

/* Finds a variable of the program, like ct_variable_find, whose errors it returns. The variable belongs to
 * the set. */
CT_API int ct_program_variable(struct ct_program *program, const char *name, const struct ct_variable **out);

/* Returns the code ranges of the program, as in its symbols: *count ranges in no order. For a copy of memory
 * (kcore) it is what no other program in all memories has, so that each address belongs to one program. The
 * list belongs to the set and stays valid. The errors of ct_program_headers; CT_ERR_ARG. */
CT_API int ct_program_code(struct ct_program *program, const struct ct_code_range **out, size_t *count);

/* Returns 1 when the program has code at an address of a memory; 0 also when its headers cannot be loaded. */
CT_API int ct_program_has(struct ct_program *program, uint64_t addr, uint32_t memory);

/* A source of names for code: address `addr` in one of the memories is addr - shift in the symbols. */
struct ct_program_place {
    const struct ct_symbols *symbols;
    uint64_t shift;
    struct ct_memory_set memories;
    struct ct_program *program; /* NULL: memory that belongs to no program */
};

/* Returns the places of all programs in their order, and then of code outside of them. That code has the
 * names of symbol maps, followed by those of other memory. The list belongs to the set and stays valid until
 * something is added. When the symbols of a program cannot be loaded the list has the others, and the result
 * is its error: one of ct_program_symbols. CT_ERR_NOMEM: there is no list. */
CT_API int ct_programs_places(struct ct_programs *programs, const struct ct_program_place **out,
                              size_t *count);

/* Finds the program of the named events in the trace: the first one that has names of events. *table is NULL
 * when none has; *other is the next one that has some, or NULL: both use the same numbers, so its events
 * cannot be told from those of the first. A program whose file cannot be read has none. The errors of
 * ct_named_table_load when names are damaged, CT_ERR_ARG; then *table may be of another one. */
CT_API int ct_programs_named(struct ct_programs *programs, const struct ct_named_table **table,
                             const struct ct_program **of, const struct ct_program **other);

/* What is at an address. */
struct ct_program_where {
    const struct ct_program *program; /* NULL: in no program */
    const char *function; /* as from ct_symbols_label, also for memory in no program; NULL: unknown */
    uint64_t offset;      /* of the address from the start of the function */
    const char *file;     /* source file, as from ct_lines_file; NULL: unknown */
    uint32_t line;        /* 0: unknown */
};

/* Finds what is at an address, in any memory. Of several programs with this address the first is taken; one
 * that cannot be loaded has none. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_where(struct ct_programs *programs, uint64_t addr, struct ct_program_where *out);

/* Finds the function of this name with code (ct_cfg_function_named) in the first program that has it.
 * Programs with a symbol of this name come first, because the control flow of a large program takes longer to
 * read than a trace of it. *function receives its number in the program's control flow (ct_program_cfg).
 * CT_ERR_NOT_FOUND: no program has it, or the program has several of that name; CT_ERR_ARG, those of
 * ct_program_cfg. */
CT_API int ct_programs_function(struct ct_programs *programs, const char *name, struct ct_program **program,
                                uint32_t *function);

/* Finds what one program has at an address; out->program is NULL when it has no code there. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_program_at(struct ct_program *program, uint64_t addr, struct ct_program_where *out);

#ifdef __cplusplus
}
#endif
#endif
