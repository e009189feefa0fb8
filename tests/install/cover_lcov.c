/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap cover -f lcov CAPTURE', with the installed library. */
#include <coretap/cover.h>
#include <coretap/format.h>

#include "with_capture.h"

static int print(struct ct_cover *cover, struct ct_programs *programs)
{
    const struct ct_cover_write_options lcov = {.size = sizeof lcov, .format = CT_COVER_FORMAT_LCOV};
    struct ct_cover_views *views;
    int rc = ct_cover_views_new(cover, programs, NULL, &views);
    if (rc)
        return rc;
    rc = ct_cover_views_write(views, &lcov, put, stdout);
    ct_cover_views_free(views);
    return rc;
}

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    struct ct_cover *cover = NULL;
    int rc = ct_cover_new(ctx, &cover);
    if (!rc)
        rc = analyse(ctx, capture, programs, ct_cover_analysis(cover));
    if (!rc)
        rc = print(cover, programs);
    ct_cover_free(cover);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
