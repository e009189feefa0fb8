/* SPDX-License-Identifier: Apache-2.0 */
/* What 'coretap profile -f callgrind CAPTURE' prints, by the installed library. */
#include <stdio.h>

#include <coretap/format.h>
#include <coretap/session.h>

struct profile {
    struct ct_session *session;
    struct ct_programs *programs;
    struct ct_cover *cover;
    struct ct_stacks *stacks;
};

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

static int follow(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct profile *p = user;
    return ct_stacks_add(p->stacks, ct_session_lane(p->session, stream->id), batch);
}

static int decode(struct ct_ctx *ctx, const struct ct_capture *capture, struct profile *p)
{
    const struct ct_session_options options = {
        .size = sizeof options, .programs = p->programs, .user = p, .steps = follow};
    struct ct_stack_options code = {.size = sizeof code};
    int rc = ct_programs_places(p->programs, &code.programs, &code.program_count);
    if (!rc)
        rc = ct_stacks_new(ctx, &code, &p->stacks);
    if (!rc)
        rc = ct_cover_new(ctx, &p->cover);
    if (!rc)
        rc = ct_session_new(ctx, &options, &p->session);
    if (!rc)
        rc = ct_session_add(p->session, ct_cover_analysis(p->cover));
    if (!rc)
        rc = ct_session_run(p->session, capture, capture->buffers, capture->buffer_count);
    return rc ? rc : ct_stacks_finish(p->stacks);
}

int main(int argc, char **argv)
{
    struct ct_profile_write_options how = {.size = sizeof how, .format = CT_PROFILE_FORMAT_CALLGRIND};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct profile p = {0};
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &p.programs);
    if (!rc)
        rc = ct_programs_add_capture(p.programs, capture);
    if (!rc)
        rc = decode(ctx, capture, &p);
    how.stacks = p.stacks;
    if (!rc)
        rc = ct_profile_write(p.cover, p.programs, &how, put, stdout, NULL);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_stacks_free(p.stacks);
    ct_session_free(p.session);
    ct_cover_free(p.cover);
    ct_programs_free(p.programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
