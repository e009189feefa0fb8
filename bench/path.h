/* SPDX-License-Identifier: Apache-2.0 */
/* Records the path of a real program through its branches: a small compressor, sorter and interpreter record
 * the site and outcome of each branch while they run. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum path_kind {
    PATH_BRANCH,   /* conditional: taken or not */
    PATH_CALL,     /* taken, target in the instruction */
    PATH_RETURN,   /* taken, indirect */
    PATH_INDIRECT, /* taken, indirect: the target is in a table */
};

struct path_step {
    uint64_t target; /* address at which execution continues */
    uint16_t cycles; /* cycles since the step before, by a model with a branch predictor and a cache */
    uint8_t kind;    /* enum path_kind */
    uint8_t taken;
    uint8_t missed; /* bit 0: mispredicted; bit 1: the cache missed */
    uint8_t pad[3];
};

/* Fills steps[0..count) with as many runs of the program as that takes, each with other data. The same `seed`
 * gives the same path. */
void path_run(uint64_t seed, struct path_step *steps, size_t count);
