/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of a job, and their messages. Nobody waits in MPI itself, which spins: all ranks poll and sleep
 * in between, so that ranks on the same machine leave the processors to decoding. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/fleet.h"

enum ct_ranks_tag {
    RANKS_REPORT = 1, /* to rank 0: the result of a capture, and a request for the next one */
    RANKS_WORK,       /* from rank 0: what to do next */
    RANKS_SIZE,       /* the size of a sum or of a list of files */
    RANKS_SUM,        /* the bytes of a sum or of a list of files */
};

/* As the number of a capture: none. */
#define RANKS_NONE UINT64_MAX

/* The same, for a rank that asked ahead: it must ask again when it has nothing left. */
#define RANKS_LATER (UINT64_MAX - 1)

/* As the number of a part: the whole capture. */
#define RANKS_WHOLE UINT32_MAX

/* A unit of work: a capture, or a part of one. Its bytes are sent as they are, like those of a report. */
struct ct_ranks_unit {
    uint64_t number; /* of the capture, or RANKS_NONE */
    uint32_t shard;  /* number of the part (cli_fleet_do_shard), or RANKS_WHOLE for the capture */
    uint32_t shards; /* with RANKS_WHOLE: number of its decoded parts, to be joined */
};

struct ct_ranks {
    int rank, count;
    const struct cli_value *cut; /* value of the option */
    char host[MPI_MAX_PROCESSOR_NAME];
    struct cli_fleet *fleet;
};

/* The report of a rank about a unit. Its bytes are sent as they are: ranks with another byte order are
 * refused at the start. */
struct ct_ranks_report {
    struct ct_ranks_unit unit; /* its number is RANKS_NONE if nothing was done */
    uint8_t failed;            /* the capture could not be read */
    uint8_t fatal;             /* the rank cannot go on */
    uint8_t ahead;             /* asks for the unit after the one that begins now */
    uint8_t pad[5];            /* 0 */
};

/* The work that is left to hand out. */
struct ct_ranks_plan;

/* Makes the plan of a job: the captures in their order, larger ones than a share in parts. NULL when memory
 * is missing. */
struct ct_ranks_plan *ranks_plan_new(const struct ct_ranks *ranks);
void ranks_plan_free(struct ct_ranks_plan *plan);

/* Returns the next unit for a rank; its number is RANKS_NONE when nothing is left for it. The last join goes
 * to rank 0, which needs the sum in the end: another rank would have to send it. */
struct ct_ranks_unit ranks_plan_next(struct ct_ranks_plan *plan, int rank);

/* Returns whether enough is left that a rank may get a unit ahead: unsplit captures, more than four for each
 * rank. A unit that is handed out ahead waits for one that is not smaller. */
bool ranks_plan_is_long(const struct ct_ranks_plan *plan);

/* Returns whether everything was handed out. */
bool ranks_plan_is_over(const struct ct_ranks_plan *plan);

/* Records that a unit is done. After the last part of a capture, joining its parts comes next. */
void ranks_plan_done(struct ct_ranks_plan *plan, const struct ct_ranks_unit *unit);

/* Returns how many bytes of captures a unit covers. */
uint64_t ranks_plan_bytes(const struct ct_ranks_plan *plan, const struct ct_ranks_unit *unit);

/* Sleeps for the time between two polls. */
void ranks_rest(void);

/* Sends a message of any size. */
void ranks_send(const void *data, size_t size, int to, int tag);

/* Returns whether a message has arrived; *status becomes its sender. */
bool ranks_look(int from, int tag, MPI_Status *status);

/* Waits for a message and takes it. */
void ranks_receive(void *data, size_t size, int from, int tag);

/* Waits until all ranks have arrived. */
void ranks_meet(void);

/* Send a size of rank 0 to every rank, in each rank's byte order, and as many bytes. */
void ranks_spread_size(uint64_t *size);
void ranks_spread(void *data, size_t size);

/* Sends every rank the list of the captures on rank 0's command line, so that their contents are read for the
 * digests once, not on each rank. Each rank reads manifests itself. Returns false after a message. */
bool ranks_share_captures(const struct ct_ranks *ranks);

/* Compares the ranks: version, byte order, command line, captures and the files that options name must be the
 * same. Every rank gets the same answer; rank 0 prints what is wrong. */
bool ranks_agree(const struct ct_ranks *ranks);

/* Return rank 0's value on every rank. */
bool ranks_all(bool value);
int ranks_tell(int number);

/* Does all captures. Rank 0 hands them out, and works too. Returns an enum cli_exit on every rank. */
int ranks_work(const struct ct_ranks *ranks);

/* Adds the sums of all ranks to that of rank 0, in a tree. Returns an enum cli_exit. */
int ranks_reduce(const struct ct_ranks *ranks);
