/* SPDX-License-Identifier: Apache-2.0 */
/* One program's stream of accesses on one or more clusters: what run and overhead share. */
#ifndef CT_CLI_FRACTAL_RUN_H
#define CT_CLI_FRACTAL_RUN_H

#include "cli/fractal.h"

#define CLOCK_HZ    UINT64_C(1300000000) /* of the Kria's cores: what the model's cycles are */
#define TICK_CYCLES (CLOCK_HZ / 250)     /* Linux's usual timer */
#define BACKGROUNDS 4
#define EVENTS      4096

/* One cluster on which the stream is replayed. */
struct cli_fractal_bench {
    struct ct_soc *soc;
    struct ct_fractal *fractal; /* or NULL */
    int tap;
    uint32_t pid;
    uint64_t ticks[CT_SOC_CORES]; /* timer interrupts that each core has had */
};

struct cli_fractal_run {
    const struct cli_args *args;
    struct ct_soc_config config;
    struct cli_fractal_bench bench[3];
    unsigned benches;
    struct cli_feed feed[1 + BACKGROUNDS];
    uint32_t other[BACKGROUNDS]; /* pids of the background programs */
    unsigned backgrounds;
    struct ct_fractal_names *names;
    struct ct_fractal_writer *writer;
    const char *log, *truth_path;
    struct cli_output log_output, truth_output, messages_output;
    FILE *truth, *messages;
    uint64_t lo, hi;
    uint64_t missed; /* last-level misses of the target in the range */
    uint64_t written, dropped;
    bool stack_known, failed;
    struct {
        uint64_t lo, hi;
        const char *text;
    } region[512];
    unsigned regions;
    struct ct_fractal_event events[EVENTS];
};

/* A run for these arguments; NULL after a message. */
struct cli_fractal_run *cli_run_new(const struct cli_args *args);
/* Adds the cluster with FRACTAL on its port (the first), or one without. CLI_CLEAN or CLI_FAILED. */
int cli_run_add_traced(struct cli_fractal_run *run, uint32_t sets, uint32_t ways);
int cli_run_add_cluster(struct cli_fractal_run *run, unsigned fabric);
/* Replays the program's stream to its end. */
int cli_run_stream(struct cli_fractal_run *run, bool ring);
void cli_run_free(struct cli_fractal_run *run);

#endif
