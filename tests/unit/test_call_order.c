/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that calls before the beginning and after the end are refused, and write nothing: output behind its
 * end, or without a stream, cannot be read. */
#include <string.h>

#include "coretap/edge_events.h"
#include "coretap/export.h"
#include "coretap/format.h"
#include "coretap/info.h"
#include "coretap/stacks.h"
#include "coretap/tables.h"
#include "support/ctx_fixture.h"

static int count_bytes(void *user, const void *data, size_t size)
{
    size_t *bytes = user;
    (void)data;
    *bytes += size;
    return CT_OK;
}

static void is_refused(struct ct_ctx *ctx, int rc, const char *who)
{
    assert_int_equal(rc, CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), who));
    assert_non_null(strstr(ct_ctx_error(ctx), "nothing was"));
}

TEST_WITH(edges_need_a_stream, ctx)
{
    struct ct_edge_events *events;
    struct ct_graph *graph;
    size_t bytes = 0;
    assert_int_equal(ct_graph_new(ctx, &graph), CT_OK);
    assert_int_equal(ct_edge_events_new(ctx, graph, count_bytes, &bytes, &events), CT_OK);
    const struct ct_step_batch batch = {.graph = graph};
    is_refused(ctx, ct_edge_events_take(events, &batch), "ct_edge_events_take");
    assert_int_equal(ct_edge_events_begin(events, 0, 0x10), CT_OK);
    assert_int_equal(ct_edge_events_take(events, &batch), CT_OK);
    ct_edge_events_free(events);
    ct_graph_free(graph);
}

TEST_WITH(stacks_have_an_end, ctx)
{
    struct ct_stacks *stacks;
    struct ct_graph *graph;
    assert_int_equal(ct_graph_new(ctx, &graph), CT_OK);
    assert_int_equal(ct_stacks_new(ctx, NULL, &stacks), CT_OK);
    const struct ct_step_batch batch = {.graph = graph};
    assert_int_equal(ct_stacks_add(stacks, 0, &batch), CT_OK);
    assert_int_equal(ct_stacks_finish(stacks), CT_OK);
    is_refused(ctx, ct_stacks_add(stacks, 0, &batch), "ct_stacks_add");
    ct_stacks_free(stacks);
    ct_graph_free(graph);
}

TEST_WITH(samples_have_an_end, ctx)
{
    struct ct_perf_samples *samples;
    struct ct_capture *capture;
    struct ct_graph *graph;
    size_t bytes = 0;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_graph_new(ctx, &graph), CT_OK);
    assert_int_equal(ct_perf_samples_new(ctx, capture, NULL, count_bytes, &bytes, &samples), CT_OK);
    const struct ct_step_batch batch = {.graph = graph};
    assert_int_equal(ct_perf_samples_finish(samples), CT_OK);
    const size_t whole = bytes;
    is_refused(ctx, ct_perf_samples_finish(samples), "ct_perf_samples_finish");
    is_refused(ctx, ct_perf_samples_add(samples, 0, &capture->buffers[0].sources[0], &batch),
               "ct_perf_samples_add");
    assert_int_equal(bytes, whole);
    ct_perf_samples_free(samples);
    ct_graph_free(graph);
    ct_capture_free(capture);
}

TEST_WITH(times_have_an_end, ctx)
{
    const struct ct_timing_write_options how = {.size = sizeof how, .format = CT_TIMING_FORMAT_JSON};
    const struct ct_timing_origin origin = {.buffer = "buffer", .core = "core"};
    struct ct_timing_writer *writer;
    struct ct_timing_sums *sums;
    struct ct_timing *timing;
    size_t bytes = 0;
    assert_int_equal(ct_timing_new(ctx, NULL, &timing), CT_OK);
    assert_int_equal(ct_timing_sums_new(ctx, NULL, &sums), CT_OK);
    assert_int_equal(ct_timing_writer_new(ctx, &how, count_bytes, &bytes, &writer), CT_OK);
    assert_int_equal(ct_timing_writer_sums(writer, sums), CT_OK);
    assert_int_equal(ct_timing_writer_end(writer), CT_OK);
    const size_t whole = bytes;
    is_refused(ctx, ct_timing_writer_sums(writer, sums), "ct_timing_writer_sums");
    is_refused(ctx, ct_timing_writer_stream(writer, timing, &origin), "ct_timing_writer_stream");
    is_refused(ctx, ct_timing_writer_end(writer), "ct_timing_writer_end");
    ct_timing_writer_free(writer);
    assert_int_equal(bytes, whole);
    ct_timing_sums_free(sums);
    ct_timing_free(timing);
}

TEST_WITH(slices_have_an_end, ctx)
{
    struct ct_slice_writer *writer;
    struct ct_stacks *stacks;
    size_t bytes = 0;
    assert_int_equal(ct_stacks_new(ctx, NULL, &stacks), CT_OK);
    assert_int_equal(ct_slice_writer_new(ctx, NULL, count_bytes, &bytes, &writer), CT_OK);
    assert_int_equal(ct_slice_writer_add(writer, stacks), CT_OK);
    assert_int_equal(ct_slice_writer_end(writer), CT_OK);
    const size_t whole = bytes;
    is_refused(ctx, ct_slice_writer_begin(writer, "run"), "ct_slice_writer_begin");
    is_refused(ctx, ct_slice_writer_add(writer, stacks), "ct_slice_writer_add");
    is_refused(ctx, ct_slice_writer_end(writer), "ct_slice_writer_end");
    ct_slice_writer_free(writer);
    assert_int_equal(bytes, whole);
    ct_stacks_free(stacks);
}

TEST_WITH(traces_for_perfetto_have_captures_and_an_end, ctx)
{
    const struct ct_capture capture = {.path = "capture", .kind = "raw"};
    const struct ct_source source = {.name = "source"};
    const struct ct_stream stream = {.source = &source};
    struct ct_perfetto_writer *writer;
    struct ct_stacks *stacks;
    struct ct_graph *graph;
    size_t bytes = 0;
    assert_int_equal(ct_graph_new(ctx, &graph), CT_OK);
    assert_int_equal(ct_stacks_new(ctx, NULL, &stacks), CT_OK);
    const struct ct_step_batch batch = {.graph = graph};
    assert_int_equal(ct_perfetto_writer_new(ctx, NULL, count_bytes, &bytes, &writer), CT_OK);
    is_refused(ctx, ct_perfetto_writer_watch(writer, NULL, NULL, 0), "ct_perfetto_writer_watch");
    is_refused(ctx, ct_perfetto_writer_add(writer, &stream, &batch, 0, stacks), "ct_perfetto_writer_add");
    is_refused(ctx, ct_perfetto_writer_finish(writer, stacks), "ct_perfetto_writer_finish");
    assert_int_equal(ct_perfetto_writer_begin(writer, &capture, NULL), CT_OK);
    assert_int_equal(ct_perfetto_writer_add(writer, &stream, &batch, 0, stacks), CT_OK);
    assert_int_equal(ct_perfetto_writer_finish(writer, stacks), CT_OK);
    is_refused(ctx, ct_perfetto_writer_finish(writer, stacks), "ct_perfetto_writer_finish");
    assert_int_equal(ct_perfetto_writer_end(writer), CT_OK);
    const size_t whole = bytes;
    is_refused(ctx, ct_perfetto_writer_begin(writer, &capture, NULL), "ct_perfetto_writer_begin");
    is_refused(ctx, ct_perfetto_writer_add(writer, &stream, &batch, 0, stacks), "ct_perfetto_writer_add");
    is_refused(ctx, ct_perfetto_writer_end(writer), "ct_perfetto_writer_end");
    ct_perfetto_writer_free(writer);
    assert_int_equal(bytes, whole);
    ct_stacks_free(stacks);
    ct_graph_free(graph);
}

static int count_table(void *user, enum ct_table table, const void *data, size_t size)
{
    (void)table;
    return count_bytes(user, data, size);
}

TEST_WITH(tables_have_an_end, ctx)
{
    const struct ct_tables_origin origin = {.size = sizeof origin, .result = "result"};
    for (int format = CT_TABLES_PARQUET; format <= CT_TABLES_ARROW; format++) {
        size_t bytes = 0;
        const struct ct_tables_options options = {.size = sizeof options,
                                                  .write = count_table,
                                                  .user = &bytes,
                                                  .format = (enum ct_tables_format)format};
        struct ct_tables *tables;
        struct ct_timing_sums *sums;
        assert_int_equal(ct_timing_sums_new(ctx, NULL, &sums), CT_OK);
        assert_int_equal(ct_tables_new(ctx, &options, &tables), CT_OK);
        assert_int_equal(ct_tables_add_timing(tables, sums, &origin), CT_OK);
        assert_int_equal(ct_tables_finish(tables), CT_OK);
        const size_t whole = bytes;
        is_refused(ctx, ct_tables_finish(tables), "ct_tables_finish");
        is_refused(ctx, ct_tables_add_timing(tables, sums, &origin), "ct_tables_add_timing");
        assert_int_equal(ct_tables_rows(tables, CT_TABLE_RESULTS), 1);
        ct_tables_free(tables);
        assert_int_equal(bytes, whole);
        ct_timing_sums_free(sums);
    }
}

TEST_WITH(contents_of_a_capture_come_in_order, ctx)
{
    const struct ct_capture capture = {.path = "capture", .kind = "raw"};
    const struct ct_losses losses = {0};
    struct ct_info_writer *writer;
    size_t bytes = 0;
    assert_int_equal(ct_info_writer_new(ctx, NULL, count_bytes, &bytes, &writer), CT_OK);
    is_refused(ctx, ct_info_writer_end(writer, &losses), "ct_info_writer_end");
    assert_int_equal(ct_info_writer_capture(writer, &capture), CT_OK);
    is_refused(ctx, ct_info_writer_capture(writer, &capture), "ct_info_writer_capture");
    assert_int_equal(ct_info_writer_end(writer, &losses), CT_OK);
    is_refused(ctx, ct_info_writer_end(writer, &losses), "ct_info_writer_end");
    ct_info_writer_free(writer);
}
