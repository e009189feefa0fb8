/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a chain decoded by several threads, with the result of one.
 *
 * A stream is cut at synchronisation points. What lies between two cuts is a task: a thread warms an object
 * up with the trace before the cut, notes the state that it comes to, and decodes. The tasks are handed on in
 * order, by the caller's thread or, within a call of it, by another one when no receiver gets anything. That
 * thread compares the state with the one in which the task before ended: when they are not equal, the task is
 * decoded again from there. So nothing is assumed of what a trace unit repeats at a synchronisation point;
 * what it repeats decides only how often the work was in vain.
 *
 * Tasks give what the receivers want up to the records of the plain walk. Otherwise they give elements, which
 * the follow of the stream gets in order. */
#ifndef CT_CHAIN_THREADS_PARALLEL_H
#define CT_CHAIN_THREADS_PARALLEL_H

#include "chain/stream.h"

struct ct_parallel;

struct ct_parallel_how {
    struct ct_ctx *ctx;
    const struct ct_chain_options *options;
    const struct ct_chain_sink *sink;
    const struct ct_memory *memory;
    bool memories_change;
    struct ct_stream_chain *streams; /* they are used too */
    size_t count;
    size_t segment; /* bytes of a task at least; 0: as it is best. For tests */
};

/* A stream that is in a file as it is, to be read while it is decoded. */
struct ct_parallel_file {
    const char *path;
    int fd;
    uint64_t size;
};

/* CT_ERR_NOMEM. Threads that cannot be started are done without. */
int ct_parallel_new(const struct ct_parallel_how *how, struct ct_parallel **out);
void ct_parallel_free(struct ct_parallel *parallel);

/* Takes all bytes of a run of stream `index`. Result: 0, CT_ERR_NOMEM, or what a receiver returned. */
int ct_parallel_push(struct ct_parallel *parallel, size_t index, const struct ct_run *run);

/* Streams may be taken from files. */
bool ct_parallel_takes_file(const struct ct_parallel *parallel);

/* Takes a part of stream 0 that is in a file without frames, from offset *at on; *at is where it ends.
 * Result: as above, or CT_ERR_IO. */
int ct_parallel_file(struct ct_parallel *parallel, const struct ct_parallel_file *file, uint64_t *at);

/* Decodes and hands on all there is; `behind` comes behind it, for all streams. Result: as above. */
int ct_parallel_flush(struct ct_parallel *parallel, enum ct_behind behind);

/* The streams begin afresh behind a break. */
void ct_parallel_reset(struct ct_parallel *parallel, bool whole);

/* Tasks that were handed on, and how many of them were decoded again. */
void ct_parallel_tasks(const struct ct_parallel *parallel, uint64_t *tasks, uint64_t *again);

/* What is known of stream `index`. */
struct ct_stream ct_parallel_stream(const struct ct_parallel *parallel, size_t index);

#endif
