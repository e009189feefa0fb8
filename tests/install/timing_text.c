/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the same as 'coretap timing CAPTURE', with the installed library. */
#include <coretap/format.h>
#include <coretap/session.h>
#include <coretap/timing.h>

#include "with_capture.h"

struct timing {
    struct ct_timing_sums *sums;
    struct ct_session *session;
    struct ct_timing_writer *writer;
};

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

static int use(struct ct_ctx *ctx, const struct ct_capture *capture, struct ct_programs *programs)
{
    struct timing t = {0};
    const int rc = run(ctx, capture, programs, &t);
    ct_timing_writer_free(t.writer);
    ct_session_free(t.session);
    ct_timing_sums_free(t.sums);
    return rc;
}

int main(int argc, char **argv)
{
    return print_capture(argc, argv, NULL, use);
}
