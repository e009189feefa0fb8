/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of a buffer (a file or standard input) in chunks of fixed size, so that the buffer is never
 * in memory as a whole. */
#pragma once

#include "chain/file_window.h"
#include "coretap/base.h"

#define CT_CHUNK_SIZE ((size_t)1 << 18)

struct ct_chunks {
    struct ct_ctx *ctx;
    const char *path;
    int fd;
    size_t least;        /* for standard input: a read of this size is a chunk */
    uint64_t end;        /* size of the file when it was opened; 0 for standard input */
    uint64_t at;         /* offset of the next chunk; for a pipe, bytes read so far */
    uint64_t left;       /* bytes until reading stops */
    const uint8_t *data; /* the current piece */
    uint8_t *buffer;     /* CT_CHUNK_SIZE bytes, once a piece was read */
    bool maps;           /* pieces are mapped */
    struct ct_file_window window;
};

/* Opens `path`, "-" for standard input. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_chunks_open(struct ct_chunks *chunks, struct ct_ctx *ctx, const char *path);

/* Moves to `offset` of the file and stops reading `size` bytes later; the file should have all of them.
 * UINT64_MAX: stops at its end. CT_ERR_IO. */
int ct_chunks_seek(struct ct_chunks *chunks, uint64_t offset, uint64_t size);

/* Returns the size of a file that was opened by its path, in bytes; 0 when unknown. */
uint64_t ct_chunks_file_size(const struct ct_chunks *chunks);

/* Reads the next chunk: CT_CHUNK_SIZE bytes, fewer at the end; *size is 0 when nothing is left. CT_ERR_IO,
 * also when the file became shorter since it was opened. */
int ct_chunks_next(struct ct_chunks *chunks, size_t *size);

void ct_chunks_close(struct ct_chunks *chunks);
