/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of one trace ID that somebody keeps, with the map to where they came from; or that are in a file, of
 * which memory holds what was asked for last. */
#ifndef CT_DECODE_STRETCH_H
#define CT_DECODE_STRETCH_H

#include <stdbool.h>

#include "coretap/frame.h"

struct ct_stretch {
    uint8_t *data;
    size_t size, cap;
    uint64_t pos; /* stream position of the first byte */
    struct ct_span *spans;
    size_t span_count, span_cap;
    bool in_file; /* at `pos`: a stream without frames, from the beginning of the file on */
    int fd;
    int error;                 /* of reading it: as errno; 0: it is shorter than it was */
    size_t held_from, held_to; /* the bytes that are in `data` */
};

void ct_stretch_free(struct ct_stretch *piece);
void ct_stretch_clear(struct ct_stretch *piece);

/* `size` bytes of a file from `pos` on, with nothing read yet. */
void ct_stretch_in_file(struct ct_stretch *piece, int fd, uint64_t pos, size_t size);

/* So many bytes more of the file, before the first. */
void ct_stretch_extend(struct ct_stretch *piece, size_t size);

/* Adds a run, which goes on where the piece ends. False without memory. */
bool ct_stretch_append(struct ct_stretch *piece, const struct ct_run *run);

/* Bytes from to to - 1; borrowed until the next call. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_stretch_run(struct ct_stretch *piece, size_t from, size_t to, struct ct_run *out);

#endif
