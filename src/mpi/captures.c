/* SPDX-License-Identifier: Apache-2.0 */
/* The captures on the command line. Rank 0 makes their digests for all ranks. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/memory_file.h"
#include "mpi/capture_list.h"
#include "mpi/ranks.h"

/* Writes the list of captures, each as its digest, its size in decimal digits, a space, and its path with the
 * final 0. A JSON manifest would drop paths that are not UTF-8. NULL: out of memory. */
static char *write_list(const struct ct_manifest *manifest, size_t *size)
{
    struct cli_memory_file file;
    if (!cli_memory_open(&file))
        return NULL;
    for (size_t i = 0; i < ct_manifest_count(manifest); i++) {
        const struct ct_fleet_capture *capture = ct_manifest_at(manifest, i);
        fwrite(capture->digest, 1, sizeof capture->digest, file.out);
        fprintf(file.out, "%" PRIu64 " %s%c", capture->size, capture->path, 0);
    }
    return cli_memory_close(&file, size);
}

/* Makes the manifest of a rank from rank 0's list. */
static bool read_list(const struct ct_ranks *r, const char *list, size_t size)
{
    struct cli_fleet *f = r->fleet;
    int rc = ct_manifest_new(f->ctx, &f->manifest);
    for (const char *at = list; !rc && at < list + size;) {
        struct ct_fleet_capture capture;
        if (!ct_capture_list_next(&at, list + size, &capture)) {
            cli_say(
                "rank %d on %s cannot read the list of captures that rank 0 sent; the job ends; install the "
                "same version of coretap on all machines",
                r->rank, r->host);
            return false;
        }
        rc = ct_manifest_add(f->manifest, &capture);
    }
    return !rc || (cli_library_error(f->ctx), false);
}

bool ranks_share_captures(const struct ct_ranks *r)
{
    struct cli_fleet *f = r->fleet;
    size_t length = 0;
    const bool writes = !r->rank && !f->own.values[CLI_FLEET_MANIFEST].given;
    char *list = writes ? write_list(f->manifest, &length) : NULL;
    uint64_t size = length;
    if (!ranks_all(!writes || list)) {
        if (!r->rank)
            cli_no_memory();
        return false;
    }
    ranks_spread_size(&size);
    if (r->rank && !(list = malloc(size + 1))) {
        cli_no_memory();
        MPI_Abort(MPI_COMM_WORLD, CLI_FAILED); /* the other ranks wait for the list */
        return false;
    }
    ranks_spread(list, size);
    const bool fine = !r->rank || !size || read_list(r, list, size);
    free(list);
    return fine;
}
