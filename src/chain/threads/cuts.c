/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/threads/cuts.h"

/* bytes of a file that are searched first */
#define FIRST_LOOK ((size_t)4 << 10)

int ct_cuts_first(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t from, size_t to,
                  size_t *at)
{
    struct ct_run run;
    *at = SIZE_MAX;
    for (size_t look = piece->in_file ? FIRST_LOOK : SIZE_MAX; from < to; look *= 2) {
        const size_t end = to - from > look ? from + look : to;
        const int rc = ct_stream_bytes_run(piece, from, end, &run);
        const size_t found = rc ? SIZE_MAX : ops->find_sync(run.data, run.size, 0);
        if (found != SIZE_MAX)
            *at = from + found;
        if (rc || found != SIZE_MAX || end == to)
            return rc;
        from = end - CT_SYNC_SIZE_MAX; /* a synchronisation point may begin in these bytes */
    }
    return CT_OK;
}

/* Finds the last synchronisation point at or after `from` that is at least `least` bytes before `cut`. */
static int last(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t from, size_t cut,
                size_t least, size_t *at)
{
    struct ct_run run;
    const int rc = ct_stream_bytes_run(piece, from, cut, &run);
    *at = SIZE_MAX;
    for (size_t next = 0; !rc;) {
        const size_t found = ops->find_sync(run.data, run.size, next);
        if (found == SIZE_MAX || found + least > run.size)
            break;
        *at = from + found;
        next = found + 1;
    }
    return rc;
}

int ct_cuts_warm_up(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t begin,
                    size_t cut, size_t least, size_t most, size_t *at)
{
    const bool is_near = cut - begin > most; /* the near part is searched first */
    int rc = last(piece, ops, is_near ? cut - most : begin, cut, least, at);
    if (!rc && is_near && *at == SIZE_MAX)
        rc = last(piece, ops, begin, cut, least, at);
    if (*at == SIZE_MAX)
        *at = begin;
    return rc;
}
