/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a rank reads besides captures, for comparison with those of rank 0. No MPI in here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "coretap/fleet.h"

#define CT_INPUTS_WHY  512 /* room for a difference in words, with the start of a long path */
#define CT_INPUTS_MOST 5   /* differences of a rank that are reported one by one; more get one line */

/* The files of a rank; all zero: none. */
struct ct_inputs {
    char *data; /* for each file its digest, and its path with the final 0 */
    size_t size, room;
};

/* A rank, for messages. */
struct ct_inputs_rank {
    int number;
    const char *host;
};

/* A ct_fleet_file_fn that adds a file; `list` is a struct ct_inputs. CT_ERR_NOMEM. */
int ct_inputs_add(void *list, const char *path, const uint8_t digest[CT_FLEET_DIGEST]);

/* Returns a checksum of all files, the same for ranks with the same files. */
uint64_t ct_inputs_sum(const struct ct_inputs *inputs);

/* Reports in words, each of at most CT_INPUTS_WHY bytes, which files of a rank differ from those of rank
 * 0. */
void ct_inputs_compare(const struct ct_inputs *first, struct ct_inputs_rank first_rank,
                       const struct ct_inputs *other, struct ct_inputs_rank other_rank,
                       void (*say)(void *user, const char *words), void *user);
