/* SPDX-License-Identifier: Apache-2.0 */
/* coretap export: a capture in the format of another program. */
#include "cli/export.h"
#include "cli/commands.h"

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

static int run(const struct cli_args *args)
{
    if (!args->values[PERF].given)
        return cli_usage_error(args->command, "--perf FILE is missing");
    struct cli_capture capture;
    if (!cli_capture_open(&capture, args))
        return CLI_FAILED;
    int code =
        cli_capture_spool_always(&capture) ? cli_export_perf(&capture, args->values[PERF].text) : CLI_FAILED;
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
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
