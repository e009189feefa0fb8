/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster, an operating system that does everything at once, and FRACTAL on its port: one random
 * schedule, judged access by access against what the cluster knows. */
#ifndef FRACTAL_WORLD_H
#define FRACTAL_WORLD_H

#include <stdint.h>

#include "coretap/fractal.h"
#include "soc/soc.h"

/* What a schedule is made of. An operation that does not apply when its turn comes does nothing, so any
 * part of a schedule is a schedule. */
enum op {
    OP_ACCESS, /* a burst */
    OP_SWITCH,
    OP_SPAWN, /* another process; overlapping physical reuse with OP_EXIT */
    OP_EXIT,
    OP_UNMAP,
    OP_MIGRATE_BEGIN,
    OP_MIGRATE_END,
    OP_FORK,
    OP_ALIAS,
    OP_SHARE, /* with another process */
    OP_HUGE,
    OP_SPLIT,
    OP_MERGE,
    OP_CONTIGUOUS,
    OP_RECLAIM, /* table pages freed and reused */
    OP_AGE,
    OP_ROLLOVER,
    OP_RANGE,
    OP_POINT_ADD,
    OP_POINT_REMOVE,
    OP_PRESSURE, /* a background process sweeps through the caches */
    OP_KINDS,
};

struct step {
    uint8_t op;
    uint8_t core;
    uint32_t process, page, more;
};

/* Deliberate damage, done at the boundary so that the modules are tested as they are. */
enum damage {
    DAMAGE_NONE,
    DAMAGE_WATERMARK, /* one watermark is forgotten */
    DAMAGE_DVM,       /* one translation invalidation is not delivered */
    DAMAGE_CLEAN,     /* one clean is not carried out */
};

struct shape {
    struct ct_soc_config soc;
    struct ct_fractal_options fractal;
    uint8_t mode;    /* enum ct_fractal_mode */
    uint8_t targets; /* 1 or 2 */
    uint8_t hooked;  /* the operating system says which core runs the target */
    uint8_t crowd;   /* hundreds of processes */
    uint32_t steps;
};

struct verdict {
    int failed;
    char text[256];
    uint32_t step;
    uint64_t expected, logged, point_accesses, point_events;
    uint64_t done[OP_KINDS];    /* operations that had an effect */
    uint64_t copies, evictions; /* on write; of the reverse TLB */
    uint64_t ranges;            /* that came to others */
};

/* The shape and the steps that a seed stands for. */
void world_shape(uint64_t seed, int mode, struct shape *out);
void world_steps(uint64_t seed, const struct shape *shape, struct step *out);

/* Runs steps whose `keep` is not 0 (NULL: all). */
void world_run(uint64_t seed, const struct shape *shape, const struct step *steps, const uint8_t *keep,
               enum damage damage, struct verdict *out);

#endif
