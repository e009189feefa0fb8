/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes in files (docs/formats.md). */
#ifndef CT_SESSION_INDEX_FILE_H
#define CT_SESSION_INDEX_FILE_H

#include "session/index.h"

/* Behind the name of a buffer's file: that of its index. */
#define CT_INDEX_SUFFIX ".ctx"

/* What an index is of: the file of a buffer as it was, and how it was read. */
struct ct_index_identity {
    uint64_t size;
    uint64_t seconds, nanoseconds; /* when the file was written */
    uint64_t config;               /* a sum over sources, images and pieces of the file */
};

/* CT_ERR_IO: the file is not there, or cannot be read. */
int ct_index_identify(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_index_identity *out);

/* The sum over numbers of 64 bits that a file ends with. */
uint64_t ct_index_sum(const void *numbers, size_t count);

/* Makes the bytes of a file, to be freed. CT_ERR_NOMEM. */
int ct_index_write(struct ct_ctx *ctx, const struct ct_index *index, const struct ct_index_identity *of,
                   void **bytes, size_t *size);

/* Reads the bytes of a file that is called `name`. *out is NULL when they are of something else than `of`, or
 * of another version. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_index_read(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                  const struct ct_index_identity *of, struct ct_index **out);

/* Loads the file of an index; *out is NULL when there is none, and as above. CT_ERR_IO, and as above. */
int ct_index_load(struct ct_ctx *ctx, const char *path, const struct ct_index_identity *of,
                  struct ct_index **out);

/* Writes a file beside its place and moves it there. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_index_save(struct ct_ctx *ctx, const char *path, const struct ct_index *index,
                  const struct ct_index_identity *of);

#endif
