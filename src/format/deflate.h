/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses with deflate (RFC 1951), for formats with compression inside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/grown.h"
#include "coretap/base.h"

/* The header and trailer around the compressed bytes. */
enum ct_deflate_wrap {
    CT_DEFLATE_ZLIB, /* RFC 1950: for pieces written during decoding, with the fastest compression */
    CT_DEFLATE_GZIP, /* RFC 1952: for whole files, without name and time, so that equal bytes give equal files
                      */
};

struct ct_deflate;

/* Makes an object that compresses streams, one after another. CT_ERR_NOMEM. */
int ct_deflate_new(struct ct_ctx *ctx, enum ct_deflate_wrap wrap, struct ct_deflate **out);
void ct_deflate_free(struct ct_deflate *deflate);

/* Takes the next bytes of a stream, and appends compressed bytes to `to`. `last` ends the stream; the next
 * bytes begin another one. Without memory marks `to` as failed. */
void ct_deflate_run(struct ct_deflate *deflate, const void *bytes, size_t size, bool last,
                    struct ct_grown *to);
