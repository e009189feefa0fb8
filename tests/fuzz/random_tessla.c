/* SPDX-License-Identifier: Apache-2.0 */
/* Runs random specifications (tessla_text.h) through fuzz_tessla.c: compiled and run as bytecode, and every
 * NATIVE_EVERY-th also as machine code, whose results are compared with the bytecode's. Each piece of the
 * cases runs in a process of its own, so that a case that crashes, aborts, leaks or takes more than
 * CASE_SECONDS of processor time is a finding, kept as a file, while the others go on. Workers take the
 * pieces in turn.
 *
 * usage: random_tessla CORPUS FINDINGS
 *
 * CT_COUNT: number of cases (2,500; with CT_WHOLE 10,000; in the long tier ten million under ASan, else one
 * million). CT_SEED and CT_FIRST: the case to begin with. CT_SECONDS: time limit (no limit without it).
 * CT_JOBS: workers (1, in the long tier one for each processor). Prints TAP. */
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/sanitizer.h"
#include "fuzz.h"
#include "fuzz_tessla.h"
#include "tessla_text.h"

enum {
    FEW = 10000,
    MANY = HAVE_ASAN ? 10000000 : 1000000,
    PIECE = 1000,
    CASE_SECONDS = 60,
    FINDINGS_MOST = 10,
    JOBS_MOST = 64,
    NATIVE_EVERY = 400, /* the compiler takes as long for one as some hundred others take together */
};

/* State of a worker. */
struct progress {
    uint64_t at; /* the case that is running */
    uint64_t compiled, native, results;
    uint64_t slowest, slowest_us;
};

/* State that the processes share. */
struct shared {
    _Atomic uint64_t next; /* the first case that no worker has taken */
    _Atomic unsigned findings;
    struct progress workers[JOBS_MOST];
};

struct session {
    struct tessla_corpus corpus;
    struct shared *shared;
    struct progress *progress; /* state of this worker */
    const char *folder;
    uint64_t seed;
};

static uint64_t now_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void make_case(const struct session *s, struct tessla_text *t, uint64_t index)
{
    t->rng.state = s->seed * UINT64_C(0xd1342543de82ef95) + index;
    t->rng.state = rng_next(&t->rng);
    tessla_text_make(t, &s->corpus);
}

/* Limits the processor time, so that a busy machine makes no finding; 0: no limit. SIGPROF ends a process
 * above it. */
static void limit_time(unsigned seconds)
{
    const struct itimerval limit = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* Runs a case in memory of just its size, so that ASan detects every read beyond it. */
static void run_case(const struct session *s, uint64_t index)
{
    struct progress *p = s->progress;
    static struct tessla_text t;
    make_case(s, &t, index);
    uint8_t *data = malloc(t.n);
    if (!data)
        abort();
    memcpy(data, t.p, t.n);
    p->at = index;
    limit_time(CASE_SECONDS);
    const uint64_t begin = now_us(CLOCK_PROCESS_CPUTIME_ID);
    LLVMFuzzerTestOneInput(data, t.n);
    const uint64_t us = now_us(CLOCK_PROCESS_CPUTIME_ID) - begin;
    limit_time(0);
    free(data);
    if (us > p->slowest_us) {
        p->slowest_us = us;
        p->slowest = index;
    }
}

/* Run cases and end the process with exit, so that leaks are looked for. */
static void run_bytecode(const struct session *s, uint64_t from, uint64_t to)
{
    fuzz_tessla = (struct fuzz_tessla){.engines = 1};
    for (uint64_t i = from; i < to; i++)
        run_case(s, i);
    s->progress->at = to;
    s->progress->compiled += fuzz_tessla.compiled;
    s->progress->results += fuzz_tessla.results;
    exit(0);
}

#ifdef CT_FUZZ_NATIVE
static void run_native(const struct session *s, uint64_t from, uint64_t to)
{
    fuzz_tessla = (struct fuzz_tessla){.engines = 2};
    for (uint64_t i = from; i < to; i++)
        if (i % NATIVE_EVERY == 0)
            run_case(s, i);
    s->progress->at = to;
    s->progress->native += fuzz_tessla.compiled;
    exit(0);
}
#endif

static void keep(struct session *s, uint64_t index, int status, const char *engine)
{
    char path[PATH_MAX];
    static struct tessla_text t;
    make_case(s, &t, index);
    snprintf(path, sizeof path, "%s/tessla-%" PRIu64 "-%" PRIu64, s->folder, s->seed, index);
    mkdir(s->folder, 0777);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(t.p, 1, t.n, file);
        fclose(file);
    }
    printf("# %s: %s %d with CT_SEED=%" PRIu64 " CT_FIRST=%" PRIu64 " CT_COUNT=1: %s\n", engine,
           WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), s->seed, index, path);
    s->shared->findings++;
}

/* Runs cases from `from` to `to` in processes: a new one after each that ends badly. */
static void run_piece(struct session *s, void run(const struct session *, uint64_t, uint64_t), uint64_t from,
                      uint64_t to, const char *engine)
{
    while (from < to && s->shared->findings < FINDINGS_MOST) {
        int status = 1;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            run(s, from, to);
        if (child < 0 || waitpid(child, &status, 0) != child)
            status = 1 << 8;
        if (!status)
            return;
        const uint64_t at = s->progress->at;
        if (at == to) {
            printf("# %s: leaks in the cases from CT_FIRST=%" PRIu64 " to %" PRIu64 "\n", engine, from,
                   to - 1);
            s->shared->findings++;
            return;
        }
        keep(s, at, status, engine);
        from = at + 1;
    }
}

struct run {
    uint64_t first, count, seconds, begin;
};

/* Runs a worker: takes pieces until there are none, or no time is left. */
static void work(struct session *s, const struct run *run)
{
    const uint64_t end = run->first + run->count;
    while (s->shared->findings < FINDINGS_MOST &&
           (!run->seconds || now_us(CLOCK_MONOTONIC) - run->begin < run->seconds * 1000000)) {
        const uint64_t at = atomic_fetch_add(&s->shared->next, PIECE);
        if (at >= end)
            return;
        const uint64_t to = end - at > PIECE ? at + PIECE : end;
        run_piece(s, run_bytecode, at, to, "bytecode");
#ifdef CT_FUZZ_NATIVE
        run_piece(s, run_native, at, to, "machine code");
#endif
    }
}

/* Runs all workers. Returns false when one ended badly. */
static bool run_workers(struct session *s, const struct run *run, unsigned jobs)
{
    bool fine = true;
    fflush(stdout);
    for (unsigned i = 0; i < jobs; i++) {
        const pid_t worker = fork();
        if (worker == 0) {
            s->progress = &s->shared->workers[i];
            work(s, run);
            fflush(stdout);
            _exit(0);
        }
        fine &= worker > 0;
    }
    int status;
    while (wait(&status) > 0)
        fine &= !status;
    return fine;
}

/* Runs all cases and returns how many were run. */
static uint64_t run_all(struct session *s, const struct run *run, unsigned jobs)
{
    const uint64_t end = run->first + run->count;
    s->shared->next = run->first;
    const bool fine = run_workers(s, run, jobs);
    if (!fine) {
        printf("# a worker ended badly\n");
        s->shared->findings++;
    }
    const uint64_t at = s->shared->next < end ? s->shared->next : end;
    printf("# %" PRIu64 " of %" PRIu64 " cases in %.1f s by %u workers", at - run->first, run->count,
           (double)(now_us(CLOCK_MONOTONIC) - run->begin) / 1e6, jobs);
    if (run->seconds)
        printf(" of %" PRIu64 " (CT_SECONDS)", run->seconds);
    if (at < end)
        printf("; CT_SEED=%" PRIu64 " CT_FIRST=%" PRIu64 " goes on", s->seed, at);
    printf("\n");
    return at - run->first;
}

static struct progress add_up(const struct shared *shared, unsigned jobs)
{
    struct progress sum = {0};
    for (unsigned i = 0; i < jobs; i++) {
        const struct progress *p = &shared->workers[i];
        sum.compiled += p->compiled;
        sum.native += p->native;
        sum.results += p->results;
        if (p->slowest_us > sum.slowest_us) {
            sum.slowest_us = p->slowest_us;
            sum.slowest = p->slowest;
        }
    }
    return sum;
}

static bool is_long(void)
{
    return test_number("CT_LONG", 0) > 0;
}

/* Returns CT_JOBS, or the default of the tier. */
static unsigned job_count(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t jobs = test_number("CT_JOBS", is_long() && processors > 0 ? (uint64_t)processors : 1);
    return jobs > JOBS_MOST ? JOBS_MOST : jobs ? (unsigned)jobs : 1;
}

int main(int argc, char **argv)
{
    const uint64_t cases = is_long() ? MANY : test_number("CT_WHOLE", 0) ? FEW : FEW / 4;
    const struct run run = {.first = test_number("CT_FIRST", 0),
                            .count = test_number("CT_COUNT", cases),
                            .seconds = test_number("CT_SECONDS", 0),
                            .begin = now_us(CLOCK_MONOTONIC)};
    struct session s = {.folder = argc > 2 ? argv[2] : ".", .seed = test_number("CT_SEED", 1)};
    if (argc < 2 || !tessla_corpus_read(&s.corpus, argv[1])) {
        printf("Bail out! no specifications in %s\n", argc < 2 ? "nothing" : argv[1]);
        return 1;
    }
    s.shared = mmap(NULL, sizeof *s.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.shared == MAP_FAILED)
        return 1;
    printf("TAP version 13\n1..1\n# CT_SEED=%" PRIu64 " CT_FIRST=%" PRIu64 " CT_COUNT=%" PRIu64
           ", changes of %zu specifications\n",
           s.seed, run.first, run.count, s.corpus.count);
    const unsigned jobs = job_count();
    const uint64_t done = run_all(&s, &run, jobs);
    const struct progress p = add_up(s.shared, jobs);
    printf("# slowest: case %" PRIu64 ", %.3f s\n", p.slowest, (double)p.slowest_us / 1e6);
    printf("%s 1 - %" PRIu64 " random specifications, of which %" PRIu64 " compile and put out %" PRIu64
           " results, %" PRIu64 " as machine code too\n",
           s.shared->findings ? "not ok" : "ok", done, p.compiled, p.results, p.native);
    tessla_corpus_free(&s.corpus);
    return s.shared->findings > 0;
}
