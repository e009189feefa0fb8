/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap profile -f callgrind CAPTURE', with the installed library. */
#include <stdio.h>

#include <coretap/cover.h>
#include <coretap/format.h>
#include <coretap/session.h>

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

static int decode(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
                  struct ct_stack_sums *stacks)
{
    const struct ct_session_options options = {.size = sizeof options, .programs = programs};
    struct ct_session *session = NULL;
    int rc = ct_session_new(ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, ct_stack_sums_analysis(stacks));
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    ct_session_free(session);
    return rc;
}

int main(int argc, char **argv)
{
    struct ct_profile_write_options how = {.size = sizeof how, .format = CT_PROFILE_FORMAT_CALLGRIND};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = ct_stack_sums_new(ctx, NULL, &how.stacks);
    if (!rc)
        rc = decode(ctx, capture, programs, how.stacks);
    if (!rc)
        rc = ct_profile_write(ct_stack_sums_cover(how.stacks), programs, &how, put, stdout, NULL);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_stack_sums_free(how.stacks);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
