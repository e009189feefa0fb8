/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap report CAPTURE', with the installed library. */
#include <coretap/cover.h>
#include <coretap/report.h>
#include <coretap/session.h>

#include "with_capture.h"

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

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    struct ct_report_write_options page = {
        .size = sizeof page, .capture = capture->path, .kind = capture->kind};
    struct ct_cover *cover = NULL;
    struct ct_cover_views *views = NULL;
    struct ct_report *report = NULL;
    int rc = ct_cover_new(ctx, &cover);
    if (!rc)
        rc = ct_report_new(ctx, programs, NULL, &report);
    if (!rc)
        rc = decode(ctx, capture, programs, cover, report, &page.losses);
    if (!rc)
        rc = ct_cover_views_new(cover, programs, NULL, &views);
    page.cover = views;
    if (!rc)
        rc = ct_report_write(report, &page, put, stdout);
    ct_cover_views_free(views);
    ct_report_free(report);
    ct_cover_free(cover);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
