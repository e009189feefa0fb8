/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/hello.h"

#include <stdio.h>
#include <string.h>

/* The texts of other ranks may lack their end. */
#define TEXT(member) (int)sizeof(member), (member)

bool ct_hello_differs(const struct ct_hello *first, const struct ct_hello *other, int rank, char *why)
{
    const size_t room = CT_HELLO_WHY;
    if (memcmp(first->order, other->order, sizeof first->order) != 0)
        snprintf(why, room,
                 "rank %d on %.*s has another byte order than rank 0 on %.*s; the job ends; run all ranks on "
                 "machines with the same byte order",
                 rank, TEXT(other->host), TEXT(first->host));
    else if (strncmp(first->version, other->version, sizeof first->version) != 0)
        snprintf(why, room,
                 "rank %d on %.*s has coretap %.*s, but rank 0 on %.*s has %.*s; the job ends; install the "
                 "same version on all machines",
                 rank, TEXT(other->host), TEXT(other->version), TEXT(first->host), TEXT(first->version));
    else if (first->words != other->words)
        snprintf(why, room,
                 "rank %d on %.*s was started with another command line than rank 0; the job ends; give all "
                 "ranks the same command line",
                 rank, TEXT(other->host));
    else if (first->captures != other->captures)
        snprintf(why, room,
                 "rank %d on %.*s reads another manifest than rank 0 on %.*s; the job ends; put the manifest "
                 "into a folder that all machines share",
                 rank, TEXT(other->host), TEXT(first->host));
    else
        return false;
    return true;
}
