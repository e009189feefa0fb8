/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fnv.h"
#include "mpi/hello.h"

#define REST_NS 500000

void ranks_rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* Sleeps until what was begun is done, so that MPI_Wait does not spin. */
static void sleep_until_done(MPI_Request request)
{
    for (int done = 0; !done;) {
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            ranks_rest();
    }
}

/* Pieces of a message: MPI counts bytes in an int. */
#define PIECE ((size_t)1 << 30)

void ranks_send(const void *data, size_t size, int to, int tag)
{
    for (size_t at = 0; at < size;) {
        const size_t piece = size - at < PIECE ? size - at : PIECE;
        MPI_Request request;
        MPI_Isend((const char *)data + at, (int)piece, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
        sleep_until_done(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        at += piece;
    }
}

void ranks_receive(void *data, size_t size, int from, int tag)
{
    for (size_t at = 0; at < size;) {
        const size_t piece = size - at < PIECE ? size - at : PIECE;
        for (int there = 0; !there;) {
            MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            if (!there)
                ranks_rest();
        }
        MPI_Recv((char *)data + at, (int)piece, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        at += piece;
    }
}

/* ---- agreement ---- */

static void describe(const struct ct_ranks *r, struct ct_hello *hello)
{
    const uint32_t number = 0x01020304;
    const struct cli_fleet *f = r->fleet;
    memset(hello, 0, sizeof *hello);
    hello->words = hello->captures = CT_FNV_BEGIN;
    memcpy(hello->order, &number, sizeof hello->order);
    snprintf(hello->version, sizeof hello->version, "%s", ct_version());
    if (!ct_hello_ask(f->program, hello->decoder, sizeof hello->decoder))
        snprintf(hello->decoder, sizeof hello->decoder, "of no known version");
    snprintf(hello->host, sizeof hello->host, "%.*s", (int)sizeof hello->host - 1, r->host);
    for (size_t i = 1; f->words && f->words[i]; i++)
        hello->words = ct_fnv(hello->words, f->words[i], strlen(f->words[i]) + 1);
    for (size_t i = 0; i < ct_manifest_count(f->manifest); i++)
        hello->captures = ct_fnv(hello->captures, ct_manifest_at(f->manifest, i)->digest, CT_FLEET_DIGEST);
}

bool ranks_agree(const struct ct_ranks *r)
{
    struct ct_hello mine, *all = r->rank ? NULL : calloc((size_t)r->count, sizeof *all);
    describe(r, &mine);
    if (!ranks_all(r->rank || all)) {
        free(all);
        return false;
    }
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    bool same = true;
    for (int i = 0; i < r->count && all; i++) {
        char why[CT_HELLO_WHY];
        if (!ct_hello_differs(&all[0], &all[i], i, why))
            continue;
        cli_say("%s", why);
        same = false;
    }
    free(all);
    return ranks_all(same);
}

bool ranks_all(bool value)
{
    return ranks_tell(value);
}

int ranks_tell(int number)
{
    MPI_Request request;
    MPI_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return number;
}
