/* SPDX-License-Identifier: Apache-2.0 */
/* usage: bench_decode [--rounds N] [--json FILE] NAME FOLDER ...     measures each capture at each level
 *        bench_decode --once LEVEL NAME FOLDER                       decodes it once, to be looked at with
 *                                                                    callgrind
 *
 * In each round every level is decoded by coretap and by libopencsd; what is printed are medians over the
 * rounds, of processor time. With two threads, over a longer stream and in a few of the rounds: how much
 * shorter it took by the clock, which a machine that does something else spoils, what the machine lets two
 * threads have, how much work it was, and how much of it was that of the busier one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROUNDS_MOST 99

/* Two threads are for large streams: their rounds. */
#define THREAD_ROUNDS 3u

/* An input of so many bytes takes libopencsd half a minute and more, and says enough in fewer rounds. */
#define LARGE        ((size_t)40 << 20)
#define LARGE_ROUNDS 3u
#define LARGE_OCSD   1u

/* Seconds of the rounds. */
struct series {
    double values[ROUNDS_MOST];
    unsigned count;
};

struct row {
    struct series cold, warm, ocsd;
    struct series faster, most, work, longest; /* of struct bench_threads */
    struct ct_stream_stats stats;
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add(struct series *s, double value)
{
    if (value > 0)
        s->values[s->count++] = value;
}

/* 0 when there is none. */
static double median(const struct series *s)
{
    double sorted[ROUNDS_MOST];
    memcpy(sorted, s->values, sizeof sorted);
    qsort(sorted, s->count, sizeof *sorted, by_value);
    return s->count ? sorted[s->count / 2] : 0;
}

static double rate(double amount, double seconds)
{
    return seconds > 0 ? amount / 1e6 / seconds : 0;
}

static bool is_large(const struct bench_input *input)
{
    return input->size >= LARGE;
}

static void measure(const struct bench_input *input, enum bench_level level, struct row *row)
{
    struct bench_pass pass;
    bench_coretap(input, level, &pass);
    row->stats = pass.stats;
    add(&row->cold, pass.cold);
    add(&row->warm, pass.warm);
    /* Behind FLOW libopencsd does what it did for FLOW. */
    if (level <= BENCH_FLOW && (!is_large(input) || row->ocsd.count < LARGE_OCSD))
        add(&row->ocsd, bench_ocsd(input, level));
}

static void measure_threads(const struct bench_input *input, enum bench_level level, struct row *row)
{
    struct bench_threads result;
    bench_threads(input, level, (double)input->size / median(&row->warm), &result);
    add(&row->faster, result.faster);
    add(&row->most, result.most);
    add(&row->work, result.work);
    add(&row->longest, result.longest);
}

/* Frames are taken by the caller's thread, and events leave in their order. */
static bool has_threads(enum bench_level level)
{
    return level != BENCH_FRAME && level != BENCH_EVENTS;
}

static void print_or_dash(const char *format, double value)
{
    if (value > 0)
        printf(format, value);
    else
        printf("%9s", "-");
}

static void print_row(const struct bench_input *in, enum bench_level level, const struct row *r)
{
    const double warm = median(&r->warm), ocsd = median(&r->ocsd), size = (double)in->size;
    printf("%-17s %-9s", in->name, bench_level_names[level]);
    printf("%9.1f%9.1f", rate(size, median(&r->cold)), rate(size, warm));
    print_or_dash("%9.1f", rate((double)r->stats.atoms, warm));
    print_or_dash("%9.1f", rate((double)r->stats.branches, warm));
    print_or_dash("%9.1f", rate((double)r->stats.instructions, warm));
    print_or_dash("%9.2f", median(&r->faster));
    print_or_dash("%9.2f", median(&r->most));
    print_or_dash("%9.2f", median(&r->work));
    print_or_dash("%9.2f", median(&r->longest));
    print_or_dash("%9.1f", rate(size, ocsd));
    print_or_dash("%9.1f", ocsd / warm);
    print_or_dash("%9.1f", ocsd / median(&r->cold));
    printf("\n");
}

static void write_row(FILE *json, const struct bench_input *in, enum bench_level level, const struct row *r,
                      bool first)
{
    const double warm = median(&r->warm), ocsd = median(&r->ocsd), size = (double)in->size;
    const double cold = median(&r->cold);
    fprintf(json, "%s\n  {\"input\": \"%s\", \"level\": \"%s\", \"bytes\": %zu, \"cold_mb_per_s\": %.2f, ",
            first ? "" : ",", in->name, bench_level_names[level], in->size, rate(size, cold));
    fprintf(json, "\"warm_mb_per_s\": %.2f, \"matoms_per_s\": %.2f, \"mbranches_per_s\": %.2f, ",
            rate(size, warm), rate((double)r->stats.atoms, warm), rate((double)r->stats.branches, warm));
    fprintf(json,
            "\"minstructions_per_s\": %.2f, \"two_threads_faster\": %.3f, \"two_alone_faster\": %.3f, "
            "\"two_threads_work\": %.3f, \"two_threads_longest\": %.3f, \"ocsd_mb_per_s\": %.2f, \"ratio\": "
            "%.3f, "
            "\"cold_matoms_per_s\": %.2f, \"cold_ratio\": %.3f}",
            rate((double)r->stats.instructions, warm), median(&r->faster), median(&r->most), median(&r->work),
            median(&r->longest), rate(size, ocsd), ocsd / warm, rate((double)r->stats.atoms, cold),
            ocsd / cold);
}

/* All levels in turns, round after round, so that what else the machine does falls on all of them. */
static void bench(const struct bench_input *in, unsigned rounds, FILE *json, bool *first)
{
    static struct row rows[BENCH_LEVELS];
    const unsigned thread_rounds = is_large(in) ? 1 : THREAD_ROUNDS;
    memset(rows, 0, sizeof rows);
    if (is_large(in) && rounds > LARGE_ROUNDS)
        rounds = LARGE_ROUNDS;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned level = 0; level < BENCH_LEVELS; level++)
            if (bench_has_level(in, (enum bench_level)level))
                measure(in, (enum bench_level)level, &rows[level]);
    for (unsigned round = 0; round < rounds && round < thread_rounds; round++)
        for (unsigned level = 0; level < BENCH_LEVELS; level++)
            if (bench_has_level(in, (enum bench_level)level) && has_threads((enum bench_level)level))
                measure_threads(in, (enum bench_level)level, &rows[level]);
    rows[BENCH_COVERAGE].ocsd = rows[BENCH_TIMING].ocsd = rows[BENCH_FLOW].ocsd;
    for (unsigned level = 0; level < BENCH_LEVELS; level++) {
        if (!bench_has_level(in, (enum bench_level)level))
            continue;
        print_row(in, (enum bench_level)level, &rows[level]);
        if (json)
            write_row(json, in, (enum bench_level)level, &rows[level], *first);
        *first = false;
    }
    fflush(stdout);
}

static int once(const char *level_name, const char *name, const char *path)
{
    struct bench_input input;
    struct bench_pass pass;
    for (unsigned level = 0; level < BENCH_LEVELS; level++) {
        if (strcmp(level_name, bench_level_names[level]) != 0 || !bench_input_open(&input, name, path))
            continue;
        bench_coretap(&input, (enum bench_level)level, &pass);
        printf("%zu bytes, twice: %.1f and %.1f MB/s\n", input.size, rate((double)input.size, pass.cold),
               rate((double)input.size, pass.warm));
        bench_input_close(&input);
        return 0;
    }
    fprintf(stderr, "bench: no level '%s', or no capture\n", level_name);
    return 2;
}

static void print_head(unsigned rounds)
{
    printf("coretap %s, medians of up to %u rounds; MB, atoms, branches taken and instructions in 10^6 a "
           "second\n",
           ct_version(), rounds);
    printf("%-17s %-9s%9s%9s%9s%9s%9s%9s%9s%9s%9s%9s%9s%9s\n", "input", "level", "cold MB", "warm MB",
           "atoms", "branches", "insns", "2 thr. x", "2 alone", "work x", "longest", "ocsd MB", "x ocsd",
           "cold x");
}

int main(int argc, char **argv)
{
    unsigned rounds = 5;
    FILE *json = NULL;
    int at = 1;
    bool first = true;
    if (argc == 5 && !strcmp(argv[1], "--once"))
        return once(argv[2], argv[3], argv[4]);
    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        if (!strcmp(argv[at], "--rounds"))
            rounds = (unsigned)atoi(argv[at + 1]);
        else if (!strcmp(argv[at], "--json"))
            json = fopen(argv[at + 1], "w");
    }
    rounds = rounds < 1 || rounds > ROUNDS_MOST ? 5 : rounds;
    print_head(rounds);
    if (*bench_ocsd_missing())
        printf("%s\n", bench_ocsd_missing());
    if (json)
        fprintf(json, "{\"rounds\": %u, \"rows\": [", rounds);
    for (; at + 1 < argc; at += 2) {
        struct bench_input input;
        if (bench_input_open(&input, argv[at], argv[at + 1]))
            bench(&input, rounds, json, &first);
        bench_input_close(&input);
    }
    if (json) {
        fprintf(json, "\n]}\n");
        fclose(json);
    }
    return 0;
}
