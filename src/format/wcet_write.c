/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the longest path of a function to a receiver. */
#include "base/ctx.h"
#include "base/c_locale.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "format/wcet_html.h"
#include "format/wcet_print.h"

static int print(FILE *out, const struct ct_wcet_view *view, const struct ct_wcet_write_options *options)
{
    switch (options->format) {
    case CT_WCET_FORMAT_JSON:
        ct_wcet_print_json(out, view);
        return CT_OK;
    case CT_WCET_FORMAT_DOT:
        ct_wcet_print_dot(out, view);
        return CT_OK;
    case CT_WCET_FORMAT_BOUNDS:
        ct_wcet_print_bounds(out, view);
        return CT_OK;
    case CT_WCET_FORMAT_HTML:
        return ct_wcet_html(out, view);
    default:
        ct_wcet_print_text(out, view);
        return options->source ? ct_wcet_print_source(out, view) : CT_OK;
    }
}

int ct_wcet_write(struct ct_ctx *ctx, const struct ct_wcet_view *view,
                  const struct ct_wcet_write_options *options, ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct ct_wcet_write_options mine;
    struct ct_out out;
    CT_REQUIRE(ctx, view, view->entry, view->wcet, view->cfg, view->result, write);
    int rc = ct_options_read(ctx, __func__, options, &mine, sizeof mine);
    if (!rc && mine.format > CT_WCET_FORMAT_BOUNDS)
        rc = ct_fail(ctx, CT_ERR_ARG, "%s: format %u does not exist; nothing was written", __func__,
                     mine.format);
    if (!rc)
        rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    return ct_out_close(&out, ct_tell_nomem(ctx, "longest path", print(out.file, view, &mine)));
}
