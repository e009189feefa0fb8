/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of ct_parallel_* share: cuts make tasks, the queue has them decoded,
 * and what they gave is handed on. */
#ifndef CT_CHAIN_THREADS_PARALLEL_OWN_H
#define CT_CHAIN_THREADS_PARALLEL_OWN_H

#include <pthread.h>

#include "chain/threads/parallel.h"
#include "chain/threads/task.h"

/* What can be decoded with: in the state that is right, or a task's, or nobody's. */
struct ct_parallel_object {
    struct ct_stream_chain chain;
    struct ct_parallel_object *next;
    bool busy; /* a task uses it that was not handed on */
};

struct ct_parallel_lane {
    struct ct_stream_chain *live; /* in the state that is known to be right */
    bool split; /* at synchronisation points; else its tasks follow each other, with one object */
    struct ct_stream total;
    struct ct_parallel_object *objects;
    struct ct_task *filling;
    struct ct_task *last;        /* the newest that was not handed on yet, or NULL */
    struct ct_stream_bytes left; /* bytes that the live object was shown and left, for more behind them */
    size_t segment;
    bool falters;    /* tasks turned out wrong, or too large */
    size_t searched; /* of the filling piece: up to here there is no cut */
};

struct ct_parallel {
    struct ct_parallel_how how;
    struct ct_task_goal goal;
    bool follows;                         /* the tasks give elements, of which the streams make the rest */
    bool keeps;                           /* tasks make records, for which there is a limit */
    bool counts;                          /* the tasks count, and the streams take what they counted */
    struct ct_chain_sink follow_sink;     /* … and these receivers take */
    struct ct_chain_options task_options; /* of the objects */
    struct ct_batches *batches;           /* of the caller's thread */
    const char *path;                     /* of the file that tasks read */
    struct ct_parallel_lane *lanes;
    struct ct_task *spare;
    size_t outstanding, most; /* tasks that were not handed on */
    uint64_t tasks, again;    /* that were handed on, and of these decoded again */
    size_t threads;           /* besides the caller's */
    pthread_t *ids;
    pthread_mutex_t lock; /* of the queue and the states of its tasks */
    pthread_cond_t work, done;
    struct ct_task *first, **end; /* in the order in which they are handed on */
    bool stop;
    bool away;    /* the caller's thread decodes, and others may hand on … */
    bool handing; /* … which one of them does */
    int rc;       /* of that */
};

/* ---- parallel_objects.c ---- */

/* CT_ERR_NOMEM. */
int ct_parallel_init_object(const struct ct_parallel *p, const struct ct_parallel_lane *lane,
                            struct ct_parallel_object *o);

/* One that nobody uses, of the same kind as the live one. NULL: rc says why. */
struct ct_parallel_object *ct_parallel_get_object(struct ct_parallel *p, struct ct_parallel_lane *lane,
                                                  int *rc);

/* With the lock held. NULL: it is the chain's own. */
struct ct_parallel_object *ct_parallel_object_of(const struct ct_parallel_lane *lane,
                                                 const struct ct_stream_chain *chain);

/* ---- parallel_queue.c ---- */

/* Threads that cannot be started are done without. */
void ct_parallel_start_threads(struct ct_parallel *p, size_t count);
void ct_parallel_stop_threads(struct ct_parallel *p);

/* Decodes and hands on until so many tasks are left. Result: 0 or what a task failed with. */
int ct_parallel_join(struct ct_parallel *p, size_t outstanding);

/* ---- parallel_hand_on.c ---- */

/* A task that is done and whose turn it is. Result: 0 or what it failed with. */
int ct_parallel_hand_on(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches);

/* What an object left of its task is for the next that it is given. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_parallel_keep_left(struct ct_parallel_lane *lane, struct ct_task *t);

/* What a task failed with, in words where it is not known yet. */
int ct_parallel_fail_task(const struct ct_parallel *p, const struct ct_task *t, int rc);

#endif
