/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export-results: saved results as tables for data engines. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/counts.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/tables.h"

enum {
    PARQUET,
    ELF,
    TEST,
    MACHINE,
    ALL,
};

static const struct cli_option options[] = {
    [PARQUET] = {.name = "parquet",
                 .kind = CLI_TEXT,
                 .arg = "DIR",
                 .help = "Write results.parquet, functions.parquet, lines.parquet, edges.parquet and "
                         "times.parquet into this folder, which is made when it is not there."},
    [ELF] = {.name = "elf",
             .letter = 'E',
             .kind = CLI_LIST,
             .arg = "FILE",
             .help = "A program that ran. Can be given more than once. Without this option programs are "
                     "looked for where the results say that they were."},
    [TEST] = {.name = "test",
              .kind = CLI_TEXT,
              .arg = "NAME",
              .help = "What ran, for the column 'test' of all rows, which is empty without this option."},
    [MACHINE] = {.name = "machine",
                 .kind = CLI_TEXT,
                 .arg = "NAME",
                 .help = "Where it ran, for the column 'machine' of all rows; likewise."},
    [ALL] = {.name = "all-functions",
             .kind = CLI_FLAG,
             .help = "Functions without source lines have rows too. Without it they do when no function of "
                     "the program has lines."},
};

struct exporting {
    const struct cli_args *args;
    struct ct_tables *tables;
    struct cli_output outputs[CT_TABLE_COUNT];
    char paths[CT_TABLE_COUNT][PATH_MAX];
    int code; /* enum cli_exit so far */
};

/* ---- what results hold ---- */

static struct ct_tables_origin origin_of(const struct exporting *e, const char *result)
{
    return (struct ct_tables_origin){.size = sizeof(struct ct_tables_origin),
                                     .result = result,
                                     .test = e->args->values[TEST].text,
                                     .machine = e->args->values[MACHINE].text,
                                     .all_functions = e->args->values[ALL].given};
}

/* Passes an error on, but not that a file cannot be written, which is told when it is closed. */
static bool is_fine(struct exporting *e, int rc)
{
    if (rc)
        e->code = CLI_FAILED;
    if (rc && rc != CT_ERR_IO)
        cli_library_error(e->args->ctx);
    return !rc;
}

/* Adds the program where the result says that it was, unless --elf named it. One that is not there is told
 * of. False after an error. */
static bool find_program(struct exporting *e, const char *result, struct ct_cover *cover,
                         struct ct_programs *programs, uint32_t number)
{
    const struct ct_program_identity program = ct_cover_program_at(cover, number);
    const bool named = cli_counts_has_program(cover, programs, number);
    if (!named && access(program.name, R_OK) == 0 &&
        !is_fine(e, ct_programs_add(programs, program.name, NULL, NULL, NULL)))
        return false;
    if (named || cli_counts_has_program(cover, programs, number))
        return true;
    cli_say(
        "%s: %s is not there, or another build of it: its functions and lines are left out, its edges are "
        "not; name the program with --elf",
        result, program.name);
    e->code = CLI_DAMAGED;
    return true;
}

static bool add_counts(struct exporting *e, const char *path, struct ct_cover *cover,
                       struct ct_programs *programs)
{
    const struct ct_tables_origin origin = origin_of(e, path);
    bool fine = cli_results_load(e->args->ctx, ct_cover_analysis(cover), path);
    const size_t count = ct_cover_programs(cover); /* the search for them may add others, without counts */
    fine = fine && cli_programs_of(programs, e->args, ELF, NULL);
    for (uint32_t i = 0; fine && i < count; i++)
        fine = find_program(e, path, cover, programs, i);
    return fine && is_fine(e, ct_tables_add_cover(e->tables, cover, programs, &origin));
}

static bool add_cover(struct exporting *e, const char *path)
{
    struct ct_cover *cover = NULL;
    struct ct_programs *programs = NULL;
    const bool fine = is_fine(e, ct_cover_new(e->args->ctx, &cover)) &&
                      cli_programs_new(&programs, e->args, NULL) && add_counts(e, path, cover, programs);
    ct_programs_free(programs);
    ct_cover_free(cover);
    return fine;
}

static bool add_timing(struct exporting *e, const char *path)
{
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes, .raw_names = e->args->raw_names};
    const struct ct_tables_origin origin = origin_of(e, path);
    struct ct_timing_sums *sums = NULL;
    const bool fine = is_fine(e, ct_timing_sums_new(e->args->ctx, &wishes, &sums)) &&
                      cli_results_load(e->args->ctx, ct_timing_sums_analysis(sums), path) &&
                      is_fine(e, ct_tables_add_timing(e->tables, sums, &origin));
    ct_timing_sums_free(sums);
    return fine;
}

/* Adds what an operand holds. False after a message. */
static bool add_result(struct exporting *e, const char *path)
{
    if (cli_results_is_file(ct_cover_kind(), path))
        return add_cover(e, path);
    if (cli_results_is_file(ct_timing_sums_kind(), path))
        return add_timing(e, path);
    if (access(path, R_OK))
        cli_say("%s: cannot be read: %s", path, strerror(errno));
    else
        cli_say(
            "%s: has no coverage and no times, of which tables are made; 'coretap cover --format data' and "
            "'coretap timing --format data' write them",
            path);
    return false;
}

/* ---- the files ---- */

static int write_on(void *user, enum ct_table table, const void *data, size_t size)
{
    const struct exporting *e = user;
    return cli_output_write(e->outputs[table].file, data, size);
}

/* Opens all files in the folder. False after a message. */
static bool open_files(struct exporting *e, const char *folder)
{
    struct stat about;
    if (mkdir(folder, 0777) && errno != EEXIST) {
        cli_say("%s: the folder cannot be made: %s", folder, strerror(errno));
        return false;
    }
    if (stat(folder, &about) == 0 && !S_ISDIR(about.st_mode)) {
        cli_say("%s: is no folder, which the files go into; name another one", folder);
        return false;
    }
    bool fine = true;
    for (size_t i = 0; i < CT_TABLE_COUNT && fine; i++) {
        const int size = snprintf(e->paths[i], sizeof e->paths[i], "%s/%s.parquet", folder,
                                  ct_table_name((enum ct_table)i));
        fine = size < PATH_MAX;
        if (!fine)
            cli_say("%s: the names of the files in the folder are too long", folder);
        fine = fine && cli_output_open(&e->outputs[i], e->paths[i]);
    }
    return fine;
}

/* Puts all files into their places when `keep`, or none of them. False after a message. */
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
    const struct ct_tables_options how = {.size = sizeof how, .write = write_on, .user = e};
    bool fine = is_fine(e, ct_tables_new(e->args->ctx, &how, &e->tables));
    for (int i = 0; i < e->args->rest_count && fine; i++)
        fine = add_result(e, e->args->rest[i]);
    return fine && is_fine(e, ct_tables_finish(e->tables));
}

/* Says how many rows there are. */
static void tell(const struct exporting *e)
{
    for (size_t i = 0; i < CT_TABLE_COUNT && !e->args->quiet; i++) {
        const uint64_t rows = ct_tables_rows(e->tables, (enum ct_table)i);
        cli_say("%s: %" PRIu64 " row%s", e->paths[i], rows, rows == 1 ? "" : "s");
    }
}

/* Checks that no result is named twice, whose rows would count twice. False after a message. */
static bool check_names(const struct cli_args *args)
{
    for (int i = 1; i < args->rest_count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(args->rest[i], args->rest[k]) == 0) {
                cli_usage_error(args->command, "%s is named twice; its rows would count twice",
                                args->rest[i]);
                return false;
            }
    return true;
}

static int run(const struct cli_args *args)
{
    struct exporting e = {.args = args, .code = CLI_CLEAN};
    if (!args->values[PARQUET].given)
        return cli_usage_error(args->command, "--parquet DIR is missing");
    if (!check_names(args))
        return CLI_FAILED;
    bool fine = open_files(&e, args->values[PARQUET].text) && write_tables(&e);
    if (fine && cli_lacked_memory(args->ctx)) { /* where programs were looked for */
        cli_no_memory();
        fine = false;
    }
    if (fine)
        tell(&e);
    const bool kept = close_files(&e, fine && !cli_lacked_memory(args->ctx));
    ct_tables_free(e.tables);
    return kept ? e.code : CLI_FAILED;
}

const struct cli_command cli_command_export_results = {
    .name = "export-results",
    .summary = "write results as tables that data engines read",
    .operand = "FILE...",
    .many = true,
    .synopsis = "--parquet DIR",
    .about =
        "Writes what files of 'coretap cover --format data', 'coretap timing --format data' and 'coretap "
        "merge' say as tables in Parquet files, which DuckDB, Spark, ClickHouse and pandas read: a row for "
        "each "
        "result, function, source line, edge, and distribution of times. Each row says which result it is "
        "of, "
        "and which capture, test, machine and build. docs/tables.md has the columns.\n"
        "All files are written, or none.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_text = "0: done. 1: done, but functions and lines of a program that is not there are left out. 2: "
                 "wrong usage, or something could not be opened, read or written; then no file is.",
    .own_output = true,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
