/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that a caller may have described itself (input.h). */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "coretap/input.h"

/* Checks that buffers have the lists and texts that are used without asking: their names, their sources with
 * names, their images with paths. CT_ERR_ARG, with a text that names `function` and what is missing. */
int ct_buffers_check(struct ct_ctx *ctx, const char *function, const struct ct_buffer *buffers, size_t count);

/* Returns what a buffer is called in messages. */
static inline const char *ct_buffer_title(const struct ct_buffer *buffer)
{
    return buffer->path ? buffer->path : buffer->name;
}

/* Returns whether the trace of a buffer can be read more than once. */
static inline bool ct_buffer_is_file(const struct ct_buffer *buffer)
{
    return buffer->path && strcmp(buffer->path, "-") != 0;
}
