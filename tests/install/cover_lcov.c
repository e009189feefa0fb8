/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap cover -f lcov CAPTURE', with the installed library. */
#include <stdio.h>

#include <coretap/cover.h>
#include <coretap/format.h>
#include <coretap/programs.h>
#include <coretap/session.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

static int decode(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
                  struct ct_cover *cover)
{
    const struct ct_session_options options = {.size = sizeof options, .programs = programs, .threads = 2};
    struct ct_session *session;
    int rc = ct_session_new(ctx, &options, &session);
    if (rc)
        return rc;
    rc = ct_session_add(session, ct_cover_analysis(cover));
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    ct_session_free(session);
    return rc;
}

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

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct ct_cover *cover = NULL;
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = ct_cover_new(ctx, &cover);
    if (!rc)
        rc = decode(ctx, capture, programs, cover);
    if (!rc)
        rc = print(cover, programs);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_cover_free(cover);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
