/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every options struct of the public headers is read by its size: a caller of an older or newer
 * version gets what it asked for, or an error. */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/cfg.h"
#include "coretap/cover.h"
#include "coretap/decode.h"
#include "coretap/empty.h"
#include "coretap/encode.h"
#include "coretap/export.h"
#include "coretap/filter.h"
#include "coretap/format.h"
#include "coretap/fractal.h"
#include "coretap/fractal_names.h"
#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "coretap/fractal_sums.h"
#include "coretap/info.h"
#include "coretap/json.h"
#include "coretap/fleet.h"
#include "coretap/live.h"
#include "coretap/merge.h"
#include "coretap/record.h"
#include "coretap/report.h"
#include "coretap/session.h"
#include "coretap/soc.h"
#include "coretap/source_lines.h"
#include "coretap/stacks.h"
#include "coretap/tables.h"
#include "coretap/timing.h"
#include "coretap/together.h"
#include "coretap/verdict.h"
#include "coretap/verify.h"
#include "coretap/wcet.h"
#include "unit/elf_build.h"
#include "support/output.h"
#include "support/unit.h"

#define SPEC "in x: Events[Int]\nout x\n"

/* What functions need in addition to their options. */
struct bench {
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    const struct ct_source *source;
    struct ct_memory *memory;
    struct ct_watches *watches;
    struct ct_programs *programs;
    struct ct_monitor_spec *spec;
    struct ct_wcet *wcet;
    struct ct_cfg *cfg;
    struct ct_cover *cover;
    struct ct_cover_views *views;
    struct ct_stack_sums *stacks;
    struct ct_timing_sums *timing;
    struct ct_fractal_sums *logs;
    struct ct_report *report;
    struct ct_manifest *manifest;
    uint8_t elf[ELF_SIZE];
};

/* Defines a function that gives options to `function`. */
#define CALL(name, function, ...)                                                                            \
    static int name(struct bench *b, const void *options)                                                    \
    {                                                                                                        \
        return function(__VA_ARGS__);                                                                        \
    }

/* Defines a function that gives options to `function`, which makes an object in its last argument. */
#define NEW(name, function, type, ...)                                                                       \
    static int name(struct bench *b, const void *options)                                                    \
    {                                                                                                        \
        struct ct_##type *made = NULL;                                                                       \
        const int rc = function(__VA_ARGS__, &made);                                                         \
        ct_##type##_free(made);                                                                              \
        return rc;                                                                                           \
    }

NEW(compile, ct_monitor_compile, monitor_spec, b->ctx, "spec", SPEC, sizeof SPEC - 1, options)
NEW(load_lines, ct_lines_load_with, lines, b->ctx, "/nonexistent", options)
NEW(load_symbols, ct_symbols_load_with, symbols, b->ctx, "/nonexistent", options)
NEW(make_views, ct_cover_views_new, cover_views, b->cover, b->programs, options)
NEW(new_cfg, ct_cfg_load_bytes, cfg, b->ctx, "elf", b->elf, sizeof b->elf, options)
NEW(new_chain, ct_chain_new, chain, b->ctx, b->capture->buffers, options, &(const struct ct_chain_sink){0})
NEW(new_demux, ct_demux_new, demux, b->ctx, options)
NEW(new_edges, ct_edges_new, edges, b->ctx, options)
NEW(new_emitter, ct_etm4_emitter_new, etm4_emitter, b->ctx, b->source, options)
NEW(new_event_writer, ct_event_writer_new, event_writer, b->ctx, options, output_drop, NULL)
NEW(new_fast, ct_fast_new, fast, b->ctx, b->source, b->memory, options)
NEW(new_fractal, ct_fractal_new, fractal, b->ctx, options)
NEW(new_framer, ct_framer_new, framer, b->ctx, options)
NEW(new_job, ct_fleet_job_new, fleet_job, b->ctx, options, b->manifest)
NEW(new_info, ct_info_writer_new, info_writer, b->ctx, options, output_drop, NULL)
NEW(new_json, ct_json_new, json, b->ctx, options, output_drop, NULL)
NEW(new_live, ct_live_new, live, b->ctx, options)
NEW(new_merge, ct_merge_new, merge, b->ctx, b->capture->buffers, b->capture->buffer_count, options)
NEW(new_monitor, ct_monitor_new, monitor, b->ctx, b->spec, options, NULL, NULL)
NEW(new_names, ct_fractal_names_new, fractal_names, b->ctx, options)
NEW(new_perfetto_writer, ct_perfetto_writer_new, perfetto_writer, b->ctx, options, output_drop, NULL)
NEW(new_programs, ct_programs_new, programs, b->ctx, options)
NEW(new_replay, ct_fractal_replay_new, fractal_replay, b->ctx, options)
NEW(new_report, ct_report_new, report, b->ctx, b->programs, options)
NEW(new_samples, ct_perf_samples_new, perf_samples, b->ctx, b->capture, options, output_drop, NULL)
NEW(new_session, ct_session_new, session, b->ctx, options)
NEW(new_sieve, ct_sieve_new, sieve, b->ctx, options)
NEW(new_slice_writer, ct_slice_writer_new, slice_writer, b->ctx, options, output_drop, NULL)
NEW(new_soc, ct_soc_new, soc, b->ctx, options, NULL)
NEW(new_stack_sums, ct_stack_sums_new, stack_sums, b->ctx, options)
NEW(new_stacks, ct_stacks_new, stacks, b->ctx, options)
NEW(new_sums, ct_timing_sums_new, timing_sums, b->ctx, options)
NEW(new_tables, ct_tables_new, tables, b->ctx, options)
NEW(new_timing, ct_timing_new, timing, b->ctx, options)
NEW(new_timing_writer, ct_timing_writer_new, timing_writer, b->ctx, options, output_drop, NULL)
NEW(new_together, ct_together_new, together, b->ctx, options)
NEW(new_verdict_writer, ct_verdict_writer_new, verdict_writer, b->ctx, options, output_drop, NULL)
NEW(new_verifier, ct_verifier_new, verifier, b->ctx, options, b->watches)
NEW(new_volume_replay, ct_volume_replay_new, volume_replay, b->ctx, options, &(struct ct_volume){0})
NEW(new_walk, ct_walk_new, walk, b->ctx, b->source, b->memory, options)
NEW(new_watch_writer, ct_watch_writer_new, watch_writer, b->ctx, options, output_drop, NULL)
NEW(open_capture, ct_capture_open_with, capture, b->ctx, SOURCE_ROOT "/examples/quickstart", options)
NEW(report_cover, ct_cover_report_new, cover_report, b->ctx, options, NULL, 0)

CALL(ask_live, ct_live_ask, b->ctx, options, &(struct ct_live_answer){0})
CALL(run_amounts, ct_amounts_run, b->ctx, b->capture->buffers, 0, options, &(struct ct_amounts){0})
CALL(export_perf, ct_perf_export, b->ctx, b->capture, b->capture->buffers, b->capture->buffer_count, options,
     output_drop, NULL)
CALL(find_empty, ct_empty_find, b->ctx, options, &(struct ct_empty){0})
CALL(find_captures, ct_manifest_find, b->manifest, "/dev/null", options)
CALL(predict_overhead, ct_fractal_overhead, b->ctx, options, &(struct ct_fractal_overhead_result){0})
CALL(record, ct_record, b->ctx, options, &(struct ct_record_result){0})
CALL(settle, ct_filter_settle, b->ctx, options, b->capture, b->capture->buffers, b->capture->buffer_count,
     &(struct ct_filter){0})
CALL(simulate, ct_fractal_simulate, b->ctx, options, &(struct ct_fractal_simulate_result){0})
CALL(solve_wcet, ct_wcet_solve, b->wcet, options, NULL, NULL, &(struct ct_wcet_result){0})
CALL(write_amounts, ct_amounts_write, b->ctx, &(struct ct_amounts){0}, options, output_drop, NULL)
CALL(write_cfg, ct_cfg_write, b->ctx, b->cfg, options, output_drop, NULL)
CALL(write_log_sums, ct_fractal_sums_write, b->ctx, b->logs, options, output_drop, NULL)
CALL(write_page, ct_page_write, b->ctx, options, output_drop, NULL)
CALL(write_profile, ct_profile_write, b->cover, b->programs, options, output_drop, NULL, NULL)
CALL(write_report, ct_report_write, b->report, options, output_drop, NULL)
CALL(write_stacks, ct_stack_sums_write, b->stacks, options, output_drop, NULL)
CALL(write_views, ct_cover_views_write, b->views, options, output_drop, NULL)
CALL(write_volume, ct_volume_write, b->ctx, &(const struct ct_volume){0}, options, output_drop, NULL)

/* Narrows a chain of a level that supports it. */
static int narrow_chain(struct bench *b, const void *options)
{
    const struct ct_chain_options level = {.size = sizeof level, .level = CT_LEVEL_STEPS};
    struct ct_chain *chain;
    int rc =
        ct_chain_new(b->ctx, b->capture->buffers, &level, &(const struct ct_chain_sink){.user = b}, &chain);
    if (rc)
        return rc;
    rc = ct_chain_narrow(chain, options);
    ct_chain_free(chain);
    return rc;
}

static int add_code(struct bench *b, const void *options)
{
    struct ct_lister *lister;
    assert_int_equal(ct_lister_new(b->ctx, output_drop, NULL, &lister), CT_OK);
    const int rc = ct_lister_code(lister, options);
    ct_lister_free(lister);
    return rc;
}

/* Writes the report of an event log without events. */
static int write_log_report(struct bench *b, const void *options)
{
    char path[] = "/tmp/coretap-options-XXXXXX";
    const struct ct_fractal_log_info info = {.fields = CT_FRACTAL_FIELD_ALL};
    struct ct_fractal_writer *writer = NULL;
    struct ct_fractal_log *log = NULL;
    struct ct_fractal_report *report = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(ct_fractal_writer_new(b->ctx, path, &info, &writer), CT_OK);
    assert_int_equal(ct_fractal_writer_close(writer), CT_OK);
    assert_int_equal(ct_fractal_log_open(b->ctx, path, &log), CT_OK);
    assert_int_equal(ct_fractal_report_new(b->ctx, log, NULL, &report), CT_OK);
    const int rc = ct_fractal_report_write(report, options, output_drop, NULL);
    ct_fractal_report_free(report);
    ct_fractal_log_free(log);
    unlink(path);
    return rc;
}

/* Begins the first log of its sums. */
static int begin_log(struct bench *b, const void *options)
{
    struct ct_fractal_sums *sums = NULL;
    int rc = ct_fractal_sums_new(b->ctx, &sums) ?: ct_fractal_sums_begin(sums, options);
    ct_fractal_sums_free(sums);
    return rc;
}

static int write_wcet(struct bench *b, const void *options)
{
    struct ct_wcet_result result = {0};
    const struct ct_wcet_view view = {.entry = "main", .wcet = b->wcet, .cfg = b->cfg, .result = &result};
    return ct_wcet_write(b->ctx, &view, options, output_drop, NULL);
}

static int drop_table(void *user, enum ct_table table, const void *data, size_t size)
{
    (void)table;
    return output_drop(user, data, size);
}

static int add_to_tables(struct bench *b, const void *options)
{
    const struct ct_tables_options how = {.size = sizeof how, .write = drop_table};
    struct ct_tables *tables;
    assert_int_equal(ct_tables_new(b->ctx, &how, &tables), CT_OK);
    const int rc = ct_tables_add_timing(tables, b->timing, options);
    ct_tables_free(tables);
    return rc;
}

/* Defines a function that gives options to `function` of a live capture. */
#define LIVE(name, function)                                                                                 \
    static int name(struct bench *b, const void *options)                                                    \
    {                                                                                                        \
        const struct ct_live_options how = {                                                                 \
            .size = sizeof how, .buffer = b->capture->buffers, .programs = b->programs};                     \
        struct ct_live *live;                                                                                \
        assert_int_equal(ct_live_new(b->ctx, &how, &live), CT_OK);                                           \
        const int rc = function(live, options);                                                              \
        ct_live_free(live);                                                                                  \
        return rc;                                                                                           \
    }

LIVE(open_live, ct_live_open)
LIVE(hook_live, ct_live_hook)

/* `plain` is the result for options that are all zero. */
#define KIND(name, call, plain)                                                                              \
    {                                                                                                        \
        "ct_" #name, sizeof(struct ct_##name), call, plain                                                   \
    }

static const struct kind {
    const char *name;
    size_t size;
    int (*call)(struct bench *b, const void *options);
    int plain;
} kinds[] = {
    KIND(amounts_options, run_amounts, CT_OK),
    KIND(amounts_write_options, write_amounts, CT_OK),
    KIND(capture_options, open_capture, CT_OK),
    KIND(cfg_options, new_cfg, CT_OK),
    KIND(cfg_write_options, write_cfg, CT_OK),
    KIND(chain_options, new_chain, CT_OK),
    KIND(chain_want, narrow_chain, CT_OK),
    KIND(cover_source, report_cover, CT_ERR_ARG),
    KIND(cover_views_options, make_views, CT_OK),
    KIND(cover_write_options, write_views, CT_OK),
    KIND(demux_options, new_demux, CT_ERR_ARG),
    KIND(edges_options, new_edges, CT_OK),
    KIND(empty_options, find_empty, CT_OK),
    KIND(etm4_emit_options, new_emitter, CT_OK),
    KIND(event_write_options, new_event_writer, CT_OK),
    KIND(fast_options, new_fast, CT_OK),
    KIND(filter, settle, CT_OK),
    KIND(fractal_options, new_fractal, CT_OK),
    KIND(fractal_names_options, new_names, CT_OK),
    KIND(fractal_overhead_options, predict_overhead, CT_ERR_ARG),
    KIND(fractal_replay_options, new_replay, CT_OK),
    KIND(fractal_report_write_options, write_log_report, CT_OK),
    KIND(fractal_run, begin_log, CT_OK),
    KIND(fractal_simulate_options, simulate, CT_ERR_ARG),
    KIND(fractal_sums_write_options, write_log_sums, CT_OK),
    KIND(framer_options, new_framer, CT_ERR_ARG),
    KIND(info_write_options, new_info, CT_OK),
    KIND(json_options, new_json, CT_OK),
    KIND(line_options, load_lines, CT_ERR_IO),
    KIND(fleet_job_options, new_job, CT_ERR_ARG),
    KIND(lister_code_options, add_code, CT_ERR_ARG),
    KIND(live_hook_options, hook_live, CT_ERR_ARG),
    KIND(manifest_options, find_captures, CT_OK),
    KIND(live_input, open_live, CT_ERR_ARG),
    KIND(live_options, new_live, CT_ERR_ARG),
    KIND(live_request, ask_live, CT_ERR_ARG),
    KIND(merge_options, new_merge, CT_OK),
    KIND(monitor_limits, new_monitor, CT_OK),
    KIND(monitor_options, compile, CT_OK),
    KIND(page_options, write_page, CT_OK),
    KIND(perf_export_options, export_perf, CT_OK),
    KIND(perf_samples_options, new_samples, CT_OK),
    KIND(perfetto_write_options, new_perfetto_writer, CT_OK),
    KIND(profile_write_options, write_profile, CT_ERR_ARG),
    KIND(programs_options, new_programs, CT_OK),
    KIND(record_options, record, CT_ERR_ARG),
    KIND(report_options, new_report, CT_OK),
    KIND(report_write_options, write_report, CT_OK),
    KIND(session_options, new_session, CT_OK),
    KIND(sieve_options, new_sieve, CT_ERR_ARG),
    KIND(slice_write_options, new_slice_writer, CT_OK),
    KIND(soc_config, new_soc, CT_OK),
    KIND(stack_options, new_stacks, CT_OK),
    KIND(stack_sums_options, new_stack_sums, CT_OK),
    KIND(stack_write_options, write_stacks, CT_OK),
    KIND(symbol_options, load_symbols, CT_ERR_IO),
    KIND(tables_options, new_tables, CT_ERR_ARG),
    KIND(tables_origin, add_to_tables, CT_ERR_ARG),
    KIND(timing_options, new_timing, CT_OK),
    KIND(timing_write_options, new_timing_writer, CT_OK),
    KIND(timing_sums_options, new_sums, CT_OK),
    KIND(together_options, new_together, CT_OK),
    KIND(verdict_write_options, new_verdict_writer, CT_OK),
    KIND(verify_options, new_verifier, CT_OK),
    KIND(volume_options, new_volume_replay, CT_OK),
    KIND(volume_write_options, write_volume, CT_OK),
    KIND(walk_options, new_walk, CT_OK),
    KIND(watch_write_options, new_watch_writer, CT_OK),
    KIND(wcet_options, solve_wcet, CT_ERR_NOT_FOUND),
    KIND(wcet_write_options, write_wcet, CT_OK),
};

#define KINDS (sizeof kinds / sizeof *kinds)

static int set_up(void **state)
{
    static struct bench b;
    const struct test_symbol main = {"main", 0x400000, 8, STT_FUNC, STB_GLOBAL, 1};
    *state = &b;
    b.ctx = ct_ctx_new();
    elf64_build(b.elf, &main, 1);
    const int rc = ct_capture_open(b.ctx, SOURCE_ROOT "/examples/quickstart", &b.capture) ||
                   ct_memory_new(b.ctx, &b.memory) || ct_programs_new(b.ctx, NULL, &b.programs) ||
                   ct_watches_new(b.ctx, b.programs, &b.watches) ||
                   ct_monitor_compile(b.ctx, "spec", SPEC, sizeof SPEC - 1, NULL, &b.spec) ||
                   ct_cfg_load_bytes(b.ctx, "elf", b.elf, sizeof b.elf, NULL, &b.cfg) ||
                   ct_wcet_new(b.ctx, b.cfg, NULL, &b.wcet) || ct_cover_new(b.ctx, &b.cover) ||
                   ct_cover_views_new(b.cover, b.programs, NULL, &b.views) ||
                   ct_stack_sums_new(b.ctx, NULL, &b.stacks) || ct_timing_sums_new(b.ctx, NULL, &b.timing) ||
                   ct_fractal_sums_new(b.ctx, &b.logs) || ct_report_new(b.ctx, b.programs, NULL, &b.report) ||
                   ct_manifest_new(b.ctx, &b.manifest);
    if (rc)
        print_error("%s\n", ct_ctx_error(b.ctx));
    else
        b.source = b.capture->buffers->sources;
    return rc;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    ct_manifest_free(b->manifest);
    ct_report_free(b->report);
    ct_fractal_sums_free(b->logs);
    ct_timing_sums_free(b->timing);
    ct_stack_sums_free(b->stacks);
    ct_cover_views_free(b->views);
    ct_cover_free(b->cover);
    ct_wcet_free(b->wcet);
    ct_cfg_free(b->cfg);
    ct_monitor_spec_free(b->spec);
    ct_watches_free(b->watches);
    ct_programs_free(b->programs);
    ct_memory_free(b->memory);
    ct_capture_free(b->capture);
    ct_ctx_free(b->ctx);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down)

/* Returns the result for options of `size` bytes, of which those from `from` on are `fill`. */
static int with(struct bench *b, const struct kind *kind, size_t size, size_t from, int fill)
{
    _Alignas(max_align_t) uint8_t options[256] = {0};
    assert_true(kind->size + 8 <= sizeof options);
    memset(options + from, fill, sizeof options - from);
    memcpy(options, &size, sizeof size);
    return kind->call(b, options);
}

/* Compares a result with the expected one; `what` names the options in the message. */
static void expect(const struct bench *b, const struct kind *kind, const char *what, int rc, int want)
{
    if (rc != want)
        fail_msg("%s %s: %s in place of %s: %s", kind->name, what, ct_error_name(rc), ct_error_name(want),
                 ct_ctx_error(b->ctx));
}

static void expect_text(const struct bench *b, const struct kind *kind, const char *text)
{
    if (!strstr(ct_ctx_error(b->ctx), text))
        fail_msg("%s: '%s' does not say '%s'", kind->name, ct_ctx_error(b->ctx), text);
}

TEST(none_are_zero)
{
    struct bench *b = *state;
    for (size_t i = 0; i < KINDS; i++) {
        expect(b, &kinds[i], "null", kinds[i].call(b, NULL), kinds[i].plain);
        expect(b, &kinds[i], "of zeros", with(b, &kinds[i], kinds[i].size, sizeof(size_t), 0),
               kinds[i].plain);
    }
}

/* Members beyond the end of a short struct are not read. */
TEST(old_callers)
{
    struct bench *b = *state;
    for (size_t i = 0; i < KINDS; i++)
        expect(b, &kinds[i], "short", with(b, &kinds[i], sizeof(size_t), sizeof(size_t), 0xff),
               kinds[i].plain);
}

TEST(new_callers)
{
    struct bench *b = *state;
    for (size_t i = 0; i < KINDS; i++) {
        const size_t size = kinds[i].size;
        expect(b, &kinds[i], "longer", with(b, &kinds[i], size + 8, sizeof(size_t), 0), kinds[i].plain);
        expect(b, &kinds[i], "longer and set", with(b, &kinds[i], size + 8, size + 7, 1), CT_ERR_ARG);
        expect_text(b, &kinds[i], "an option is set that version");
    }
}

TEST(size_is_needed)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 4097, SIZE_MAX};
    struct bench *b = *state;
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            expect(b, &kinds[i], "without size", with(b, &kinds[i], sizes[k], sizeof(size_t), 0), CT_ERR_ARG);
            expect_text(b, &kinds[i], "options.size is not set");
        }
}

/* Options inside of options are read in the same way. */
TEST(options_in_options)
{
    struct bench *b = *state;
    struct ct_cfg *cfg = NULL;
    const struct ct_symbol_options no_size = {0};
    const struct ct_cfg_options options = {.size = sizeof options, .names = &no_size};
    assert_int_equal(ct_cfg_load_bytes(b->ctx, "elf", b->elf, sizeof b->elf, &options, &cfg), CT_ERR_ARG);
}

/* The last option takes effect. */
TEST(all_is_copied)
{
    struct bench *b = *state;
    struct ct_edges *edges = NULL;
    const struct ct_edges_options options = {.size = sizeof options, .max_contexts = 65537};
    assert_int_equal(ct_edges_new(b->ctx, &options, &edges), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(b->ctx), "65537"));
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (!strcmp(kinds[i].name, name))
            return true;
    return false;
}

/* Each struct of a header that begins with its size is in the table, except those that are not options. */
TEST(all_are_here)
{
    char name[128], line[512];
    glob_t headers;
    size_t found = 0;
    assert_int_equal(glob(SOURCE_ROOT "/include/coretap/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        FILE *file = fopen(headers.gl_pathv[i], "r");
        assert_non_null(file);
        for (bool opened = false; fgets(line, sizeof line, file);) {
            if (opened && !strncmp(line, "    size_t size;", 16) && strcmp(name, "ct_analysis_kind") != 0) {
                found++;
                if (!is_known(name))
                    fail_msg("struct %s of %s is not in the table of this test", name, headers.gl_pathv[i]);
            }
            opened = sscanf(line, "struct %127s {", name) == 1 && strchr(line, '{');
        }
        fclose(file);
    }
    globfree(&headers);
    assert_int_equal(found, KINDS);
}
