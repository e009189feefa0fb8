/* SPDX-License-Identifier: Apache-2.0 */
/* The program under QEMU, at the other end of shared memory (recorder/trace_stream.h). */
#ifndef CT_RECORD_FEED_H
#define CT_RECORD_FEED_H

#include <stdbool.h>
#include <sys/wait.h>

#include "base/passed_signal.h"
#include "coretap/record.h"
#include "recorder/trace_stream.h"

struct ct_record_feed {
    struct trace_area *area;
    struct ct_passed_signal signal;
    int child;
    int status; /* of waitpid, once the child is gone */
    bool over;
    uint32_t done;         /* chunks taken */
    uint32_t blocks_chunk; /* chunk from which blocks are read */
    uint32_t blocks_at;    /* word of that chunk at which the next block begins */
};

#define CT_RECORD_FEED_WATCH 512 /* room for what tells the plugin which memory is watched */

struct ct_record_feed_options {
    uint64_t seed;
    uint32_t latency;  /* cycles that a core waits at least when another one is not later than it; 0: never */
    bool each;         /* every instruction has a mark */
    const char *watch; /* further options of the plugin, each behind a comma; or "" */
    const volatile int *signal;
};

/* Starts `argv` under `qemu`. CT_ERR_IO. */
int ct_record_feed_start(struct ct_ctx *ctx, struct ct_record_feed *feed, const struct ct_qemu *qemu,
                         const struct ct_record_feed_options *options, char *const *argv);

/* Returns the next chunk that was handed over; NULL when the program is over. */
struct trace_chunk *ct_record_feed_chunk(struct ct_record_feed *feed);

/* Gives a chunk back, in which nothing is read any more. */
void ct_record_feed_give_back(struct ct_record_feed *feed, struct trace_chunk *chunk);

/* Tells the program to go on unobserved. */
void ct_record_feed_stop(struct ct_record_feed *feed);

/* Returns the next words of a block or page, good until the next call; NULL when there are none yet. */
const struct trace_block *ct_record_feed_block(struct ct_record_feed *feed);

/* Waits for the program and gives back the memory. Returns its exit code, or 128 and the number of the signal
 * that ended it. */
int ct_record_feed_finish(struct ct_record_feed *feed);

#endif
