/* SPDX-License-Identifier: Apache-2.0 */
/* The files of tables, for the code that fills in rows. */
#pragma once

#include <stdbool.h>

#include "coretap/tables.h"
#include "export/rows.h"

struct ct_tables;

/* The file of one table. */
struct ct_table_file {
    struct ct_tables *tables;
    struct ct_rows *file;
    enum ct_table table;
};

struct ct_tables {
    struct ct_ctx *ctx;
    struct ct_tables_options options;
    struct ct_table_file files[CT_TABLE_COUNT];
    bool ended; /* the files are complete */
};

/* The common first columns of all rows of a result. */
struct ct_table_rows {
    struct ct_tables *tables;
    struct ct_tables_origin origin;
    const char *capture; /* the only capture of the result; NULL: there are several, or it has no name */
};

/* Begins the rows of a result, and writes its row in `results`. CT_ERR_ARG, or the first error of the
 * files. */
int ct_table_rows_begin(struct ct_tables *tables, const struct ct_tables_origin *origin,
                        const struct ct_analysis *analysis, const char *function, struct ct_table_rows *rows);

/* Begins a row about a program; NULL: code in no program. Returns the file, for the table's own columns. */
struct ct_rows *ct_table_row(const struct ct_table_rows *rows, enum ct_table table,
                             const struct ct_program_identity *program);

/* Writes the build id and the name of a program; both empty for NULL. */
void ct_table_put_program(struct ct_rows *file, const struct ct_program_identity *program);

/* Returns the first error of any file. */
int ct_tables_result(const struct ct_tables *tables);
