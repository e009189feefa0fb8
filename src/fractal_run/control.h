/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of a run, which takes commands: a client connects, sends a line, and reads the answer, whose
 * first word is "ok" or "error", up to the end. */
#ifndef CT_FRACTAL_RUN_CONTROL_H
#define CT_FRACTAL_RUN_CONTROL_H

#include <stddef.h>

struct ct_ctx;

#define CONTROL_LINE 1024

struct ct_fractal_control {
    const char *path; /* NULL: there is none */
    int listener;
    int client; /* -1: none */
    size_t used;
    char line[CONTROL_LINE]; /* that the client has sent so far */
};

/* Carries out a command. Returns an error code, and says what it came to. */
typedef int ct_fractal_control_fn(void *user, const char *command, char *answer, size_t size);

/* Makes the socket. CT_ERR_IO: it cannot be made, or somebody listens there. */
int ct_fractal_control_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_control *control);
void ct_fractal_control_close(struct ct_fractal_control *control);

/* Carries out what clients sent by now, without waiting. */
void ct_fractal_control_serve(struct ct_fractal_control *control, ct_fractal_control_fn *run, void *user);

#endif
