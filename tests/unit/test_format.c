/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that what is written reaches the receiver, whose error ends the writing. */
#include <stdio.h>
#include <string.h>

#include "coretap/format.h"
#include "coretap/json.h"
#include "coretap/report.h"
#include "coretap/session.h"
#include "base/out.h"
#include "support/ctx_fixture.h"
#include "support/output.h"
#include "support/test_file.h"

#define STOP (-1000)

struct receiver {
    size_t calls, got;
    size_t stop_at; /* number of the call that fails; 0: none */
    char last;
};

static int receive(void *user, const void *data, size_t size)
{
    struct receiver *r = user;
    r->calls++;
    r->got += size;
    r->last = ((const char *)data)[size - 1];
    return r->calls == r->stop_at ? STOP : CT_OK;
}

/* Writes several times what the buffer holds. */
static int write_much(struct receiver *r, int result)
{
    struct ct_out out;
    assert_int_equal(ct_out_open(&out, NULL, receive, r), CT_OK);
    for (size_t i = 0; i < 10 * sizeof out.buffer; i++)
        fputc('x', out.file);
    fputc('y', out.file);
    return ct_out_close(&out, result);
}

TEST(test_all_arrives)
{
    struct receiver r = {0};
    struct ct_out out;
    assert_int_equal(write_much(&r, CT_OK), CT_OK);
    assert_int_equal(r.got, 10 * sizeof out.buffer + 1);
    assert_int_equal(r.last, 'y');
}

TEST(test_error_ends)
{
    struct receiver r = {.stop_at = 2};
    assert_int_equal(write_much(&r, CT_ERR_NOMEM), STOP);
    assert_int_equal(r.calls, 2);
    r = (struct receiver){0};
    assert_int_equal(write_much(&r, CT_ERR_NOMEM), CT_ERR_NOMEM);
}

TEST_WITH(test_coverage, ctx)
{
    struct ct_cover_write_options options = {.size = sizeof options, .format = CT_COVER_FORMAT_JSON};
    struct receiver r = {.stop_at = 1};
    struct ct_programs *programs;
    struct ct_cover *cover;
    struct ct_cover_views *views;
    assert_int_equal(ct_programs_new(ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_cover_new(ctx, &cover), CT_OK);
    assert_int_equal(ct_cover_views_new(cover, programs, NULL, &views), CT_OK);
    assert_int_equal(ct_cover_views_count(views), 0);
    assert_null(ct_cover_views_report(views, 0));
    assert_int_equal(ct_cover_views_write(views, &options, receive, &r), STOP);
    assert_int_equal(ct_cover_views_write(views, &options, receive, &r), CT_OK);
    options.format = CT_COVER_FORMAT_SONARQUBE + 1;
    assert_int_equal(ct_cover_views_write(views, &options, receive, &r), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "format 6"));
    ct_cover_views_free(views);
    ct_cover_free(cover);
    ct_programs_free(programs);
}

/* An empty page is a page, and nothing is accepted after its end. */
TEST_WITH(test_report, ctx)
{
    const struct ct_stream stream = {0};
    const struct ct_step_batch steps = {0};
    struct receiver r = {.stop_at = 1};
    struct ct_programs *programs;
    struct ct_report *report;
    assert_int_equal(ct_programs_new(ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_report_new(ctx, programs, NULL, &report), CT_OK);
    assert_int_equal(ct_report_write(report, NULL, receive, &r), STOP);
    r = (struct receiver){0};
    assert_int_equal(ct_report_write(report, NULL, receive, &r), CT_OK);
    assert_true(r.calls > 1);
    assert_int_equal(ct_report_steps(report, &stream, &steps), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "the page was written"));
    ct_report_free(report);
    ct_programs_free(programs);
}

static int take_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    return ct_report_steps(user, stream, batch);
}

static int take_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    return ct_report_decoded(user, buffer, chain);
}

/* A page of several captures is written again as it was, with the stacks of each thread. */
TEST_WITH(test_report_again, ctx)
{
    static const char map[] = "80500 3c main\n8053c 20 gcd\n8055c 20 popcount\n8057c 1c report\n";
    struct output first = {0}, again = {0};
    const struct ct_report_options options = {.size = sizeof options, .several = 1};
    const struct ct_report_input input = {.name = "one", .kind = "snapshot", .tells = CT_REPORT_STREAMS};
    const struct ct_report_write_options page = {.size = sizeof page, .inputs = &input, .input_count = 1};
    struct ct_programs *programs;
    struct ct_report *report;
    struct ct_capture *capture;
    struct ct_session *session;
    char path[40];
    FILE *file = test_file(map, sizeof map - 1, path);
    assert_non_null(file);
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_programs_new(ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_programs_add_symbol_map(programs, path), CT_OK);
    assert_int_equal(ct_programs_add_capture(programs, capture), CT_OK);
    assert_int_equal(ct_report_new(ctx, programs, &options, &report), CT_OK);
    const struct ct_session_options what = {.size = sizeof what,
                                            .programs = programs,
                                            .user = report,
                                            .steps = take_steps,
                                            .decoded = take_decoded};
    assert_int_equal(ct_session_new(ctx, &what, &session), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(ct_report_end(report, "one", "snapshot"), CT_OK);
    assert_int_equal(ct_report_write(report, &page, output_append, &first), CT_OK);
    assert_int_equal(ct_report_write(report, &page, output_append, &again), CT_OK);
    assert_true(first.size > 10000 && output_same(&first, &again));
    output_free(&first);
    output_free(&again);
    ct_report_free(report);
    ct_session_free(session);
    ct_programs_free(programs);
    ct_capture_free(capture);
    fclose(file);
}

/* What cannot be written has an error text; a profile without programs is empty. */
TEST_WITH(test_profile, ctx)
{
    struct ct_profile_write_options options = {.size = sizeof options, .format = CT_PROFILE_FORMAT_BOLT};
    struct ct_profile_written written = {.program_count = 7, .entries = 7};
    struct receiver r = {0};
    struct ct_programs *programs;
    struct ct_cover *cover;
    assert_int_equal(ct_programs_new(ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_cover_new(ctx, &cover), CT_OK);
    assert_int_equal(ct_profile_write(cover, programs, &options, receive, &r, &written), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "describes one program, not 0"));
    assert_int_equal(written.program_count, 0);
    options.format = CT_PROFILE_FORMAT_CALLGRIND;
    assert_int_equal(ct_profile_write(cover, programs, &options, receive, &r, NULL), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "there are none"));
    options.format = CT_PROFILE_FORMAT_PPROF;
    assert_int_equal(ct_profile_write(cover, programs, &options, receive, &r, NULL), CT_ERR_ARG);
    options.format = CT_PROFILE_FORMAT_BRANCH_LIST + 1;
    assert_int_equal(ct_profile_write(cover, programs, &options, receive, &r, NULL), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "format 6"));
    options.format = CT_PROFILE_FORMAT_LLVM;
    written.entries = 7;
    assert_int_equal(ct_profile_write(cover, programs, &options, receive, &r, &written), CT_OK);
    assert_int_equal(written.entries, 0);
    assert_int_equal(r.calls, 0);
    ct_cover_free(cover);
    ct_programs_free(programs);
}

/* A file without slices is a file; nothing is written before it is known to be one. */
TEST_WITH(test_slices, ctx)
{
    struct receiver r = {.stop_at = 1};
    struct ct_slice_writer *writer;
    struct ct_stacks *stacks;
    assert_int_equal(ct_stacks_new(ctx, NULL, &stacks), CT_OK);
    assert_int_equal(ct_slice_writer_new(ctx, NULL, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_slice_writer_add(writer, stacks), CT_OK);
    ct_slice_writer_free(writer);
    assert_int_equal(r.calls, 0);
    assert_int_equal(ct_slice_writer_new(ctx, NULL, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_slice_writer_end(writer), STOP);
    ct_slice_writer_free(writer);
    assert_int_equal(r.calls, 1);
    ct_stacks_free(stacks);
}

/* An error of the receiver is returned, and steps come after the start of a capture. */
TEST_WITH(test_perfetto, ctx)
{
    const struct ct_capture capture = {.path = "none"};
    const struct ct_source source = {0};
    const struct ct_stream stream = {.source = &source};
    const struct ct_step_batch batch = {0};
    struct receiver r = {.stop_at = 1};
    struct ct_perfetto_writer *writer;
    struct ct_stacks *stacks;
    assert_int_equal(ct_stacks_new(ctx, NULL, &stacks), CT_OK);
    assert_int_equal(ct_perfetto_writer_new(ctx, NULL, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_perfetto_writer_add(writer, &stream, &batch, 0, stacks), CT_ERR_ARG);
    assert_int_equal(ct_perfetto_writer_begin(writer, &capture, "run"), CT_OK);
    assert_int_equal(ct_perfetto_writer_add(writer, &stream, &batch, 0, stacks), CT_OK);
    assert_int_equal(ct_perfetto_writer_finish(writer, stacks), CT_OK);
    assert_int_equal(ct_perfetto_writer_seen(writer)->untimed, 1);
    assert_int_equal(r.calls, 0);
    assert_int_equal(ct_perfetto_writer_end(writer), STOP);
    assert_int_equal(ct_perfetto_writer_seen(writer)->slices, 0);
    assert_true(ct_perfetto_writer_seen(writer)->size > 10);
    ct_perfetto_writer_free(writer);
    assert_int_equal(r.calls, 1);
    ct_stacks_free(stacks);
}

/* An array without entries is an array; one that is ended before anything came is nothing. */
TEST_WITH(test_times, ctx)
{
    const struct ct_timing_write_options options = {.size = sizeof options, .format = CT_TIMING_FORMAT_JSON};
    struct receiver r = {0};
    struct ct_timing_sums *sums;
    struct ct_timing_writer *writer;
    assert_int_equal(ct_timing_writer_new(ctx, &options, receive, &r, &writer), CT_OK);
    ct_timing_writer_free(writer);
    assert_int_equal(r.calls, 0);
    assert_int_equal(ct_timing_writer_new(ctx, &options, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_timing_writer_end(writer), CT_OK);
    assert_int_equal(r.got, strlen("[]\n"));
    assert_int_equal(ct_timing_writer_count(writer), 0);
    ct_timing_writer_free(writer);
    assert_int_equal(r.got, strlen("[]\n"));
    r = (struct receiver){.stop_at = 1};
    assert_int_equal(ct_timing_sums_new(ctx, NULL, &sums), CT_OK);
    assert_int_equal(ct_timing_writer_new(ctx, &options, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_timing_writer_sums(writer, sums), STOP);
    assert_int_equal(ct_timing_writer_count(writer), 1);
    assert_int_equal(ct_timing_writer_end(writer), STOP);
    ct_timing_writer_free(writer);
    assert_int_equal(r.calls, 1);
    ct_timing_sums_free(sums);
}

/* The names of columns come first, an error of the receiver ends the writing, and an event that the writer
 * does not know is an error. */
TEST_WITH(test_events, ctx)
{
    const struct ct_source source = {.protocol = CT_PROTOCOL_ETM4};
    const struct ct_event_origin origin = {.buffer = "b", .source = &source, .id = 0x10};
    const struct ct_event_write_options merged = {.size = sizeof merged, .merged = 1};
    struct ct_timed_event timed = {.event = {.type = CT_EVENT_TRANSACTION, .a = 200}, .time = 7};
    struct receiver r = {0};
    struct ct_event_writer *writer;
    assert_int_equal(ct_event_writer_new(ctx, NULL, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_event_writer_heading(writer, "b", 128), CT_ERR_ARG);
    assert_int_equal(ct_event_writer_heading(writer, NULL, 0x10), CT_OK);
    assert_int_equal(ct_event_writer_flush(writer), CT_OK);
    assert_int_equal(r.got, strlen("type\tcycle\tvalue\tnote\n"));
    r.got = 0;
    assert_int_equal(ct_event_writer_add(writer, &origin, &timed.event, 1), CT_OK);
    assert_int_equal(ct_event_writer_add_timed(writer, &origin, &timed, 1), CT_ERR_ARG);
    timed.event.type = CT_EVENT_TEXT + 1;
    assert_int_equal(ct_event_writer_add(writer, &origin, &timed.event, 1), CT_ERR_ARG);
    assert_int_equal(ct_event_writer_flush(writer), CT_OK);
    assert_int_equal(r.got, strlen("# id 10\nTx\t0\t\t\n"));
    ct_event_writer_free(writer);

    r = (struct receiver){.stop_at = 1};
    timed.event.type = CT_EVENT_BRANCH;
    assert_int_equal(ct_event_writer_new(ctx, &merged, receive, &r, &writer), CT_OK);
    assert_int_equal(ct_event_writer_add(writer, &origin, &timed.event, 1), CT_ERR_ARG);
    assert_int_equal(ct_event_writer_add_timed(writer, &origin, &timed, 1), CT_OK);
    assert_int_equal(ct_event_writer_flush(writer), STOP);
    assert_int_equal(ct_event_writer_add_timed(writer, &origin, &timed, 1), STOP);
    ct_event_writer_free(writer);
    assert_int_equal(r.calls, 1);
}

/* What is written arrives with a flush. Closing nothing, and having nothing to write to, do no harm. */
TEST(test_json)
{
    const struct ct_losses losses = {.gaps = 2};
    struct output page = {0};
    struct ct_json *json;
    assert_int_equal(ct_json_new(NULL, NULL, output_append, &page, &json), CT_OK);
    ct_json_object_end(json);
    ct_json_object(json, NULL);
    ct_json_text(json, "name", "a\"\n\xff");
    ct_json_bool(json, "is", 1);
    ct_json_array(json, "none");
    ct_json_array_end(json);
    ct_losses_json(json, &losses, CT_LOSSES_PROGRAM);
    ct_json_object_end(json);
    assert_int_equal(ct_json_flush(json), CT_OK);
    assert_non_null(strstr(page.text,
                           "{\n  \"name\": \"a\\\"\\u000a\\ufffd\",\n  \"is\": true,\n  \"none\": [],\n"
                           "  \"losses\": {\n    \"gaps\": 2,"));
    assert_non_null(strstr(page.text, "\n  }\n}\n"));
    output_free(&page);
    ct_json_free(json);
    ct_json_text(NULL, NULL, "nothing");

    struct receiver r = {.stop_at = 1};
    assert_int_equal(ct_json_new(NULL, NULL, receive, &r, &json), CT_OK);
    ct_json_number(json, NULL, 1);
    assert_int_equal(ct_json_flush(json), STOP);
    ct_json_free(json);
    assert_int_equal(r.calls, 1);
}

TEST(test_text_of_others)
{
    static const char text[] = "a<\x1b&\"\t\xff";
    static const char *const wanted[] = {
        [CT_TEXT_TERMINAL] = "a<\\x1b&\"\\x09\\xff",
        [CT_TEXT_XML] = "a&lt;\xef\xbf\xbd&amp;&quot;\t\xef\xbf\xbd",
        [CT_TEXT_JSON] = "a<\\u001b&\\\"\\u0009\\ufffd",
    };
    for (unsigned use = 0; use < sizeof wanted / sizeof *wanted; use++) {
        struct output page = {0};
        struct receiver r = {.stop_at = 2};
        assert_int_equal(ct_text_write(text, (enum ct_text_use)use, output_append, &page), CT_OK);
        assert_string_equal(page.text, wanted[use]);
        output_free(&page);
        assert_int_equal(ct_text_write(text, (enum ct_text_use)use, receive, &r), STOP);
        assert_int_equal(r.calls, 2);
    }
    assert_int_equal(ct_text_write(text, CT_TEXT_JSON + 1, output_append, NULL), CT_ERR_ARG);
}

TEST(test_losses)
{
    const struct ct_losses losses = {.gaps = 3, .lost_bytes = 4};
    struct output page = {0};
    assert_int_equal(ct_losses_keys(&losses, CT_LOSSES_FRAMES, ' ', output_append, &page), CT_OK);
    assert_string_equal(page.text, "lost_bytes=4");
    output_free(&page);
    assert_int_equal(ct_losses_keys(&losses, CT_LOSSES_TRACE, ' ', output_append, &page), CT_OK);
    assert_string_equal(page.text, "gaps=3 overflows=0 bad_packets=0 lost_bytes=4");
    output_free(&page);
}
