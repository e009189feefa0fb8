/* SPDX-License-Identifier: Apache-2.0 */
/* Gets files by build id from debuginfod servers (elfutils). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum ct_debuginfod_kind {
    CT_DEBUGINFOD_EXECUTABLE,
    CT_DEBUGINFOD_DEBUGINFO,
};

struct ct_ctx;

/* Returns the path of the file of this kind in the client's cache, which the caller frees; NULL when no
 * server is configured ($DEBUGINFOD_URLS), the client is not installed, or no server has the file. A cache
 * that cannot be used gives NULL and a warning. */
char *ct_debuginfod(struct ct_ctx *ctx, const uint8_t *id, size_t size, enum ct_debuginfod_kind kind);
