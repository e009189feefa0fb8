/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap report CAPTURE', with the installed library. */
#include <stdio.h>

#include <coretap/cover.h>
#include <coretap/report.h>
#include <coretap/session.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

static int take_steps(void *report, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    return ct_report_steps(report, stream, batch);
}

static int take_buffer(void *report, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    return ct_report_decoded(report, buffer, chain);
}

static int decode(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
                  struct ct_cover *cover, struct ct_report *report, struct ct_losses *losses)
{
    const struct ct_session_options options = {.size = sizeof options,
                                               .programs = programs,
                                               .user = report,
                                               .steps = take_steps,
                                               .decoded = take_buffer};
    struct ct_session *session;
    int rc = ct_session_new(ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, ct_cover_analysis(cover));
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    if (!rc)
        *losses = ct_session_seen(session)->losses;
    ct_session_free(session);
    return rc;
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_report_write_options page = {.size = sizeof page, .capture = argv[1]};
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct ct_cover *cover = NULL;
    struct ct_cover_views *views = NULL;
    struct ct_report *report = NULL;
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = ct_cover_new(ctx, &cover);
    if (!rc)
        rc = ct_report_new(ctx, programs, NULL, &report);
    if (!rc)
        rc = decode(ctx, capture, programs, cover, report, &page.losses);
    if (!rc)
        rc = ct_cover_views_new(cover, programs, NULL, &views);
    page.cover = views;
    page.kind = capture ? capture->kind : NULL;
    if (!rc)
        rc = ct_report_write(report, &page, put, stdout);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_cover_views_free(views);
    ct_report_free(report);
    ct_cover_free(cover);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
