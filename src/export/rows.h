/* SPDX-License-Identifier: Apache-2.0 */
/* One table, row by row, in the format that its file has: parquet.h and arrow.h make such tables.
 *
 *     ct_parquet_new(ctx, columns, count, write, user, &rows);
 *     ct_rows_text(rows, "main");
 *     ct_rows_number(rows, 42);     one call a column, in their order: that is a row
 *     ct_rows_finish(rows);
 *     ct_rows_free(rows);
 */
#ifndef CT_EXPORT_ROWS_H
#define CT_EXPORT_ROWS_H

#include "coretap/base.h"
#include "base/grown.h"

enum ct_column_type {
    CT_COLUMN_TEXT,   /* UTF-8 */
    CT_COLUMN_NUMBER, /* 64 bits without a sign */
    CT_COLUMN_REAL,   /* double */
};

struct ct_column {
    const char *name;
    enum ct_column_type type;
    bool optional; /* a row may have nothing in it */
};

/* Rows that are kept before they are written. */
#define CT_ROWS_WAIT 65536u

struct ct_rows;

/* Gives the next column of the row its value. Errors are kept: it is enough to look at the result of
 * ct_rows_finish. Texts that are no UTF-8 get U+FFFD where they are not; a text that is NULL, and
 * ct_rows_nothing, leave an optional column empty. */
void ct_rows_text(struct ct_rows *rows, const char *text);
void ct_rows_number(struct ct_rows *rows, uint64_t number);
void ct_rows_real(struct ct_rows *rows, double number);
void ct_rows_nothing(struct ct_rows *rows);

/* Returns how many rows there are. */
uint64_t ct_rows_count(const struct ct_rows *rows);

/* Returns the first error since the table was made: CT_ERR_NOMEM, CT_ERR_LIMIT, what `write` returned. */
int ct_rows_result(const struct ct_rows *rows);

/* Writes what is left and the end of the file, without which it cannot be read. The first error since the
 * table was made. */
int ct_rows_finish(struct ct_rows *rows);
void ct_rows_free(struct ct_rows *rows);

/* ---- for formats ---- */

/* The texts of a column, each once. */
struct ct_dictionary {
    struct ct_grown texts; /* one behind the other: length in 32 bits, and bytes */
    uint32_t *starts;      /* of each text in them; CT_ROWS_WAIT of them */
    uint32_t *slots;       /* hash table: number of the text and 1, or 0 */
    uint32_t count;
};

/* Values of a column that are not written yet. */
struct ct_column_values {
    uint64_t *values; /* of the rows that have one, one behind the other: a number, the bits of a real number,
                         or the number of a text */
    uint8_t *present; /* by row: 1 where there is one */
    uint32_t count;   /* of values */
    struct ct_dictionary dictionary; /* of texts */
};

/* What a format does. Errors go to ct_rows_fail. */
struct ct_rows_format {
    size_t size;                        /* of its object, which begins with a struct ct_rows */
    int (*begin)(struct ct_rows *rows); /* writes what is before the first row. CT_ERR_NOMEM */
    void (*put)(struct ct_rows *rows);  /* writes the rows that wait; their values are forgotten after that */
    void (*end)(struct ct_rows *rows);  /* writes the end of the file */
    void (*clear)(struct ct_rows *rows); /* frees what the format has */
};

struct ct_rows {
    struct ct_ctx *ctx;
    const struct ct_rows_format *format;
    const struct ct_column *is;
    size_t count; /* of columns */
    ct_write_fn *write;
    void *user;
    uint64_t at;      /* bytes that were written */
    int result;       /* the first error */
    uint64_t written; /* rows */
    uint32_t waiting; /* rows that were not written yet */
    size_t next;      /* column of the row in work */
    struct ct_column_values *columns;
};

/* Makes a table in a format, and writes its beginning. The columns have to stay. CT_ERR_NOMEM, what `write`
 * returned. */
int ct_rows_new(struct ct_ctx *ctx, const struct ct_rows_format *format, const struct ct_column *columns,
                size_t count, ct_write_fn *write, void *user, struct ct_rows **out);

/* Writes bytes, unless there was an error. */
void ct_rows_write(struct ct_rows *rows, const void *bytes, size_t size);

/* Keeps an error that is the first one: that memory was missing. */
void ct_rows_lack(struct ct_rows *rows);

/* Keeps, as the first error, that memory was missing, where these bytes could not grow. */
void ct_rows_note(struct ct_rows *rows, const struct ct_grown *grown);

/* Keeps, as the first error, that the texts of a column, of so many bytes together, are more than a file can
 * have. */
void ct_rows_limit(struct ct_rows *rows, uint64_t bytes);

/* Writes which rows have a value as bits, the lowest ones first. */
void ct_rows_put_bits(struct ct_grown *to, const struct ct_column_values *column, uint32_t rows);

#endif
