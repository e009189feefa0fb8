/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses with deflate (RFC 1951), for formats that are compressed in themselves. */
#ifndef CT_FORMAT_DEFLATE_H
#define CT_FORMAT_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/grown.h"
#include "coretap/base.h"

/* What stands around the compressed bytes. */
enum ct_deflate_wrap {
    CT_DEFLATE_ZLIB, /* RFC 1950: for pieces that are written while trace is decoded, as quickly as can be */
    CT_DEFLATE_GZIP, /* RFC 1952: for whole files, without name and time: the same bytes give the same file */
};

struct ct_deflate;

/* Makes an object that compresses streams, one after the other. CT_ERR_NOMEM. */
int ct_deflate_new(struct ct_ctx *ctx, enum ct_deflate_wrap wrap, struct ct_deflate **out);
void ct_deflate_free(struct ct_deflate *deflate);

/* Takes the next bytes of a stream and adds what is compressed by now to `to`. `last` ends the stream; the
 * next bytes begin another one. Without memory `to` has failed. */
void ct_deflate_run(struct ct_deflate *deflate, const void *bytes, size_t size, bool last,
                    struct ct_grown *to);

#endif
