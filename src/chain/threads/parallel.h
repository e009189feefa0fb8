/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the streams of a chain with several threads, with the result of one.
 *
 * A stream is cut at synchronisation points; the trace between two cuts is a task. A thread warms up an
 * object with the trace before the cut, saves its state, and decodes. The tasks are delivered in order, by
 * the caller's thread or, during a call of it, by another thread when no receiver gets anything. Delivery
 * compares the saved state with that at the end of the task before. If they differ, the task is decoded again
 * from the right state. So the result does not depend on what a trace unit repeats at a synchronisation
 * point; that only decides how often a task is decoded twice.
 *
 * Tasks make what the receivers want up to the records of the plain walk, edge counts, and steps if nothing
 * else is wanted. Otherwise they make elements, and the follow object of the stream follows them in order. */
#pragma once

#include "chain/stream.h"

struct ct_parallel;

struct ct_parallel_how {
    struct ct_ctx *ctx;
    const struct ct_chain_options *options;
    const struct ct_chain_sink *sink;
    const struct ct_memory *memory;
    bool memories_change;
    struct ct_stream_chain *streams; /* the streams of the chain, which are used too */
    size_t count;
    /* Set by tests; 0 lets the chain choose. */
    size_t segment; /* minimal size of a task in bytes */
};

/* A file with a stream without frames, which the decoding threads read. They do not map it: changing the
 * mappings of a process delays all its threads. */
struct ct_parallel_file {
    const char *path;
    int fd;
    uint64_t size;
};

/* Makes the object and starts threads; fewer when some cannot be started. CT_ERR_NOMEM. */
int ct_parallel_new(const struct ct_parallel_how *how, struct ct_parallel **out);
void ct_parallel_free(struct ct_parallel *parallel);

/* Ends the threads, each after the task that it decodes. Call it before their file is closed when not all
 * tasks were delivered. Accepts NULL. */
void ct_parallel_stop_threads(struct ct_parallel *parallel);

/* Takes all bytes of a run of stream `index`. Returns 0, CT_ERR_NOMEM, or what a receiver returned. */
int ct_parallel_push(struct ct_parallel *parallel, size_t index, const struct ct_run *run);

/* Counts bytes of stream `index`, which was left, so that they are not decoded. */
void ct_parallel_skip(struct ct_parallel *parallel, size_t index, size_t size);

/* Returns true when threads can read the stream from its file themselves. */
bool ct_parallel_takes_file(const struct ct_parallel *parallel);

/* Takes a part of stream 0 from a file without frames, beginning at offset *at, and moves *at to its end.
 * Returns as ct_parallel_push, or CT_ERR_IO. */
int ct_parallel_file(struct ct_parallel *parallel, const struct ct_parallel_file *file, uint64_t *at);

/* Decodes and delivers everything pushed; `behind` says what follows it, in all streams. Returns as
 * ct_parallel_push. */
int ct_parallel_flush(struct ct_parallel *parallel, enum ct_behind behind);

/* Resets the streams after a break. `whole`: no trace is missing there. */
void ct_parallel_reset(struct ct_parallel *parallel, bool whole);

/* Returns how many tasks were delivered, and how many of them were decoded twice. */
void ct_parallel_tasks(const struct ct_parallel *parallel, uint64_t *tasks, uint64_t *again);

/* Returns true when tasks use the chain's own stream `index`, perhaps in another thread just now: then it may
 * only be read through ct_parallel_stream. */
bool ct_parallel_decodes_with(const struct ct_parallel *parallel, size_t index);

/* Returns stream `index` as the caller sees it. */
struct ct_stream ct_parallel_stream(const struct ct_parallel *parallel, size_t index);
