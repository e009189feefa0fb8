/* SPDX-License-Identifier: Apache-2.0 */
#include "format/line_out.h"

#include "base/ctx.h"
#include "format/listing.h"

int ct_line_out_open(struct ct_line_out *l, struct ct_ctx *ctx, ct_write_fn *write, void *user)
{
    const int rc = ct_out_open(&l->out, ctx, write, user);
    if (rc)
        return rc;
    l->ctx = ctx;
    l->id = -1;
    ct_text_init(&l->text, l->out.file);
    return CT_OK;
}

void ct_line_out_close(struct ct_line_out *l)
{
    if (!l->out.file)
        return;
    ct_text_flush(&l->text);
    (void)ct_out_close(&l->out, CT_OK);
}

int ct_line_out_heading(struct ct_line_out *l, const char *who, const char *buffer, int id)
{
    if (id < -1 || id > 127)
        return ct_fail(l->ctx, CT_ERR_ARG, "%s: %d is not a trace ID; nothing was written", who, id);
    if (buffer)
        l->buffer = buffer;
    l->id = id;
    return CT_OK;
}

static void put_head(struct ct_line_out *l)
{
    ct_text_room(&l->text);
    if (l->head)
        ct_text_string(&l->text, l->head);
    l->head = NULL;
}

struct ct_text *ct_line_out_begin(struct ct_line_out *l)
{
    put_head(l);
    ct_list_heading(&l->text, l->buffer, l->id);
    l->buffer = NULL;
    l->id = -1;
    return &l->text;
}

int ct_line_out_result(const struct ct_line_out *l)
{
    return l->out.result ? l->out.result : l->text.failed ? CT_ERR_IO : CT_OK;
}

int ct_line_out_flush(struct ct_line_out *l)
{
    put_head(l);
    ct_text_flush(&l->text);
    fflush(l->out.file);
    return ct_line_out_result(l);
}
