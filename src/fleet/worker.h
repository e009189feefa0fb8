/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that decode captures. If the command is a function, a process does one capture after the
 * other, which saves starting it and building up its memory each time. It ends after a capture that failed,
 * and when it still holds much memory after a capture. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ct_fleet_job;

/* The outputs of a process. */
enum ct_worker_text {
    CT_WORKER_OUT,  /* the piece */
    CT_WORKER_SAID, /* messages */
    CT_WORKER_NOTE, /* size and times of the capture's files before they were read */
    CT_WORKER_TEXTS
};

/* A task for a process. */
struct ct_worker_task {
    size_t number;     /* of the capture */
    uint32_t shard;    /* number of a part of the capture; 0: the whole capture */
    uint32_t shards;   /* number of parts */
    bool checks;       /* compare the contents with the manifest, not only the size */
    bool checks_alone; /* compare, and do nothing else */
};

struct ct_worker {
    pid_t pid;   /* 0: none */
    int control; /* sends tasks, and receives exit codes; -1: the process ends after its task */
    int texts[CT_WORKER_TEXTS]; /* read ends; -1: closed */
};

/* Gives a task to the process that the job has left, or to a new one. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_worker_begin(struct ct_fleet_job *job, const struct ct_worker_task *task, struct ct_worker *out);

/* Reads the exit code of the task from `control`, which must be readable. If the process has ended instead,
 * *code is unchanged and `control` is closed. */
void ct_worker_answer(struct ct_worker *worker, int *code);

/* Gives a process that has answered back to the job, for the next task. */
void ct_worker_leave(struct ct_fleet_job *job, struct ct_worker *worker);

/* Closes a text. */
void ct_worker_close(int *text);

/* Waits until the process has ended, and returns its status as waitpid does. */
int ct_worker_reap(struct ct_worker *worker);

/* Kills a process, if there is one. */
void ct_worker_drop(struct ct_worker *worker);
