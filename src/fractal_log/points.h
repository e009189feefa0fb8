/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of a log's observation points. The tracer watches lines; the log says what was meant in them:
 * addresses, functions, objects of several lines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Something that hits count for. */
struct ct_fractal_milestone {
    uint64_t lo, hi;
    const char *name;
    bool by_address; /* a hit surely belongs to it; else only the line is known */
};

/* A line that is observed because of a milestone. */
struct ct_fractal_observed {
    uint64_t point; /* process and number, as in events */
    uint32_t milestone;
};

struct ct_fractal_milestones {
    struct ct_arena texts;
    struct ct_fractal_milestone *all;
    struct ct_fractal_observed *lines; /* sorted by point */
    uint32_t count, line_count;
    uint32_t unit; /* address granularity of the log, in bytes */
};

/* Reads the lines "point=" of a log's text. Returns false when out of memory. */
bool ct_fractal_milestones_read(struct ct_fractal_milestones *m, const char *text, uint32_t unit);
void ct_fractal_milestones_free(struct ct_fractal_milestones *m);

/* Returns what a hit of a process's point at an address counts for. UINT32_MAX: the log does not say. */
uint32_t ct_fractal_milestones_of(const struct ct_fractal_milestones *m, uint8_t process, uint32_t number,
                                  uint64_t va);
