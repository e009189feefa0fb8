/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of one trace ID that are kept until a thread decodes them, with the map to the file that they came
 * from. They are in memory, or still in their file, of which memory then holds what was asked for last. */
#ifndef CT_CHAIN_THREADS_STREAM_BYTES_H
#define CT_CHAIN_THREADS_STREAM_BYTES_H

#include <stdbool.h>

#include "coretap/frame.h"

struct ct_stream_bytes {
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

void ct_stream_bytes_free(struct ct_stream_bytes *bytes);

/* Forgets all bytes and keeps the memory for others. */
void ct_stream_bytes_clear(struct ct_stream_bytes *bytes);

/* Stands for `size` bytes of a file from `pos` on, of which nothing is read yet. */
void ct_stream_bytes_in_file(struct ct_stream_bytes *bytes, int fd, uint64_t pos, size_t size);

/* Takes `size` more bytes of the file in, those before the first. */
void ct_stream_bytes_extend(struct ct_stream_bytes *bytes, size_t size);

/* Adds a run, which goes on where the bytes end. False without memory. */
bool ct_stream_bytes_append(struct ct_stream_bytes *bytes, const struct ct_run *run);

/* Gives the bytes of [from, to), borrowed until the next call. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_stream_bytes_run(struct ct_stream_bytes *bytes, size_t from, size_t to, struct ct_run *out);

#endif
