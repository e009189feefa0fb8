/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a ct_write_fn, kept in memory. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "coretap/base.h"
#include "fuzz.h"

struct written {
    char *bytes; /* the caller frees it */
    size_t size;
};

/* Appends output. It is a ct_write_fn, whose `user` is a struct written. */
static inline int written_append(void *user, const void *data, size_t size)
{
    struct written *all = user;
    char *bytes = realloc(all->bytes, all->size + size + 1);
    if (!bytes)
        return CT_ERR_NOMEM;
    memcpy(bytes + all->size, data, size);
    all->bytes = bytes;
    all->size += size;
    return CT_OK;
}

/* Requires that both are equal, and frees them. */
static inline void written_same(struct written a, struct written b)
{
    require(a.size == b.size && (!a.size || memcmp(a.bytes, b.bytes, a.size) == 0));
    free(a.bytes);
    free(b.bytes);
}

/* Returns what is written of an input that was read; no bytes when it cannot be read. */
typedef struct written written_fn(struct ct_ctx *ctx, const void *data, size_t size);

/* Requires that the output for an input reads and writes to the same bytes. Skips inputs of more than 64
 * KiB. */
static inline int written_twice(written_fn *read_and_write, const void *data, size_t size)
{
    if (size > 65536)
        return 0;
    struct ct_ctx *ctx = ct_ctx_new();
    const struct written first = read_and_write(ctx, data, size);
    if (first.size)
        written_same(first, read_and_write(ctx, first.bytes, first.size));
    ct_ctx_free(ctx);
    return 0;
}
