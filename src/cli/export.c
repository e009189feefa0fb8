/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export: a capture in the format of another program. */
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/export.h"

enum option {
    PERF = CLI_CAPTURE_OPTIONS,
    STACKS,
};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [PERF] = CLI_TEXT_OPTION("perf", 0, "FILE",
                             "Write a perf.data file; with '-' write perf's pipe format to standard output."),
    [STACKS] =
        {.name = "branch-stacks",
         .kind = CLI_NUMBER,
         .optional = true,
         .arg = "N",
         .min = 2,
         .max = CT_PERF_SAMPLES_ENTRIES_MAX,
         .help = "Instead of the trace, write samples with branch stacks of N entries (default 64), as 'perf "
                 "inject' does, for create_llvm_prof, llvm-profgen and perf2bolt. No branch is left out."},
};

static int seek(void *file, uint64_t offset)
{
    return fseeko(file, (off_t)offset, SEEK_SET) ? CT_ERR_IO : CT_OK;
}

static void on_note(void *user, const char *text)
{
    (void)user;
    cli_say("%s", text);
}

static int on_progress(void *user, uint64_t bytes)
{
    struct cli_capture *capture = user;
    cli_progress_update(&capture->progress, bytes);
    capture->seen.has_trace |= bytes > 0;
    return CT_OK;
}

static int write_perf(struct cli_capture *capture, FILE *out)
{
    const struct cli_args *args = capture->args;
    const struct ct_perf_export_options how = {.size = sizeof how,
                                               .name = args->operand,
                                               .seek = out == stdout ? NULL : seek,
                                               .user = capture,
                                               .note = on_note,
                                               .progress = on_progress};
    const int rc = ct_perf_export(args->ctx, capture->capture, capture->buffers, capture->count, &how,
                                  cli_output_write, out);
    /* A write error is reported when the file is closed. */
    return !rc ? CLI_CLEAN : rc == CT_ERR_IO && ferror(out) ? CLI_FAILED : cli_library_error(args->ctx);
}

static int export_trace(const struct cli_args *args, FILE *out)
{
    struct cli_capture capture;
    int code = CLI_FAILED;
    if (!cli_capture_open(&capture, args))
        return code;
    if (cli_capture_spool_always(&capture))
        code = cli_capture_code(&capture, write_perf(&capture, out));
    cli_capture_close(&capture);
    return code;
}

/* ---- samples ---- */

struct sampling {
    struct cli_results read;
    struct ct_perf_samples *samples; /* made when the capture is open */
};

/* Reports an error, except a write error, which is reported when the file is closed. Returns whether there
 * was none. */
static bool fine(const struct sampling *s, int rc)
{
    if (rc && !(rc == CT_ERR_IO && ferror(s->read.out)))
        cli_library_error(s->read.args->ctx);
    return !rc;
}

static bool on_opened(void *user)
{
    struct sampling *s = user;
    const struct cli_args *args = s->read.args;
    const struct ct_perf_samples_options how = {.size = sizeof how,
                                                .name = args->operand,
                                                .seek = s->read.out == stdout ? NULL : seek,
                                                .entries = (uint32_t)args->values[STACKS].number};
    return fine(s, ct_perf_samples_new(args->ctx, s->read.capture.capture, &how, cli_output_write,
                                       s->read.out, &s->samples));
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct sampling *s = user;
    return ct_perf_samples_add(s->samples, ct_session_lane(s->read.session, stream->id), stream->source,
                               batch);
}

static bool on_closing(void *user)
{
    struct sampling *s = user;
    return fine(s, ct_perf_samples_finish(s->samples));
}

static int export_samples(const struct cli_args *args, FILE *out)
{
    struct sampling s = {0};
    s.read.args = args;
    s.read.elf = SIZE_MAX;
    s.read.user = &s;
    s.read.out = out;
    s.read.threads = 1;
    s.read.opened = on_opened;
    s.read.steps = on_steps;
    s.read.closing = on_closing;
    int code = cli_results_read(&s.read);
    if (code != CLI_FAILED && !ct_perf_samples_count(s.samples))
        code = cli_results_empty(&s.read, code, "the samples are", CT_EMPTY_PERF_SAMPLES);
    ct_perf_samples_free(s.samples);
    cli_results_close(&s.read);
    return code;
}

static int run(const struct cli_args *args)
{
    const char *path = args->values[PERF].text;
    if (!args->values[PERF].given)
        return cli_usage_error(args->command, "--perf FILE is missing; it names the file to write");
    struct cli_output output;
    const bool pipe = strcmp(path, "-") == 0;
    FILE *out = pipe ? stdout : cli_output_open(&output, path);
    if (!out)
        return CLI_FAILED;
    const int code = args->values[STACKS].given ? export_samples(args, out) : export_trace(args, out);
    if (!pipe && !cli_output_close(&output, code != CLI_FAILED))
        return CLI_FAILED;
    return code;
}

const struct cli_command cli_command_export = {
    .name = "export",
    .summary = "write a capture in the format of another program",
    .operand = "CAPTURE",
    .synopsis = "--perf FILE",
    .about =
        "Writes a capture as perf.data, for 'perf script', 'perf report' and the tools built on them.\nTrace "
        "that is already in memory-aligned frames, with an ID for each source, is copied; other trace is put "
        "into such frames. All memory images become mappings of one process, and the context IDs in the "
        "trace become its threads. perf supports ETMv3, PTM, ETMv4 and ETE; other sources are left out. If "
        "images overlap (in different memory spaces), perf sees only the last of them.",
    .whole = "perf.data gets the whole trace as it was recorded; use 'coretap decode', which can print a "
             "part of it",
    .examples = "coretap export --perf run.data capture\n"
                "perf script -i run.data --itrace=i1i -F cpu,ip\n"
                "coretap export --perf - capture | perf inject -i - -o samples.data\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
