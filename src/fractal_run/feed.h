/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU with the access plugin, as words (access.h) that come through a pipe. */
#ifndef CT_FRACTAL_RUN_FEED_H
#define CT_FRACTAL_RUN_FEED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/passed_signal.h"
#include "coretap/fractal_run.h"
#include "recorder/access_ring.h"

/* The end of a pipe that a process writes to, and its ring, which holds what a process that was killed did
 * not write any more. */
struct ct_fractal_pipe {
    int fd;                         /* -1: closed */
    const struct access_ring *ring; /* NULL: there is none */
    uint64_t words;                 /* that were read of both */
    FILE *aside;               /* a temporary file of bytes that came while others were waited for, or NULL */
    off_t aside_at, aside_end; /* of those that are still to be read */
};

struct ct_fractal_feed {
    struct ct_fractal_pipe pipe;
    int child;    /* -1: none, or it has ended */
    pid_t forked; /* a process that the program made, whose words come; 0: it is a child of this one */
    size_t at, count;
    uint64_t words[8192];
};

#define FEEDS_MAX 256 /* of one run */

/* The feeds of a program and of those that run with it, and the socket that brings the pipes of forked
 * children. */
struct ct_fractal_feeds {
    struct ct_fractal_feed *feed;
    unsigned count;
    int forks;                      /* -1: children are not followed */
    struct ct_passed_signal signal; /* for the program, which is the first feed */
    bool told;                      /* children that outlive it were sent the signal, too */
    struct ct_fractal_early {
        int64_t child;
        struct ct_fractal_pipe pipe;
    } early[FEEDS_MAX]; /* pipes of children whose notes are yet to come: these wait aside, or in a pipe */
    unsigned early_count;
};

/* Makes the socket of `feeds`, before a feed is started with it. CT_ERR_IO. */
int ct_fractal_feeds_follow(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, int *of_program);

void ct_fractal_feeds_close(struct ct_fractal_feeds *feeds);

/* Receives the pipe of a forked child, which the program's note has told of, as a feed. CT_ERR_IO,
 * CT_ERR_LIMIT. */
int ct_fractal_feeds_child(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, uint64_t child,
                           struct ct_fractal_feed *feed);

/* Tells whether a feed has a word, or its end, for which nobody need wait. */
bool ct_fractal_feed_ready(const struct ct_fractal_feed *feed);

/* Waits until a pipe has a word of `feed`, or its end, or one of the files `wakes` (-1: none) can be read; a
 * signal is passed on meanwhile. Where children are followed, what the others say is taken aside: they may be
 * what it waits for, and so may children that no note has told of yet. CT_ERR_IO, CT_ERR_LIMIT. */
int ct_fractal_feeds_wait(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, struct ct_fractal_feed *feed,
                          const int wakes[2]);

/* Starts `argv` under the QEMU of its architecture; its children are told of through the socket `forks` (-1:
 * they are not). CT_ERR_NOT_FOUND, CT_ERR_IO. */
int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv, int forks);

/* Reads the next word. Returns false at the end of the program. */
bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word);

/* Waits for the program, of which no more is read, and says how it ended; a signal is passed on meanwhile. */
void ct_fractal_feeds_finish(struct ct_fractal_feeds *feeds, struct ct_fractal_ended *ended);

/* Ends the program, if there is one. Returns false when it could not be run. */
bool ct_fractal_feed_stop(struct ct_fractal_feed *feed);

#endif
