/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the bytes of one trace ID, with their map to offsets in the capture, until a thread decodes them.
 * They are in memory, or still in their file; then memory has the range that was requested last. */
#pragma once

#include <stdbool.h>

#include "coretap/frame.h"

struct ct_stream_bytes {
    uint8_t *data;
    size_t size, cap;
    uint64_t pos; /* stream position of the first byte */
    struct ct_span *spans;
    size_t span_count, span_cap;
    bool in_file; /* the bytes are in a file without frames, at the offset `pos` */
    int fd;
    int error;                 /* errno of a read that failed; 0 when the file became shorter */
    size_t held_from, held_to; /* the range of bytes in `data` */
};

void ct_stream_bytes_free(struct ct_stream_bytes *bytes);

/* Removes all bytes and keeps the memory for later ones. */
void ct_stream_bytes_clear(struct ct_stream_bytes *bytes);

/* Makes the object represent `size` bytes of a file from offset `pos` on, without reading any. */
void ct_stream_bytes_in_file(struct ct_stream_bytes *bytes, int fd, uint64_t pos, size_t size);

/* Prepends the `size` bytes of the file before the first one. */
void ct_stream_bytes_extend(struct ct_stream_bytes *bytes, size_t size);

/* Appends a run, which must continue the bytes. Returns false when out of memory. */
bool ct_stream_bytes_append(struct ct_stream_bytes *bytes, const struct ct_run *run);

/* Returns the bytes of [from, to), borrowed until the next call. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_stream_bytes_run(struct ct_stream_bytes *bytes, size_t from, size_t to, struct ct_run *out);
