/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes in files (docs/formats.md). */
#ifndef CT_SESSION_INDEX_FILE_H
#define CT_SESSION_INDEX_FILE_H

#include "session/index.h"

/* the suffix that makes the name of an index of the name of its buffer's file */
#define CT_INDEX_SUFFIX ".ctx"

/* What an index was made of: the file of a buffer as it was, and how it was read. */
struct ct_index_identity {
    uint64_t size;
    uint64_t seconds, nanoseconds; /* time of the file's last change */
    uint64_t config;               /* hash of sources, images and parts of the file's bytes */
};

/* Finds the identity of a buffer's file. CT_ERR_IO: the file is missing or cannot be read. */
int ct_index_identify(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_index_identity *out);

/* Returns the checksum of an index file over `count` numbers of 64 bits. */
uint64_t ct_index_sum(const void *numbers, size_t count);

/* Makes the bytes of an index file, which the caller frees. CT_ERR_NOMEM. */
int ct_index_write(struct ct_ctx *ctx, const struct ct_index *index, const struct ct_index_identity *of,
                   void **bytes, size_t *size);

/* Reads the bytes of an index file called `name`. *out is NULL when the index is of another version, or of
 * something else than `of`. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_index_read(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                  const struct ct_index_identity *of, struct ct_index **out);

/* Loads an index file. *out is NULL when there is none, or as in ct_index_read. CT_ERR_IO, and the errors of
 * ct_index_read. */
int ct_index_load(struct ct_ctx *ctx, const char *path, const struct ct_index_identity *of,
                  struct ct_index **out);

/* Saves an index: writes a file beside its place and moves it there. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_index_save(struct ct_ctx *ctx, const char *path, const struct ct_index *index,
                  const struct ct_index_identity *of);

#endif
