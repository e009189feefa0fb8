/* SPDX-License-Identifier: Apache-2.0 */
/* coretap-mpi: 'coretap map' over the ranks of an MPI job. */
#include "mpi/ranks.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

#define MOST_FILES 256 /* first file descriptors, among which MPI's are looked for */

enum {
    PROGRESS = CLI_FLEET_OPTIONS,
    CUT,
    OPTIONS,
};

static const struct cli_option options[OPTIONS] = {
    CLI_FLEET_TABLE,
    [PROGRESS] =
        CLI_FLAG_OPTION("progress", 0,
                        "Print a line of progress every ten seconds if standard error is not a terminal. If "
                        "it is one, or if mpirun's is, progress is shown every second without this option."),
    [CUT] = CLI_NUMBER_OPTION(
        "cut", 0, "BYTES", 0, UINT64_MAX,
        "Size of the parts, in bytes, in which several ranks decode one large capture; 0 means never to cut. "
        "Default: one part for each rank if there is one capture; two or three parts for each rank if there "
        "are several; parts of at least about 64 MiB; no cut with --threads. Only cover, stats and watch cut "
        "captures. The result is the same."),
};

static const struct cli_command command = {
    .name = "mpi",
    .summary = "run one command over many captures, on the ranks of an MPI job",
    .rest = "[cover|timing|profile|watch|monitor|stats|events] [OPTION]... [CAPTURE]...",
    .about = "Does the same as 'coretap map', and has its options, on all ranks that 'mpirun' starts. "
             "Captures are handed out one by one, the largest first, and the sums of the ranks are added up "
             "in a tree. The result has the same bytes for every number of ranks. All machines need the same "
             "coretap and must see the manifest, the captures and --state.",
    .examples = "mpirun -n 4 coretap-mpi cover --manifest captures.jsonl -o all.cov\n"
                "mpirun -n 4 coretap-mpi timing --manifest captures.jsonl -o all.times\n",
    .options = options,
    .option_count = OPTIONS,
    .exit_text = CLI_FLEET_EXIT,
    .own_program = true,
    .own_output = true,
};

/* Prints the duration, on rank 0. For merging, the slowest rank counts. */
static void tell_time(const struct ct_ranks *r, double begin)
{
    const struct cli_fleet *f = r->fleet;
    const double took = cli_seconds() - begin;
    double most;
    uint64_t joined;
    MPI_Reduce(&f->joined, &joined, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&f->merging, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (!r->rank && !f->own.quiet)
        cli_say("%.1f MB in %.1f s on %d rank%s (%.1f MB/s), of which adding up took %.1f %% at most",
                (double)f->bytes / 1e6, took, r->count, r->count == 1 ? "" : "s",
                (double)f->bytes / 1e6 / took, 100 * most / took);
    if (!r->rank && !f->own.quiet && joined)
        cli_say("%" PRIu64 " of the captures %s decoded in parts", joined, joined == 1 ? "was" : "were");
}

/* Does the job on all ranks. Returns an enum cli_exit, the same on all ranks. */
static int run(const struct ct_ranks *r)
{
    const double begin = cli_seconds();
    if (!ranks_agree(r))
        return CLI_FAILED;
    int code = ranks_work(r);
    if (code != CLI_CLEAN)
        return code;
    const double reducing = cli_seconds();
    code = ranks_reduce(r);
    r->fleet->merging += cli_seconds() - reducing;
    tell_time(r, begin);
    if (!r->rank && code == CLI_CLEAN)
        code = cli_fleet_write(r->fleet);
    if (!r->rank && code == CLI_CLEAN)
        code = cli_fleet_tell(r->fleet);
    code = ranks_tell(code);
    if (code != CLI_FAILED) {
        cli_fleet_remove(r->fleet, (size_t)r->rank, (size_t)r->count);
        ranks_meet();
    }
    return code;
}

/* Reads the command line and the captures, on one rank. */
static bool open_on_rank(struct ct_ranks *r, int argc, char **argv, bool *help)
{
    const enum cli_parse parsed = cli_fleet_parse(r->fleet, &command, argc, argv);
    *help = parsed == CLI_PARSE_HELP;
    return parsed == CLI_PARSE_RUN && cli_fleet_open(r->fleet, !r->rank);
}

/* Reads the command line and the captures. Rank 0 does so first, and reports errors in them. */
static bool open_job(struct ct_ranks *r, int argc, char **argv, bool *help)
{
    if (!ranks_all(!r->rank && open_on_rank(r, argc, argv, help)))
        return false;
    /* nobody begins before all ranks have arrived */
    uint8_t mine = ranks_share_captures(r) && (!r->rank || open_on_rank(r, argc, argv, help)), all;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT8_T, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static int begin(struct ct_ranks *r, int argc, char **argv)
{
    bool help = false;
    int length;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    MPI_Get_processor_name(r->host, &length);
    r->cut = &r->fleet->own.values[CUT];
    const bool ready = open_job(r, argc, argv, &help);
    help = !ready && ranks_all(help);
    const int code = ready ? run(r) : help ? CLI_CLEAN : CLI_FAILED;
    if (help && !r->rank)
        cli_help_command(&command, stdout);
    cli_fleet_close(r->fleet);
    return code;
}

/* Sends small messages at once. Otherwise MPI's last messages to mpirun are held back until earlier ones are
 * acknowledged, which takes 40 ms. Other file descriptors than TCP connections are unaffected. */
static void hurry_messages(void)
{
    const int on = 1;
    for (int fd = 0; fd < MOST_FILES; fd++)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Prints the version or the help if the command line asks for it. This needs no MPI: a job that ends as soon
 * as it has begun sometimes crashes in Open MPI 4.1, whose thread then runs code that is already unloaded. Of
 * several ranks the first one prints. */
static bool about_itself(int argc, char **argv)
{
    static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    const char *rank = NULL;
    for (size_t i = 0; !rank && i < sizeof rank_names / sizeof *rank_names; i++)
        rank = getenv(rank_names[i]);
    const bool version = argc > 1 && !strcmp(argv[1], "--version");
    const bool help = argc > 1 && !strcmp(argv[1], "--help");
    if (rank && strcmp(rank, "0") != 0)
        return version || help;
    if (version)
        printf("coretap-mpi %s\n", ct_version_exact());
    if (help)
        cli_help_command(&command, stdout);
    return version || help;
}

int main(int argc, char **argv)
{
    if (about_itself(argc, argv))
        return CLI_CLEAN;
    int provided;
    struct ct_ranks ranks = {.fleet = calloc(1, sizeof *ranks.fleet)};
    struct ct_ctx *ctx = cli_ctx_new(false);
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* keeps lines of several ranks whole */
    /* Messages are few, so TCP and shared memory suffice; looking for faster networks takes Open MPI 0.2 s.
     * Options of mpirun and the environment have priority. */
    setenv("OMPI_MCA_pml", "ob1", 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    hurry_messages();
    if (!ranks.fleet || !ctx) {
        free(ranks.fleet);
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
        return CLI_FAILED;
    }
    ranks.fleet->ctx = ctx;
    const int code = begin(&ranks, argc, argv);
    free(ranks.fleet);
    ct_ctx_free(ctx);
    MPI_Finalize();
    return code;
}
