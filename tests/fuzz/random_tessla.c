/* Random specifications (tessla_text.h) through fuzz_tessla.c: compiled and run as bytecode, and every NATIVE_EVERY-th as
 * machine code too, whose results are held against the bytecode's. A process of its own runs each piece of the cases, so that
 * one that crashes, aborts, leaks or takes more than CASE_SECONDS of the processor is a finding, kept as a file, and the others go on.
 *
 * usage: random_tessla CORPUS FINDINGS
 *
 * CT_COUNT: how many cases (10,000, in the long tier ten million). CT_SEED and CT_FIRST: from which one on. CT_SECONDS: the time
 * that they may take (600 in the long tier, as long as it takes with CT_COUNT and in the short one). Prints TAP. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_tessla.h"
#include "tessla_text.h"

enum {
    PIECE = 1000,
    CASE_SECONDS = 60,
    FINDINGS_MOST = 10,
    LONG_SECONDS = 600,
#ifdef CT_FUZZ_NATIVE
    NATIVE_EVERY = 100,
#else
    NATIVE_EVERY = 0, /* none */
#endif
};

/* What the processes share. */
struct progress {
    uint64_t at; /* the case that runs */
    uint64_t compiled, native, results;
    uint64_t slowest, slowest_us;
};

struct session {
    struct tessla_corpus corpus;
    struct progress *progress;
    const char *folder;
    uint64_t seed;
    unsigned findings;
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

/* Of the processor, so that a busy machine makes no finding; 0: no limit. Over it SIGPROF ends the process. */
static void limit_time(unsigned seconds)
{
    const struct itimerval limit = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* In memory of just its size, so that ASan sees every read beyond it. */
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

/* Run the cases and end the process with exit, so that leaks are looked for. */
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
    s->findings++;
}

/* Runs cases from `from` to `to` in processes, one more behind each that ends badly. */
static void run_piece(struct session *s, void run(const struct session *, uint64_t, uint64_t), uint64_t from,
                      uint64_t to, const char *engine)
{
    while (from < to && s->findings < FINDINGS_MOST) {
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
            s->findings++;
            return;
        }
        keep(s, at, status, engine);
        from = at + 1;
    }
}

static uint64_t run_all(struct session *s, uint64_t first, uint64_t count, uint64_t seconds)
{
    const uint64_t begin = now_us(CLOCK_MONOTONIC), end = first + count;
    uint64_t at = first;
    while (at < end && s->findings < FINDINGS_MOST &&
           (!seconds || now_us(CLOCK_MONOTONIC) - begin < seconds * 1000000)) {
        const uint64_t to = end - at > PIECE ? at + PIECE : end;
        run_piece(s, run_bytecode, at, to, "bytecode");
        if (NATIVE_EVERY)
            run_piece(s, run_native, at, to, "machine code");
        at = to;
    }
    printf("# %" PRIu64 " of %" PRIu64 " cases in %.1f s", at - first, count,
           (double)(now_us(CLOCK_MONOTONIC) - begin) / 1e6);
    if (seconds)
        printf(" of %" PRIu64 " (CT_SECONDS)", seconds);
    if (at < end)
        printf("; CT_SEED=%" PRIu64 " CT_FIRST=%" PRIu64 " goes on", s->seed, at);
    printf("\n");
    return at - first;
}

int main(int argc, char **argv)
{
    const uint64_t count = test_count(10000, 10000000), first = test_number("CT_FIRST", 0);
    const bool bounded = test_number("CT_LONG", 0) && !getenv("CT_COUNT");
    struct session s = {.folder = argc > 2 ? argv[2] : ".", .seed = test_number("CT_SEED", 1)};
    if (argc < 2 || !tessla_corpus_read(&s.corpus, argv[1])) {
        printf("Bail out! no specifications in %s\n", argc < 2 ? "nothing" : argv[1]);
        return 1;
    }
    s.progress = mmap(NULL, sizeof *s.progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.progress == MAP_FAILED)
        return 1;
    printf("TAP version 13\n1..1\n# CT_SEED=%" PRIu64 " CT_FIRST=%" PRIu64 " CT_COUNT=%" PRIu64
           ", changes of %zu specifications\n",
           s.seed, first, count, s.corpus.count);
    const uint64_t done = run_all(&s, first, count, test_number("CT_SECONDS", bounded ? LONG_SECONDS : 0));
    const struct progress *p = s.progress;
    printf("# slowest: case %" PRIu64 ", %.3f s\n", p->slowest, (double)p->slowest_us / 1e6);
    printf("%s 1 - %" PRIu64 " random specifications, of which %" PRIu64 " compile and put out %" PRIu64
           " results, %" PRIu64 " as machine code too\n",
           s.findings ? "not ok" : "ok", done, p->compiled, p->results, p->native);
    tessla_corpus_free(&s.corpus);
    return s.findings > 0;
}
