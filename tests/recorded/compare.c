/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what was decoded with what was executed: the same instructions in the same order.
 *
 * usage: coretap list --elements DIR | compare TRUTH [ID]...     TRUTH as coretap record --truth writes it;
 *                                                                trace IDs in frames, when they are not 10,
 *                                                                11, …
 *
 * Both are joined into the longest possible runs of adjacent instructions and compared core by core. Prints
 * "N instructions" and exits with 0, or prints the difference and exits with 1. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORES    256
#define FIRST_ID 0x10

struct run {
    uint64_t start, end, n;
    char isa[4];
};

struct runs {
    struct run *run;
    size_t count, room;
};

/* The run that may still grow, and the position of the comparison, of a core. */
struct core {
    struct runs truth;
    size_t done;
    struct run now;
};

static struct core cores[CORES];

static void fail(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void add(struct runs *runs, const struct run *run)
{
    struct run *last = runs->count ? &runs->run[runs->count - 1] : NULL;
    if (last && last->end == run->start && !strcmp(last->isa, run->isa)) {
        last->end = run->end;
        last->n += run->n;
        return;
    }
    if (runs->count == runs->room) {
        runs->room = runs->room ? 2 * runs->room : 1024;
        runs->run = realloc(runs->run, runs->room * sizeof *runs->run);
        if (!runs->run)
            fail("no memory");
    }
    runs->run[runs->count++] = *run;
}

static uint64_t read_truth(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256], traced;
    unsigned number;
    uint64_t sum = 0;
    if (!file)
        fail("no truth file");
    while (fgets(line, sizeof line, file)) {
        struct run run;
        if (sscanf(line, "%c %u %*x %3s %" SCNx64 " %" SCNx64 " %" SCNu64, &traced, &number, run.isa,
                   &run.start, &run.end, &run.n) != 6 ||
            number >= CORES)
            fail(line);
        if (traced == '+') {
            add(&cores[number].truth, &run);
            sum += run.n;
        }
    }
    fclose(file);
    return sum;
}

static void differ(const struct core *core, const struct run *got)
{
    const struct run *want = core->done < core->truth.count ? &core->truth.run[core->done] : NULL;
    printf("core %d, run %zu: decoded ", (int)(core - cores), core->done);
    if (got)
        printf("%s %" PRIx64 "..%" PRIx64 " (%" PRIu64 ")", got->isa, got->start, got->end, got->n);
    else
        printf("nothing");
    printf(", executed ");
    if (want)
        printf("%s %" PRIx64 "..%" PRIx64 " (%" PRIu64 ")\n", want->isa, want->start, want->end, want->n);
    else
        printf("nothing\n");
    exit(1);
}

/* Ends the run that may still grow, and compares it. */
static void close_run(struct core *core)
{
    if (!core->now.n)
        return;
    const struct run *want = core->done < core->truth.count ? &core->truth.run[core->done] : NULL;
    const struct run *got = &core->now;
    if (!want || want->start != got->start || want->end != got->end || want->n != got->n ||
        strcmp(want->isa, got->isa) != 0)
        differ(core, got);
    core->done++;
    core->now.n = 0;
}

static void decoded(struct core *core, const char *fields)
{
    struct run run;
    if (sscanf(fields, "start=%" SCNx64 " end=%" SCNx64 " n=%" SCNu64 " last_sz=%*d isa=%3s", &run.start,
               &run.end, &run.n, run.isa) != 4)
        fail(fields);
    if (core->now.n && core->now.end == run.start && !strcmp(core->now.isa, run.isa)) {
        core->now.end = run.end;
        core->now.n += run.n;
        return;
    }
    close_run(core);
    core->now = run;
}

/* Returns the core with this trace ID, or that of buffer `buffer` when it has no frames. */
static struct core *core_of(unsigned id, unsigned buffer, int count, char **ids)
{
    for (int i = 0; i < count; i++)
        if (strtoul(ids[i], NULL, 16) == id)
            return &cores[i];
    return &cores[id ? (id - FIRST_ID) % CORES : buffer % CORES];
}

int main(int argc, char **argv)
{
    char line[512];
    unsigned buffer = 0, id;
    const uint64_t sum = argc >= 2 ? read_truth(argv[1]) : 0;
    struct core *core = &cores[0];
    bool bad = false;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "# buffer ETB_%u", &buffer) == 1)
            continue;
        if (sscanf(line, "# id %x", &id) == 1) {
            core = core_of(id, buffer, argc - 2, argv + 2);
            continue;
        }
        const char *fields = strstr(line, " instr_range ");
        if (fields)
            decoded(core, fields + strlen(" instr_range "));
        bad |= strstr(line, " addr_nacc ") || strstr(line, " nopath ") || strstr(line, "bad_program_image");
        if (bad)
            fail(line);
    }
    for (unsigned i = 0; i < CORES; i++) {
        close_run(&cores[i]);
        if (cores[i].done != cores[i].truth.count)
            differ(&cores[i], NULL);
    }
    printf("%" PRIu64 " instructions\n", sum);
    return sum ? 0 : 1;
}
