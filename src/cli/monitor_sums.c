/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal_source.h"
#include "cli/monitor_axis.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/fractal_watch.h"
#include "coretap/verify_sums.h"

/* ---- lines ---- */

/* bytes of a decimal number of 128 bits, with its NUL */
#define WIDE_ROOM 41

/* Writes the difference of two sums, of the positive and the negative numbers, as a decimal number. */
static const char *wide_text(const struct ct_wide_sum *above, const struct ct_wide_sum *below,
                             char room[WIDE_ROOM])
{
    const unsigned __int128 up = (unsigned __int128)above->high << 64 | above->low;
    const unsigned __int128 down = (unsigned __int128)below->high << 64 | below->low;
    unsigned __int128 rest = up > down ? up - down : down - up;
    char *at = room + WIDE_ROOM - 1;
    *at = '\0';
    do
        *--at = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (down > up)
        *--at = '-';
    return at;
}

static double as_double(const struct ct_wide_sum *sum)
{
    return (double)sum->high * 0x1p64 + (double)sum->low;
}

static void print_range(const struct ct_verify_sum *sum)
{
    char room[WIDE_ROOM];
    if (sum->numbers && sum->type == CT_MONITOR_FLOAT)
        printf("    %" PRIu64 " numbers, %.17g to %.17g\n", sum->numbers, sum->low.f, sum->high.f);
    else if (sum->numbers)
        printf("    %" PRIu64 " numbers, %" PRId64 " to %" PRId64 ", sum %s, mean %.3f\n", sum->numbers,
               sum->low.i, sum->high.i, wide_text(&sum->above, &sum->below, room),
               (as_double(&sum->above) - as_double(&sum->below)) / (double)sum->numbers);
    if (sum->others)
        printf("    %" PRIu64 " values are not in these: %s\n", sum->others,
               sum->type == CT_MONITOR_FLOAT ? "not a number" : "of more than 64 bits");
}

static void print_values(const struct ct_verify_sum *sum)
{
    if (sum->type == CT_MONITOR_VERDICT)
        printf("    unknown %" PRIu64 ", true %" PRIu64 ", false %" PRIu64 "\n",
               sum->values[CT_MONITOR_UNKNOWN], sum->values[CT_MONITOR_TRUE], sum->values[CT_MONITOR_FALSE]);
    else if (sum->type == CT_MONITOR_BOOL)
        printf("    true %" PRIu64 ", false %" PRIu64 "\n", sum->values[CT_MONITOR_TRUE],
               sum->values[CT_MONITOR_FALSE]);
}

static void print_place(const struct ct_verify_violation *v)
{
    if (*v->function) {
        printf(" in ");
        cli_put_printable(stdout, v->function);
    }
    if (*v->file) {
        printf(*v->function ? " (" : " at ");
        cli_put_printable(stdout, v->file);
        printf(*v->function ? ":%u)" : ":%u", v->line);
    } else if (v->addr) {
        printf(" at 0x%" PRIx64, v->addr);
    }
}

static void print_first(const struct ct_verify_violation *v)
{
    printf("    first in ");
    cli_put_printable(stdout, *v->run ? v->run : "a capture without a name");
    if (*v->buffer) {
        printf(", ");
        cli_put_printable(stdout, v->buffer);
    }
    printf(", ID %02x, at %" PRIu64 ": ", v->id, v->time);
    cli_put_printable(stdout, v->value);
    if (v->uncertain)
        printf(", uncertain");
    print_place(v);
    putchar('\n');
}

/* Prints how streams ended, for an output that can have violations. */
static void print_streams(const struct ct_verify_sum *sum)
{
    const struct {
        const char *name;
        uint64_t count;
    } kinds[] = {{"violated", sum->violated},
                 {"uncertain", sum->doubtful},
                 {"undecided", sum->undecided},
                 {"satisfied", sum->satisfied}};
    const char *before = ": ";
    printf("    %" PRIu64 " streams", sum->streams);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!kinds[i].count)
            continue;
        printf("%s%" PRIu64 " %s", before, kinds[i].count, kinds[i].name);
        before = ", ";
    }
    if (sum->failed)
        printf("; in %" PRIu64 " the specification failed", sum->failed);
    putchar('\n');
}

/* Prints what is known of an output. `told`: with the checksum of its specification, because several have the
 * same name. */
static void print_output(const struct ct_verify_sum *sum, bool told)
{
    cli_put_printable(stdout, sum->spec);
    if (told)
        printf(" %016" PRIx64, sum->sum);
    printf(": ");
    cli_put_printable(stdout, sum->output);
    printf(": %" PRIu64 " events", sum->events);
    if (sum->violations)
        printf(", %" PRIu64 " violations, %" PRIu64 " of them uncertain", sum->violations, sum->uncertain);
    putchar('\n');
    print_streams(sum);
    print_values(sum);
    print_range(sum);
    if (sum->first)
        print_first(sum->first);
}

/* Returns whether another specification of the same name has results. */
static bool has_namesake(const struct ct_verify_sum *all, size_t count, size_t number)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = all[i].sum != all[number].sum && strcmp(all[i].spec, all[number].spec) == 0;
    return found;
}

static int print_all(const struct cli_results *read, const struct ct_verify_sum *all, size_t count, int code)
{
    for (size_t i = 0; i < count; i++)
        print_output(&all[i], has_namesake(all, count, i));
    if (!count && !read->args->quiet)
        cli_say("%s: the capture has no trace that could be followed along a program; the specifications "
                "were not checked; name the program that ran with --elf",
                read->args->operand);
    return count ? code : CLI_DAMAGED;
}

/* ---- adding up ---- */

/* Returns the exit code: CLI_DAMAGED instead of CLI_CLEAN when there are violations, or specifications that
 * failed in a stream. The results are kept. */
static int code_of(const struct ct_verify_sum *all, size_t count, int code)
{
    bool bad = false;
    for (size_t i = 0; i < count; i++)
        bad |= all[i].violations || all[i].failed;
    return bad && code == CLI_CLEAN ? CLI_DAMAGED : code;
}

static int print(const struct cli_results *read, const struct ct_verify_sums *sums, bool data, int code)
{
    size_t count;
    const struct ct_verify_sum *all = ct_verify_sums_all(sums, &count);
    const int printed =
        data ? cli_results_save(read->args->ctx, read->analysis, stdout) : print_all(read, all, count, code);
    return code_of(all, count, cli_worse(code, printed));
}

static int add_up(struct cli_results *read, struct ct_verify_sums *sums, bool data)
{
    const struct cli_args *args = read->args;
    if (!cli_filter_read(&read->filter, args, false) || !cli_programs_new_moved(&read->programs, args, NULL))
        return CLI_FAILED;
    const int code = cli_results_read(read);
    return code == CLI_FAILED || read->kept_nothing ? code : print(read, sums, data, code);
}

/* ---- event logs ---- */

struct reading {
    const struct cli_args *args;
    size_t elf;
    struct ct_verify_sums *sums;
    struct cli_results *read;
    bool per_core;
    bool together; /* all captures are of one run */
    bool begun;    /* the first capture of the run has begun */
    bool software; /* software trace feeds an input */
    bool contexts; /* context switches feed an input */
    struct cli_axis axis;
    bool several; /* several sources of the current capture are one run */
};

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    const struct reading *r = user;
    return ct_verify_sums_feed(r->sums, 0, events, count);
}

/* Reads a log as one stream, with ID 0. */
static int read_stream(const struct reading *r, const char *path)
{
    const struct ct_stream_origin origin = {.run = path};
    struct ct_analysis *all = ct_verify_sums_analysis(r->sums);
    struct ct_analysis_captures one = {.known = 1};
    struct ct_watches *watches;
    if (ct_verify_sums_begin(r->sums, 0, &origin, &watches) != CT_OK)
        return cli_library_error(r->args->ctx);
    const int code = cli_fractal_source_run(r->args, path, watches, FRACTAL_SOURCE_LOSSES, on_log,
                                            (void *)(uintptr_t)r, &one.losses);
    if (code == CLI_FAILED)
        return code;
    one.damaged = code == CLI_DAMAGED;
    return ct_analysis_end(all, 0) || ct_analysis_add_captures(all, &one) || ct_analysis_add_run(all, path)
               ? cli_library_error(r->args->ctx)
               : code;
}

static int read_other(void *user, const char *path)
{
    struct reading *r = user;
    if (r->together && r->begun)
        return r->axis.code;
    r->begun = true;
    struct ct_programs *programs = NULL;
    struct ct_analysis *all = ct_verify_sums_analysis(r->sums);
    if (!cli_fractal_source_is_log(path))
        return -1;
    int code = CLI_FAILED;
    bool fine = cli_fractal_source_programs(&programs, r->args, r->elf, path);
    if (fine && r->contexts && ct_fractal_watch_names(r->args->ctx, path, programs) != CT_OK)
        fine = cli_library_error(r->args->ctx) == CLI_CLEAN;
    if (fine) {
        all->kind->programs(all, programs);
        code = read_stream(r, path);
    }
    all->kind->programs(all, NULL);
    ct_programs_free(programs);
    return code;
}

/* ---- sources on one axis ---- */

static bool find_sources(void *user)
{
    struct reading *r = user;
    const struct cli_value *clock = &r->args->values[CLI_MONITOR_CLOCK];
    cli_axis_close(&r->axis);
    r->axis = (struct cli_axis){.args = r->args,
                                .read = r->read,
                                .cycles = clock->given && clock->number == CT_VERIFY_CYCLES,
                                .software = r->software,
                                .alone = !r->together};
    r->several = false;
    if (!r->per_core && !cli_axis_open(&r->axis, &r->several))
        return false;
    const bool ticks = r->several || clock->number == CT_VERIFY_TIMESTAMPS;
    const struct cli_value *frequency = &r->args->values[CLI_MONITOR_FREQUENCY];
    r->read->filter.filter.frequency =
        ticks && frequency->given ? frequency->number : 0; /* otherwise --frequency is that of the cycles */
    return true;
}

/* Begins the run of all sources. */
static int begin_axis(struct reading *r, struct ct_verifier **verifier, struct ct_watches **watches)
{
    const struct cli_axis *a = &r->axis;
    struct ct_stream_origin *origins = calloc(a->count + 1, sizeof *origins);
    const char **cores = calloc(a->count + 1, sizeof *cores);
    int rc = origins && cores ? CT_OK : cli_fail_nomem(r->args->ctx, "sources");
    for (size_t i = 0; i < a->count && !rc; i++) {
        cores[i] = ct_source_core(a->sources[i].source);
        origins[i] = (struct ct_stream_origin){.run = a->sources[i].capture ? a->sources[i].capture
                                                                            : r->read->capture.path,
                                               .buffer = a->sources[i].buffer,
                                               .id = a->sources[i].id,
                                               .core = cores[i]};
    }
    if (!rc)
        rc = ct_verify_sums_begin_axis(r->sums, 0, origins, cores, a->count, verifier, watches);
    free(origins);
    free(cores);
    return rc;
}

/* Adds the captures of the run to the sums. */
static int add_captures(const struct reading *r, struct ct_analysis *all)
{
    const struct cli_capture *capture;
    int rc = CT_OK;
    for (size_t i = 0; !rc && (capture = cli_axis_capture(&r->axis, i)) != NULL; i++) {
        const bool damaged = ct_seen_is_damaged(&capture->seen, capture->capture, 0) != 0;
        const struct ct_analysis_captures one = {
            .known = 1, .damaged = damaged, .losses = capture->seen.losses};
        rc = ct_analysis_add_captures(all, &one) ?: ct_analysis_add_run(all, capture->path);
    }
    return rc;
}

static int decode_axis(void *user)
{
    struct reading *r = user;
    struct ct_verifier *verifier;
    struct ct_watches *watches;
    struct ct_analysis *all = ct_verify_sums_analysis(r->sums);
    if (!r->several)
        return -1;
    if (all->kind->programs(all, r->read->programs) != CT_OK || begin_axis(r, &verifier, &watches) != CT_OK)
        return cli_library_error(r->args->ctx);
    const int code = cli_axis_run(&r->axis, verifier, watches);
    if (code == CLI_FAILED)
        return code;
    return ct_analysis_end(all, 0) || add_captures(r, all) ? cli_library_error(r->args->ctx) : code;
}

/* ---- the whole command ---- */

/* Checks that there are specifications if captures are read. Returns false after a message. */
static bool check(const struct cli_args *args)
{
    bool capture = false;
    for (int i = 0; i < args->rest_count; i++)
        capture |= !cli_results_is_file(ct_verify_sums_kind(), args->rest[i]);
    if (args->values[CLI_MONITOR_HISTORY].given)
        cli_usage_error(args->command, "--history works only with --format text and jsonl, because sums have "
                                       "no single events; choose one of these, or leave --history out");
    else if (capture && !cli_monitors_named(args, CLI_MONITOR_SPEC))
        cli_usage_error(args->command, "--spec FILE is missing; it names the specification to check");
    else
        return true;
    return false;
}

int cli_monitor_sums_run(const struct cli_args *args, const struct cli_monitor_sums_wishes *wishes)
{
    struct ct_verify_sums *sums = NULL;
    struct cli_monitors monitors = {.all = args->values[CLI_MONITOR_ALL].given};
    struct reading reading = {
        .args = args, .elf = wishes->elf, .per_core = wishes->per_core, .together = wishes->together};
    struct cli_results read = {.args = args,
                               .elf = wishes->elf,
                               .other = read_other,
                               .user = &reading,
                               .opened = find_sources,
                               .decode = decode_axis,
                               .threads = wishes->threads,
                               .file_why = "saved results are the sums of whole captures"};
    int code = CLI_FAILED;
    if (!check(args))
        return code;
    if (cli_monitors_load(&monitors, args)) {
        if (ct_verify_sums_new(args->ctx, &monitors.verify, &sums) != CT_OK)
            cli_library_error(args->ctx);
        else if (cli_monitors_add_sums(&monitors, sums)) {
            reading.sums = sums;
            reading.software = cli_monitors_need_software(&monitors);
            reading.contexts = cli_monitors_need_contexts(&monitors);
            reading.read = &read;
            read.analysis = ct_verify_sums_analysis(sums);
            code = add_up(&read, sums, wishes->data);
        }
    }
    cli_axis_close(&reading.axis);
    cli_results_close(&read);
    ct_verify_sums_free(sums);
    cli_monitors_free(&monitors);
    return code;
}
