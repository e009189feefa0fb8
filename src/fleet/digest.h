/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 of texts and files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "coretap/fleet.h"
#include "fleet/capture_files.h"

/* Room for the digits of a digest, with the final zero. */
#define CT_DIGEST_TEXT (2 * CT_FLEET_DIGEST + 1)

struct ct_digest;

/* Begins a digest. CT_ERR_NOMEM. */
int ct_digest_new(struct ct_ctx *ctx, struct ct_digest **out);
void ct_digest_free(struct ct_digest *digest);

/* Begins anew, which takes a tenth of the time of making one: that looks for libcrypto. */
void ct_digest_begin(struct ct_digest *digest);

/* Adds bytes. */
void ct_digest_add(struct ct_digest *digest, const void *data, size_t size);

/* Adds a text with its final zero, so that two texts differ from their concatenation. */
void ct_digest_add_text(struct ct_digest *digest, const char *text);

/* Makes the digest of the bytes of a file. CT_ERR_IO, CT_ERR_NOMEM, CT_ERR_UNSUPPORTED. */
int ct_digest_file(struct ct_ctx *ctx, const char *path, uint8_t out[CT_FLEET_DIGEST]);

/* Makes the digest of a capture with these files, as ct_fleet_digest does. *size becomes their total size.
 * CT_ERR_IO, CT_ERR_NOMEM. */
int ct_digest_files(struct ct_ctx *ctx, const struct ct_capture_files *files, uint8_t digest[CT_FLEET_DIGEST],
                    uint64_t *size);

/* Makes a digest of names, sizes, inode numbers and times of the files, without reading them. *size becomes
 * their total size. The digest changes whenever a file is written or replaced, because that changes its
 * status change time. CT_ERR_IO, CT_ERR_NOMEM. */
int ct_digest_looks(struct ct_ctx *ctx, const struct ct_capture_files *files, uint8_t digest[CT_FLEET_DIGEST],
                    uint64_t *size);

/* Ends the digest. Afterwards it can only be freed. CT_ERR_NOMEM: an addition failed. */
int ct_digest_end(struct ct_digest *digest, uint8_t out[CT_FLEET_DIGEST]);

/* Write a digest as hexadecimal digits, and read one. Reading returns false when the text is not a digest. */
void ct_digest_text(const uint8_t digest[CT_FLEET_DIGEST], char out[CT_DIGEST_TEXT]);
bool ct_digest_read(const char *text, uint8_t out[CT_FLEET_DIGEST]);
