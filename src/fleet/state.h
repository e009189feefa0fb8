/* SPDX-License-Identifier: Apache-2.0 */
/* The folder for pieces. A piece is there completely or not at all. */
#pragma once

#include "coretap/fleet.h"

/* Returns the path of the piece with this key, which the caller frees; NULL when memory is missing. */
char *ct_state_path(const char *folder, const uint8_t key[CT_FLEET_DIGEST]);

/* Reads a piece into memory that the caller frees. CT_ERR_NOT_FOUND: no such piece. CT_ERR_IO,
 * CT_ERR_NOMEM. */
int ct_state_read(struct ct_ctx *ctx, const char *path, char **data, size_t *size);

/* Bytes of a piece. */
struct ct_state_bytes {
    const void *data;
    size_t size;
};

/* Writes a piece, completely or not at all: `head`, then `data`. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_state_write(struct ct_ctx *ctx, const char *path, struct ct_state_bytes head,
                   struct ct_state_bytes data);
