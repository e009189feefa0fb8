/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU with the access plugin, as words (access.h) that come through a pipe. */
#ifndef CT_FRACTAL_RUN_FEED_H
#define CT_FRACTAL_RUN_FEED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "coretap/fractal_run.h"

struct ct_fractal_feed {
    int fd;    /* -1: closed */
    int child; /* -1: none, or it has ended */
    size_t at, count;
    uint64_t words[8192];
    FILE *aside;               /* a temporary file of bytes that came while others were waited for, or NULL */
    off_t aside_at, aside_end; /* of those that are still to be read */
};

#define FEEDS_MAX 256 /* of one run */

/* The feeds of a program and of those that run with it, and the socket that brings the pipes of forked
 * children. */
struct ct_fractal_feeds {
    struct ct_fractal_feed *feed;
    unsigned count;
    int forks; /* -1: children are not followed */
    struct {
        int64_t child;
        int fd;
    } early[FEEDS_MAX]; /* pipes whose notes are yet to come */
    unsigned early_count;
};

/* Makes the socket of `feeds`, before a feed is started with it. CT_ERR_IO. */
int ct_fractal_feeds_follow(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, int *of_program);

void ct_fractal_feeds_close(struct ct_fractal_feeds *feeds);

/* Receives the pipe of a forked child, which the program's note has told of, as a feed. CT_ERR_IO. */
int ct_fractal_feeds_child(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, uint64_t child,
                           struct ct_fractal_feed *feed);

/* Waits until there is a word of `feed`, or its end, and takes what the others say meanwhile: they may be
 * what it waits for. CT_ERR_IO. */
int ct_fractal_feeds_wait(struct ct_ctx *ctx, const struct ct_fractal_feeds *feeds,
                          struct ct_fractal_feed *feed);

/* Starts `argv` under the QEMU of its architecture; its children are told of through the socket `forks` (-1:
 * they are not). CT_ERR_NOT_FOUND, CT_ERR_IO. */
int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv, int forks);

/* Reads the next word. Returns false at the end of the program. */
bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word);

/* Waits for the program, of which no more is read, and says how it ended. */
void ct_fractal_feed_finish(struct ct_fractal_feed *feed, struct ct_fractal_ended *ended);

/* Ends the program, if there is one. Returns false when it could not be run. */
bool ct_fractal_feed_stop(struct ct_fractal_feed *feed);

#endif
