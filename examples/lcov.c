/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the coverage of a capture as an lcov tracefile, as 'coretap cover -f lcov CAPTURE' does. Where it is
 * empty, says why. */
#include <stdio.h>

#include <coretap/empty.h>
#include <coretap/format.h>
#include <coretap/session.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

/* What is needed to say why coverage is empty. */
struct ran {
    struct ct_ran what;
    struct ct_seen seen;
};

/* Decodes the capture for the coverage. */
static int analyse(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
                   struct ct_cover *cover, struct ran *ran)
{
    const struct ct_session_options options = {
        .size = sizeof options, .programs = programs, .threads = 2, .ran = &ran->what};
    struct ct_session *session = NULL;
    int rc = ct_session_new(ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, ct_cover_analysis(cover));
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    if (!rc)
        ran->seen = *ct_session_seen(session);
    ct_session_free(session);
    return rc;
}

static int print(struct ct_ctx *ctx, struct ct_cover *cover, struct ct_programs *programs,
                 const struct ran *ran)
{
    const struct ct_cover_write_options lcov = {.size = sizeof lcov, .format = CT_COVER_FORMAT_LCOV};
    struct ct_cover_views *views = NULL;
    struct ct_empty why = {0};
    char text[CT_EMPTY_WORDS];
    int rc = ct_cover_views_new(cover, programs, NULL, &views);
    const struct ct_empty_options asked = {.size = sizeof asked,
                                           .result = "the coverage is",
                                           .seen = &ran->seen,
                                           .ran = &ran->what,
                                           .views = views,
                                           .needs_lines = 1};
    if (!rc)
        rc = ct_empty_find(ctx, &asked, &why);
    if (!rc && why.reason)
        rc = ct_ctx_fail(ctx, CT_ERR_NOT_FOUND, ct_empty_words(text, &why));
    if (!rc)
        rc = ct_cover_views_write(views, &lcov, put, stdout);
    ct_cover_views_free(views);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: lcov CAPTURE [PROGRAM]...\n");
        return 2;
    }
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct ct_cover *cover = NULL;
    struct ran ran = {0};
    int rc = ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    for (int i = 2; i < argc && !rc; i++)
        rc = ct_programs_add(programs, argv[i], NULL, capture, NULL);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = ct_cover_new(ctx, &cover);
    if (!rc)
        rc = analyse(ctx, capture, programs, cover, &ran);
    if (!rc)
        rc = print(ctx, cover, programs, &ran);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ct_ctx_error(ctx));
    ct_cover_free(cover);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
