/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for given times of a run, read from a file. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ct_ctx;

struct ct_fractal_script_step {
    uint64_t cycles; /* program time */
    unsigned line;
    char *command;
};

struct ct_fractal_script {
    const char *path;
    struct ct_fractal_script_step *steps; /* by time */
    size_t count, next;
};

/* Reads a script. Errors: CT_ERR_FORMAT when a line has no time or no command, or its time decreases;
 * CT_ERR_IO, CT_ERR_NOMEM. */
int ct_fractal_script_load(struct ct_ctx *ctx, const char *path, struct ct_fractal_script *script);
void ct_fractal_script_free(struct ct_fractal_script *script);
