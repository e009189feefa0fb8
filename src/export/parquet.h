/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a Parquet file: one table, row by row. Texts are in dictionaries, pages are compressed with zstd.
 *
 *     ct_parquet_new(ctx, columns, count, write, user, &parquet);
 *     ct_parquet_text(parquet, "main");
 *     ct_parquet_number(parquet, 42);     one call a column, in their order: that is a row
 *     ct_parquet_finish(parquet);
 *     ct_parquet_free(parquet);
 *
 * The format is that of github.com/apache/parquet-format (README.md, Encodings.md, parquet.thrift). */
#ifndef CT_EXPORT_PARQUET_H
#define CT_EXPORT_PARQUET_H

#include "coretap/base.h"

#include <stdbool.h>

enum ct_parquet_type {
    CT_PARQUET_TEXT,   /* UTF-8 */
    CT_PARQUET_NUMBER, /* 64 bits without a sign */
    CT_PARQUET_REAL,   /* double */
};

struct ct_parquet_column {
    const char *name;
    enum ct_parquet_type type;
    bool optional; /* a row may have nothing in it */
};

struct ct_parquet;

/* Rows that are kept before they are written. */
#define CT_PARQUET_ROWS 65536u

/* Makes a file and writes its first bytes. The columns have to stay. CT_ERR_NOMEM, what `write` returned. */
int ct_parquet_new(struct ct_ctx *ctx, const struct ct_parquet_column *columns, size_t count,
                   ct_write_fn *write, void *user, struct ct_parquet **out);
void ct_parquet_free(struct ct_parquet *parquet);

/* Gives the next column of the row its value. Errors are kept: it is enough to look at the result of
 * ct_parquet_finish. Texts that are no UTF-8 get U+FFFD where they are not; a text that is NULL, and
 * ct_parquet_nothing, leave an optional column empty. */
void ct_parquet_text(struct ct_parquet *parquet, const char *text);
void ct_parquet_number(struct ct_parquet *parquet, uint64_t number);
void ct_parquet_real(struct ct_parquet *parquet, double number);
void ct_parquet_nothing(struct ct_parquet *parquet);

/* Returns how many rows there are. */
uint64_t ct_parquet_rows(const struct ct_parquet *parquet);

/* Returns the first error since the file was made: CT_ERR_NOMEM, what `write` returned. */
int ct_parquet_result(const struct ct_parquet *parquet);

/* Writes what is left and the end of the file, without which it cannot be read. The first error since it was
 * made. */
int ct_parquet_finish(struct ct_parquet *parquet);

#endif
