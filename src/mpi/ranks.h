/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a job, and what they say to each other. Nobody waits in MPI itself, which spins: all look
 * whether something came, and sleep in between, so that ranks beside each other leave the processors to
 * those that decode. */
#ifndef CT_MPI_RANKS_H
#define CT_MPI_RANKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/fleet.h"

enum ct_ranks_tag {
    RANKS_REPORT = 1, /* to rank 0: what became of a capture; the next one is wanted */
    RANKS_WORK,       /* from rank 0: number of a capture */
    RANKS_SIZE,       /* of a sum … */
    RANKS_SUM,        /* … and its bytes */
};

/* In the place of the number of a capture. */
#define RANKS_NONE UINT64_MAX

struct ct_ranks {
    int rank, count;
    char host[MPI_MAX_PROCESSOR_NAME];
    struct cli_fleet *fleet;
};

/* What a rank says of the capture that it was given. All of it are bytes of one byte order: ranks with
 * another one are refused at the start. */
struct ct_ranks_report {
    uint64_t number; /* RANKS_NONE at first */
    uint8_t failed;  /* it could not be read */
    uint8_t fatal;   /* the rank cannot go on */
    uint8_t pad[6];  /* 0 */
};

/* Sleeps for as long as between two looks. */
void ranks_rest(void);

/* Sends a message of any size. */
void ranks_send(const void *data, size_t size, int to, int tag);

/* Waits for a message and takes it. */
void ranks_receive(void *data, size_t size, int from, int tag);

/* Holds the ranks against each other: version, byte order, command line and captures must be the same. Every
 * rank gets the same answer; rank 0 says what is wrong. */
bool ranks_agree(const struct ct_ranks *ranks);

/* Gives every rank what rank 0 says. */
bool ranks_all(bool value);

/* Does all captures: rank 0 hands them out and works, too. Result on every rank: enum cli_exit. */
int ranks_work(const struct ct_ranks *ranks);

/* Adds the sums of all ranks to that of rank 0, in a tree. Result: enum cli_exit. */
int ranks_reduce(const struct ct_ranks *ranks);

#endif
