/* SPDX-License-Identifier: Apache-2.0 */
/* coretap programs: the ELF files that ran, with where they lay. Their symbols, source lines, memory and
 * control flow are loaded when they are first asked for, once for each file.
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

/* A set of programs, of one thread at a time. */
struct ct_programs;

struct ct_programs_options {
    size_t size;                  /* sizeof(struct ct_programs_options) */
    struct ct_debug_files *files; /* where separate files with names are; NULL: the standard places alone */
    const char *targets;          /* for control flow, as in struct ct_cfg_options */
    const char *targets_name;     /* name of `targets`, which has to stay */
    uint8_t raw_names;            /* 1: ct_symbols_label does not demangle */
    /* 1: addresses in symbols, lines, memory and control flow include the load bias; 0: as in the file, which
     * ct_cover_report_new wants: with 1 nothing of a program that was moved has run. Watchpoints take both.
     */
    uint8_t moved;
    /* 1: all programs of a capture are added with it, as if each lay in every memory; 0: where memory changes
     * they are added when their memory is (ct_programs_in). */
    uint8_t all_memories;
};

/* One program. It stays where it is as long as the set; members may change when others are added. */
struct ct_program {
    const char *path;
    uint64_t bias;  /* load bias: what is added to an address of the file */
    uint64_t shift; /* what is added to an address in its symbols, …: `bias`, or 0 with options.moved */
    struct ct_memory_set memories; /* that it lay in */
    const char *ran_as;            /* of one that was named: its path in the capture, or its own; else NULL */
    uint8_t named;                 /* 1: by ct_programs_add */
    uint8_t started;               /* 1: not loaded by another program, as far as the capture says */
};

/* Makes an empty set of programs. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_new(struct ct_ctx *ctx, const struct ct_programs_options *options,
                           struct ct_programs **out);
CT_API void ct_programs_free(struct ct_programs *programs);

/* Adds the file at `path`. It stands for the program of `capture` (which may be NULL) that is the same file:
 * of this path, or else of this name, or else with its build id at `bias`; when there is no file at `path`,
 * and `path` is that program's or a name alone, the program's own is taken. `bias` NULL: where the capture
 * says that it lay, or 0. *out (which may be NULL) is the program, which may have been there. CT_ERR_IO when
 * there is no such file; CT_ERR_CONFIG when the file has another build id than the program of the capture
 * that has its name or lies where it would; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_add(struct ct_programs *programs, const char *path, const uint64_t *bias,
                           const struct ct_capture *capture, struct ct_program **out);

/* Adds the programs of a capture: the ELF images of all buffers, and those that it names. Left out are those
 * that another one was named for: one of the same name and bias, or at the same bias other than 0. From the
 * other images it takes the names of what is in no program (ct_programs_places). CT_ERR_IO when one of these
 * cannot be looked at, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_add_capture(struct ct_programs *programs, const struct ct_capture *capture);

/* Returns what the capture that was added says of its sources, and of what contexts are called: its buffers
 * with their sources, clocks and names alone. They belong to the set of programs; *count is how many there
 * are. */
CT_API const struct ct_buffer *ct_programs_sources(const struct ct_programs *programs, size_t *count);

/* Says that another capture comes: programs lie nowhere until they are added for it, or named for it, again.
 * What is loaded stays. */
CT_API void ct_programs_next_capture(struct ct_programs *programs);

/* Returns 1 when the capture says for each memory by itself which programs lay in it, else 0. */
CT_API int ct_programs_by_memory(const struct ct_capture *capture);

/* Adds the programs that lay in a memory, which is known by the number that nodes have. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_programs_in(struct ct_programs *programs, const struct ct_maps *maps, uint32_t memory);

/* Adds programs that were named to the images of `buffer`: those that the capture does not know. Nothing is
 * added where it says itself what was in memory. The list of images belongs to `programs`. The errors of
 * ct_program_symbols. */
CT_API int ct_programs_give(struct ct_programs *programs, struct ct_buffer *buffer);

/* Returns how many programs there are. */
CT_API size_t ct_programs_count(const struct ct_programs *programs);

/* Returns the program with a number below the count: those named first, then as they were added. NULL for
 * other numbers. */
CT_API struct ct_program *ct_programs_at(const struct ct_programs *programs, size_t number);

/* Returns what is known of a program, loaded unless it is there; it belongs to the set. What could not be
 * loaded is tried again. The errors of ct_symbols_load_with, ct_lines_load_with, ct_memory_add_image,
 * ct_cfg_load, ct_layout_load and ct_named_table_load; CT_ERR_ARG. The headers
 * are the symbols, or as long as nobody asked for these, what options.headers_alone loads of them. */
CT_API int ct_program_symbols(struct ct_program *program, const struct ct_symbols **out);
CT_API int ct_program_headers(struct ct_program *program, const struct ct_symbols **out);
CT_API int ct_program_lines(struct ct_program *program, const struct ct_lines **out);
CT_API int ct_program_memory(struct ct_program *program, const struct ct_memory **out);
CT_API int ct_program_cfg(struct ct_program *program, struct ct_cfg **out);
CT_API int ct_program_layout(struct ct_program *program, const struct ct_layout **out);
CT_API int ct_program_named(struct ct_program *program, const struct ct_named_table **out);

/* Finds a variable of the program, as ct_variable_find does, whose errors it has; it belongs to the set. */
CT_API int ct_program_variable(struct ct_program *program, const char *name, const struct ct_variable **out);

/* Gives where the code of the program lies, as in its symbols: *count ranges in no order. Of a copy of memory
 * (kcore) that is what no other program that lay in all memories has, so that each address belongs to one
 * program. The list belongs to the set and stays. The errors of ct_program_headers; CT_ERR_ARG. */
CT_API int ct_program_code(struct ct_program *program, const struct ct_code_range **out, size_t *count);

/* Returns 1 when the program has code at an address of a memory; 0 also when its headers cannot be loaded. */
CT_API int ct_program_has(struct ct_program *program, uint64_t addr, uint32_t memory);

/* Where names of code come from: an address `addr` of a memory in the set is addr - shift in the symbols. */
struct ct_program_place {
    const struct ct_symbols *symbols;
    uint64_t shift;
    struct ct_memory_set memories;
    struct ct_program *program; /* NULL: memory that is in none */
};

/* Returns the places of all programs in their order. Behind them are those of memory that is in none. The
 * list belongs to the set and stays where it is until something is added. When the symbols of a program
 * cannot be loaded the list has the others, and the result is its error: one of ct_program_symbols.
 * CT_ERR_NOMEM: there is no list. */
CT_API int ct_programs_places(struct ct_programs *programs, const struct ct_program_place **out,
                              size_t *count);

/* Finds the program whose named events are in the trace: the first one that has names of events. *table is
 * NULL when none has; *other is the next one that has some, or NULL: its numbers are the same, so its events
 * cannot be told from those of the first. A program whose file cannot be read has none. The errors of
 * ct_named_table_load for one whose names are damaged, CT_ERR_ARG; then *table may be of another one. */
CT_API int ct_programs_named(struct ct_programs *programs, const struct ct_named_table **table,
                             const struct ct_program **of, const struct ct_program **other);

/* What is at an address. */
struct ct_program_where {
    const struct ct_program *program; /* NULL: it is in none */
    const char *function; /* as ct_symbols_label has it, also of memory that is in no program; NULL:
                             unknown */
    uint64_t offset;      /* of the address from where the function begins */
    const char *file;     /* of the source, as ct_lines_file has it; NULL: not known */
    uint32_t line;        /* 0: not known */
};

/* Tells what is at an address, in whatever memory: of several programs that have it the first counts, and one
 * that cannot be loaded has none. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_programs_where(struct ct_programs *programs, uint64_t addr, struct ct_program_where *out);

/* Tells what one program has at an address; out->program is NULL when it has no code there. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_program_at(struct ct_program *program, uint64_t addr, struct ct_program_where *out);

#ifdef __cplusplus
}
#endif
#endif
