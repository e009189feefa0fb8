/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export: a capture in the format of another program. */
#include <string.h>

#include "cli/capture.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "coretap/export.h"

enum option {
    PERF = CLI_CAPTURE_OPTIONS,
};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [PERF] = {.name = "perf",
              .kind = CLI_TEXT,
              .arg = "FILE",
              .help = "Write a perf.data file, or to standard output ('-') perf's pipe format."},
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
    /* Closing the file says what stopped it from being written. */
    return !rc ? CLI_CLEAN : rc == CT_ERR_IO && ferror(out) ? CLI_FAILED : cli_library_error(args->ctx);
}

static int export_perf(struct cli_capture *capture, const char *path)
{
    struct cli_output output;
    const bool pipe = strcmp(path, "-") == 0;
    FILE *out = pipe ? stdout : cli_output_open(&output, path);
    if (!out)
        return CLI_FAILED;
    const int code = write_perf(capture, out);
    if (!pipe && !cli_output_close(&output, code == CLI_CLEAN))
        return CLI_FAILED;
    return cli_capture_code(capture, code);
}

static int run(const struct cli_args *args)
{
    if (!args->values[PERF].given)
        return cli_usage_error(args->command, "--perf FILE is missing");
    struct cli_capture capture;
    if (!cli_capture_open(&capture, args))
        return CLI_FAILED;
    int code =
        cli_capture_spool_always(&capture) ? export_perf(&capture, args->values[PERF].text) : CLI_FAILED;
    cli_capture_close(&capture);
    return code;
}

const struct cli_command cli_command_export = {
    .name = "export",
    .summary = "write a capture in the format of another program",
    .operand = "CAPTURE",
    .synopsis = "--perf FILE",
    .about = "Writes a capture as perf.data, so that 'perf script', 'perf report' and what is built on them "
             "can read it.\n"
             "Trace stays as it is where it lies in memory-aligned frames with an ID of its own for each "
             "source; other "
             "trace is put into such frames. All images become mappings of one process, whose threads are "
             "the context IDs "
             "in the trace. perf knows ETMv3, PTM, ETMv4 and ETE: other sources are left out. Of images that "
             "overlap (in "
             "different memory spaces) perf sees the last.",
    .whole =
        "perf.data has the trace as it was recorded, which is not cut; 'coretap decode' prints a part of it",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
