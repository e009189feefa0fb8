/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the sums of all ranks: in each round half of the remaining ranks send theirs, as saved bytes, to
 * the other half. So no rank holds more than two sums. */
#include <stdlib.h>
#include <string.h>

#include "coretap/analysis.h"
#include "mpi/ranks.h"

struct bytes {
    char *data;
    size_t size, room;
};

static int take(void *user, const void *data, size_t size)
{
    struct bytes *b = user;
    if (b->room - b->size < size) {
        const size_t room = 2 * b->room + size + 65536;
        char *grown = realloc(b->data, room);
        if (!grown)
            return CT_ERR_NOMEM;
        b->data = grown;
        b->room = room;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return CT_OK;
}

/* Sends a sum. An empty one means that it could not be saved. */
static bool give(const struct ct_ranks *r, int to)
{
    struct bytes bytes = {0};
    const int rc = ct_analysis_save(r->fleet->sum, take, &bytes);
    if (rc) {
        bytes.size = 0;
        cli_say("rank %d on %s: out of memory for the sum that it sends; the job ends", r->rank, r->host);
    }
    const uint64_t size = bytes.size;
    ranks_send(&size, sizeof size, to, RANKS_SIZE);
    ranks_send(bytes.data, bytes.size, to, RANKS_SUM);
    free(bytes.data);
    return rc == CT_OK;
}

/* Adds the sum of another rank. */
static bool add(const struct ct_ranks *r, int from)
{
    char name[32];
    uint64_t size;
    snprintf(name, sizeof name, "sum of rank %d", from);
    ranks_receive(&size, sizeof size, from, RANKS_SIZE);
    char *data = size ? malloc(size) : NULL;
    if (!data) {
        if (size)
            cli_say("rank %d on %s: out of memory for the %s; the job ends", r->rank, r->host, name);
        /* the job cannot go on without the sum, and the sender would not notice */
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
        return false;
    }
    ranks_receive(data, size, from, RANKS_SUM);
    const int rc = ct_analysis_load(r->fleet->sum, name, data, size);
    free(data);
    if (rc)
        cli_library_error(r->fleet->ctx);
    return rc == CT_OK;
}

int ranks_reduce(const struct ct_ranks *r)
{
    bool fine = true;
    for (int step = 1; step < r->count; step *= 2) {
        if (r->rank % (2 * step)) {
            fine = give(r, r->rank - step);
            break;
        }
        if (r->rank + step < r->count)
            fine = fine && add(r, r->rank + step);
    }
    return fine ? CLI_CLEAN : CLI_FAILED;
}
