/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a rank reads beside captures, to be held against those of rank 0. Nothing in here asks MPI.
 */
#ifndef CT_MPI_INPUTS_H
#define CT_MPI_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "coretap/fleet.h"

#define CT_INPUTS_WHY  512 /* room for a difference in words, with the start of a long path */
#define CT_INPUTS_MOST 5   /* differences of a rank that are told; more are one line */

/* The files of a rank; all zero is none. */
struct ct_inputs {
    char *data; /* of each file the digest, and the path with its 0 */
    size_t size, room;
};

/* A rank, for messages. */
struct ct_inputs_rank {
    int number;
    const char *host;
};

/* Adds a file; `list` is a struct ct_inputs. A ct_fleet_file_fn. CT_ERR_NOMEM. */
int ct_inputs_add(void *list, const char *path, const uint8_t digest[CT_FLEET_DIGEST]);

/* Returns a sum over all files: that of ranks with the same ones is the same. */
uint64_t ct_inputs_sum(const struct ct_inputs *inputs);

/* Says in words, each of at most CT_INPUTS_WHY bytes, in which files a rank differs from rank 0. */
void ct_inputs_compare(const struct ct_inputs *first, struct ct_inputs_rank first_rank,
                       const struct ct_inputs *other, struct ct_inputs_rank other_rank,
                       void (*say)(void *user, const char *words), void *user);

#endif
