/* SPDX-License-Identifier: Apache-2.0 */
/* One program's stream of accesses on one or more simulated clusters: what a run and the study of overheads
 * share. */
#ifndef CT_FRACTAL_RUN_SIMULATION_H
#define CT_FRACTAL_RUN_SIMULATION_H

#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "fractal_run/feed.h"

#define FRACTAL_CLUSTERS_MAX 3
#define FRACTAL_REGIONS_MAX  512
#define FRACTAL_EVENTS_MAX   4096 /* that are taken out of the ring in one go */

/* One cluster that the stream goes through. */
struct ct_fractal_bench {
    struct ct_soc *soc;
    struct ct_fractal *fractal;   /* on its port; NULL: none */
    int tap;                      /* its number on the port */
    uint32_t pid;                 /* of the program */
    uint64_t ticks[CT_SOC_CORES]; /* timer interrupts that each core has had */
};

/* Memory of the program that its file does not hold. */
struct ct_fractal_region {
    uint64_t lo, hi;
    const char *text;
};

struct ct_fractal_simulation {
    struct ct_ctx *ctx;
    struct ct_fractal_simulate_options options;
    struct ct_soc_config config;
    struct ct_fractal_bench bench[FRACTAL_CLUSTERS_MAX]; /* the first one is traced */
    unsigned benches;
    struct ct_fractal_feed feed[1 + CT_FRACTAL_BESIDE]; /* of the program, and of those beside it */
    uint32_t beside_pid[CT_FRACTAL_BESIDE];
    unsigned beside; /* programs that run beside it */
    struct ct_fractal_names *names;
    struct ct_fractal_writer *writer;
    uint64_t lo, hi;  /* what is traced */
    uint64_t targets; /* last-level misses of the program in the range */
    uint64_t events, dropped;
    bool ran; /* the program said where it is */
    bool stack_known;
    int result; /* the first error of a hook, which cannot return it */
    struct ct_fractal_region region[FRACTAL_REGIONS_MAX];
    unsigned regions;
    struct ct_fractal_event batch[FRACTAL_EVENTS_MAX];
};

/* ---- clusters (cluster.c) ---- */

/* Adds the cluster that is traced, which has to be the first, or one with another fabric (enum
 * ct_soc_fabric). CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_add_traced(struct ct_fractal_simulation *s);
int ct_fractal_simulation_add_bare(struct ct_fractal_simulation *s, unsigned fabric);

/* Writes a register of the tracer, in order with the traffic. */
void ct_fractal_simulation_register(struct ct_fractal_simulation *s, uint32_t offset, uint64_t value);

/* Moves what was logged from the ring to the log. */
int ct_fractal_simulation_drain(struct ct_fractal_simulation *s);

/* Lets a core of all clusters make an access, as a word of the plugin says. `from` is the index of the
 * feed. */
void ct_fractal_simulation_access(struct ct_fractal_simulation *s, unsigned from, uint64_t word);

/* Lets timers interrupt the cores whose time it is. */
void ct_fractal_simulation_tick(struct ct_fractal_simulation *s);

/* Takes pages of the program away, from `lo` on. */
void ct_fractal_simulation_unmap(struct ct_fractal_simulation *s, uint64_t lo, uint64_t size);

/* Says that the program has a file at [lo, hi). */
void ct_fractal_simulation_file(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi);

/* ---- what is traced (tracing.c) ---- */

/* Starts tracing before the first instruction of a program whose code lies at `start_code`. The errors of
 * ct_fractal_simulate. */
int ct_fractal_simulation_begin(struct ct_fractal_simulation *s, uint64_t start_code);

/* Adds a region, whose name must be a constant. Regions before the program said where it is are passed over,
 * and so are those for which there is no room. CT_ERR_NOMEM. */
int ct_fractal_simulation_region(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi, const char *text);

/* Writes the regions to the log and ends it. What `log` returned. */
int ct_fractal_simulation_end_log(struct ct_fractal_simulation *s);

/* ---- the stream (simulate.c) ---- */

/* Makes a simulation without clusters. CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_fractal_simulation_new(struct ct_ctx *ctx, const struct ct_fractal_simulate_options *options,
                              struct ct_fractal_simulation **out);
void ct_fractal_simulation_free(struct ct_fractal_simulation *s);

/* Runs the program to its end, and says how it ended. */
int ct_fractal_simulation_run(struct ct_fractal_simulation *s, struct ct_fractal_ended *ended);

#endif
