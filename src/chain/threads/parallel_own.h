/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files parallel_*.c: cuts make tasks, threads take them from a queue and decode them, and the
 * results are delivered. */
#pragma once

#include <pthread.h>

#include "chain/threads/parallel.h"
#include "chain/threads/task.h"

/* A chain object that decodes: in the state after the last delivered task, or in use by a task, or free. */
struct ct_parallel_object {
    struct ct_stream_chain chain;
    struct ct_parallel_object *next;
    bool busy; /* in use by a task that was not delivered */
};

struct ct_parallel_lane {
    struct ct_stream_chain *live; /* in the state after the last delivered task; NULL: see `before` */
    struct ct_task *before; /* the last delivered task, if its object is used by another task already, so
                               that its end has to be decoded again when that state is needed */
    uint64_t start_offset;  /* as in the object in that state */
    bool split; /* cut at synchronisation points; else all tasks use one object, one after the other */
    bool apart; /* tasks do not use the stream of the chain */
    struct ct_stream total;
    uint64_t rest; /* shared by the objects that are parts (ct_fast_share_rest) */
    struct ct_parallel_object *objects;
    struct ct_task *filling;
    struct ct_task *last;        /* the newest task that was not delivered, or NULL */
    struct ct_stream_bytes left; /* bytes of a packet that the end of the last task cut, to be decoded with
                                    those that follow */
    size_t segment;
    uint64_t last_bytes; /* total bytes of the last tasks of a file: one task a thread */
    unsigned last_tasks; /* how many of these last tasks were made */
    bool falters;        /* the last task was decoded twice or was too large */
    size_t searched;     /* offset in the piece being filled before which there is no cut */
};

struct ct_parallel {
    struct ct_parallel_how how;
    struct ct_task_goal goal;
    bool follows;                         /* tasks make elements, and the streams follow them in order */
    bool keeps;                           /* tasks keep records, whose number is limited */
    bool counts;                          /* tasks count, and the streams add up their counts */
    bool gives_steps;                     /* tasks make steps, which are renumbered in their turn */
    struct ct_chain_sink follow_sink;     /* the receivers of elements, if `follows` */
    struct ct_chain_sink steps_sink;      /* renumbers steps, if `gives_steps` */
    struct ct_follow *steps_from;         /* the part whose steps come next */
    uint32_t *step_edges;                 /* the new numbers of a batch */
    uint64_t busy_ns, spare_ns;           /* of the caller's thread: with deliveries, and otherwise */
    struct ct_chain_options task_options; /* for the objects of tasks */
    struct ct_batches *batches;           /* of the caller's thread */
    struct ct_parallel_file file;         /* the file that tasks read */
    struct ct_parallel_lane *lanes;
    struct ct_task *spare;
    size_t outstanding, most; /* number of tasks that were not delivered, and its maximum */
    uint64_t tasks, again;    /* delivered tasks, and those decoded twice */
    uint64_t serial;          /* number of the last task made */
    size_t threads;           /* besides the caller's thread */
    pthread_t *ids;
    pthread_mutex_t lock; /* guards the queue and the states of its tasks */
    pthread_cond_t work, done;
    struct ct_task *first, **end; /* in the order of delivery */
    bool stop;
    bool away;    /* the caller's thread is decoding, so that others may deliver */
    bool handing; /* another thread is delivering */
    int rc;       /* result of deliveries by other threads */
};

/* ---- parallel.c ---- */

/* Returns the index of a stream. */
size_t ct_parallel_lane_of(const struct ct_parallel *p, const struct ct_stream *stream);

/* ---- parallel_objects.c ---- */

/* Makes an object for a stream. CT_ERR_NOMEM. */
int ct_parallel_init_object(const struct ct_parallel *p, struct ct_parallel_lane *lane,
                            struct ct_parallel_object *o);

/* Returns a free object of the stream, or makes one. NULL: *rc says why. */
struct ct_parallel_object *ct_parallel_get_object(struct ct_parallel *p, struct ct_parallel_lane *lane,
                                                  int *rc);

/* Returns true when a task of the stream could get an object that was used before. The lock must be held. */
bool ct_parallel_has_object(const struct ct_parallel_lane *lane);

/* Returns the object of a stream that contains a chain; NULL when it is the caller's own. The lock must be
 * held. */
struct ct_parallel_object *ct_parallel_object_of(const struct ct_parallel_lane *lane,
                                                 const struct ct_stream_chain *chain);

/* ---- parallel_cuts.c ---- */

/* When no synchronisation point comes within so many bytes after the wanted end of a task, one thread decodes
 * the bytes. */
#define CT_UNSPLIT_MOST ((size_t)8 << 20)

/* Makes an empty task of a stream. Returns NULL when out of memory. The lock must be held. */
struct ct_task *ct_parallel_new_task(struct ct_parallel *p, size_t lane);

/* Finds the start of the warm-up, at or after byte `begin` of a piece, for a task that begins at `cut`.
 * `segment` is the minimal size of a task. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_parallel_find_warm_up(const struct ct_parallel *p, size_t lane, struct ct_stream_bytes *piece,
                             size_t begin, size_t cut, size_t segment, size_t *from);

/* ---- parallel_split.c ---- */

/* Looks for a running task whose last part another thread may take, and makes a task of that part. True: the
 * lock, which must be held, was released meanwhile, so that the caller must look for work again. */
bool ct_parallel_split(struct ct_parallel *p);

/* ---- parallel_steps.c ---- */

/* Returns true when tasks can make the steps that receivers want; else the caller's thread has to follow the
 * elements of tasks. */
bool ct_parallel_can_give_steps(const struct ct_parallel_how *how);

/* Passes steps of a task to the receivers, under the numbers of the stream. `user` is the ct_parallel. */
int ct_parallel_take_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);

/* Frees the object of a task of steps that is done, unless its state is needed when the task is delivered. */
void ct_parallel_leave_object(struct ct_parallel *p, struct ct_task *t);

/* Makes a live object in the state after the last delivered task, if there is none. Returns 0 or an error. */
int ct_parallel_restore(struct ct_parallel *p, struct ct_parallel_lane *lane, struct ct_batches *batches);

/* ---- parallel_queue.c ---- */

/* Starts threads; fewer when some cannot be started. */
void ct_parallel_start_threads(struct ct_parallel *p, size_t count);

/* Decodes and delivers until no more than `outstanding` tasks are left. Returns 0 or the error of a task. */
int ct_parallel_join(struct ct_parallel *p, size_t outstanding);

/* ---- parallel_hand_on.c ---- */

/* Delivers a task that is done and is the oldest, or decodes it again. Returns 0 or its error. */
int ct_parallel_hand_on(struct ct_parallel *p, struct ct_task *t, struct ct_batches *batches);

/* Keeps the unused bytes of a task for the next task of its object. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_parallel_keep_left(struct ct_parallel_lane *lane, struct ct_task *t);

/* Stores the message for the error of a task in the context, if it has none yet. Returns rc. */
int ct_parallel_fail_task(const struct ct_parallel *p, const struct ct_task *t, int rc);
