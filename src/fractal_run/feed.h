/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU with the access plugin, as words (access.h) that come through a pipe. */
#ifndef CT_FRACTAL_RUN_FEED_H
#define CT_FRACTAL_RUN_FEED_H

#include <stdbool.h>

#include "coretap/fractal_run.h"

struct ct_fractal_feed {
    int fd;    /* -1: closed */
    int child; /* -1: none, or it has ended */
    size_t at, count;
    uint64_t words[8192];
};

/* Starts `argv` under the QEMU of its architecture. CT_ERR_NOT_FOUND, CT_ERR_IO. */
int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv);

/* Reads the next word. Returns false at the end of the program. */
bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word);

/* Waits for the program, of which no more is read, and says how it ended. */
void ct_fractal_feed_finish(struct ct_fractal_feed *feed, struct ct_fractal_ended *ended);

/* Ends the program, if there is one. Returns false when it could not be run. */
bool ct_fractal_feed_stop(struct ct_fractal_feed *feed);

#endif
