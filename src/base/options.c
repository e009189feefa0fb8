/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <string.h>

#include "base/ctx.h"

/* larger than any options struct, so that a size that was never set is refused */
#define SIZE_MAX_SENSIBLE 4096u

int ct_options_read(struct ct_ctx *ctx, const char *who, const void *options, void *into, size_t size)
{
    size_t given = sizeof given;
    memset(into, 0, size);
    memcpy(into, &size, sizeof size);
    if (!options)
        return CT_OK;
    memcpy(&given, options, sizeof given);
    if (given < sizeof given || given > SIZE_MAX_SENSIBLE)
        return ct_fail(ctx, CT_ERR_ARG, "%s: options.size is not set; set it to the size of the struct", who);
    const unsigned char *bytes = options;
    for (size_t i = size; i < given; i++)
        if (bytes[i])
            return ct_fail(
                ctx, CT_ERR_ARG,
                "%s: an option is set that version %s of the library does not have; update the library, or "
                "do not set the option",
                who, ct_version());
    memcpy(into, options, given < size ? given : size);
    memcpy(into, &size, sizeof size);
    return CT_OK;
}
