/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a real program through its branches: each branch of a small compressor, sorter and interpreter
 * is noted with its site and its outcome while they run. */
#ifndef CT_BENCH_PATH_H
#define CT_BENCH_PATH_H

#include <stddef.h>
#include <stdint.h>

enum path_kind {
    PATH_BRANCH,   /* conditional: taken or not */
    PATH_CALL,     /* taken, target in the instruction */
    PATH_RETURN,   /* taken, indirect */
    PATH_INDIRECT, /* taken, indirect: target is one of a table's */
};

struct path_step {
    uint64_t target; /* where execution goes on */
    uint16_t cycles; /* since the step before; a model with a branch predictor and a cache */
    uint8_t kind;    /* enum path_kind */
    uint8_t taken;
    uint8_t missed; /* bit 0: mispredicted; bit 1: the cache missed */
    uint8_t pad[3];
};

/* Fills steps[0..count): as many runs of the program, each with other data, as it takes. The same `seed`
 * gives the same path. */
void path_run(uint64_t seed, struct path_step *steps, size_t count);

#endif
