/* SPDX-License-Identifier: Apache-2.0 */
#include "base/described.h"

#include "base/ctx.h"

/* Returns the member that a buffer lacks, or NULL. */
static const char *find_missing(const struct ct_buffer *buffer)
{
    const char *missing = !buffer->name                              ? "name"
                          : buffer->source_count && !buffer->sources ? "sources"
                          : buffer->image_count && !buffer->images   ? "images"
                                                                     : NULL;
    for (size_t i = 0; !missing && i < buffer->source_count; i++)
        missing = buffer->sources[i].name ? NULL : "sources[].name";
    for (size_t i = 0; !missing && i < buffer->image_count; i++)
        missing = buffer->images[i].path ? NULL : "images[].path";
    return missing;
}

int ct_buffers_check(struct ct_ctx *ctx, const char *function, const struct ct_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *missing = find_missing(&buffers[i]);
        if (missing)
            return ct_fail(ctx, CT_ERR_ARG,
                           "%s: the member %s of buffer '%s' is NULL; nothing was done; set it", function,
                           missing, buffers[i].name ? buffers[i].name : "");
    }
    return CT_OK;
}
