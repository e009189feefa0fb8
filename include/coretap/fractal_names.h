/* SPDX-License-Identifier: Apache-2.0 */
/* coretap FRACTAL names: names of the addresses in an event log (fractal.h): functions, objects and sections
 * of the program, and regions that the log names.
 *
 *     struct ct_fractal_names_options options = {.size = sizeof options, .program = "canny"};
 *     ct_fractal_log_open(ctx, "monday.log", &log);
 *     while (ct_fractal_reader_next(ct_fractal_log_reader(log), &event, 1))
 *         continue;    // regions are at the end
 *     ct_fractal_log_name(log, &options);
 *     ct_fractal_reader_rewind(ct_fractal_log_reader(log));
 *     while (ct_fractal_reader_next(ct_fractal_log_reader(log), &event, 1))
 *         puts(ct_fractal_names_at(ct_fractal_log_names(log), event.va)->text);
 *     ct_fractal_log_free(log); */
#ifndef CORETAP_FRACTAL_NAMES_H
#define CORETAP_FRACTAL_NAMES_H

#include "coretap/base.h"
#include "coretap/fractal.h"
#include "coretap/fractal_sums.h"
#include "coretap/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- names of addresses ---- */

struct ct_fractal_names_options {
    size_t size;                  /* sizeof(struct ct_fractal_names_options) */
    const char *program;          /* path of the ELF file that names come from; NULL: none */
    const uint64_t *bias;         /* load bias; NULL: from the log, or 0 */
    struct ct_debug_files *files; /* where separate files with names are; NULL: only the standard places */
    uint8_t raw_names;            /* 1: names of functions are not demangled */
    uint8_t one_process;          /* 1: only events of `process` count, and its bias is that of the log */
    uint8_t process;
    uint8_t pad[5]; /* 0 */
};

/* A named range of addresses, [lo, hi). */
struct ct_fractal_name {
    uint64_t lo, hi;
    const char *text; /* as printed */
    const char *raw;  /* for a function: as in the file; else NULL */
    uint8_t kind;     /* enum ct_fractal_name_kind, but not PAGE */
    uint8_t pad[7];   /* 0 */
};

/* Names of the addresses in one run of a program. Only one thread may use it at a time. */
struct ct_fractal_names;

/* Makes the names of a program: its functions, objects and sections. The errors of ct_program_symbols and
 * ct_program_layout, CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_names_new(struct ct_ctx *ctx, const struct ct_fractal_names_options *options,
                                struct ct_fractal_names **out);
CT_API void ct_fractal_names_free(struct ct_fractal_names *names);

/* Moves all names of the program by `by`. Regions do not move. CT_ERR_ARG. */
CT_API int ct_fractal_names_move(struct ct_fractal_names *names, uint64_t by);

/* Adds a region [lo, hi), such as a heap, or grows the region with this name and start. Its text is copied. A
 * region names an address that is not in the program, and of several regions the one that begins last.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_fractal_names_region(struct ct_fractal_names *names, uint64_t lo, uint64_t hi,
                                   const char *text);

/* Returns the name of an address: a function or object, else a section, else a region, else the name for all
 * unnamed addresses. At the start of a line of 64 bytes where nothing lies, it is the first that begins in
 * the line. It stays valid until a region is added. */
CT_API const struct ct_fractal_name *ct_fractal_names_at(const struct ct_fractal_names *names, uint64_t va);

/* Returns the function or object with a name, or with `section` 1 the section. The name may be that printed
 * or that in the file. NULL: none. */
CT_API const struct ct_fractal_name *ct_fractal_names_find(const struct ct_fractal_names *names,
                                                           const char *text, int section);

/* Returns where the program lies: *code is the start of its code, *end the end of what its file holds.
 * CT_ERR_ARG. */
CT_API int ct_fractal_names_extent(const struct ct_fractal_names *names, uint64_t *code, uint64_t *end);

/* Returns all names; ct_fractal_names_at returns one of them. The last is that of all unnamed addresses. They
 * stay valid until a region is added. */
CT_API const struct ct_fractal_name *ct_fractal_names_all(const struct ct_fractal_names *names,
                                                          size_t *count);

/* ---- a log with names ---- */

#define CT_FRACTAL_LOG_POINTS 4096 /* observation point numbers that have names */

/* An event log with names for its addresses. Only one thread may use it at a time. */
struct ct_fractal_log;

/* Opens a log. The errors of ct_fractal_reader_open. */
CT_API int ct_fractal_log_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_log **out);
CT_API void ct_fractal_log_free(struct ct_fractal_log *log);

/* Returns the reader of the log, which owns it. */
CT_API struct ct_fractal_reader *ct_fractal_log_reader(struct ct_fractal_log *log);

/* Loads the names of the addresses in the log, once. The whole log must have been read before, because its
 * regions are at the end. CT_ERR_ARG, also when the log has names already; the errors of
 * ct_fractal_names_new. */
CT_API int ct_fractal_log_name(struct ct_fractal_log *log, const struct ct_fractal_names_options *options);

/* Returns the names; NULL before ct_fractal_log_name. */
CT_API const struct ct_fractal_names *ct_fractal_log_names(const struct ct_fractal_log *log);

/* Returns the load bias of the program; 0 before ct_fractal_log_name. */
CT_API uint64_t ct_fractal_log_bias(const struct ct_fractal_log *log);

#define CT_FRACTAL_LOG_PROGRAM 256

/* Writes the name of the program that the log belongs to: the last component of its path, cut to the array.
 * An empty text: unknown. CT_ERR_ARG. */
CT_API int ct_fractal_log_program(const struct ct_fractal_log *log, char program[CT_FRACTAL_LOG_PROGRAM]);

/* Describes what an event belongs to, for ct_fractal_sums_take, in terms that are the same in all runs. The
 * texts stay valid as long as the log. CT_ERR_ARG, also before ct_fractal_log_name; CT_ERR_NOMEM. */
CT_API int ct_fractal_log_place(struct ct_fractal_log *log, const struct ct_fractal_event *event,
                                struct ct_fractal_place *place);

#ifdef __cplusplus
}
#endif
#endif
