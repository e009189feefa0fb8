/* SPDX-License-Identifier: Apache-2.0 */
/* One table, written row by row in some file format. parquet.h and arrow.h make such tables.
 *
 *  ct_parquet_new(ctx, columns, count, write, user, &rows);
 *  ct_rows_text(rows, "main");
 *  ct_rows_number(rows, 42); one call for each column of a row, in their order
 *  ct_rows_finish(rows);
 *  ct_rows_free(rows); */
#pragma once

#include "coretap/base.h"
#include "base/grown.h"

enum ct_column_type {
    CT_COLUMN_TEXT,   /* UTF-8 */
    CT_COLUMN_NUMBER, /* 64 bits, unsigned */
    CT_COLUMN_REAL,   /* double */
};

struct ct_column {
    const char *name;
    enum ct_column_type type;
    bool optional; /* its rows may be empty */
};

/* Rows that are collected before they are written. */
#define CT_ROWS_WAIT 65536u

struct ct_rows;

/* Set the next column of the row. Errors are kept, so only the result of ct_rows_finish must be checked.
 * Bytes that are not UTF-8 become U+FFFD. A NULL text and ct_rows_nothing leave an optional column empty. */
void ct_rows_text(struct ct_rows *rows, const char *text);
void ct_rows_number(struct ct_rows *rows, uint64_t number);
void ct_rows_real(struct ct_rows *rows, double number);
void ct_rows_nothing(struct ct_rows *rows);

/* Returns the number of rows. */
uint64_t ct_rows_count(const struct ct_rows *rows);

/* Returns the first error so far: CT_ERR_NOMEM, CT_ERR_LIMIT, or the error of `write`. */
int ct_rows_result(const struct ct_rows *rows);

/* Writes the remaining rows and the end of the file, without which it cannot be read. Returns the first error
 * so far. */
int ct_rows_finish(struct ct_rows *rows);
void ct_rows_free(struct ct_rows *rows);

/* ---- for formats ---- */

/* The distinct texts of a column. */
struct ct_dictionary {
    struct ct_grown texts; /* for each its length in 32 bits, and its bytes */
    uint32_t *starts;      /* by text: its position in `texts`; room for CT_ROWS_WAIT */
    uint32_t *slots;       /* hash table: number of the text plus 1; 0: free */
    uint32_t count;
};

/* Values of a column that are not written yet. */
struct ct_column_values {
    uint64_t *values; /* only of the rows that have one: a number, the bits of a real number, or the
                       *  number of a text */
    uint8_t *present; /* by row: 1 if it has a value */
    uint32_t count;   /* of `values` */
    struct ct_dictionary dictionary; /* for texts */
};

/* The functions of a format. They report errors with ct_rows_lack, ct_rows_note and ct_rows_limit. */
struct ct_rows_format {
    size_t size;                         /* of its object, which begins with a struct ct_rows */
    int (*begin)(struct ct_rows *rows);  /* writes the start of the file. CT_ERR_NOMEM */
    void (*put)(struct ct_rows *rows);   /* writes the waiting rows; their values are cleared afterwards */
    void (*end)(struct ct_rows *rows);   /* writes the end of the file */
    void (*clear)(struct ct_rows *rows); /* frees the members of the format's object */
};

struct ct_rows {
    struct ct_ctx *ctx;
    const struct ct_rows_format *format;
    const struct ct_column *is;
    size_t count; /* number of columns */
    ct_write_fn *write;
    void *user;
    uint64_t at;      /* bytes written */
    int result;       /* the first error */
    uint64_t written; /* rows written */
    uint32_t waiting; /* rows not written yet */
    size_t next;      /* the next column of the current row */
    struct ct_column_values *columns;
};

/* Makes a table in a format, and writes its beginning. `columns` must outlive it. CT_ERR_NOMEM, or the error
 * of `write`. */
int ct_rows_new(struct ct_ctx *ctx, const struct ct_rows_format *format, const struct ct_column *columns,
                size_t count, ct_write_fn *write, void *user, struct ct_rows **out);

/* Writes bytes, unless there was an error. */
void ct_rows_write(struct ct_rows *rows, const void *bytes, size_t size);

/* Records CT_ERR_NOMEM, unless there was an error. */
void ct_rows_lack(struct ct_rows *rows);

/* The same, if `grown` has failed. */
void ct_rows_note(struct ct_rows *rows, const struct ct_grown *grown);

/* Records CT_ERR_LIMIT, unless there was an error, if the texts of a column have too many bytes together. */
void ct_rows_limit(struct ct_rows *rows, uint64_t bytes);

/* Appends a bit for each row, 1 if it has a value, lowest bit first. */
void ct_rows_put_bits(struct ct_grown *to, const struct ct_column_values *column, uint32_t rows);
