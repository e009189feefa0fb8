/* SPDX-License-Identifier: Apache-2.0 */
/* What every rank of a job has to have like rank 0. Nothing in here asks MPI. */
#ifndef CT_MPI_HELLO_H
#define CT_MPI_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_HELLO_WHY 512 /* room for a reason */

/* What a rank says of itself. It has one size in all versions, and what is compared first lies first. */
struct ct_hello {
    uint8_t order[4]; /* 0x01020304, as the machine keeps it */
    char version[32];
    uint8_t unused[32]; /* 0 */
    char host[64];
    uint8_t pad[100];  /* 0 */
    uint64_t inputs;   /* sum over the files that it reads beside captures */
    uint64_t words;    /* sum over the command line */
    uint64_t captures; /* sum over the manifest */
};

/* Tells whether a rank differs from rank 0 in what both need alike. Then *why says how, in at most
 * CT_HELLO_WHY bytes. */
bool ct_hello_differs(const struct ct_hello *first, const struct ct_hello *other, int rank, char *why);

#endif
