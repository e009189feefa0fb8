/* SPDX-License-Identifier: Apache-2.0 */
/* coretap tables: saved results as tables for data engines (DuckDB, Spark, ClickHouse, pandas), in Parquet
 * files or streams of Arrow. docs/tables.md has the columns.
 *
 *     const struct ct_tables_options options = {.size = sizeof options, .write = write, .user = files};
 *     const struct ct_tables_origin origin = {.size = sizeof origin, .result = "monday.data"};
 *     ct_tables_new(ctx, &options, &tables);
 *     ct_tables_add_cover(tables, cover, programs, &origin);
 *     ct_tables_add_timing(tables, sums, &origin);
 *     ct_tables_finish(tables);
 *     ct_tables_free(tables); */
#ifndef CORETAP_TABLES_H
#define CORETAP_TABLES_H

#include "coretap/base.h"
#include "coretap/cover.h"
#include "coretap/programs.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_table {
    CT_TABLE_RESULTS,   /* a row for each result: its captures, and their losses */
    CT_TABLE_FUNCTIONS, /* coverage of each function */
    CT_TABLE_LINES,     /* coverage of each source line */
    CT_TABLE_EDGES,     /* how often execution took each edge, and how long that took */
    CT_TABLE_TIMES,     /* distributions of the times of functions and pairs of places */
    CT_TABLE_COUNT,     /* number of tables */
};

/* Returns the name of a table, which is also that of its file: "results", "functions", …; NULL for other
 * numbers. */
CT_API const char *ct_table_name(enum ct_table table);

/* How tables are written. */
enum ct_tables_format {
    CT_TABLES_PARQUET,
    CT_TABLES_ARROW, /* the IPC streaming format of Arrow */
};

struct ct_tables_options {
    size_t size; /* sizeof(struct ct_tables_options) */
    /* Receives the next bytes of the file of one table; otherwise like ct_write_fn. Not NULL. */
    int (*write)(void *user, enum ct_table table, const void *data, size_t size);
    void *user;
    enum ct_tables_format format;
};

/* The origin of a result, for the first columns of all its rows. Texts are borrowed for the call. */
struct ct_tables_origin {
    size_t size;                /* sizeof(struct ct_tables_origin) */
    const char *result;         /* name of the result, such as that of its file. Not NULL */
    const char *test;           /* what ran, in the user's words; NULL: unknown */
    const char *machine;        /* where it ran; NULL: unknown */
    const char *time;           /* when, in ISO 8601; NULL: unknown */
    const struct ct_arch *arch; /* coverage: architecture of the core that ran the programs; NULL: the newest
                                   A profile */
    uint8_t all_functions;      /* coverage: as in struct ct_cover_source */
};

/* Tables that are being written. Rows are written 65536 at a time, so that memory does not depend on the
 * number of results. */
struct ct_tables;

/* Makes empty tables, and begins their files. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_tables_new(struct ct_ctx *ctx, const struct ct_tables_options *options, struct ct_tables **out);
CT_API void ct_tables_free(struct ct_tables *tables);

/* Adds coverage: a row in `results`, all counts in `edges`, and the functions and lines of those of
 * `programs` that have counts. Functions and lines of other programs are unknown. CT_ERR_ARG, CT_ERR_NOMEM,
 * what `write` returned, and the errors of ct_cover_report_new, ct_program_symbols and ct_program_lines. */
CT_API int ct_tables_add_cover(struct ct_tables *tables, struct ct_cover *cover, struct ct_programs *programs,
                               const struct ct_tables_origin *origin);

/* Adds times: a row in `results`, edges to `edges`, functions and pairs of places to `times`. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned, and the errors of ct_timing_sums_find. */
CT_API int ct_tables_add_timing(struct ct_tables *tables, struct ct_timing_sums *sums,
                                const struct ct_tables_origin *origin);

/* Returns the number of rows of a table so far; 0 for unknown tables. */
CT_API uint64_t ct_tables_rows(const struct ct_tables *tables, enum ct_table table);

/* Writes the buffered rows and the ends of all files, without which they cannot be read. Once: adding and
 * finishing are CT_ERR_ARG afterwards. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_tables_finish(struct ct_tables *tables);

#ifdef __cplusplus
}
#endif
#endif
