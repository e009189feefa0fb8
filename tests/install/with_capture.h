/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder that read captures share. */
#pragma once

#include <stdio.h>

#include <coretap/programs.h>
#include <coretap/session.h>

/* Writes to the file `user`. */
static inline int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

/* Decodes a capture for one analysis. */
static inline int analyse(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
                          struct ct_analysis *analysis)
{
    const struct ct_session_options options = {.size = sizeof options, .programs = programs, .threads = 2};
    struct ct_session *session = NULL;
    int rc = ct_session_new(ctx, &options, &session);
    if (!rc)
        rc = ct_session_add(session, analysis);
    if (!rc)
        rc = ct_session_run(session, capture, capture->buffers, capture->buffer_count);
    ct_session_free(session);
    return rc;
}

typedef int capture_user(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs);

/* Opens the capture that the command line names, with its programs, and lets `use` do the rest. Returns the
 * exit code. */
static inline int print_capture(int argc, char **argv, const struct ct_programs_options *options,
                                capture_user *use)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, options, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = use(ctx, capture, programs);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
