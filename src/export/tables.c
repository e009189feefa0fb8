/* SPDX-License-Identifier: Apache-2.0 */
#include "export/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "export/arrow.h"
#include "export/parquet.h"

/* ---- columns ---- */

#define TEXT(name)                                                                                           \
    {                                                                                                        \
        name, CT_COLUMN_TEXT, false                                                                          \
    }
#define OPTIONAL(name)                                                                                       \
    {                                                                                                        \
        name, CT_COLUMN_TEXT, true                                                                           \
    }
#define NUMBER(name)                                                                                         \
    {                                                                                                        \
        name, CT_COLUMN_NUMBER, false                                                                        \
    }
#define MAYBE_NUMBER(name)                                                                                   \
    {                                                                                                        \
        name, CT_COLUMN_NUMBER, true                                                                         \
    }
#define MAYBE_REAL(name)                                                                                     \
    {                                                                                                        \
        name, CT_COLUMN_REAL, true                                                                           \
    }

/* Filled in by ct_table_rows_begin and ct_table_row. */
#define ORIGIN  TEXT("result"), OPTIONAL("capture"), OPTIONAL("test"), OPTIONAL("machine"), OPTIONAL("time")
#define PROGRAM OPTIONAL("build_id"), OPTIONAL("program")

static const struct ct_column results[] = {
    ORIGIN,
    TEXT("kind"),
    NUMBER("captures"),
    NUMBER("damaged"),
    NUMBER("unknown"),
    NUMBER("gaps"),
    NUMBER("overflows"),
    NUMBER("contradictions"),
    NUMBER("bad_packets"),
    NUMBER("lost_bytes"),
    NUMBER("no_access"),
};

static const struct ct_column functions[] = {
    ORIGIN,
    PROGRAM,
    TEXT("function"),
    TEXT("linkage_name"),
    NUMBER("address"),
    OPTIONAL("file"),
    MAYBE_NUMBER("line"),
    NUMBER("count"),
    NUMBER("instructions"),
    NUMBER("instructions_run"),
    NUMBER("branches"),
    NUMBER("branches_run"),
    NUMBER("lines"),
    NUMBER("lines_run"),
};

static const struct ct_column lines[] = {
    ORIGIN,
    PROGRAM,
    TEXT("file"),
    NUMBER("line"),
    OPTIONAL("function"),
    NUMBER("count"),
    NUMBER("instructions"),
    NUMBER("instructions_run"),
    NUMBER("branches"),
    NUMBER("taken"),
    NUMBER("not_taken"),
};

static const struct ct_column edges[] = {
    ORIGIN,
    PROGRAM,
    TEXT("analysis"),
    TEXT("kind"),
    NUMBER("from_address"),
    MAYBE_NUMBER("to_address"),
    OPTIONAL("to_build_id"),
    OPTIONAL("to_program"),
    NUMBER("count"),
    MAYBE_NUMBER("instructions"),
    MAYBE_NUMBER("timed"),
    MAYBE_NUMBER("cycles"),
    MAYBE_NUMBER("least_cycles"),
    MAYBE_NUMBER("most_cycles"),
};

static const struct ct_column times[] = {
    ORIGIN,
    PROGRAM,
    OPTIONAL("function"),
    MAYBE_NUMBER("address"),
    OPTIONAL("pair"),
    TEXT("measure"),
    NUMBER("count"),
    NUMBER("cut"),
    NUMBER("cycles"),
    MAYBE_NUMBER("least_cycles"),
    MAYBE_NUMBER("most_cycles"),
    MAYBE_REAL("mean_cycles"),
    MAYBE_REAL("deviation_cycles"),
    MAYBE_NUMBER("p50_cycles"),
    MAYBE_NUMBER("p90_cycles"),
    MAYBE_NUMBER("p99_cycles"),
    OPTIONAL("most_capture"),
    OPTIONAL("most_buffer"),
    MAYBE_NUMBER("most_id"),
    MAYBE_NUMBER("most_from_cycle"),
    MAYBE_NUMBER("most_to_cycle"),
};

static const struct {
    const char *name;
    const struct ct_column *columns;
    size_t count;
} tables_of[] = {
    [CT_TABLE_RESULTS] = {"results", results, sizeof results / sizeof *results},
    [CT_TABLE_FUNCTIONS] = {"functions", functions, sizeof functions / sizeof *functions},
    [CT_TABLE_LINES] = {"lines", lines, sizeof lines / sizeof *lines},
    [CT_TABLE_EDGES] = {"edges", edges, sizeof edges / sizeof *edges},
    [CT_TABLE_TIMES] = {"times", times, sizeof times / sizeof *times},
};

static bool is_table(enum ct_table table)
{
    return (size_t)table < CT_TABLE_COUNT;
}

const char *ct_table_name(enum ct_table table)
{
    return is_table(table) ? tables_of[table].name : NULL;
}

/* ---- the files ---- */

static int write_on(void *user, const void *data, size_t size)
{
    const struct ct_table_file *file = user;
    const struct ct_tables_options *options = &file->tables->options;
    return options->write(options->user, file->table, data, size);
}

int ct_tables_new(struct ct_ctx *ctx, const struct ct_tables_options *options, struct ct_tables **out)
{
    struct ct_tables_options mine;
    CT_REQUIRE_OUT(ctx, out, options);
    int rc = ct_options_read(ctx, __func__, options, &mine, sizeof mine);
    if (rc)
        return rc;
    if (!mine.write)
        return ct_fail_argument(ctx, __func__, "options.write", 1);
    if (mine.format > CT_TABLES_ARROW)
        return ct_fail(ctx, CT_ERR_ARG, "ct_tables_new: format %d does not exist; nothing was written",
                       mine.format);
    int (*const make)(struct ct_ctx *, const struct ct_column *, size_t, ct_write_fn *, void *,
                      struct ct_rows **) = mine.format == CT_TABLES_ARROW ? ct_arrow_new : ct_parquet_new;
    struct ct_tables *t = calloc(1, sizeof *t);
    if (!t)
        return ct_fail_nomem(ctx, "tables");
    *t = (struct ct_tables){.ctx = ctx, .options = mine};
    for (size_t i = 0; i < CT_TABLE_COUNT && !rc; i++) {
        t->files[i] = (struct ct_table_file){.tables = t, .table = (enum ct_table)i};
        rc = make(ctx, tables_of[i].columns, tables_of[i].count, write_on, &t->files[i], &t->files[i].file);
    }
    if (rc) {
        ct_tables_free(t);
        return rc;
    }
    *out = t;
    return CT_OK;
}

void ct_tables_free(struct ct_tables *t)
{
    for (size_t i = 0; t && i < CT_TABLE_COUNT; i++)
        ct_rows_free(t->files[i].file);
    free(t);
}

int ct_tables_result(const struct ct_tables *t)
{
    int rc = CT_OK;
    for (size_t i = 0; i < CT_TABLE_COUNT && !rc; i++)
        rc = ct_rows_result(t->files[i].file);
    return rc;
}

uint64_t ct_tables_rows(const struct ct_tables *t, enum ct_table table)
{
    return t && is_table(table) ? ct_rows_count(t->files[table].file) : 0;
}

/* Refuses a call of `function` after the end. */
static int check_open(const struct ct_tables *t, const char *function)
{
    return t->ended ? ct_fail(t->ctx, CT_ERR_ARG,
                              "%s: the tables have ended, so nothing was written; make new ones", function)
                    : CT_OK;
}

int ct_tables_finish(struct ct_tables *t)
{
    CT_REQUIRE(NULL, t);
    int rc = check_open(t, __func__);
    t->ended = true;
    for (size_t i = 0; i < CT_TABLE_COUNT && !rc; i++)
        rc = ct_rows_finish(t->files[i].file);
    return rc;
}

/* ---- rows ---- */

static struct ct_rows *begin_row(const struct ct_table_rows *rows, enum ct_table table)
{
    struct ct_rows *file = rows->tables->files[table].file;
    ct_rows_text(file, rows->origin.result);
    ct_rows_text(file, rows->capture);
    ct_rows_text(file, rows->origin.test);
    ct_rows_text(file, rows->origin.machine);
    ct_rows_text(file, rows->origin.time);
    return file;
}

/* Writes the row of a result, with the state of its captures. */
static void put_result(const struct ct_table_rows *rows, const struct ct_analysis *analysis)
{
    const struct ct_analysis_captures *c = &analysis->captures;
    struct ct_rows *file = begin_row(rows, CT_TABLE_RESULTS);
    ct_rows_text(file, analysis->kind->name);
    ct_rows_number(file, c->known);
    ct_rows_number(file, c->damaged);
    ct_rows_number(file, c->unknown);
    ct_rows_number(file, c->losses.gaps);
    ct_rows_number(file, c->losses.overflows);
    ct_rows_number(file, c->losses.contradictions);
    ct_rows_number(file, c->losses.bad_packets);
    ct_rows_number(file, c->losses.lost_bytes);
    ct_rows_number(file, c->losses.no_access);
}

int ct_table_rows_begin(struct ct_tables *t, const struct ct_tables_origin *origin,
                        const struct ct_analysis *analysis, const char *function, struct ct_table_rows *rows)
{
    *rows = (struct ct_table_rows){.tables = t};
    int rc = check_open(t, function);
    if (!rc)
        rc = ct_options_read(t->ctx, function, origin, &rows->origin, sizeof rows->origin);
    if (rc)
        return rc;
    if (!rows->origin.result)
        return ct_fail_argument(t->ctx, function, "origin.result", 1);
    if (analysis->captures.known == 1 && !analysis->captures.unknown && !ct_analysis_run(analysis, 1))
        rows->capture = ct_analysis_run(analysis, 0);
    put_result(rows, analysis);
    return ct_tables_result(t);
}

void ct_table_put_program(struct ct_rows *file, const struct ct_program_identity *program)
{
    char build_id[2 * 64 + 1] = "";
    for (size_t i = 0; program && i < program->build_id_size && i < 64; i++)
        snprintf(build_id + 2 * i, 3, "%02x", program->build_id[i]);
    ct_rows_text(file, *build_id ? build_id : NULL);
    ct_rows_text(file, program ? program->name : NULL);
}

struct ct_rows *ct_table_row(const struct ct_table_rows *rows, enum ct_table table,
                             const struct ct_program_identity *program)
{
    struct ct_rows *file = begin_row(rows, table);
    ct_table_put_program(file, program);
    return file;
}
