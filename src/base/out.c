/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie */
#include "base/out.h"

#include <stdio_ext.h>

#include "base/ctx.h"

static ssize_t on_write(void *cookie, const char *data, size_t size)
{
    struct ct_out *out = cookie;
    if (!out->result)
        out->result = out->write(out->user, data, size);
    return out->result ? 0 : (ssize_t)size;
}

int ct_out_open(struct ct_out *out, struct ct_ctx *ctx, ct_write_fn *write, void *user)
{
    out->write = write;
    out->user = user;
    out->result = CT_OK;
    out->file = fopencookie(out, "w", (cookie_io_functions_t){.write = on_write});
    if (!out->file)
        return ct_fail_nomem(ctx, "output");
    (void)__fsetlocking(out->file,
                        FSETLOCKING_BYCALLER); /* only one thread writes; else each fputc would take a lock */
    setvbuf(out->file, out->buffer, _IOFBF, sizeof out->buffer);
    return CT_OK;
}

int ct_out_close(struct ct_out *out, int result)
{
    fclose(out->file);
    return out->result ? out->result : result;
}
