/* SPDX-License-Identifier: Apache-2.0 */
/* Checks FRACTAL runs: ranges, replays, settings of the cluster, the form of overheads, and sums of logs.
 * Runs of a program under QEMU are checked in tests/recorded. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coretap/fractal_report.h"
#include "coretap/fractal_run.h"
#include "support/ctx_fixture.h"
#include "support/file_fixture.h"
#include "support/output.h"

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

TEST(ranges)
{
    static const char *const wrong[] = {
        "", "1", "1..", "..2", "2..2", "3..2", "1-2", "-1..2", "1..-2", "0..1000000000001", "1..2 ", "1..g"};
    uint64_t lo, hi;
    assert_int_equal(ct_fractal_range_parse(NULL, "400000..0x402000", &lo, &hi), CT_OK);
    assert_int_equal(lo, 0x400000);
    assert_int_equal(hi, 0x402000);
    assert_int_equal(ct_fractal_range_parse(NULL, "all", &lo, &hi), CT_OK);
    assert_int_equal(lo, 0);
    assert_int_equal(hi, UINT64_C(1) << 48);
    assert_int_equal(ct_fractal_range_parse(NULL, "0..1000000000000", &lo, &hi), CT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ct_fractal_range_parse(NULL, wrong[i], &lo, &hi), CT_ERR_FORMAT);
}

/* ---- replays ---- */

static const struct ct_fractal_target target = {
    .pgd = 0x1000, .range_hi = UINT64_C(1) << 39, .granule = 12, .va_bits = 39, .mode = CT_FRACTAL_ACTIVE};

TEST_WITH(lines_that_cannot_be_are_told, ctx)
{
    struct output refused = {0}, summary = {0};
    const struct ct_fractal_replay_options how = {
        .size = sizeof how, .target = &target, .refused = output_line, .refused_user = &refused};
    struct ct_fractal_replay *r;
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_OK);
    static const char stream[] = "time,op\n# x\n\n1,ReadShared,0,D,0x1000,0\nx";
    assert_int_equal(ct_fractal_replay_push(r, stream, sizeof stream - 1), CT_OK);
    assert_int_equal(refused.size, 0); /* the last line may continue */
    assert_int_equal(ct_fractal_replay_finish(r), CT_OK);
    assert_int_equal(ct_fractal_replay_counts_of(r)->messages, 2);
    assert_int_equal(ct_fractal_replay_counts_of(r)->refused, 1);
    assert_memory_equal(refused.text, "messages:5: ", 12);
    assert_int_equal(ct_fractal_replay_push(r, "x", 1), CT_ERR_ARG); /* it has ended */
    assert_int_equal(ct_fractal_replay_run(r), CT_ERR_ARG);
    assert_int_equal(ct_fractal_replay_write(r, output_append, &summary), CT_OK);
    assert_memory_equal(summary.text, "messages         2\nrefused          1\nSNOOPS           1\n", 57);
    assert_int_equal(ct_fractal_replay_write(r, output_refuse, NULL), CT_ERR_LIMIT);
    ct_fractal_replay_free(r);
    output_free(&refused);
    output_free(&summary);
}

TEST_WITH(missing_tables_are_told, ctx)
{
    static const char asked[] = "1,ReadShared,0,D,0x1000,0\n", answer[] = "2,Data,63,D,0x1000,";
    const struct ct_fractal_replay_options how = {.size = sizeof how, .target = &target};
    struct ct_fractal_replay *r;
    char content[130];
    memset(content, '0', sizeof content);
    content[128] = '\n';
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_OK);
    assert_non_null(strstr(ct_fractal_replay_missing(r), "no messages"));
    assert_int_equal(ct_fractal_replay_push(r, asked, sizeof asked - 1), CT_OK);
    assert_non_null(strstr(ct_fractal_replay_missing(r), "of 1 lines of page tables"));
    assert_int_equal(ct_fractal_replay_push(r, answer, sizeof answer - 1), CT_OK);
    assert_int_equal(ct_fractal_replay_push(r, content, 129), CT_OK);
    assert_non_null(strstr(ct_fractal_replay_missing(r), "no descriptor that was read"));
    assert_null(ct_fractal_replay_missing(NULL));
    ct_fractal_replay_free(r);
}

TEST(only_the_first_line_is_a_header)
{
    static const char stream[] = "time,op\ntime,op\n";
    struct ct_fractal_replay *r;
    assert_int_equal(ct_fractal_replay_new(NULL, NULL, &r), CT_OK);
    assert_int_equal(ct_fractal_replay_push(r, stream, sizeof stream - 1), CT_OK);
    assert_int_equal(ct_fractal_replay_finish(r), CT_OK);
    assert_int_equal(ct_fractal_replay_counts_of(r)->messages, 1);
    assert_int_equal(ct_fractal_replay_counts_of(r)->refused, 1);
    ct_fractal_replay_free(r);
}

TEST(only_ten_refusals_are_told)
{
    struct output refused = {0};
    const struct ct_fractal_replay_options how = {
        .size = sizeof how, .path = path, .refused = output_line, .refused_user = &refused};
    struct ct_fractal_replay *r;
    unsigned lines = 0;
    write_file("a\na\na\na\na\na\na\na\na\na\na\na\na\n");
    assert_int_equal(ct_fractal_replay_new(NULL, &how, &r), CT_OK);
    assert_int_equal(ct_fractal_replay_run(r), CT_OK);
    assert_int_equal(ct_fractal_replay_finish(r), CT_OK);
    assert_int_equal(ct_fractal_replay_counts_of(r)->refused, 13);
    for (const char *at = refused.text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 11);
    assert_non_null(strstr(refused.text, "more lines were refused; they are not shown"));
    ct_fractal_replay_free(r);
    output_free(&refused);
}

TEST(receivers_end_a_replay)
{
    static const char stream[] = "1,ReadShared,0,D,0x1000,0\n";
    struct output log = {0}, commands = {0};
    struct ct_fractal_replay_options how = {.size = sizeof how, .target = &target, .commands = output_refuse};
    struct ct_fractal_replay *r;
    assert_int_equal(ct_fractal_replay_new(NULL, &how, &r), CT_ERR_LIMIT);
    assert_null(r);
    how.commands = NULL;
    how.log = output_refuse;
    assert_int_equal(ct_fractal_replay_new(NULL, &how, &r), CT_ERR_LIMIT);
    how.log = output_append;
    how.log_user = &log;
    how.commands = output_append;
    how.commands_user = &commands;
    assert_int_equal(ct_fractal_replay_new(NULL, &how, &r), CT_OK);
    assert_int_equal(ct_fractal_replay_run(r), CT_ERR_ARG); /* no stream is open */
    assert_int_equal(ct_fractal_replay_push(r, stream, sizeof stream - 1), CT_OK);
    assert_int_equal(ct_fractal_replay_finish(r), CT_OK);
    assert_memory_equal(log.text, "CTFRACT1", 8);
    assert_memory_equal(commands.text, CT_FRACTAL_COMMANDS_HEADER "0,Clean",
                        sizeof CT_FRACTAL_COMMANDS_HEADER "0,Clean" - 1);
    ct_fractal_replay_free(r);
    output_free(&log);
    output_free(&commands);
}

TEST_WITH(what_cannot_be_replayed, ctx)
{
    const struct ct_fractal_target odd = {.pgd = 0x1000, .granule = 13, .va_bits = 39, .range_hi = 1};
    struct ct_fractal_replay_options how = {.size = sizeof how, .path = "/nowhere/at all"};
    struct ct_fractal_replay *r;
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_ERR_IO);
    assert_string_equal(ct_ctx_error(ctx), "/nowhere/at all: cannot be opened: No such file or directory");
    how.path = "/";
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_OK);
    assert_int_equal(ct_fractal_replay_run(r), CT_ERR_IO);
    assert_string_equal(ct_ctx_error(ctx), "/: cannot be read: Is a directory");
    ct_fractal_replay_free(r);
    how.path = NULL;
    how.target = &odd;
    assert_true(ct_fractal_replay_new(ctx, &how, &r) < 0);
    how.by_stream = 1;
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_OK);
    ct_fractal_replay_free(r);
    how.point_count = 1;
    assert_int_equal(ct_fractal_replay_new(ctx, &how, &r), CT_ERR_ARG);
}

/* ---- the cluster ---- */

TEST_WITH(settings, ctx)
{
    struct ct_soc_config config;
    char want[256];
    write_file("cores = 2 # few\n\n; none\n l2_bytes=0x40000\ngranule = 16\nseed = 0x1122334455667788\n");
    assert_int_equal(ct_soc_config_load(ctx, path, &config), CT_OK);
    assert_int_equal(config.cores, 2);
    assert_int_equal(config.l2_bytes, 0x40000);
    assert_int_equal(config.granule, 16);
    assert_int_equal(config.va_bits, 48); /* as by default */
    assert_int_equal(config.seed, UINT64_C(0x1122334455667788));
    write_file("cores = 2\ngranule = 300\n");
    assert_int_equal(ct_soc_config_load(ctx, path, &config), CT_ERR_FORMAT);
    snprintf(want, sizeof want,
             "%s:2: 'granule = 300' is not a setting of the cluster, which is not built; "
             "docs/fractal.md lists the settings",
             path);
    assert_string_equal(ct_ctx_error(ctx), want);
    assert_int_equal(ct_soc_config_load(ctx, "/nowhere/at all", &config), CT_ERR_IO);
    assert_int_equal(ct_soc_config_load(ctx, "/", &config), CT_ERR_IO);
}

/* Numbers are decimal or have 0x, and fill the value; lines are not cut. */
TEST(settings_with_mistakes)
{
    static const char *const wrong[] = {
        "frames = 64k\n", "cores = 2 3\n", "cores = -1\n", "seed = 1e3\n", "seed = 99999999999999999999\n",
        "cores =\n"};
    char text[600];
    struct ct_soc_config config;
    write_file("cores = 010\r\n");
    assert_int_equal(ct_soc_config_load(NULL, path, &config), CT_OK);
    assert_int_equal(config.cores, 10);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i]);
        assert_int_equal(ct_soc_config_load(NULL, path, &config), CT_ERR_FORMAT);
    }
    snprintf(text, sizeof text, "#%254scores = 2\n", "");
    write_file(text);
    assert_int_equal(ct_soc_config_load(NULL, path, &config), CT_ERR_FORMAT);
}

TEST(clusters_that_are_too_large)
{
    const struct ct_soc_config large[] = {{.size = sizeof *large, .l1i_bytes = 1u << 27},
                                          {.size = sizeof *large, .l1d_bytes = 1u << 27},
                                          {.size = sizeof *large, .l2_bytes = 1u << 27},
                                          {.size = sizeof *large, .tlb_entries = 1u << 30}};
    struct ct_soc *soc;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        assert_int_equal(ct_soc_new(NULL, &large[i], NULL, &soc), CT_ERR_ARG);
}

TEST(what_cannot_be_simulated)
{
    static char *const argv[] = {(char *)(uintptr_t) "/nowhere/at all", NULL};
    const struct ct_soc_config much = {.size = sizeof much, .cores = CT_SOC_CORES + 1};
    struct ct_fractal_simulate_options how = {.size = sizeof how, .argv = argv};
    struct ct_fractal_overhead_options study = {.size = sizeof study, .argv = argv};
    struct ct_fractal_simulate_result result;
    struct ct_fractal_overhead_result overhead;
    assert_int_equal(ct_fractal_simulate(NULL, &how, &result), CT_ERR_NOT_FOUND);
    assert_int_equal(result.ended.exit_code, -1);
    assert_int_equal(result.ended.ran, 0);
    assert_int_equal(ct_fractal_overhead(NULL, &study, &overhead), CT_ERR_NOT_FOUND);
    assert_int_equal(overhead.ended.exit_code, -1);
    how.mode = CT_FRACTAL_ACTIVE + 1;
    assert_int_equal(ct_fractal_simulate(NULL, &how, &result), CT_ERR_ARG);
    how.mode = CT_FRACTAL_ACTIVE;
    how.selection_count = 1;
    assert_int_equal(ct_fractal_simulate(NULL, &how, &result), CT_ERR_ARG);
    how.selection_count = 0;
    how.cluster = &much;
    assert_int_equal(ct_fractal_simulate(NULL, &how, &result), CT_ERR_ARG);
    how.cluster = NULL;
    how.messages = output_refuse;
    assert_int_equal(ct_fractal_simulate(NULL, &how, &result), CT_ERR_LIMIT);
}

TEST(overheads)
{
    const struct ct_fractal_overhead_result result = {
        .bare = 1300000, .coherent = 1365000, .traced = 1430000, .logged = 1443000};
    struct output csv = {0}, text = {0};
    assert_int_equal(ct_fractal_overhead_write(NULL, &result, CT_FRACTAL_OVERHEAD_CSV, output_append, &csv),
                     CT_OK);
    assert_string_equal(csv.text, "1300000,1365000,1430000,1443000\n");
    assert_int_equal(ct_fractal_overhead_write(NULL, &result, CT_FRACTAL_OVERHEAD_TEXT, output_append, &text),
                     CT_OK);
    assert_non_null(
        strstr(text.text, "no fabric                               1300000        1.000     0.000%"));
    assert_non_null(
        strstr(text.text, "coherent port                           1365000        1.050     5.000%"));
    assert_non_null(strstr(text.text, "coherent port, log in memory"));
    assert_non_null(strstr(text.text, "1443000        1.110    11.000%"));
    assert_int_equal(ct_fractal_overhead_write(NULL, &result, CT_FRACTAL_OVERHEAD_TEXT, output_refuse, NULL),
                     CT_ERR_LIMIT);
    assert_int_equal(ct_fractal_overhead_write(NULL, &result,
                                               (enum ct_fractal_overhead_form)(CT_FRACTAL_OVERHEAD_CSV + 1),
                                               output_refuse, NULL),
                     CT_ERR_ARG);
    output_free(&csv);
    output_free(&text);
}

/* ---- sums of logs ---- */

static void write_log(const char *text)
{
    const struct ct_fractal_log_info info = {.clock_hz = 100, .fields = CT_FRACTAL_FIELD_ALL, .text = text};
    const struct ct_fractal_event event = {.time = 1, .va = 0x7000, .point = CT_FRACTAL_NO_POINT};
    struct ct_fractal_writer *w;
    assert_int_equal(ct_fractal_writer_new(NULL, path, &info, &w), CT_OK);
    assert_int_equal(ct_fractal_writer_add(w, &event, 1, 2), CT_OK);
    assert_int_equal(ct_fractal_writer_text(w, "region=0x7000..0x8000 [mmap]\n"), CT_OK);
    assert_int_equal(ct_fractal_writer_close(w), CT_OK);
}

TEST(logs_add_up)
{
    struct output kept = {0};
    struct ct_fractal_sums *sums;
    uint64_t damaged = 1;
    write_log("source=none\n");
    assert_int_equal(ct_fractal_sums_new(NULL, &sums), CT_OK);
    assert_null(ct_fractal_sums_program(sums));
    assert_int_equal(ct_fractal_sums_add_log(NULL, sums, path, NULL, &damaged), CT_OK);
    assert_int_equal(damaged, 0);
    assert_null(ct_fractal_sums_program(sums));
    write_log("program=/opt/canny\n");
    assert_int_equal(ct_fractal_sums_add_log(NULL, sums, path, NULL, NULL), CT_OK);
    assert_string_equal(ct_fractal_sums_program(sums), "canny");
    assert_int_equal(ct_fractal_sums_add_log(NULL, sums, "/nowhere/at all", NULL, NULL), CT_ERR_IO);
    assert_int_equal(ct_fractal_sums_write(NULL, sums, NULL, output_append, &kept), CT_OK);
    assert_non_null(strstr(
        kept.text, "logs      2, 0 of them damaged or incomplete\nevents    2 (0 of instructions), 0 more "
                   "for pages mapped twice; 4 dropped; 0 bytes damaged\n"));
    assert_non_null(strstr(kept.text, "           1  50.00%            0  canny: [mmap]\n"));
    assert_non_null(strstr(kept.text, "           1  50.00%            0  [mmap]+0x0\n"));
    assert_int_equal(ct_fractal_sums_write(NULL, sums, NULL, output_refuse, NULL), CT_ERR_LIMIT);
    output_free(&kept);
    ct_fractal_sums_free(sums);
}

TEST_WITH(logs_of_two_programs_have_names_of_two_files, ctx)
{
    const struct ct_fractal_names_options named = {.size = sizeof named, .program = "/opt/canny"};
    struct ct_fractal_sums *sums;
    write_log("program=/opt/sift\n");
    assert_int_equal(ct_fractal_sums_new(ctx, &sums), CT_OK);
    assert_int_equal(ct_fractal_sums_add_log(ctx, sums, path, NULL, NULL), CT_OK);
    write_log("program=/opt/canny\n");
    assert_int_equal(ct_fractal_sums_add_log(ctx, sums, path, &named, NULL), CT_ERR_CONFIG);
    assert_non_null(strstr(ct_ctx_error(ctx), ": this log is of canny, but an earlier one is of sift, "));
    ct_fractal_sums_free(sums);
}
