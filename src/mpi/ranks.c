/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/ranks.h"

#include <time.h>

#define REST_NS 500000

void ranks_rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* Sleeps until the request has finished, so that MPI_Wait does not spin. */
static void sleep_until_done(MPI_Request request)
{
    for (int done = 0; !done;) {
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            ranks_rest();
    }
}

/* Bytes of a message that are sent at once: MPI counts them in an int. */
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

bool ranks_look(int from, int tag, MPI_Status *status)
{
    int there;
    MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, status);
    if (!there) /* Open MPI answers first, and processes arrivals afterwards */
        MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, status);
    return there;
}

void ranks_receive(void *data, size_t size, int from, int tag)
{
    for (size_t at = 0; at < size;) {
        const size_t piece = size - at < PIECE ? size - at : PIECE;
        while (!ranks_look(from, tag, MPI_STATUS_IGNORE))
            ranks_rest();
        MPI_Recv((char *)data + at, (int)piece, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        at += piece;
    }
}

void ranks_meet(void)
{
    const uint8_t here = 1;
    uint8_t all;
    MPI_Request request; /* not from MPI_Ibarrier, which clang-tidy does not know */
    MPI_Iallreduce(&here, &all, 1, MPI_UINT8_T, MPI_MIN, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Sends the value of rank 0 to every rank. */
static void spread(void *data, size_t count, MPI_Datatype type)
{
    MPI_Request request;
    MPI_Ibcast(data, (int)count, type, 0, MPI_COMM_WORLD, &request);
    sleep_until_done(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void ranks_spread_size(uint64_t *size)
{
    spread(size, 1, MPI_UINT64_T);
}

void ranks_spread(void *data, size_t size)
{
    for (size_t at = 0; at < size; at += PIECE)
        spread((char *)data + at, size - at < PIECE ? size - at : PIECE, MPI_BYTE);
}

bool ranks_all(bool value)
{
    return ranks_tell(value);
}

int ranks_tell(int number)
{
    spread(&number, 1, MPI_INT);
    return number;
}
