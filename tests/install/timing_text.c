/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap timing CAPTURE', with the installed library. */
#include <stdio.h>

#include <coretap/format.h>
#include <coretap/programs.h>
#include <coretap/session.h>
#include <coretap/timing.h>

struct timing {
    struct ct_timing_sums *sums;
    struct ct_session *session;
    struct ct_timing_writer *writer;
};

static int put(void *user, const void *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? CT_OK : CT_ERR_IO;
}

/* Prints each stream of a decoded buffer, in the order of their IDs. */
static int print(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct timing *t = user;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct ct_source *source = streams[i].source;
        const struct ct_timing_origin origin = {.buffer = buffer->name,
                                                .core = source->core ? source->core : source->name,
                                                .losses = streams[i].stats.losses,
                                                .id = streams[i].id};
        const struct ct_timing *timing =
            ct_timing_sums_stream(t->sums, ct_session_lane(t->session, origin.id));
        if (timing)
            rc = ct_timing_writer_stream(t->writer, timing, &origin);
    }
    return rc;
}

static int run(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs,
               struct timing *t)
{
    const struct ct_timing_write_options text = {.size = sizeof text, .programs = programs};
    const struct ct_session_options options = {
        .size = sizeof options, .programs = programs, .user = t, .decoded = print};
    int rc = ct_timing_writer_new(ctx, &text, put, stdout, &t->writer);
    if (!rc)
        rc = ct_timing_sums_new(ctx, NULL, &t->sums);
    if (!rc)
        rc = ct_session_new(ctx, &options, &t->session);
    if (!rc)
        rc = ct_session_add(t->session, ct_timing_sums_analysis(t->sums));
    if (!rc)
        rc = ct_session_run(t->session, capture, capture->buffers, capture->buffer_count);
    return rc ? rc : ct_timing_writer_end(t->writer);
}

int main(int argc, char **argv)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_programs *programs = NULL;
    struct timing t = {0};
    int rc = argc == 2 && ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_ARG;
    if (!rc)
        rc = ct_programs_new(ctx, NULL, &programs);
    if (!rc)
        rc = ct_programs_add_capture(programs, capture);
    if (!rc)
        rc = run(ctx, capture, programs, &t);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_timing_writer_free(t.writer);
    ct_session_free(t.session);
    ct_timing_sums_free(t.sums);
    ct_programs_free(programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
