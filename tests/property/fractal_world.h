/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster, an operating system that does everything at once, and FRACTAL on the port: runs a random
 * schedule and checks each access against the state of the cluster. */
#pragma once

#include <stdint.h>

#include "coretap/fractal.h"
#include "soc/soc.h"

/* An operation of a schedule. One that does not apply at its turn does nothing, so any part of a schedule is
 * a valid schedule. */
enum op {
    OP_ACCESS, /* a burst of accesses */
    OP_SWITCH,
    OP_SPAWN, /* starts another process, which may reuse memory before OP_EXIT is complete */
    OP_EXIT,
    OP_UNMAP,
    OP_MIGRATE_BEGIN,
    OP_MIGRATE_END,
    OP_FORK,
    OP_ALIAS,
    OP_SHARE, /* shares a page with another process */
    OP_HUGE,
    OP_SPLIT,
    OP_MERGE,
    OP_CONTIGUOUS,
    OP_RECLAIM, /* frees table pages, which are reused */
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

/* Deliberate damage. It is done to what the modules exchange, so the modules stay as they are. */
enum damage {
    DAMAGE_NONE,
    DAMAGE_WATERMARK, /* forgets one watermark */
    DAMAGE_DVM,       /* drops one translation invalidation */
    DAMAGE_CLEAN,     /* skips one clean */
};

struct shape {
    struct ct_soc_config soc;
    struct ct_fractal_options fractal;
    uint8_t mode;    /* enum ct_fractal_mode */
    uint8_t targets; /* 1 or 2 */
    uint8_t hooked;  /* 1: the operating system reports which core runs the target */
    uint8_t crowd;   /* 1: hundreds of processes */
    uint32_t steps;
};

struct verdict {
    int failed;
    char text[256];
    uint32_t step;
    uint64_t expected, logged, point_accesses, point_events;
    uint64_t done[OP_KINDS];    /* number of operations of each kind that had an effect */
    uint64_t copies, evictions; /* copies on write; evictions of the reverse TLB */
    uint64_t ranges;            /* number of ranges added to others */
};

/* Makes the shape and the steps of a seed. */
void world_shape(uint64_t seed, int mode, struct shape *out);
void world_steps(uint64_t seed, const struct shape *shape, struct step *out);

/* Runs the steps whose `keep` is not 0, or all if it is NULL. */
void world_run(uint64_t seed, const struct shape *shape, const struct step *steps, const uint8_t *keep,
               enum damage damage, struct verdict *out);
