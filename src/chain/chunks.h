/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of a buffer (a file or standard input) in chunks of fixed size, so that it is never held
 * whole. */
#ifndef CT_CHAIN_CHUNKS_H
#define CT_CHAIN_CHUNKS_H

#include "chain/file_window.h"
#include "coretap/base.h"

#define CT_CHUNK_SIZE ((size_t)1 << 18)

struct ct_chunks {
    struct ct_ctx *ctx;
    const char *path;
    int fd;
    size_t least;        /* of standard input: a read of so many bytes is a chunk */
    uint64_t end;        /* bytes that the file had when it was opened; 0 for standard input */
    uint64_t at;         /* offset of the next chunk; for a pipe, bytes read so far */
    uint64_t left;       /* bytes up to where reading is to stop */
    const uint8_t *data; /* the current piece */
    uint8_t *buffer;     /* of CT_CHUNK_SIZE bytes, once a piece was read */
    bool maps;           /* pieces are mapped */
    struct ct_file_window window;
};

/* Opens `path`, "-" for standard input. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_chunks_open(struct ct_chunks *chunks, struct ct_ctx *ctx, const char *path);

/* Goes to `offset` of the file and lets reading stop `size` bytes behind it, all of which the file should
 * have; with UINT64_MAX at its end. CT_ERR_IO. */
int ct_chunks_seek(struct ct_chunks *chunks, uint64_t offset, uint64_t size);

/* Returns the size of a file that was opened by its path, in bytes; 0 when it is not known. */
uint64_t ct_chunks_file_size(const struct ct_chunks *chunks);

/* Reads the next chunk: CT_CHUNK_SIZE bytes, fewer at the end; *size is 0 when nothing is left. CT_ERR_IO,
 * also when the file became shorter since it was opened. */
int ct_chunks_next(struct ct_chunks *chunks, size_t *size);

void ct_chunks_close(struct ct_chunks *chunks);

#endif
