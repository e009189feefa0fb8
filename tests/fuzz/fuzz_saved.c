/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes files of times, of stacks, of counts, of results of specifications, of FRACTAL logs and of shards.
 * What must hold: a file that was read is written as one with the same content, which reads and writes to the
 * same bytes. Each input is also read with a corrected checksum: otherwise few changes would be read at
 * all. */
#include "saved.h"

/* Numbers of programs and names are good to print whatever was read. */
static void look_at_times(struct ct_timing_sums *sums)
{
    struct ct_timing_found all;
    require(ct_timing_sums_find(sums, &all) == CT_OK);
    for (size_t i = 0; i < all.function_count; i++) {
        require(all.functions[i].label && *all.functions[i].name);
        require(all.functions[i].program == CT_TIMING_NO_PROGRAM ||
                all.functions[i].program < all.program_count);
        require(ct_dist_quantile(&all.functions[i].self, 0.5) <= all.functions[i].self.max);
    }
    for (size_t i = 0; i < all.edge_count; i++)
        require(all.edges[i].program == CT_TIMING_NO_PROGRAM || all.edges[i].program < all.program_count);
}

/* Callers stand before what they call, each function once below a caller. */
static void look_at_stacks(struct ct_stack_sums *sums)
{
    struct ct_stack_found all;
    require(ct_stack_sums_find(sums, &all) == CT_OK);
    for (size_t i = 0; i < all.function_count; i++) {
        require(all.functions[i].label && *all.functions[i].name);
        require(all.functions[i].program == CT_STACK_NONE || all.functions[i].program < all.program_count);
    }
    for (size_t i = 0; i < all.place_count; i++) {
        require(all.places[i].function < all.function_count);
        require(all.places[i].parent == CT_STACK_NONE || all.places[i].parent < i);
    }
    for (size_t i = 0; i < all.call_count; i++)
        require(all.calls[i].caller < all.function_count && all.calls[i].callee < all.function_count);
}

/* Names in their order, each once. */
static void look_at_counts(const struct ct_counts *counts)
{
    size_t count;
    const struct ct_count *all = ct_counts_all(counts, &count);
    for (size_t i = 0; i < count; i++)
        require(*all[i].name && (i == 0 || strcmp(all[i - 1].name, all[i].name) < 0));
}

/* Outputs in their order, each once, with violations and ranges that can be. */
static void look_at_results(const struct ct_verify_sums *sums)
{
    size_t count;
    const struct ct_verify_sum *all = ct_verify_sums_all(sums, &count);
    for (size_t i = 0; i < count; i++) {
        require(*all[i].spec && *all[i].output && all[i].type <= CT_MONITOR_OTHER);
        require(all[i].uncertain <= all[i].violations && all[i].violations <= all[i].events);
        require(!all[i].violations == !all[i].first);
        require(i == 0 || strcmp(all[i - 1].spec, all[i].spec) <= 0);
        if (all[i].numbers)
            require(all[i].type == CT_MONITOR_FLOAT ? all[i].low.f <= all[i].high.f
                                                    : all[i].low.i <= all[i].high.i);
    }
}

/* Names and points in their order, each once. */
static void look_at_logs(struct ct_fractal_sums *sums)
{
    size_t count;
    const struct ct_fractal_sum *all = ct_fractal_sums_all(sums, &count);
    for (size_t i = 0; i < count; i++)
        require(all[i].kind <= CT_FRACTAL_PAGE &&
                (i == 0 || strcmp(all[i - 1].program, all[i].program) <= 0));
    const struct ct_fractal_point_sum *points = ct_fractal_sums_points(sums, &count);
    for (size_t i = 0; i < count; i++)
        require(points[i].shortest <= points[i].longest && (points[i].intervals || !points[i].longest));
}

/* Streams once each, of numbers that can be. A file that cannot be read leaves none; one that does not fit
 * may leave what is of no use any more. */
static void look_at_shard(const struct ct_shard *shard, int rc)
{
    require(rc == CT_OK ? shard->first && shard->first <= shard->last && shard->last <= SAVED_SHARDS
                        : rc == CT_ERR_NOT_FOUND || (!shard->first && !shard->stream_count));
    for (size_t i = 0; i < shard->stream_count; i++)
        require(ct_shard_find(shard, shard->streams[i].buffer, shard->streams[i].id) == &shard->streams[i]);
}

static void read_and_write(const uint8_t *data, size_t size)
{
    struct ct_analysis *first = saved_new(data, size);
    struct ct_analysis *again = saved_new(data, size);
    require(first && again);
    const int rc = ct_analysis_load(first, "fuzz", data, size);
    if (saved_is_shard(first))
        look_at_shard((struct ct_shard *)first, rc);
    else if (first->kind == ct_stack_sums_kind())
        look_at_stacks((struct ct_stack_sums *)first);
    else if (first->kind == ct_fractal_sums_kind())
        look_at_logs((struct ct_fractal_sums *)first);
    else if (first->kind == ct_verify_sums_kind())
        look_at_results((struct ct_verify_sums *)first);
    else if (first->kind == ct_watch_counts_kind() || first->kind == ct_event_counts_kind() ||
             first->kind == ct_total_counts_kind())
        look_at_counts((struct ct_counts *)first);
    else if (first->kind == ct_timing_sums_kind())
        look_at_times((struct ct_timing_sums *)first);
    if (!saved_is_shard(first) || rc == CT_OK) { /* no file says that there are no shards */
        const struct written once = saved_text(first);
        require(ct_analysis_load(again, "fuzz", once.bytes, once.size) == CT_OK);
        written_same(once, saved_text(again));
    }
    ct_analysis_free(again);
    ct_analysis_free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > SAVED_MOST_BYTES)
        return 0;
    read_and_write(data, size);
    const struct written mended = saved_mended(data, size);
    read_and_write((const uint8_t *)mended.bytes, mended.size);
    free(mended.bytes);
    return 0;
}
