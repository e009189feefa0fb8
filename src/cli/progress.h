/* SPDX-License-Identifier: Apache-2.0 */
/* A line on the terminal that says how far a long job is. */
#ifndef CT_CLI_PROGRESS_H
#define CT_CLI_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Gives the seconds since some moment, by a clock that nobody sets. */
double cli_seconds(void);

struct cli_progress {
    bool shown;      /* there is somebody to show it to */
    bool printed;    /* the line is on the screen */
    uint64_t total;  /* bytes of the whole job; 0 when not known */
    uint64_t begin;  /* ns */
    uint64_t latest; /* ns, of the last line */
};

/* Begins the display, of `total` bytes. Nothing is shown with `quiet`, or when standard error is no
 * terminal. */
void cli_progress_start(struct cli_progress *progress, uint64_t total, bool quiet);

/* Shows that `done` bytes are done. Cheap: it prints at most ten times a second, from the first second on. */
void cli_progress_update(struct cli_progress *progress, uint64_t done);

/* Clears the line. */
void cli_progress_finish(struct cli_progress *progress);

/* A line that says for how long something runs that cannot tell how far it is. */
struct cli_wait {
    const char *what;
    unsigned most; /* seconds of processor time that it may take; 0: no limit */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool runs; /* there is a thread, which shows the line */
    bool over;
    bool shown; /* the line is on the screen */
};

/* Begins to show `what`, a text that stays, from the first second on. Nothing is shown with `quiet`, or when
 * standard error is no terminal. */
void cli_wait_begin(struct cli_wait *wait, const char *what, unsigned most, bool quiet);

/* Ends that and clears the line. */
void cli_wait_end(struct cli_wait *wait);

#endif
