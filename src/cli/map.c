/* SPDX-License-Identifier: Apache-2.0 */
/* coretap map: one command over many captures, in one process after another. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/fleet.h"
#include "cli/progress.h"
#include "cli/results.h"

enum {
    PART = CLI_FLEET_OPTIONS,
    OPTIONS,
};

static const struct cli_option options[OPTIONS] = {
    CLI_FLEET_TABLE,
    [PART] = CLI_TEXT_OPTION("part", 0, "K/N",
                             "Process only part K (from 1) of N parts of the captures, for jobs that each do "
                             "one part. The parts have about the same size."),
};

struct map {
    struct cli_fleet fleet;
    uint32_t part, parts;
    struct cli_progress progress;
    uint64_t done; /* bytes of finished captures */
};

static bool read_part(struct map *m)
{
    const struct cli_value *value = &m->fleet.own.values[PART];
    m->part = m->parts = 1;
    return !value->given || cli_read_part(m->fleet.outer, "part", value->text, &m->part, &m->parts);
}

static bool on_wait(void *user)
{
    struct map *m = user;
    cli_progress_update(&m->progress, m->done);
    return true;
}

/* Processes the captures of this part, in the order of the job. Returns an enum cli_exit. */
static int do_all(struct map *m)
{
    struct cli_fleet *f = &m->fleet;
    uint64_t failures = 0;
    size_t number;
    int code = CLI_CLEAN;
    for (size_t turn = m->part - 1;
         code == CLI_CLEAN && (number = ct_fleet_job_order(f->job, turn)) != SIZE_MAX; turn += m->parts) {
        char *failure;
        code = cli_fleet_do(f, number, on_wait, m, &failure);
        failures += failure != NULL;
        free(failure);
        m->done += ct_manifest_at(f->manifest, number)->size;
        if (code == CLI_CLEAN && cli_fleet_fails_too_often(f, failures)) {
            cli_results_tell_failures(f->outer->name, f->sum);
            code = CLI_FAILED;
        }
    }
    return code;
}

static int run_job(struct map *m)
{
    struct cli_fleet *f = &m->fleet;
    if (!read_part(m) || !cli_fleet_open(f, true))
        return CLI_FAILED;
    cli_progress_start(&m->progress, f->bytes / m->parts, f->own.quiet);
    int code = do_all(m);
    cli_progress_clear();
    if (code == CLI_CLEAN)
        code = cli_fleet_write(f);
    return code == CLI_CLEAN ? cli_fleet_tell(f) : code;
}

static int run(const struct cli_args *args)
{
    struct map *m = calloc(1, sizeof *m);
    if (!m)
        return cli_no_memory(), CLI_FAILED;
    m->fleet.ctx = args->ctx;
    const enum cli_parse parsed = cli_fleet_parse(&m->fleet, args->command, args->word_count, args->words);
    const int code = parsed == CLI_PARSE_RUN ? run_job(m) : parsed == CLI_PARSE_HELP ? CLI_CLEAN : CLI_FAILED;
    if (parsed == CLI_PARSE_HELP)
        cli_help_command(m->fleet.inner.command ? m->fleet.inner.command : args->command, stdout);
    if (code != CLI_FAILED)
        cli_fleet_remove(&m->fleet, 0, 1);
    cli_fleet_close(&m->fleet);
    free(m);
    return code;
}

const struct cli_command cli_command_map = {
    .name = "map",
    .summary = "run one command over many captures and add up the results",
    .rest = "[cover|timing|profile|watch|monitor|stats|events] [OPTION]... [CAPTURE]...",
    .about =
        "Runs a command over each capture, in a separate process, and adds up the results. The sum is a file "
        "as the command writes it with --format data; 'coretap merge' can add it to others. The captures are "
        "those of a manifest, or are named. Options of the command follow its name. The default command is "
        "cover.\nA capture that cannot be read (because it is missing or damaged, does not match the "
        "manifest, or crashes its process) is not in the sum. It is named with its reason in the result and "
        "on standard error, and all others count. --state keeps the pieces of finished captures, so that an "
        "interrupted job can continue.\nWith --part each of several jobs does one part, for example in an "
        "array of Slurm or Kubernetes jobs; 'coretap merge' joins their results. docs/fleet.md has examples. "
        "Where Open MPI is installed, coretap-mpi does the same over many machines.",
    .examples = "coretap map cover --manifest captures.jsonl -o all.cov\n"
                "coretap map timing -o all.times capture\n"
                "coretap timing all.times\n",
    .options = options,
    .option_count = OPTIONS,
    .exit_text = CLI_FLEET_EXIT,
    .own_output = true,
    .run = run,
};
