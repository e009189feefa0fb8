/* SPDX-License-Identifier: Apache-2.0 */
/* A part of one stream that is decoded by itself, from a synchronisation point to a later one. */
#ifndef CT_CHAIN_THREADS_TASK_H
#define CT_CHAIN_THREADS_TASK_H

#include <pthread.h>

#include "base/seam.h"
#include "chain/stream.h"
#include "chain/threads/batch_queue.h"
#include "chain/threads/stream_bytes.h"

/* The number of records that a task makes before it waits for its turn and then hands on the rest while it
 * decodes. It bounds the memory that a small capture with much output takes. */
#define CT_TASK_RECORDS (UINT64_C(1) << 20)

enum ct_task_state {
    CT_TASK_FILLING,
    CT_TASK_QUEUED,
    CT_TASK_RUNNING,
    CT_TASK_DONE,
};

/* What the chain wants of all tasks. */
struct ct_task_goal {
    enum ct_level level;
    const struct ct_chain_sink *sink; /* of the caller */
};

struct ct_task {
    struct ct_task *next;     /* the task that is handed on after this one */
    struct ct_task *after;    /* the task whose object this one uses, and which has to be done before; or
                                 NULL */
    enum ct_task_state state; /* guarded by the lock of the queue */
    size_t lane;              /* index of its stream */
    struct ct_stream_chain *object;
    struct ct_stream_bytes piece;
    size_t begin, end; /* the task's range in the piece; bytes before `begin` are its warm-up */
    enum ct_behind behind;
    pthread_mutex_t *lock; /* guards the next three, `end` and `behind` while the task runs: another thread
                              may take the last part of it */
    size_t claimed;        /* the byte up to which it decodes just now */
    bool warm;             /* `ready` and `seam` are known */
    bool whole;            /* no place was found where it could be cut */
    uint64_t serial;       /* tells tasks apart that are made in the same memory */
    bool confirmed;        /* speculative, and known to have begun in the right state before its turn comes */
    uint64_t start_offset; /* of a speculative task that began in the right state: as in the chain object */
    bool speculative; /* begins in the state that its warm-up came to; else in the state that is known to be
                         right */

    /* When it is done: */
    bool ready;                   /* the warm-up came to `begin` */
    bool paused;                  /* it made too many records: what lies behind `used` is not decoded yet */
    size_t used;                  /* the first byte of the piece that is not decoded */
    int rc;                       /* CT_ERR_NOMEM, CT_ERR_IO, or what a receiver returned */
    struct ct_stream_stats stats; /* of this task alone */
    struct ct_batch_queue batches;
    void *part;          /* the caller's part, in place of the queue of batches */
    struct ct_seam seam; /* of a speculative task: the state in which it began */
};

void ct_task_free(struct ct_task *task);

/* Puts `left`, the bytes of the stream right before the task, in front of it. False without memory. */
bool ct_task_prepend(struct ct_task *task, struct ct_stream_bytes *left);

/* Sets the statistics of `object` to zero, so that they are those of the next task. */
void ct_task_clear_stats(struct ct_stream_chain *object);

/* Decodes the task, up to CT_TASK_RECORDS records if records are kept. */
void ct_task_run(struct ct_task *task, const struct ct_task_goal *goal, struct ct_batches *batches);

/* Decodes the rest of the task with `object`, straight to the caller's receivers. *more is set when a part is
 * full and has to be taken before the next call. Result: 0 or what a receiver returned. */
int ct_task_finish(struct ct_task *task, struct ct_stream_chain *object, const struct ct_task_goal *goal,
                   struct ct_batches *batches, bool *more);

#endif
