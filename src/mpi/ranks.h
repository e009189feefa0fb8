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
    RANKS_WORK,       /* from rank 0: what is to be done next */
    RANKS_SIZE,       /* the size of a sum or of a list of files */
    RANKS_SUM,        /* the bytes of a sum or of a list of files */
};

/* In the place of the number of a capture. */
#define RANKS_NONE UINT64_MAX

/* The same, for a rank that asked ahead: it is to ask again when it has nothing left. */
#define RANKS_LATER (UINT64_MAX - 1)

/* In the place of the number of a part: the capture. */
#define RANKS_WHOLE UINT32_MAX

/* What is handed out: a capture, or a part of one. All of it are bytes of one byte order, as below. */
struct ct_ranks_unit {
    uint64_t number; /* of the capture, or RANKS_NONE */
    uint32_t shard;  /* number of the part (cli_fleet_do_shard), or RANKS_WHOLE for the capture */
    uint32_t shards; /* with RANKS_WHOLE: how many parts of it were decoded */
};

struct ct_ranks {
    int rank, count;
    const struct cli_value *cut; /* of the option */
    char host[MPI_MAX_PROCESSOR_NAME];
    struct cli_fleet *fleet;
};

/* What a rank says of what it was given. All of it are bytes of one byte order: ranks with another one are
 * refused at the start. */
struct ct_ranks_report {
    struct ct_ranks_unit unit; /* its number is RANKS_NONE where nothing was done */
    uint8_t failed;            /* the capture could not be read */
    uint8_t fatal;             /* the rank cannot go on */
    uint8_t ahead;             /* the next one is for when the rank is done with what it begins now */
    uint8_t pad[5];            /* 0 */
};

/* What is left to be handed out. */
struct ct_ranks_plan;

/* Makes the plan of a job: captures in its order, those that are larger than a share in parts. NULL without
 * memory. */
struct ct_ranks_plan *ranks_plan_new(const struct ct_ranks *ranks);
void ranks_plan_free(struct ct_ranks_plan *plan);

/* Gives what a rank does next; its number is RANKS_NONE when nothing is left for it. What is joined last is
 * for rank 0, which needs the sum in the end: another rank would have to send it. */
struct ct_ranks_unit ranks_plan_next(struct ct_ranks_plan *plan, int rank);

/* Tells whether so much is left that a rank may have something to do ahead: captures in one, more than four
 * for each rank. What is handed out ahead waits for one that is not smaller. */
bool ranks_plan_is_long(const struct ct_ranks_plan *plan);

/* Returns true when all was handed out. */
bool ranks_plan_is_over(const struct ct_ranks_plan *plan);

/* Notes that a unit is done. Behind the last part of a capture its parts are joined next. */
void ranks_plan_done(struct ct_ranks_plan *plan, const struct ct_ranks_unit *unit);

/* Returns how many bytes of captures are done with a unit. */
uint64_t ranks_plan_bytes(const struct ct_ranks_plan *plan, const struct ct_ranks_unit *unit);

/* Sleeps for as long as between two looks. */
void ranks_rest(void);

/* Sends a message of any size. */
void ranks_send(const void *data, size_t size, int to, int tag);

/* Tells whether a message is there, and of whom. */
bool ranks_look(int from, int tag, MPI_Status *status);

/* Waits for a message and takes it. */
void ranks_receive(void *data, size_t size, int from, int tag);

/* Waits until all ranks are there. */
void ranks_meet(void);

/* Gives every rank a size that rank 0 knows, in the byte order of each, and so many bytes. */
void ranks_spread_size(uint64_t *size);
void ranks_spread(void *data, size_t size);

/* Gives every rank the list of the captures that the command line of rank 0 names: their contents are read
 * for their digests once, and not by each rank. Captures of manifests are left to each rank, which reads them
 * there. False after a message. */
bool ranks_share_captures(const struct ct_ranks *ranks);

/* Holds the ranks against each other: version, byte order, command line, captures and the files that options
 * name must be the same. Every rank gets the same answer; rank 0 says what is wrong. */
bool ranks_agree(const struct ct_ranks *ranks);

/* Gives every rank what rank 0 says. */
bool ranks_all(bool value);
int ranks_tell(int number);

/* Does all captures: rank 0 hands them out and works, too. Result on every rank: enum cli_exit. */
int ranks_work(const struct ct_ranks *ranks);

/* Adds the sums of all ranks to that of rank 0, in a tree. Result: enum cli_exit. */
int ranks_reduce(const struct ct_ranks *ranks);

#endif
