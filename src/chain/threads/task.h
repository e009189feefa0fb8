/* SPDX-License-Identifier: Apache-2.0 */
/* A part of one stream that is decoded by itself: from a synchronisation point to
 * the next one that is far enough. */
#ifndef CT_CHAIN_THREADS_TASK_H
#define CT_CHAIN_THREADS_TASK_H

#include "base/seam.h"
#include "chain/stream.h"
#include "chain/threads/batch_queue.h"
#include "chain/threads/stream_bytes.h"

/* Records that a task makes before it waits for its turn and hands the rest on as it decodes it: what a
 * capture of a few bytes can be blown up to is not kept in memory. */
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
    struct ct_task *next;     /* handed on after this one */
    struct ct_task *after;    /* not before this one is done, whose object it uses; or NULL */
    enum ct_task_state state; /* under the lock of the queue; what it is about to be done with is
                                 not near it */
    size_t lane;              /* index of its stream */
    struct ct_stream_chain *object;
    struct ct_stream_bytes piece;
    size_t begin, end; /* of the task in the piece; before it: what its object is warmed up with */
    enum ct_behind behind;
    bool speculative; /* begins with what the warm-up made of the object; else the object is right */

    /* When it is done: */
    bool ready;                   /* there is an object, and the warm-up came to `begin` */
    bool paused;                  /* there was too much of it: what is behind `used` is left */
    size_t used;                  /* bytes of the piece up to which it is decoded */
    int rc;                       /* CT_ERR_NOMEM, CT_ERR_IO, or what a receiver returned */
    struct ct_stream_stats stats; /* of the task */
    struct ct_batch_queue batches;
    void *part;          /* the caller's, in place of the queue of batches */
    struct ct_seam seam; /* speculative: how the object began */
};

void ct_task_free(struct ct_task *task);

/* Puts `left` before the task, which are the bytes of the stream right before it. False without memory. */
bool ct_task_prepend(struct ct_task *task, struct ct_stream_bytes *left);

/* What `object` counts from here on is that of a task. */
void ct_task_clear_stats(struct ct_stream_chain *object);

/* Decodes it as far as it may on its own. */
void ct_task_run(struct ct_task *task, const struct ct_task_goal *goal, struct ct_batches *batches);

/* Decodes the rest, with `object`, to the caller's receivers; there is more of it when the object is a part
 * that is full. Result: 0 or what they returned. */
int ct_task_finish(struct ct_task *task, struct ct_stream_chain *object, const struct ct_task_goal *goal,
                   struct ct_batches *batches, bool *more);

#endif
