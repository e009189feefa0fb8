/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are compressed as a whole by xz, zstd or gzip, such as kernel modules. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_ctx;

/* Returns whether a file that begins with these bytes may be compressed. 6 bytes are enough. */
bool ct_unpack_is(const uint8_t *start, size_t size);

/* Unpacks a file, called `name` in messages, to at most `limit` bytes, which the caller frees. CT_ERR_FORMAT:
 * it is truncated or damaged; CT_ERR_LIMIT; CT_ERR_UNSUPPORTED: coretap was built without liblzma;
 * CT_ERR_NOMEM. */
int ct_unpack(struct ct_ctx *ctx, const char *name, const uint8_t *bytes, size_t size, size_t limit,
              uint8_t **out, size_t *out_size);
