/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fractal_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"
#include "cli/results.h"
#include "coretap/format.h"

#define BATCH 4096

struct adding {
    const struct cli_args *args;
    const struct cli_fractal_sums_wishes *wishes;
    struct ct_fractal_sums *sums;
    char program[256]; /* of the first log that names one; "": none did */
    int code;          /* the worst so far */
};

bool cli_fractal_sums_is_file(const char *path)
{
    return cli_results_is_file(ct_fractal_sums_kind(), path);
}

/* ---- logs ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Names of --elf are those of one program. False: said that the log is of another one. */
static bool check_program(struct adding *a, const char *path, const char *program)
{
    if (!*a->program)
        snprintf(a->program, sizeof a->program, "%s", program);
    if (!a->wishes->elf || !*program || strcmp(a->program, program) == 0)
        return true;
    cli_say(
        "%s: a log of %s, and one before it is of %s: names of --elf would be wrong for one of them. Save "
        "the logs of each program with --data and its --elf, and add up these files",
        path, program, a->program);
    return false;
}

static int take_events(struct adding *a, struct ct_fractal_log *log, struct ct_fractal_event *batch)
{
    struct ct_fractal_reader *reader = ct_fractal_log_reader(log);
    size_t count;
    ct_fractal_reader_rewind(reader);
    while ((count = ct_fractal_reader_next(reader, batch, BATCH))) {
        for (size_t i = 0; i < count; i++) {
            struct ct_fractal_place place;
            if (ct_fractal_log_place(log, &batch[i], &place) != CT_OK ||
                ct_fractal_sums_take(a->sums, &batch[i], &place) != CT_OK)
                return cli_library_error(a->args->ctx);
        }
    }
    return CLI_CLEAN;
}

/* A log is read to its end once before, since it names regions and points there. */
static int take_log(struct adding *a, const char *path, struct ct_fractal_log *log,
                    struct ct_fractal_event *batch)
{
    char program[CT_FRACTAL_LOG_PROGRAM];
    struct ct_fractal_reader *reader = ct_fractal_log_reader(log);
    uint64_t dropped, damaged;
    while (ct_fractal_reader_next(reader, batch, BATCH))
        continue;
    ct_fractal_reader_losses(reader, &dropped, &damaged);
    ct_fractal_log_program(log, program);
    if (!*program && a->wishes->elf)
        snprintf(program, sizeof program, "%s", last_part(a->wishes->elf));
    if (!check_program(a, path, program))
        return CLI_FAILED;
    const struct ct_fractal_names_options named =
        cli_fractal_names_options(a->args, a->wishes->elf, a->wishes->bias);
    const struct ct_fractal_run run = {.size = sizeof run,
                                       .name = path,
                                       .program = program,
                                       .clock_hz = ct_fractal_reader_info(reader)->clock_hz};
    if (ct_fractal_log_name(log, &named) != CT_OK || ct_fractal_sums_begin(a->sums, &run) != CT_OK)
        return cli_library_error(a->args->ctx);
    const int code = take_events(a, log, batch);
    if (code == CLI_CLEAN && ct_fractal_sums_end(a->sums, dropped, damaged) != CT_OK)
        return cli_library_error(a->args->ctx);
    if (damaged)
        cli_say("%s: %" PRIu64 " bytes are damaged; what is whole was read", path, damaged);
    return code == CLI_CLEAN && damaged ? CLI_DAMAGED : code;
}

static int add_log(struct adding *a, const char *path)
{
    struct ct_fractal_log *log = NULL;
    struct ct_fractal_event *batch = malloc(BATCH * sizeof *batch);
    int code = CLI_FAILED;
    if (!batch)
        cli_no_memory();
    else if (ct_fractal_log_open(a->args->ctx, path, &log) != CT_OK)
        code = cli_library_error(a->args->ctx);
    else
        code = take_log(a, path, log, batch);
    ct_fractal_log_free(log);
    free(batch);
    return code;
}

static int add_file(const struct adding *a, const char *path)
{
    struct ct_analysis *all = ct_fractal_sums_analysis(a->sums);
    const uint64_t damaged = all->captures.damaged;
    if (!cli_results_load(a->args->ctx, all, path))
        return CLI_FAILED;
    if (all->captures.damaged == damaged)
        return CLI_CLEAN;
    cli_say("%s: of logs that were not whole", path);
    return CLI_DAMAGED;
}

static int add_all(struct adding *a)
{
    int worst = CLI_CLEAN;
    for (int i = 0; i < a->args->rest_count && worst != CLI_FAILED; i++) {
        const char *path = a->args->rest[i];
        const int code = cli_results_is_file(NULL, path) ? add_file(a, path) : add_log(a, path);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* ---- tables ---- */

static int by_events(const void *a, const void *b)
{
    const struct ct_fractal_sum *x = *(const struct ct_fractal_sum *const *)a;
    const struct ct_fractal_sum *y = *(const struct ct_fractal_sum *const *)b;
    if (x->events != y->events)
        return x->events < y->events ? 1 : -1;
    return x < y ? -1 : x > y; /* as the sums have them */
}

/* A name with its program; `unnamed` when it has none. */
static void put_name(const char *program, const char *name, const char *unnamed)
{
    if (*program) {
        cli_put_printable(stdout, program);
        fputs(": ", stdout);
    }
    cli_put_printable(stdout, *name ? name : unnamed);
}

/* The names of kinds `first` to `last` with the most events. False without memory. */
static bool print_names(const struct adding *a, unsigned first, unsigned last, const char *title)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(a->sums);
    const double whole = (double)t->events + (double)t->aliases;
    size_t count, kept = 0;
    const struct ct_fractal_sum *all = ct_fractal_sums_all(a->sums, &count);
    const struct ct_fractal_sum **rows = calloc(count + 1, sizeof(const struct ct_fractal_sum *));
    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++)
        if (all[i].kind >= first && all[i].kind <= last)
            rows[kept++] = &all[i];
    qsort(rows, kept, sizeof(const struct ct_fractal_sum *), by_events);
    printf("\n%s\n%12s %7s %12s  %s\n", title, "events", "share", "instructions", "name");
    for (size_t i = 0; i < kept && i < a->wishes->most; i++) {
        printf("%12" PRIu64 " %6.2f%% %12" PRIu64 "  ", rows[i]->events,
               whole > 0 ? 100.0 * (double)rows[i]->events / whole : 0, rows[i]->insns);
        put_name(rows[i]->program, rows[i]->name, "(its file)");
        if (rows[i]->kind == CT_FRACTAL_PAGE)
            printf("+0x%" PRIx64, rows[i]->offset);
        putchar('\n');
    }
    if (!kept)
        puts("        none");
    free(rows);
    return true;
}

static void print_points(const struct adding *a)
{
    size_t count;
    const struct ct_fractal_point_sum *all = ct_fractal_sums_points(a->sums, &count);
    if (count)
        printf("\nMilestones (observation points)\n%12s %12s %12s %12s %-6s  %s\n", "hits", "shortest",
               "mean", "longest", "unit", "name");
    for (size_t i = 0; i < count; i++) {
        const struct ct_fractal_point_sum *p = &all[i];
        const double scale = p->clock_hz ? 1e3 / (double)p->clock_hz : 1;
        const double mean = p->intervals ? (double)p->total / (double)p->intervals : 0;
        printf("%12" PRIu64 " %12.4f %12.4f %12.4f %-6s  ", p->hits, (double)p->shortest * scale,
               mean * scale, (double)p->longest * scale, p->clock_hz ? "ms" : "cycles");
        put_name(p->program, p->name, "");
        if (!*p->name)
            printf("0x%" PRIx64, p->offset);
        putchar('\n');
    }
}

static void print_totals(const struct adding *a)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(a->sums);
    const struct ct_analysis_captures *c = &ct_fractal_sums_analysis(a->sums)->captures;
    printf("logs      %" PRIu64 ", %" PRIu64 " of them not whole\n", c->known, c->damaged);
    printf("events    %" PRIu64 " (%" PRIu64 " of instructions), %" PRIu64
           " more for pages mapped twice; %" PRIu64 " dropped; %" PRIu64 " bytes damaged\n",
           t->events, t->insns, t->aliases, c->losses.overflows, c->losses.lost_bytes);
    for (unsigned i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (t->by_op[i])
            printf("%-18s %" PRIu64 "\n", ct_fractal_op_name(i), t->by_op[i]);
    for (unsigned i = 0; i < sizeof t->by_initiator / sizeof *t->by_initiator; i++)
        if (t->by_initiator[i])
            printf("initiator %-8u %" PRIu64 "\n", i, t->by_initiator[i]);
}

static int print(struct adding *a)
{
    size_t count;
    if (a->wishes->data)
        return cli_results_save(a->args->ctx, ct_fractal_sums_analysis(a->sums), stdout);
    print_totals(a);
    ct_fractal_sums_all(a->sums, &count);
    if (!count)
        return CLI_CLEAN;
    if (!print_names(a, CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION, "Functions") ||
        !print_names(a, CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE, "Objects, sections and regions") ||
        !print_names(a, CT_FRACTAL_PAGE, CT_FRACTAL_PAGE, "Pages")) {
        cli_no_memory();
        return CLI_FAILED;
    }
    print_points(a);
    return CLI_CLEAN;
}

int cli_fractal_sums_run(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes)
{
    struct adding a = {.args = args, .wishes = wishes};
    if (ct_fractal_sums_new(args->ctx, &a.sums) != CT_OK)
        return cli_library_error(args->ctx);
    int code = add_all(&a);
    if (code != CLI_FAILED) {
        const int printed = print(&a);
        code = printed > code ? printed : code;
    }
    ct_fractal_sums_free(a.sums);
    return code;
}
