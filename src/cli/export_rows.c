/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/export_rows.h"

#include "cli/branch_lists.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/counts.h"
#include "cli/results.h"

bool cli_rows_fine(struct cli_rows *r, int rc)
{
    if (rc)
        r->code = CLI_FAILED;
    if (rc && rc != CT_ERR_IO)
        cli_library_error(r->args->ctx);
    return !rc;
}

/* Numbers of kinds, for cli_origins_find. */
enum {
    COVERAGE,
    TIMES,
};

/* Returns the first columns of rows. `capture` may be NULL. */
static struct ct_tables_origin origin_of(const struct cli_rows *r, const char *result,
                                         const struct ct_fleet_capture *capture)
{
    return (struct ct_tables_origin){.size = sizeof(struct ct_tables_origin),
                                     .result = result,
                                     .test = capture && capture->test ? capture->test : r->test,
                                     .machine = capture && capture->machine ? capture->machine : r->machine,
                                     .time = capture ? capture->time : NULL,
                                     .all_functions = r->all_functions};
}

/* Loads a result of kind number `kind`, and finds its capture. */
static enum cli_origin load(struct cli_rows *r, const char *path, unsigned kind, struct ct_analysis *into,
                            const struct ct_fleet_capture **capture)
{
    return cli_results_load(r->args->ctx, into, path)
               ? cli_origins_find(&r->origins, path, kind, into, capture)
               : CLI_ORIGIN_BAD;
}

/* ---- coverage ---- */

/* Reports once that a program is missing. Returns false when out of memory. */
static bool tell_missing(struct cli_rows *r, const char *result, const char *name)
{
    r->code = CLI_DAMAGED;
    for (size_t i = 0; i < r->missing_count; i++)
        if (!strcmp(r->missing[i], name))
            return true;
    char **missing = realloc(r->missing, (r->missing_count + 1) * sizeof *missing);
    if (!missing)
        return cli_no_memory(), false;
    r->missing = missing;
    missing[r->missing_count] = strdup(name);
    if (!missing[r->missing_count])
        return cli_no_memory(), false;
    r->missing_count++;
    cli_say("%s: the program %s was not found, or is another build; its functions and lines are left out, "
            "but its edges are included; name the build that ran with --elf",
            result, name);
    return true;
}

/* Adds the program at the path in the result, unless it is there already. Reports a missing one. Returns
 * false after an error. */
static bool find_program(struct cli_rows *r, const char *result, struct ct_cover *cover, uint32_t number)
{
    const struct ct_program_identity program = ct_cover_program_at(cover, number);
    const bool there = cli_counts_has_program(cover, r->programs, number);
    if (!there && cli_programs_is_there(program.name) &&
        !cli_rows_fine(r, ct_programs_add(r->programs, program.name, NULL, NULL, NULL)))
        return false;
    return there || cli_counts_has_program(cover, r->programs, number) ||
           tell_missing(r, result, program.name);
}

static bool make_programs(struct cli_rows *r)
{
    return r->programs || (cli_programs_new(&r->programs, r->args, NULL) &&
                           cli_programs_of(r->programs, r->args, r->elf, NULL));
}

static bool put_cover(struct cli_rows *r, const char *path, struct ct_cover *cover,
                      const struct ct_fleet_capture *capture)
{
    const struct ct_tables_origin origin = origin_of(r, path, capture);
    const size_t count = ct_cover_programs(cover); /* searching may add others, without counts */
    bool fine = make_programs(r);
    for (uint32_t i = 0; fine && i < count; i++)
        fine = find_program(r, path, cover, i);
    return fine && cli_rows_fine(r, ct_tables_add_cover(r->tables, cover, r->programs, &origin));
}

static bool add_cover(struct cli_rows *r, const char *path)
{
    struct ct_cover *cover = NULL;
    const struct ct_fleet_capture *capture;
    if (!cli_rows_fine(r, ct_cover_new(r->args->ctx, &cover)))
        return false;
    const enum cli_origin origin = load(r, path, COVERAGE, ct_cover_analysis(cover), &capture);
    const bool fine =
        origin == CLI_ORIGIN_TAKE ? put_cover(r, path, cover, capture) : origin == CLI_ORIGIN_OTHER;
    ct_cover_free(cover);
    return fine;
}

/* Adds the coverage from a branch list of simpleperf, for the programs that are found. */
static bool add_branch_list(struct cli_rows *r, const char *path)
{
    struct ct_cover *cover = NULL;
    const struct ct_fleet_capture *capture = NULL;
    if (!cli_rows_fine(r, ct_cover_new(r->args->ctx, &cover)))
        return false;
    const int code = cli_branch_lists_cover(r->args, r->elf, path, cover);
    r->code = cli_worse(r->code, code);
    const enum cli_origin origin = code == CLI_FAILED ? CLI_ORIGIN_BAD
                                                      : cli_origins_find(&r->origins, path, COVERAGE,
                                                                         ct_cover_analysis(cover), &capture);
    const bool fine =
        origin == CLI_ORIGIN_TAKE ? put_cover(r, path, cover, capture) : origin == CLI_ORIGIN_OTHER;
    ct_cover_free(cover);
    return fine;
}

/* ---- times ---- */

static bool put_timing(struct cli_rows *r, const char *path, struct ct_timing_sums *sums,
                       const struct ct_fleet_capture *capture)
{
    const struct ct_tables_origin origin = origin_of(r, path, capture);
    return cli_rows_fine(r, ct_tables_add_timing(r->tables, sums, &origin));
}

static bool add_timing(struct cli_rows *r, const char *path)
{
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes, .raw_names = r->args->raw_names};
    struct ct_timing_sums *sums = NULL;
    const struct ct_fleet_capture *capture;
    if (!cli_rows_fine(r, ct_timing_sums_new(r->args->ctx, &wishes, &sums)))
        return false;
    const enum cli_origin origin = load(r, path, TIMES, ct_timing_sums_analysis(sums), &capture);
    const bool fine =
        origin == CLI_ORIGIN_TAKE ? put_timing(r, path, sums, capture) : origin == CLI_ORIGIN_OTHER;
    ct_timing_sums_free(sums);
    return fine;
}

/* ---- files and folders ---- */

static int is_piece(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".piece");
}

/* Adds a piece of a folder. Counts one of another kind. */
static bool add_piece(struct cli_rows *r, const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return cli_no_memory(), false;
    bool fine = true;
    if (cli_results_is_file(ct_cover_kind(), path))
        fine = add_cover(r, path);
    else if (cli_results_is_file(ct_timing_sums_kind(), path))
        fine = add_timing(r, path);
    else
        r->others++;
    free(path);
    return fine;
}

static bool add_folder(struct cli_rows *r, const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_piece, alphasort);
    if (count < 0)
        cli_say("%s: the folder cannot be read: %s", folder, strerror(errno));
    if (count == 0)
        cli_say("%s: the folder has no results with coverage or times; name result files, or the folder of "
                "'coretap map --state'",
                folder);
    bool fine = count > 0;
    for (int i = 0; i < count; i++) {
        fine = fine && add_piece(r, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return fine;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool cli_rows_add(struct cli_rows *r, const char *path)
{
    if (is_folder(path))
        return add_folder(r, path);
    if (cli_results_is_file(ct_cover_kind(), path))
        return add_cover(r, path);
    if (cli_results_is_file(ct_timing_sums_kind(), path))
        return add_timing(r, path);
    if (cli_branch_lists_is_file(path))
        return add_branch_list(r, path);
    if (access(path, R_OK))
        cli_say("%s: cannot be read: %s", path, strerror(errno));
    else
        cli_say("%s: the file has no coverage and no times, from which the tables are made; name a file that "
                "'coretap cover --format data' or 'coretap timing --format data' wrote",
                path);
    return false;
}

void cli_rows_tell(struct cli_rows *r)
{
    if (r->others && !r->args->quiet)
        cli_say("%" PRIu64 " result%s no coverage and no times, so the tables have no rows of them",
                r->others, r->others == 1 ? " has" : "s have");
    if (!cli_origins_tell(&r->origins))
        r->code = CLI_DAMAGED;
}

void cli_rows_close(struct cli_rows *r)
{
    for (size_t i = 0; i < r->missing_count; i++)
        free(r->missing[i]);
    free(r->missing);
    ct_programs_free(r->programs);
    ct_tables_free(r->tables);
    cli_origins_close(&r->origins);
}
