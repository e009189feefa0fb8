/* SPDX-License-Identifier: Apache-2.0 */
/* Hands out captures and their parts, the largest first, to ranks that are free. Rank 0 does that while
 * another process decodes its own unit. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/results.h"
#include "mpi/ranks.h"

#define INTERVAL_S      1  /* between two lines on a terminal */
#define INTERVAL_FILE_S 10 /* between two lines elsewhere, with --progress */

/* What rank 0 knows about a rank. */
struct worker {
    unsigned units; /* handed out to it, and not reported yet */
    double since;   /* when it began with the first of them, in seconds */
};

struct boss {
    const struct ct_ranks *ranks;
    struct worker *workers;
    struct ct_ranks_plan *plan;
    uint64_t done, bytes, failures;
    int dismissed;
    bool fatal;    /* hand out nothing more */
    bool terminal; /* standard error ends at a terminal, where lines can overwrite each other */
    double begin, told;
};

/* ---- progress ---- */

/* Returns whether standard error ends at a terminal. mpirun gives each rank a pipe, and writes its bytes to
 * its own standard error. On mpirun's machine rank 0 is its child. */
static bool ends_at_terminal(void)
{
    char path[40];
    struct stat st;
    if (isatty(STDERR_FILENO))
        return true;
    if (!getenv("OMPI_COMM_WORLD_RANK") || fstat(STDERR_FILENO, &st) || !S_ISFIFO(st.st_mode))
        return false;
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const bool is_terminal = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is_terminal;
}

/* Returns the rank that has worked longest on its capture, or -1. */
static int slowest(const struct boss *b)
{
    int found = -1;
    for (int i = 0; i < b->ranks->count; i++)
        if (b->workers[i].units && (found < 0 || b->workers[i].since < b->workers[found].since))
            found = i;
    return found;
}

static void show(struct boss *b)
{
    const struct cli_fleet *f = b->ranks->fleet;
    const bool terminal = b->terminal;
    const double t = cli_seconds();
    if (f->own.quiet || !(terminal || f->own.values[CLI_FLEET_OPTIONS].given) ||
        t - b->told < (terminal ? INTERVAL_S : INTERVAL_FILE_S))
        return;
    b->told = t;
    char failed[32] = "", left[32] = "", slow[64] = "";
    const double rate = t > b->begin ? (double)b->bytes / (t - b->begin) : 0;
    const int rank = slowest(b);
    if (rate > 0) {
        const unsigned s = (unsigned)((double)(f->bytes - b->bytes) / rate + 0.5);
        snprintf(left, sizeof left, ", %u:%02u left", s / 60, s % 60);
    }
    if (b->failures)
        snprintf(failed, sizeof failed, " (%" PRIu64 " failed)", b->failures);
    if (rank >= 0)
        snprintf(slow, sizeof slow, "; slowest: rank %d, %.0f s", rank, t - b->workers[rank].since);
    fprintf(stderr, "%s%" PRIu64 " of %zu captures%s, %.1f of %.1f MB, %.1f MB/s%s%s%s", terminal ? "\r" : "",
            b->done, ct_manifest_count(f->manifest), failed, (double)b->bytes / 1e6, (double)f->bytes / 1e6,
            rate / 1e6, left, slow, terminal ? "\033[K" : "\n");
    fflush(stderr);
}

/* ---- handing out ---- */

/* Records the report of a rank. */
static void note(struct boss *b, int rank, const struct ct_ranks_report *report)
{
    b->fatal |= report->fatal;
    if (report->unit.number == RANKS_NONE)
        return;
    b->workers[rank].units--;
    b->workers[rank].since = cli_seconds();
    ranks_plan_done(b->plan, &report->unit);
    b->done += report->unit.shard == RANKS_WHOLE;
    b->bytes += ranks_plan_bytes(b->plan, &report->unit);
    b->failures += report->failed;
    b->fatal = b->fatal || cli_fleet_fails_too_often(b->ranks->fleet, b->failures);
}

/* Returns the next unit for a rank. */
static struct ct_ranks_unit next(struct boss *b, int rank)
{
    const struct ct_ranks_unit none = {.number = RANKS_NONE};
    const struct ct_ranks_unit unit = b->fatal ? none : ranks_plan_next(b->plan, rank);
    struct worker *worker = &b->workers[rank];
    if (!worker->units)
        worker->since = cli_seconds();
    worker->units += unit.number != RANKS_NONE;
    return unit;
}

/* Answers the request of a rank for a unit. */
static void answer(struct boss *b, int rank, bool ahead)
{
    const struct ct_ranks_unit later = {.number = RANKS_LATER};
    const bool waits = ahead && (b->fatal || !ranks_plan_is_long(b->plan));
    const struct ct_ranks_unit unit = waits ? later : next(b, rank);
    b->dismissed += unit.number == RANKS_NONE;
    MPI_Send(&unit, sizeof unit, MPI_BYTE, rank, RANKS_WORK, MPI_COMM_WORLD);
}

/* Answers all waiting ranks. */
static void serve(struct boss *b)
{
    MPI_Status status;
    while (ranks_look(MPI_ANY_SOURCE, RANKS_REPORT, &status)) {
        struct ct_ranks_report report;
        MPI_Recv(&report, sizeof report, MPI_BYTE, status.MPI_SOURCE, RANKS_REPORT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        note(b, status.MPI_SOURCE, &report);
        answer(b, status.MPI_SOURCE, report.ahead);
    }
    show(b);
}

static bool on_wait(void *user)
{
    serve(user);
    return true;
}

/* Does a unit, and returns the report about it. */
static struct ct_ranks_report work_on(const struct ct_ranks *r, const struct ct_ranks_unit *unit,
                                      bool (*wait)(void *), void *user)
{
    char *failure = NULL;
    int code = CLI_CLEAN;
    bool joined = false;
    const bool whole = unit->shard == RANKS_WHOLE;
    if (!whole)
        code = cli_fleet_do_shard(r->fleet, unit->number, unit->shard, unit->shards, wait, user);
    else if (unit->shards)
        code = cli_fleet_join(r->fleet, unit->number, unit->shards, &joined);
    if (whole && !joined && code == CLI_CLEAN)
        code = cli_fleet_do(r->fleet, unit->number, wait, user, &failure);
    const struct ct_ranks_report report = {
        .unit = *unit, .failed = failure != NULL, .fatal = code == CLI_FAILED};
    free(failure);
    return report;
}

/* Returns whether rank 0 is done: it has nothing left, and no other rank can bring more. */
static bool is_over(const struct boss *b)
{
    return b->dismissed == b->ranks->count - 1 && (b->fatal || ranks_plan_is_over(b->plan));
}

static void lead(struct boss *b)
{
    b->begin = cli_seconds();
    b->terminal = ends_at_terminal();
    b->told = b->terminal ? 0 : b->begin; /* on a terminal the first line comes at once */
    struct ct_ranks_unit unit = next(b, 0);
    for (int rank = 1; rank < b->ranks->count; rank++)
        answer(b, rank, false); /* unasked: rank 0 polls less often while it works */
    for (;;) {
        if (unit.number != RANKS_NONE) {
            const struct ct_ranks_report report = work_on(b->ranks, &unit, on_wait, b);
            note(b, 0, &report);
        } else if (is_over(b)) {
            break;
        } else {
            ranks_rest();
        }
        serve(b);
        unit = next(b, 0);
    }
    if (b->terminal && !b->ranks->fleet->own.quiet)
        fputs("\r\033[K", stderr);
}

/* Reports the last unit, if there was one, and asks for the next. */
static void ask(struct ct_ranks_report *report, bool ahead)
{
    report->ahead = ahead;
    MPI_Send(report, sizeof *report, MPI_BYTE, 0, RANKS_REPORT, MPI_COMM_WORLD);
    *report = (struct ct_ranks_report){.unit.number = RANKS_NONE};
}

static struct ct_ranks_unit take_unit(void)
{
    struct ct_ranks_unit unit;
    ranks_receive(&unit, sizeof unit, 0, RANKS_WORK);
    return unit;
}

/* Works as a rank other than 0. Rank 0 sends the first unit unasked. When a unit begins, the next one is
 * requested ahead, since rank 0 polls only every few milliseconds. */
static void follow(const struct ct_ranks *r)
{
    struct ct_ranks_report report = {.unit.number = RANKS_NONE};
    struct ct_ranks_unit unit = take_unit();
    while (unit.number != RANKS_NONE) {
        if (unit.number == RANKS_LATER || report.fatal) {
            ask(&report, false);
            unit = take_unit();
            continue;
        }
        ask(&report, true);
        report = work_on(r, &unit, NULL, NULL);
        unit = take_unit();
    }
}

/* Names the captures of this rank that could not be read, when the job ends because there are too many. */
static void name_failures(const struct ct_ranks *r)
{
    if (r->fleet->own.values[CLI_FLEET_MAX_FAILURES].given)
        cli_results_tell_failures(r->fleet->outer->name, r->fleet->sum);
}

/* Does all captures as rank 0. Returns false when the job must end. */
static bool lead_all(const struct ct_ranks *r, struct worker *workers, struct ct_ranks_plan *plan)
{
    struct boss boss = {.ranks = r, .workers = workers, .plan = plan};
    lead(&boss);
    return !boss.fatal;
}

int ranks_work(const struct ct_ranks *r)
{
    struct worker *workers = r->rank ? NULL : calloc((size_t)r->count, sizeof *workers);
    struct ct_ranks_plan *plan = r->rank ? NULL : ranks_plan_new(r);
    bool fine = ranks_all(r->rank || (workers && plan));
    if (fine && r->rank)
        follow(r);
    else if (workers && plan)
        fine = lead_all(r, workers, plan);
    free(workers);
    ranks_plan_free(plan);
    if (ranks_all(fine))
        return CLI_CLEAN;
    name_failures(r);
    return CLI_FAILED;
}
