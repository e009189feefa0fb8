/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that decode captures. One that runs the command as a function does one capture after the
 * other, which saves making it, and its memory, each time; one in which a capture failed, or needed much
 * memory, ends with it. */
#ifndef CT_FLEET_WORKER_H
#define CT_FLEET_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ct_fleet_job;

/* The texts that a process writes. */
enum ct_worker_text {
    CT_WORKER_OUT,  /* the piece */
    CT_WORKER_SAID, /* messages */
    CT_WORKER_NOTE, /* what the files of the capture were like before it read them */
    CT_WORKER_TEXTS
};

/* What it is to do. */
struct ct_worker_task {
    size_t number;     /* of the capture */
    uint32_t shard;    /* number of a part of the capture; 0: all of it */
    uint32_t shards;   /* how many parts there are */
    bool checks;       /* compare the contents with the manifest, and not the size alone */
    bool checks_alone; /* compare, and do nothing else */
};

struct ct_worker {
    pid_t pid;                  /* 0: there is none */
    int control;                /* to which tasks go, and exit codes come back; -1: it ends with its task */
    int texts[CT_WORKER_TEXTS]; /* their ends that are read; -1: closed */
};

/* Gives a task to the process that the job has left, or to a new one. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_worker_begin(struct ct_fleet_job *job, const struct ct_worker_task *task, struct ct_worker *out);

/* Takes the exit code of the task from `control`, where there is something to be read. *code stays as it is,
 * and `control` is closed, when the process ends instead. */
void ct_worker_answer(struct ct_worker *worker, int *code);

/* Leaves a process that answered to the job, for the next task. */
void ct_worker_leave(struct ct_fleet_job *job, struct ct_worker *worker);

/* Closes a text. */
void ct_worker_close(int *text);

/* Waits until the process has ended, and returns its status as waitpid does. */
int ct_worker_reap(struct ct_worker *worker);

/* Ends a process, if there is one. */
void ct_worker_drop(struct ct_worker *worker);

#endif
