/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a buffer, a piece at a time: a file or standard input, never held whole. */
#ifndef CT_CHAIN_CHUNKS_H
#define CT_CHAIN_CHUNKS_H

#include "coretap/base.h"

#define CT_CHUNK_SIZE ((size_t)1 << 18)

struct ct_chunks {
    struct ct_ctx *ctx;
    const char *path;
    int fd;
    size_t least;  /* bytes of a pipe that the next piece waits for */
    uint64_t at;   /* offset of the next piece, in a pipe from its first byte on */
    uint64_t left; /* bytes up to the end of what is wanted */
    uint8_t *data; /* CT_CHUNK_SIZE bytes */
};

/* Opens `path`, "-" for standard input. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_chunks_open(struct ct_chunks *chunks, struct ct_ctx *ctx, const char *path);

/* Goes on at `offset` of a file, and ends `size` bytes further. CT_ERR_IO. */
int ct_chunks_seek(struct ct_chunks *chunks, uint64_t offset, uint64_t size);

/* Bytes of a whole file that was opened by its path; 0 when it is not known. */
uint64_t ct_chunks_file_size(const struct ct_chunks *chunks);

/* The next piece, full but for the last one of a file; *size is 0 at the end. CT_ERR_IO. */
int ct_chunks_next(struct ct_chunks *chunks, size_t *size);

void ct_chunks_close(struct ct_chunks *chunks);

#endif
