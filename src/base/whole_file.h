/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole file. It is read and not mapped, because truncating a mapped file ends the process with
 * SIGBUS. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ct_ctx;

/* Stores a text that says how many bytes are lost, and returns CT_ERR_IO, because the file `fd` had `size`
 * bytes, which are needed, and has fewer now. */
int ct_fail_shorter(struct ct_ctx *ctx, int fd, const char *path, uint64_t size);

/* Reads `size` bytes of the regular file `fd` into new memory, which ct_whole_file_free frees; holes of a
 * sparse file take none. `path` is for messages. CT_ERR_IO: it cannot be read, or became shorter.
 * CT_ERR_NOMEM. */
int ct_whole_file_read(struct ct_ctx *ctx, int fd, const char *path, size_t size, void **bytes);

/* Reads `size` bytes from an offset on, likewise. */
int ct_whole_file_read_part(struct ct_ctx *ctx, int fd, const char *path, uint64_t from, size_t size,
                            void **bytes);

/* Reads the bytes into memory of the caller. CT_ERR_IO. */
int ct_whole_file_read_to(struct ct_ctx *ctx, int fd, const char *path, uint64_t from, size_t size,
                          void *room);

/* Copies bytes to memory that ct_whole_file_free frees. CT_ERR_NOMEM. */
int ct_whole_file_copy(struct ct_ctx *ctx, const char *path, const void *from, size_t size, void **bytes);
void ct_whole_file_free(const void *bytes, size_t size);
