/* SPDX-License-Identifier: Apache-2.0 */
/* A line on the terminal that shows the progress of a long job. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the seconds of a monotonic clock. */
double cli_seconds(void);

struct cli_progress {
    bool shown;      /* a terminal is there */
    uint64_t total;  /* bytes of the whole job; 0: unknown */
    uint64_t begin;  /* in ns */
    uint64_t latest; /* time of the last line, in ns */
};

/* Begins the display for a job of `total` bytes. Shows nothing with `quiet`, or when standard error is no
 * terminal. */
void cli_progress_start(struct cli_progress *progress, uint64_t total, bool quiet);

/* Shows that `done` bytes are done. Cheap: prints at most ten times a second, from the first second on. */
void cli_progress_update(struct cli_progress *progress, uint64_t done);

/* Clears the line of any display, so that something else can be printed. */
void cli_progress_clear(void);

/* A line with the duration of something whose progress is unknown. */
struct cli_wait {
    const char *what;
    unsigned most; /* limit of processor time in seconds; 0: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool runs; /* a thread shows the line */
    bool over;
};

/* Shows `what`, a text that stays valid, from the first second on. Shows nothing with `quiet`, or when
 * standard error is no terminal. */
void cli_wait_begin(struct cli_wait *wait, const char *what, unsigned most, bool quiet);

/* Ends the display and clears the line. Does nothing if the display has ended or never began. */
void cli_wait_end(struct cli_wait *wait);
