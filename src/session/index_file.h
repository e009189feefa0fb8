/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes in files (docs/formats.md). */
#pragma once

#include "session/index.h"

/* Suffix that turns the name of a buffer's file into the name of its index. */
#define CT_INDEX_SUFFIX ".ctx"

/* The identity of an index: the state of the buffer's file, and how it was read. */
struct ct_index_identity {
    uint64_t size;
    uint64_t seconds, nanoseconds; /* time of the file's last change */
    uint64_t config;               /* hash of sources, images and parts of the file's bytes */
};

/* Finds the identity of a buffer's file. CT_ERR_IO: the file is missing or cannot be read. */
int ct_index_identify(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_index_identity *out);

/* Returns the checksum of an index file over `count` numbers of 64 bits. */
uint64_t ct_index_sum(const void *numbers, size_t count);

/* Makes the contents of an index file, which the caller frees. CT_ERR_NOMEM. */
int ct_index_write(struct ct_ctx *ctx, const struct ct_index *index, const struct ct_index_identity *of,
                   void **bytes, size_t *size);

/* Reads the contents of an index file called `name`. *out is NULL when the index has another version or
 * another identity than `of`. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_index_read(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size,
                  const struct ct_index_identity *of, struct ct_index **out);

/* Loads an index file. *out is NULL when there is none, or as in ct_index_read. CT_ERR_IO, and the errors of
 * ct_index_read. */
int ct_index_load(struct ct_ctx *ctx, const char *path, const struct ct_index_identity *of,
                  struct ct_index **out);

/* Saves an index: writes a temporary file beside it and renames that. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_index_save(struct ct_ctx *ctx, const char *path, const struct ct_index *index,
                  const struct ct_index_identity *of);
