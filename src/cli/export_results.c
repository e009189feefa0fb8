/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export-results: saved results as tables for data engines. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/export_rows.h"
#include "cli/output.h"

enum {
    PARQUET,
    ARROW,
    MANIFEST,
    ELF,
    TEST,
    MACHINE,
    ALL,
};

/* In the order of enum ct_table. */
static const char *const tables[] = {"results", "functions", "lines", "edges", "times", NULL};

static const struct cli_option options[] = {
    [PARQUET] =
        CLI_TEXT_OPTION("parquet", 0, "DIR",
                        "Write results.parquet, functions.parquet, lines.parquet, edges.parquet and "
                        "times.parquet into this folder. The folder is created if it does not exist."),
    [ARROW] = {.name = "arrow",
               .kind = CLI_CHOICE,
               .arg = "TABLE",
               .choices = tables,
               .help = "Write one table as an Arrow stream (IPC streaming format) to standard output."},
    [MANIFEST] =
        CLI_LIST_OPTION("manifest", 0, "LIST",
                        "A list of captures from 'coretap manifest'. Its test, machine and time are added to "
                        "the rows of each result. Each result must then come from one capture; captures "
                        "without a result are reported. Can be given more than once."),
    [ELF] = CLI_LIST_OPTION(
        "elf", 'E', "FILE",
        "A program that ran. Can be given more than once. Default: the paths that the results name."),
    [TEST] = CLI_TEXT_OPTION("test", 0, "NAME",
                             "Value of the column 'test' in rows for which no manifest gives one."),
    [MACHINE] = CLI_TEXT_OPTION("machine", 0, "NAME",
                                "Value of the column 'machine' in rows for which no manifest gives one."),
    [ALL] = CLI_FLAG_OPTION("all-functions", 0,
                            "Also write rows for functions without source lines. By default they are written "
                            "only when no function of the program has source lines."),
};

struct exporting {
    const struct cli_args *args;
    struct cli_rows rows;
    struct cli_output outputs[CT_TABLE_COUNT];
    char paths[CT_TABLE_COUNT][PATH_MAX];
};

/* ---- the files ---- */

static int write_on(void *user, enum ct_table table, const void *data, size_t size)
{
    const struct exporting *e = user;
    const struct cli_value *one = &e->args->values[ARROW];
    if (!one->given)
        return cli_output_write(e->outputs[table].file, data, size);
    return table == (enum ct_table)one->number ? cli_output_write(stdout, data, size) : CT_OK;
}

/* Opens all files in the folder. Returns false after a message. */
static bool open_files(struct exporting *e, const char *folder)
{
    bool fine = cli_output_folder(folder);
    for (size_t i = 0; i < CT_TABLE_COUNT && fine; i++) {
        const int size = snprintf(e->paths[i], sizeof e->paths[i], "%s/%s.parquet", folder,
                                  ct_table_name((enum ct_table)i));
        fine = size < PATH_MAX;
        if (!fine)
            cli_say("%s: the paths of the files in this folder would be too long; nothing is written; name a "
                    "folder with a shorter path",
                    folder);
        fine = fine && cli_output_open(&e->outputs[i], e->paths[i]);
    }
    return fine;
}

/* Moves all files to their final places or, without `keep`, discards them. Returns false after a message or
 * without `keep`. */
static bool close_files(struct exporting *e, bool keep)
{
    struct cli_output *outputs[CT_TABLE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < CT_TABLE_COUNT; i++)
        if (e->outputs[i].file)
            outputs[count++] = &e->outputs[i];
    const bool fine = cli_output_close_all(outputs, count, keep);
    return fine && keep;
}

static bool write_tables(struct exporting *e)
{
    const struct cli_args *args = e->args;
    const struct ct_tables_options how = {.size = sizeof how,
                                          .write = write_on,
                                          .user = e,
                                          .format = args->values[ARROW].given ? CT_TABLES_ARROW
                                                                              : CT_TABLES_PARQUET};
    bool fine = cli_origins_open(&e->rows.origins, args, MANIFEST) &&
                cli_rows_fine(&e->rows, ct_tables_new(args->ctx, &how, &e->rows.tables));
    for (int i = 0; i < args->rest_count && fine; i++)
        fine = cli_rows_add(&e->rows, args->rest[i]);
    return fine && cli_rows_fine(&e->rows, ct_tables_finish(e->rows.tables));
}

/* Reports the number of rows of each file. */
static void tell(const struct exporting *e)
{
    for (size_t i = 0; i < CT_TABLE_COUNT && !e->args->quiet; i++) {
        const uint64_t rows = ct_tables_rows(e->rows.tables, (enum ct_table)i);
        if (*e->paths[i])
            cli_say("%s: %" PRIu64 " row%s", e->paths[i], rows, rows == 1 ? "" : "s");
    }
}

/* Checks that no result is named twice, because its rows would count twice. Returns false after a message. */
static bool check_names(const struct cli_args *args)
{
    for (int i = 1; i < args->rest_count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(args->rest[i], args->rest[k]) == 0) {
                cli_usage_error(args->command,
                                "%s: the file is named twice; its rows would count twice; name it once",
                                args->rest[i]);
                return false;
            }
    return true;
}

static int run(const struct cli_args *args)
{
    struct exporting e = {.args = args,
                          .rows = {.args = args,
                                   .elf = ELF,
                                   .test = args->values[TEST].text,
                                   .machine = args->values[MACHINE].text,
                                   .all_functions = args->values[ALL].given,
                                   .code = CLI_CLEAN}};
    const bool files = args->values[PARQUET].given;
    if (files == args->values[ARROW].given)
        return cli_usage_error(args->command,
                               files ? "--parquet and --arrow cannot be used together; leave one of them out"
                                     : "--parquet and --arrow are missing, so there is nothing to write; "
                                       "give --parquet DIR or --arrow TABLE");
    if (!check_names(args))
        return CLI_FAILED;
    bool fine = (!files || open_files(&e, args->values[PARQUET].text)) && write_tables(&e);
    if (fine && cli_lacked_memory(args->ctx)) { /* while searching for programs */
        cli_no_memory();
        fine = false;
    }
    if (fine) {
        tell(&e);
        cli_rows_tell(&e.rows);
    }
    const bool kept = close_files(&e, fine && !cli_lacked_memory(args->ctx));
    cli_rows_close(&e.rows);
    return kept ? e.rows.code : CLI_FAILED;
}

const struct cli_command cli_command_export_results = {
    .name = "export-results",
    .summary = "write results as tables that data engines read",
    .operand = "FILE...",
    .many = true,
    .synopsis = "--parquet DIR|--arrow TABLE",
    .about = "Writes saved results as tables in Parquet files, which DuckDB, Spark, ClickHouse and pandas "
             "read: one row for each result, function, source line, edge, and distribution of times. Each "
             "row names its result, capture, test, machine and build. The input is files written by 'coretap "
             "cover --format data', 'coretap timing --format data' or 'coretap merge', and branch lists of "
             "simpleperf. docs/tables.md lists the columns.\nA folder stands for all pieces in it, as "
             "'coretap map' keeps them in --state; with --manifest this gives a row for each function of "
             "each capture. The programs of a branch list are looked for among the files of --elf, below "
             "--symdir, and then at the path that the list gives.\nEither all files are written, or none. A "
             "stream on standard output that ends early has no end mark, and the exit code is 2.",
    .examples = "coretap cover --format data -o boot.cov capture\n"
                "coretap timing --format data -o boot.times capture\n"
                "coretap export-results --parquet tables --test boot boot.cov boot.times\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_text = "0: done. 1: done, but functions and lines of a missing program are left out, or captures "
                 "of the manifest have no result. 2: wrong usage, or something could not be opened, read or "
                 "written; then no file is written.",
    .own_output = true,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
