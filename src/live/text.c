/* SPDX-License-Identifier: Apache-2.0 */
#include "live/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/printable.h"
#include "base/room.h"

/* Makes room for `more` bytes and a NUL. */
static bool grow(struct ct_live_text *t, size_t more)
{
    t->lacks |= !CT_MAKE_ROOM(t->text, t->room, t->size + more + 1);
    return !t->lacks;
}

int ct_live_text_write(void *user, const void *data, size_t size)
{
    struct ct_live_text *t = user;
    if (t->lacks || !grow(t, size))
        return CT_ERR_NOMEM;
    memcpy(t->text + t->size, data, size);
    t->size += size;
    t->text[t->size] = '\0';
    return CT_OK;
}

void ct_live_text_print(struct ct_live_text *t, const char *fmt, ...)
{
    char text[1001];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)ct_live_text_write(t, text, strlen(text));
}

void ct_live_text_put(struct ct_live_text *t, const char *other)
{
    (void)ct_write_printable(other, ct_live_text_write, t);
}

void ct_live_text_rewind(struct ct_live_text *t)
{
    t->size = 0;
    t->lacks = false;
    if (t->text)
        t->text[0] = '\0';
}

void ct_live_text_free(struct ct_live_text *t)
{
    free(t->text);
    *t = (struct ct_live_text){0};
}

int ct_live_text_give(struct ct_live_text *t, struct ct_ctx *ctx, const char *what, ct_write_fn *write,
                      void *user)
{
    const int rc = t->lacks ? ct_fail_nomem(ctx, what) : t->size ? write(user, t->text, t->size) : CT_OK;
    ct_live_text_free(t);
    return rc;
}
