/* SPDX-License-Identifier: Apache-2.0 */
/* What every rank of a job has to have like rank 0. Nothing in here asks MPI. */
#ifndef CT_MPI_HELLO_H
#define CT_MPI_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_HELLO_WHY 512 /* room for a reason */

/* What a rank says of itself. It has one size in all versions, and what is compared first lies first. */
struct ct_hello {
    uint8_t order[4]; /* 0x01020304, as the machine keeps it */
    char version[32]; /* of coretap-mpi … */
    char decoder[32]; /* … and of coretap beside it, which decodes */
    char host[64];
    uint8_t pad[100];  /* 0 */
    uint64_t inputs;   /* sum over the files that it reads beside captures */
    uint64_t words;    /* sum over the command line … */
    uint64_t captures; /* … and over the manifest */
};

/* A program that is asked for its version. */
struct ct_hello_question {
    pid_t pid; /* -1: it could not be started */
    int fd;    /* what it says */
};

/* Starts coretap at `program`, or nothing where that is NULL, to ask for its version. */
struct ct_hello_question ct_hello_ask(const char *program);

/* Takes the answer. False: the program cannot be run, or says no version. */
bool ct_hello_answer(struct ct_hello_question question, char *version, size_t room);

/* Tells whether a rank differs from rank 0 in what both need alike, or has programs of two versions. Then
 * *why says how, in at most CT_HELLO_WHY bytes. Rank 0 is held against itself. */
bool ct_hello_differs(const struct ct_hello *first, const struct ct_hello *other, int rank, char *why);

#endif
