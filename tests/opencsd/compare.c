/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/compare.h"

#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_SHOWN = 3,    /* differences that are printed */
    MOST_SECONDS = 10, /* time limit for a trace in a process of its own */
    BATCH = 300,       /* traces per process */
};

/* Output of both libraries for one trace. */
struct pair {
    struct compare_text theirs, ours;
    bool broken; /* coretap's library crashed */
};

static uint32_t read_regions(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                             uint8_t *bytes)
{
    const struct compare_trace *trace = player->memory;
    (void)space;
    for (unsigned i = 0; i < trace->region_count; i++) {
        const struct ocsd_region *r = &trace->regions[i];
        if (addr < r->addr || addr - r->addr >= r->size)
            continue;
        const uint64_t left = r->size - (addr - r->addr);
        const uint32_t n = left < size ? (uint32_t)left : size;
        memcpy(bytes, r->bytes + (addr - r->addr), n);
        return n;
    }
    return 0;
}

static sigjmp_buf crash;

static void on_crash(int signal)
{
    siglongjmp(crash, signal);
}

bool compare_play(struct player player, const struct library *library, const struct compare_trace *trace,
                  struct compare_text *out)
{
    const struct sigaction ours = {.sa_handler = on_crash};
    struct sigaction before;
    const struct ct_buffer buffer = {.sources = trace->source, .source_count = 1};
    player.library = library;
    player.buffer = &buffer;
    player.memory = trace;
    player.read = read_regions;
    player.out = open_memstream(&out->data, &out->size);
    if (!player.out)
        abort();
    sigaction(SIGSEGV, &ours, &before);
    const bool crashed = sigsetjmp(crash, 1) != 0;
    if (!crashed)
        player_play(&player, trace->bytes, trace->size);
    sigaction(SIGSEGV, &before, NULL);
    fclose(player.out);
    return crashed;
}

/* Plays a trace through a library in a process of its own, in which memory that was never written, and
 * the bytes behind those of each call, have the value `fill`. Returns true when the library crashed. */
static bool play_alone(struct player player, const struct library *library, const struct compare_trace *trace,
                       int fill, struct compare_text *out)
{
    int ends[2];
    int status = -1;
    fflush(stdout);
    if (pipe(ends))
        abort();
    const pid_t child = fork();
    if (!child) {
        mallopt(M_PERTURB, fill);
        player.past = (uint8_t)fill;
        alarm(MOST_SECONDS);
        const bool crashed = compare_play(player, library, trace, out);
        for (size_t at = 0; at < out->size && !crashed;) {
            const ssize_t n = write(ends[1], out->data + at, out->size - at);
            at = n > 0 ? at + (size_t)n : out->size;
        }
        _exit(crashed);
    }
    close(ends[1]);
    FILE *text = open_memstream(&out->data, &out->size);
    char bytes[4096];
    for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;)
        fwrite(bytes, 1, (size_t)n, text);
    fclose(text);
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return status != 0;
}

static size_t line_length(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? (size_t)(end - text) + 1 : strlen(text);
}

/* Returns whether a line is an element of another instruction set than `isa`. For 32-bit code only ranges
 * count: a context may have either set there. */
static bool is_foreign(const char *line, ocsd_isa isa)
{
    const char *end = line + line_length(line);
    const char *found = strstr(line, " isa=");
    const char *range = strstr(line, " st=");
    if (isa == ocsd_isa_unknown || *line != 'E' || !found || found >= end ||
        (isa != ocsd_isa_aarch64 && (!range || range >= end)))
        return false;
    return strtol(found + strlen(" isa="), NULL, 10) != (long)isa;
}

static bool is_same_line(const char *a, const char *b)
{
    const size_t size = line_length(a);
    return size == line_length(b) && !memcmp(a, b, size);
}

/* Returns whether a line is where 1.3.3 gives up a trace, at an ID in a frame that has no byte. */
static bool gives_up(const char *line)
{
    const char *found = strstr(line, "Zero length data block");
    return found && found < line + line_length(line);
}

/* Compares the output of the libraries up to the first code of another instruction set, or to where OpenCSD's
 * library gives up. Returns true when it is the same, else prints the difference if `say` is set. */
static bool is_same(const struct compare_text *theirs, const struct compare_text *ours, ocsd_isa isa,
                    bool say)
{
    const char *a = theirs->data, *b = ours->data, *before = a;
    while (*a && *b && is_same_line(a, b) && !is_foreign(a, isa)) {
        before = a;
        a += line_length(a);
        b += line_length(b);
    }
    if ((!*a && !*b) || is_foreign(a, isa) || gives_up(a))
        return true;
    if (say)
        printf("#   both    %.*s#   OpenCSD %.*s#   coretap %.*s", (int)line_length(before), before,
               (int)line_length(a), *a ? a : "(end)\n", (int)line_length(b), *b ? b : "(end)\n");
    return false;
}

/* Plays a trace through a library twice, in a process each. Returns whether neither crashed and the output
 * was the same. */
static bool play_twice(struct player player, const struct library *library, const struct compare_trace *trace,
                       struct compare_text *out)
{
    struct compare_text again = {0};
    const bool crashed = play_alone(player, library, trace, 0x55, out);
    const bool crashed_again = play_alone(player, library, trace, 0xaa, &again);
    const bool same =
        !crashed && !crashed_again && out->size == again.size && !memcmp(out->data, again.data, out->size);
    free(again.data);
    return same;
}

/* Plays a trace through both libraries. Returns true when OpenCSD's crashed, or when its output was not
 * reproducible. With `alone` each plays in processes of its own, because a library keeps the last error of
 * the traces before. */
static bool play_both(struct player player, const struct library *theirs, const struct library *ours,
                      const struct compare_trace *trace, bool alone, struct pair *pair)
{
    const bool crashed = alone ? !play_twice(player, theirs, trace, &pair->theirs)
                               : compare_play(player, theirs, trace, &pair->theirs);
    pair->broken = alone ? play_alone(player, ours, trace, 0, &pair->ours)
                         : compare_play(player, ours, trace, &pair->ours);
    return crashed;
}

/* Returns whether the output of both libraries agrees, or cannot be compared because OpenCSD's crashed. */
static bool agrees(const struct pair *pair, bool crashed, ocsd_isa isa, bool say)
{
    return !pair->broken && (crashed || is_same(&pair->theirs, &pair->ours, isa, say));
}

static void free_pair(struct pair *pair)
{
    free(pair->theirs.data);
    free(pair->ours.data);
    *pair = (struct pair){0};
}

void compare(struct player player, const struct compare_trace *trace, const struct library *theirs,
             const struct library *ours, ocsd_isa isa, uint64_t seed, struct compare_counts *counts)
{
    const bool say = counts->worse < MOST_SHOWN;
    struct pair pair = {0};
    bool crashed = play_both(player, theirs, ours, trace, trace->twice, &pair);
    bool same = agrees(&pair, crashed, isa, say && trace->twice);
    if (!same && !trace->twice) {
        free_pair(&pair);
        crashed = play_both(player, theirs, ours, trace, true, &pair);
        same = agrees(&pair, crashed, isa, say);
    }
    counts->crashes += crashed;
    counts->worse += !same;
    if (pair.broken)
        printf("# coretap's library crashes\n");
    if (!same)
        printf("# … CT_SEED=%" PRIu64 " CT_COUNT=1, wait %u ops %u small %u\n", seed, player.wait, player.ops,
               player.small);
    free_pair(&pair);
}

bool compare_is_same(struct player player, const struct compare_trace *trace, const struct library *theirs,
                     const struct library *ours, ocsd_isa isa)
{
    struct pair pair = {0};
    const bool crashed = play_both(player, theirs, ours, trace, trace->twice, &pair);
    const bool same = !crashed && agrees(&pair, crashed, isa, false);
    free_pair(&pair);
    return same;
}

void compare_seeds(uint64_t first, uint64_t count,
                   void (*each)(const void *context, uint64_t seed, struct compare_counts *counts),
                   const void *context, struct compare_counts *counts)
{
    struct shared {
        struct compare_counts counts;
        uint64_t next; /* next seed */
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    for (shared->next = first; shared->next < first + count;) {
        const uint64_t left = first + count - shared->next;
        const uint64_t end = shared->next + (left < BATCH ? left : BATCH);
        int status = -1;
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            for (; shared->next < end; shared->next++)
                each(context, shared->next, &shared->counts);
            fflush(stdout);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            abort();
        if (shared->next < end) {
            shared->counts.crashes++;
            shared->next++;
        }
    }
    *counts = shared->counts;
    munmap(shared, sizeof *shared);
}

int compare_kinds(int argc, char **argv, int count, const char *(*name)(int kind, bool *damaged),
                  uint64_t few, uint64_t many, uint64_t most_worse,
                  void (*each)(const void *kind, uint64_t seed, struct compare_counts *counts))
{
    struct library theirs, ours;
    if (argc < 3 || library_load(argv[1], &theirs) || library_load(argv[2], &ours))
        return 2;
    const uint64_t first = test_number("CT_SEED", 1), traces = test_count(few, many);
    int failed = 0;
    printf("TAP version 13\n1..%d\n", count);
    for (int i = 0; i < count; i++) {
        const struct compare_kind kind = {i, &theirs, &ours};
        struct compare_counts counts;
        bool damaged = false;
        const char *what = name(i, &damaged);
        compare_seeds(first, traces, each, &kind, &counts);
        printf("# %" PRIu64 " traces, %" PRIu64 " that differ, %" PRIu64 " of which OpenCSD crashes\n",
               traces, counts.worse, counts.crashes);
        const bool good = counts.worse <= (damaged && most_worse ? traces / most_worse : 0);
        printf("%sok %d - %s\n", good ? "" : "not ", i + 1, what);
        failed |= !good;
    }
    return failed;
}

size_t compare_put(uint8_t *bytes, const char *words, size_t (*put_word)(uint8_t *bytes, const char *word))
{
    size_t size = 0;
    for (const char *at = words; *at; at += *at == ' ') {
        size += put_word(bytes + size, at);
        at += strcspn(at, " ");
    }
    return size;
}
