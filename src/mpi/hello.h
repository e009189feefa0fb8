/* SPDX-License-Identifier: Apache-2.0 */
/* What every rank of a job must have in common with rank 0. No MPI in here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_HELLO_WHY 512 /* room for a reason */

/* What a rank sends about itself. Its size is the same in all versions, and the members that are compared
 * first are at its beginning. */
struct ct_hello {
    uint8_t order[4]; /* 0x01020304 in the machine's byte order */
    char version[32];
    uint8_t unused[32]; /* 0 */
    char host[64];
    uint8_t pad[100];  /* 0 */
    uint64_t inputs;   /* checksum of the files that it reads besides captures */
    uint64_t words;    /* checksum of the command line */
    uint64_t captures; /* checksum of the manifest */
};

/* Returns whether a rank differs from rank 0. If so, *why becomes the reason, in at most CT_HELLO_WHY
 * bytes. */
bool ct_hello_differs(const struct ct_hello *first, const struct ct_hello *other, int rank, char *why);
