/* SPDX-License-Identifier: Apache-2.0 */
/* A program under QEMU with the access plugin, as a stream of words (access.h) from a pipe. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/passed_signal.h"
#include "coretap/fractal_run.h"
#include "recorder/access_ring.h"

/* The reading end of a process's pipe, and its ring, which contains what a killed process did not write to
 * the pipe. */
struct ct_fractal_pipe {
    int fd;                         /* -1: closed */
    const struct access_ring *ring; /* NULL: no ring */
    uint64_t words;                 /* words read from both */
    FILE *aside;                    /* temporary file that spools bytes while other pipes are read, or NULL */
    off_t aside_at, aside_end;      /* range of the spooled bytes not read yet */
};

struct ct_fractal_feed {
    struct ct_fractal_pipe pipe;
    int child;    /* -1: none, or it has ended */
    pid_t forked; /* process created by the program; 0: `child` is the process */
    size_t at, count;
    uint64_t words[8192];
};

#define FEEDS_MAX 256 /* most feeds of one run */

/* The feeds of a program and of the programs beside it, and the socket over which pipes of forked children
 * come. */
struct ct_fractal_feeds {
    struct ct_fractal_feed *feed;
    unsigned count;
    int forks;                      /* -1: children are not followed */
    struct ct_passed_signal signal; /* signal for the program, which is the first feed */
    bool told;                      /* children that outlive the program got the signal, too */
    struct ct_fractal_early {
        int64_t child;
        struct ct_fractal_pipe pipe;
    } early[FEEDS_MAX]; /* pipes of children whose notes were not read yet, because they are still spooled or
                         * in a pipe */
    unsigned early_count;
};

/* Creates the socket of `feeds`. Call before starting a feed with it. Error: CT_ERR_IO. */
int ct_fractal_feeds_follow(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, int *of_program);

void ct_fractal_feeds_close(struct ct_fractal_feeds *feeds);

/* Takes the pipe of a forked child, announced by the program's note, as a feed. Errors: CT_ERR_IO,
 * CT_ERR_LIMIT. */
int ct_fractal_feeds_child(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, uint64_t child,
                           struct ct_fractal_feed *feed);

/* Returns whether a feed has a word, or has ended, so that reading does not block. */
bool ct_fractal_feed_ready(const struct ct_fractal_feed *feed);

/* Waits until `feed` has a word or has ended, or one of the descriptors `wakes` (-1: none) is readable;
 * passes on signals meanwhile. If children are followed, spools the other feeds, because `feed` may depend on
 * them or on children not announced yet. Errors: CT_ERR_IO, CT_ERR_LIMIT. */
int ct_fractal_feeds_wait(struct ct_ctx *ctx, struct ct_fractal_feeds *feeds, struct ct_fractal_feed *feed,
                          const int wakes[2]);

/* Starts `argv` under the QEMU of its architecture. `forks`: socket over which its children are announced, or
 * -1. Errors: CT_ERR_NOT_FOUND, CT_ERR_IO. */
int ct_fractal_feed_start(struct ct_ctx *ctx, struct ct_fractal_feed *feed, char *const *argv, int forks);

/* Reads the next word. Returns false at the end of the program. */
bool ct_fractal_feed_next(struct ct_fractal_feed *feed, uint64_t *word);

/* Waits for the program, reading no more words, and sets how it ended; passes on signals meanwhile. */
void ct_fractal_feeds_finish(struct ct_fractal_feeds *feeds, struct ct_fractal_ended *ended);

/* Ends the program, if it runs. Returns false if it could not be executed. */
bool ct_fractal_feed_stop(struct ct_fractal_feed *feed);
