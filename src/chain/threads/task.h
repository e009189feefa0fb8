/* SPDX-License-Identifier: Apache-2.0 */
/* A part of one stream that is decoded independently, from a synchronisation point to a later one. */
#pragma once

#include <pthread.h>

#include "base/seam.h"
#include "chain/stream.h"
#include "chain/threads/batch_queue.h"
#include "chain/threads/stream_bytes.h"

/* Number of records that a task makes before it waits for its turn; then it delivers the rest while it
 * decodes. This limits the memory for a small capture with much output. */
#define CT_TASK_RECORDS (UINT64_C(1) << 20)
#define CT_TASK_STEPS   (UINT64_C(1) << 21) /* the same for steps, which are smaller */

enum ct_task_state {
    CT_TASK_FILLING,
    CT_TASK_QUEUED,
    CT_TASK_RUNNING,
    CT_TASK_DONE,
};

/* What the chain wants from all tasks. */
struct ct_task_goal {
    enum ct_level level;
    const struct ct_chain_sink *sink; /* of the caller */
};

struct ct_task {
    struct ct_task *next;     /* the task that is delivered after this one */
    struct ct_task *after;    /* the task whose object this one uses, and which must end before; or NULL */
    enum ct_task_state state; /* guarded by the lock of the queue */
    size_t lane;              /* index of its stream */
    struct ct_stream_chain *object;
    struct ct_parallel_object *owner; /* of `object`; NULL: the object is the stream's own */
    struct ct_stream_bytes piece;
    size_t begin, end; /* the range of the task in the piece; bytes before `begin` are its warm-up */
    enum ct_behind behind;
    pthread_mutex_t *lock; /* guards the next three members, `end` and `behind` while the task runs: another
                              thread may take its last part */
    size_t claimed;        /* the byte up to which it currently decodes */
    bool warm;             /* `ready` and `seam` are set */
    bool whole;            /* no cut was found */
    uint64_t serial;       /* distinguishes tasks that are made in the same memory */
    bool confirmed;        /* speculative, and known before its turn to have begun in the right state */
    uint64_t start_offset; /* for a speculative task that began in the right state: as in the chain object */
    bool cut;              /* the task after it is speculative */
    bool left_object;      /* the object is in use by another task, or may be */
    bool speculative; /* begins in the state after its warm-up; else in the state that is known to be right */

    /* Set when it is done: */
    bool ready;                   /* the warm-up reached `begin` */
    bool paused;                  /* it made too many records: bytes from `used` on are not decoded yet */
    size_t used;                  /* the first byte of the piece that was not decoded */
    int rc;                       /* CT_ERR_NOMEM, CT_ERR_IO, or what a receiver returned */
    struct ct_stream_stats stats; /* of this task only */
    struct ct_batch_queue batches;
    void *part;          /* the caller's part, instead of the queue of batches */
    struct ct_seam seam; /* for a speculative task: the state in which it began */
    struct ct_seam rest; /* the state in which it ended, if it left its object */
};

void ct_task_free(struct ct_task *task);

/* Prepends `left`, the bytes of the stream right before the task. Returns false when out of memory. */
bool ct_task_prepend(struct ct_task *task, struct ct_stream_bytes *left);

/* Resets the statistics of `object`, so that they are those of the next task. */
void ct_task_clear_stats(struct ct_stream_chain *object);

/* Decodes the task, up to CT_TASK_RECORDS records if records are kept. */
void ct_task_run(struct ct_task *task, const struct ct_task_goal *goal, struct ct_batches *batches);

/* Decodes the rest of the task with `object`, straight to the caller's receivers. *more is set when a part is
 * full and must be taken before the next call. Returns 0 or what a receiver returned. */
int ct_task_finish(struct ct_task *task, struct ct_stream_chain *object, const struct ct_task_goal *goal,
                   struct ct_batches *batches, bool *more);
