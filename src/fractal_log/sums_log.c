/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up logs by the names of their addresses. */
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/path.h"
#include "base/require.h"
#include "coretap/fractal_report.h"
#include "fractal_log/each.h"

/* Arguments for adding the events of a log. */
struct adding {
    struct ct_fractal_log *log;
    struct ct_fractal_sums *sums;
};

/* Ignores an event. Reads the log to its end, where it names regions and points. */
static int pass_over(void *user, const struct ct_fractal_event *event)
{
    (void)user;
    (void)event;
    return CT_OK;
}

/* Adds an event to the sums, by its place. */
static int add_event(void *user, const struct ct_fractal_event *event)
{
    const struct adding *a = user;
    struct ct_fractal_place place;
    const int rc = ct_fractal_log_place(a->log, event, &place);
    return rc == CT_OK ? ct_fractal_sums_take(a->sums, event, &place) : rc;
}

/* Finds the program of a log: stated by the log, or else the file that provides names. */
static void find_program(const struct ct_fractal_log *log, const char *elf,
                         char program[CT_FRACTAL_LOG_PROGRAM])
{
    ct_fractal_log_program(log, program);
    if (!*program && elf)
        snprintf(program, CT_FRACTAL_LOG_PROGRAM, "%s", ct_base_name(elf));
}

/* Refuses a log of another program than the first one's if all logs get their names from one file. */
static int check_program(struct ct_ctx *ctx, const struct ct_fractal_sums *sums, const char *path,
                         const char *program, const char *elf)
{
    const char *first = ct_fractal_sums_program(sums);
    if (!elf || !*program || !first || strcmp(first, program) == 0)
        return CT_OK;
    return ct_fail(
        ctx, CT_ERR_CONFIG,
        "%s: this log is of %s, but an earlier one is of %s, so the names from --elf would be wrong for one "
        "of them; save the logs of each program with --data and its --elf, and add up these files",
        path, program, first);
}

/* Adds a log that was just opened, like ct_fractal_sums_add_log. */
static int add_log(struct ct_ctx *ctx, const struct adding *a, const char *path,
                   const struct ct_fractal_names_options *names, uint64_t *damaged)
{
    char program[CT_FRACTAL_LOG_PROGRAM];
    struct ct_fractal_reader *reader = ct_fractal_log_reader(a->log);
    uint64_t dropped;
    int rc = ct_fractal_each(ctx, reader, CT_FRACTAL_ALL, pass_over, NULL);
    if (rc != CT_OK)
        return rc;
    ct_fractal_reader_losses(reader, &dropped, damaged);
    find_program(a->log, names->program, program);
    rc = check_program(ctx, a->sums, path, program, names->program);
    const struct ct_fractal_run run = {.size = sizeof run,
                                       .name = path,
                                       .program = program,
                                       .clock_hz = ct_fractal_reader_info(reader)->clock_hz};
    if (rc == CT_OK)
        rc = ct_fractal_log_name(a->log, names);
    if (rc == CT_OK)
        rc = ct_fractal_sums_begin(a->sums, &run);
    if (rc != CT_OK)
        return rc;
    rc = ct_fractal_each(ctx, reader, ct_fractal_only(names), add_event, (void *)(uintptr_t)a);
    const int ended = ct_fractal_sums_end(a->sums, dropped, *damaged);
    return rc == CT_OK ? ended : rc;
}

int ct_fractal_sums_add_log(struct ct_ctx *ctx, struct ct_fractal_sums *sums, const char *path,
                            const struct ct_fractal_names_options *options, uint64_t *damaged)
{
    struct ct_fractal_names_options own;
    struct adding a = {.sums = sums};
    uint64_t bytes = 0;
    CT_REQUIRE(ctx, sums, path);
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    if (rc == CT_OK)
        rc = ct_fractal_log_open(ctx, path, &a.log);
    if (rc == CT_OK)
        rc = add_log(ctx, &a, path, &own, &bytes);
    ct_fractal_log_free(a.log);
    if (damaged)
        *damaged = bytes;
    return rc;
}
