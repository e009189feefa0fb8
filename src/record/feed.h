/* SPDX-License-Identifier: Apache-2.0 */
/* The program under QEMU, connected through shared memory (recorder/trace_stream.h). */
#pragma once

#include <stdbool.h>
#include <sys/wait.h>

#include "base/passed_signal.h"
#include "coretap/record.h"
#include "recorder/trace_stream.h"

struct ct_record_feed {
    struct trace_area *area;
    struct ct_passed_signal signal;
    int child;
    int status; /* from waitpid, once the child has ended */
    bool over;
    char jitdump[sizeof((struct trace_area *)NULL)->jitdump]; /* once the feed is finished */
    uint32_t done;                                            /* chunks taken */
    uint32_t blocks_chunk;                                    /* chunk with the next block */
    uint32_t blocks_at; /* word in that chunk where the next block begins */
};

#define CT_RECORD_FEED_WATCH 512 /* room for the plugin's options about watched memory */

struct ct_record_feed_options {
    uint64_t seed;
    uint32_t latency;  /* least cycles that a core waits unless the other one is earlier; 0: never */
    bool each;         /* every instruction gets a mark */
    const char *inbox; /* of struct trace_area */
    const char *watch; /* further options of the plugin, each after a comma; or "" */
    const volatile int *signal;
};

/* Starts `argv` under `qemu`. CT_ERR_IO. */
int ct_record_feed_start(struct ct_ctx *ctx, struct ct_record_feed *feed, const struct ct_qemu *qemu,
                         const struct ct_record_feed_options *options, char *const *argv);

/* Returns the next chunk; NULL when the program has ended. */
struct trace_chunk *ct_record_feed_chunk(struct ct_record_feed *feed);

/* Returns a chunk to the program for reuse. */
void ct_record_feed_give_back(struct ct_record_feed *feed, struct trace_chunk *chunk);

/* Ends QEMU by a signal, because what it runs cannot be recorded. */
void ct_record_feed_end(struct ct_record_feed *feed);

/* Makes the program continue unobserved. */
void ct_record_feed_stop(struct ct_record_feed *feed);

/* Returns the next words of a block or page, valid until the next call; NULL when there are none yet. */
const struct trace_block *ct_record_feed_block(struct ct_record_feed *feed);

/* Waits for the program and frees the shared memory. Returns its exit code, or 128 plus the number of the
 * signal that ended it. */
int ct_record_feed_finish(struct ct_record_feed *feed);
