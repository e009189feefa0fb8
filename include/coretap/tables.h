/* SPDX-License-Identifier: Apache-2.0 */
/* coretap tables: what saved results say, as tables for data engines (DuckDB, Spark, ClickHouse, pandas), in
 * Parquet files or streams of Arrow. docs/tables.md has the columns.
 *
 *     const struct ct_tables_options options = {.size = sizeof options, .write = write, .user = files};
 *     const struct ct_tables_origin origin = {.size = sizeof origin, .result = "monday.data"};
 *     ct_tables_new(ctx, &options, &tables);
 *     ct_tables_add_cover(tables, cover, programs, &origin);
 *     ct_tables_add_timing(tables, sums, &origin);
 *     ct_tables_finish(tables);
 *     ct_tables_free(tables);
 */
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
    CT_TABLE_RESULTS,   /* a row for each result: of which captures it is, and what they lost */
    CT_TABLE_FUNCTIONS, /* coverage of each function */
    CT_TABLE_LINES,     /* coverage of each source line */
    CT_TABLE_EDGES,     /* how often execution went where, and how long that took */
    CT_TABLE_TIMES,     /* distributions of the times of functions, and between places */
    CT_TABLE_COUNT,     /* how many there are */
};

/* Returns the name of a table, as a file is called: "results", "functions", …; NULL for other numbers. */
CT_API const char *ct_table_name(enum ct_table table);

/* How tables are written. */
enum ct_tables_format {
    CT_TABLES_PARQUET,
    CT_TABLES_ARROW, /* the IPC streaming format of Arrow */
};

struct ct_tables_options {
    size_t size; /* sizeof(struct ct_tables_options) */
    /* Receives the next bytes of the file of one table. As ct_write_fn else. Not NULL. */
    int (*write)(void *user, enum ct_table table, const void *data, size_t size);
    void *user;
    enum ct_tables_format format;
};

/* Where a result is from: what the first columns of all its rows say. Texts are borrowed for the call. */
struct ct_tables_origin {
    size_t size;                /* sizeof(struct ct_tables_origin) */
    const char *result;         /* its name, such as that of its file. Not NULL */
    const char *test;           /* what ran, in the user's words; NULL: nobody says */
    const char *machine;        /* where it ran; NULL: nobody says */
    const char *time;           /* when, as ISO 8601 has it; NULL: nobody says */
    const struct ct_arch *arch; /* coverage: of the core that ran the programs; NULL: a newest A profile */
    uint8_t all_functions;      /* coverage: as in struct ct_cover_source */
};

/* Files that grow: rows are written 65536 at a time, so that memory does not depend on how many results
 * there are. */
struct ct_tables;

/* Makes empty tables, and begins their files. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_tables_new(struct ct_ctx *ctx, const struct ct_tables_options *options, struct ct_tables **out);
CT_API void ct_tables_free(struct ct_tables *tables);

/* Adds coverage: a row in `results`, all counts to `edges`, and functions and lines of those of `programs`
 * that it has counts of. Functions and lines of others are not known. CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned, and the errors of ct_cover_report_new, ct_program_symbols and ct_program_lines. */
CT_API int ct_tables_add_cover(struct ct_tables *tables, struct ct_cover *cover, struct ct_programs *programs,
                               const struct ct_tables_origin *origin);

/* Adds times: a row in `results`, edges to `edges`, functions and pairs of places to `times`. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned, and the errors of ct_timing_sums_find. */
CT_API int ct_tables_add_timing(struct ct_tables *tables, struct ct_timing_sums *sums,
                                const struct ct_tables_origin *origin);

/* Returns how many rows a table has so far; 0 for numbers that are no table. */
CT_API uint64_t ct_tables_rows(const struct ct_tables *tables, enum ct_table table);

/* Writes the rows that wait and the ends of all files, without which they cannot be read. Nothing is added
 * after that. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_tables_finish(struct ct_tables *tables);

#ifdef __cplusplus
}
#endif
#endif
