/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket of a run: a client connects, sends a command line, and reads the answer up to its end.
 * The first word of the answer is "ok" or "error". */
#pragma once

#include <stddef.h>

struct ct_ctx;

#define CONTROL_LINE 1024

struct ct_fractal_control {
    const char *path; /* NULL: no socket */
    int listener;
    int client; /* -1: no client */
    size_t used;
    char line[CONTROL_LINE]; /* the line received so far */
};

/* Executes a command. Returns an error code, and writes the result to `answer`. */
typedef int ct_fractal_control_fn(void *user, const char *command, char *answer, size_t size);

/* Creates the socket. Error: CT_ERR_IO when that fails, or another process listens there. */
int ct_fractal_control_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_control *control);
void ct_fractal_control_close(struct ct_fractal_control *control);

/* Executes the commands received so far, without waiting. */
void ct_fractal_control_serve(struct ct_fractal_control *control, ct_fractal_control_fn *run, void *user);
