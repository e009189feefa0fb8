/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast frames are split into runs for each trace ID: aligned frames and TPIU frames, of one ID
 * or of four that change every few bytes, with the map of offsets. Each run is read as the chain reads it but
 * not decoded. In each round, every version for the instructions of this processor takes its turn; prints the
 * best round and the median, in 10^9 bytes a second. Or for one capture in a file, with a FRAMING of enum
 * ct_framing:
 *   bench_frames [ROUNDS [PIECE [FILE FRAMING]]] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "support/rng.h"
#include "coretap/encode.h"
#include "frame/demux.h"

#define ROUNDS      8
#define PASSES      4
#define ROUNDS_MOST 999
#define SIZE        ((size_t)4 << 20) /* approximate bytes of frames */
#define PIECE       ((size_t)64 << 10)
#define WAYS_MOST   8

struct input {
    const char *name;
    uint8_t framing;
    uint8_t ids;        /* number of trace IDs */
    uint16_t low, high; /* fewest and most bytes of one ID in a row; 0: all bytes */
    uint32_t fsync_period, hsync_period;
    uint8_t *bytes;
    size_t size;
};

static struct input inputs[] = {
    {.name = "aligned, one ID", .framing = CT_FRAMING_FRAMES, .ids = 1},
    {.name = "aligned, four IDs, 200 to 2000 bytes",
     .framing = CT_FRAMING_FRAMES,
     .ids = 4,
     .low = 200,
     .high = 2000},
    {.name = "aligned, four IDs, 16 to 64 bytes",
     .framing = CT_FRAMING_FRAMES,
     .ids = 4,
     .low = 16,
     .high = 64},
    {.name = "aligned, four IDs, 4 to 24 bytes",
     .framing = CT_FRAMING_FRAMES,
     .ids = 4,
     .low = 4,
     .high = 24},
    {.name = "aligned, four IDs, 14 bytes", .framing = CT_FRAMING_FRAMES, .ids = 4, .low = 14, .high = 14},
    {.name = "aligned, four IDs, 1 to 4 bytes", .framing = CT_FRAMING_FRAMES, .ids = 4, .low = 1, .high = 4},
    {.name = "TPIU, one ID", .framing = CT_FRAMING_TPIU, .ids = 1},
    {.name = "TPIU, one ID, FSYNC every 64 frames", .framing = CT_FRAMING_TPIU, .ids = 1, .fsync_period = 64},
    {.name = "TPIU, four IDs, 16 to 64 bytes", .framing = CT_FRAMING_TPIU, .ids = 4, .low = 16, .high = 64},
    {.name = "TPIU, the same, FSYNC every 64 frames",
     .framing = CT_FRAMING_TPIU,
     .ids = 4,
     .low = 16,
     .high = 64,
     .fsync_period = 64},
    {.name = "TPIU, the same, HSYNC every 20 frames",
     .framing = CT_FRAMING_TPIU,
     .ids = 4,
     .low = 16,
     .high = 64,
     .hsync_period = 20},
    {.name = "DSTREAM, four IDs, 16 to 64 bytes",
     .framing = CT_FRAMING_DSTREAM,
     .ids = 4,
     .low = 16,
     .high = 64},
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_frames: %s\n", what);
    exit(2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Makes the frames of an input: random bytes, and at each change an ID other than the one before. */
static void make(struct input *in)
{
    const struct ct_framer_options options = {.size = sizeof options,
                                              .framing = in->framing,
                                              .fsync_period = in->fsync_period,
                                              .hsync_period = in->hsync_period};
    struct rng rng = {1};
    struct ct_framer *framer;
    uint8_t data[2048];
    size_t used, len, cap = SIZE + 8192;
    unsigned id = 0;
    in->bytes = malloc(cap);
    if (!in->bytes || ct_framer_new(NULL, &options, &framer))
        fail("no memory");
    while (in->size < SIZE) {
        const size_t size = in->low ? in->low + rng_below(&rng, in->high - in->low + 1u) : sizeof data;
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)rng_next(&rng);
        for (size_t at = 0; at < size; at += used, in->size += len)
            if (ct_framer_push(framer, (uint8_t)(0x10 + id), data + at, size - at, &used,
                               in->bytes + in->size, CT_FRAMER_OUT_MIN, &len))
                fail("framer");
        if (in->ids > 1)
            id = (id + 1 + rng_below(&rng, in->ids - 1u)) % in->ids;
    }
    if (ct_framer_finish(framer, in->bytes + in->size, cap - in->size, &len))
        fail("framer");
    in->size += len;
    ct_framer_free(framer);
}

static void read_file(struct input *in, const char *path, const char *framing)
{
    FILE *file = fopen(path, "rb");
    *in = (struct input){.name = path, .framing = (uint8_t)atoi(framing)};
    if (!file || fseek(file, 0, SEEK_END))
        fail("no such file");
    in->size = (size_t)ftell(file);
    in->bytes = malloc(in->size);
    rewind(file);
    if (!in->bytes || fread(in->bytes, 1, in->size, file) != in->size)
        fail("the file cannot be read");
    fclose(file);
}

static void drain(struct ct_demux *demux)
{
    struct ct_run run;
    for (unsigned id = 1; id < CT_ID_COUNT; id++) {
        if (!ct_demux_stats(demux)->id_bytes[id])
            continue;
        ct_demux_run(demux, (uint8_t)id, &run);
        ct_demux_consume(demux, (uint8_t)id, run.size);
    }
}

static double pass(const struct input *in, struct ct_demux *demux, size_t piece)
{
    const double begin = now();
    ct_demux_restart(demux, 0);
    for (size_t at = 0, used; at < in->size; at += used) {
        if (ct_demux_push(demux, in->bytes + at, in->size - at < piece ? in->size - at : piece, &used))
            fail("no memory");
        drain(demux);
    }
    return now() - begin;
}

/* Returns the seconds of a pass, the best of a few in a row, because the first passes find caches and
 * predictors as another version left them. */
static double run(const struct input *in, struct ct_demux *demux, size_t piece)
{
    double best = pass(in, demux, piece);
    for (unsigned i = 1; i < PASSES; i++) {
        const double seconds = pass(in, demux, piece);
        best = seconds < best ? seconds : best;
    }
    return best;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct input *in, unsigned rounds, size_t piece)
{
    static double seconds[WAYS_MOST][ROUNDS_MOST];
    const struct ct_demux_options options = {.size = sizeof options, .framing = in->framing};
    struct ct_demux *demux[WAYS_MOST];
    unsigned ways = 0;
    for (; ways < WAYS_MOST && ct_frame_ops_at(ways); ways++) {
        if (ct_demux_new(NULL, &options, &demux[ways]))
            fail("no memory");
        demux[ways]->ops = ct_frame_ops_at(ways);
    }
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned way = 0; way < ways; way++)
            seconds[way][round] = run(in, demux[way], piece);
    printf("%-40s", in->name);
    for (unsigned way = 0; way < ways; way++) {
        qsort(seconds[way], rounds, sizeof **seconds, by_value);
        printf("  %s %5.2f (%5.2f)", demux[way]->ops->name, (double)in->size / 1e9 / seconds[way][0],
               (double)in->size / 1e9 / seconds[way][rounds / 2]);
        ct_demux_free(demux[way]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
    const size_t piece = argc > 2 ? (size_t)atol(argv[2]) : PIECE;
    if (rounds < 1 || rounds > ROUNDS_MOST || !piece)
        fail("usage: bench_frames [ROUNDS [PIECE [FILE FRAMING]]]");
    if (argc > 4) {
        read_file(&inputs[0], argv[3], argv[4]);
        measure(&inputs[0], rounds, piece);
        return 0;
    }
    printf("10^9 bytes a second, best of %u rounds (median), pieces of %zu bytes\n", rounds, piece);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        make(&inputs[i]);
        measure(&inputs[i], rounds, piece);
        free(inputs[i].bytes);
    }
    return 0;
}
