/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that parts of a capture are joined in order, each exactly once, or not at all. Their counts are
 * compared with the whole in tests/property/test_shards.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/session.h"
#include "coretap/shard.h"
#include "support/output.h"
#include "support/unit.h"

enum {
    PARTS = 3,
};

static struct ct_analysis *new_totals(struct ct_ctx *ctx)
{
    struct ct_counts *counts;
    assert_int_equal(ct_total_counts_new(ctx, &counts), CT_OK);
    return ct_counts_analysis(counts);
}

static struct ct_shard *new_shard(struct ct_ctx *ctx, uint32_t number, uint32_t count)
{
    struct ct_shard *shard;
    assert_int_equal(ct_shard_new(ctx, number, count, &shard), CT_OK);
    return shard;
}

/* Decodes a part of the example, or all of it, saves the results of an analysis and frees that. */
static void make(struct ct_ctx *ctx, struct ct_shard *shard, struct ct_analysis *analysis,
                 const struct ct_filter *filter, struct output *text)
{
    const struct ct_session_options options = {.size = sizeof options, .shard = shard, .filter = filter};
    struct ct_capture *capture;
    struct ct_session *session;
    text->size = 0;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_add(session, analysis), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(shard ? ct_shard_save(shard, analysis, output_append, text)
                           : ct_analysis_save(analysis, output_append, text),
                     CT_OK);
    ct_session_free(session);
    ct_capture_free(capture);
    ct_analysis_free(analysis);
}

/* The example in parts, and as a whole. */
struct world {
    struct ct_ctx *ctx;
    struct output parts[PARTS], whole;
};

static int set_up(void **state)
{
    static struct world w;
    w.ctx = ct_ctx_new();
    for (uint32_t i = 0; i < PARTS; i++) {
        struct ct_shard *shard = new_shard(w.ctx, i + 1, PARTS);
        make(w.ctx, shard, new_totals(w.ctx), NULL, &w.parts[i]);
        ct_shard_free(shard);
    }
    make(w.ctx, NULL, new_totals(w.ctx), NULL, &w.whole);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    const struct world *w = *state;
    ct_ctx_free(w->ctx);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down)

/* Joins parts by their numbers, from 0 on. Returns the first error. */
static int join(const struct world *w, const unsigned *numbers, size_t count, struct output *out)
{
    struct ct_shard *all = new_shard(w->ctx, 0, PARTS);
    struct ct_analysis *totals = new_totals(w->ctx);
    int rc = CT_OK;
    out->size = 0;
    for (size_t i = 0; i < count && !rc; i++)
        rc = ct_shard_load(all, totals, "part", w->parts[numbers[i]].text, w->parts[numbers[i]].size);
    if (!rc)
        rc = ct_shard_end(all, totals);
    if (!rc)
        rc = ct_analysis_save(totals, output_append, out);
    ct_shard_free(all);
    ct_analysis_free(totals);
    return rc;
}

TEST(parts_are_the_whole)
{
    static struct output joined;
    const struct world *w = *state;
    assert_int_equal(join(w, (const unsigned[]){0, 1, 2}, 3, &joined), CT_OK);
    assert_int_equal(joined.size, w->whole.size);
    assert_memory_equal(joined.text, w->whole.text, joined.size);
}

TEST(each_counts_once)
{
    static struct output joined;
    static const unsigned wrong[][4] = {{0, 2}, {0, 0, 1, 2}, {0, 2, 1}, {1, 2}, {0, 1}};
    static const size_t counts[] = {2, 4, 3, 2, 2};
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(join(w, wrong[i], counts[i], &joined), CT_ERR_NOT_FOUND);
        assert_non_null(strstr(ct_ctx_error(w->ctx), "cannot be joined"));
    }
}

/* A part of another division of the capture is refused. */
TEST(divisions_are_compared)
{
    static struct output joined;
    static struct world changed;
    const struct world *w = *state;
    changed = *w;
    struct ct_shard *other = new_shard(w->ctx, 2, PARTS + 1);
    make(w->ctx, other, new_totals(w->ctx), NULL, &changed.parts[1]);
    ct_shard_free(other);
    assert_int_equal(join(&changed, (const unsigned[]){0, 1, 2}, 3, &joined), CT_ERR_NOT_FOUND);
}

TEST(damage_is_found)
{
    static struct output joined;
    static struct world damaged;
    const struct world *w = *state;
    for (size_t at = 0; at < w->parts[1].size; at++) {
        damaged = *w;
        damaged.parts[1].text[at] ^= 1;
        assert_int_not_equal(join(&damaged, (const unsigned[]){0, 1, 2}, 3, &joined), CT_OK);
        damaged = *w;
        damaged.parts[1].size = at;
        assert_int_not_equal(join(&damaged, (const unsigned[]){0, 1, 2}, 3, &joined), CT_OK);
    }
}

/* Reads lines that no shard writes, in a file with a correct checksum. */
TEST(lines_are_checked)
{
    static const char *const lines[] = {
        "",
        "shards 0 1 3",
        "shards 2 1 3",
        "shards 1 4 3",
        "shards 1 1",
        "shards 1 1 65537",
        "shards 1 1 3\nseen 0 2 0",
        "shards 1 1 3\nstream 0 300 1 1",
        "shards 1 1 3\nstream 0 1 1 1\nstream 0 1 1 1",
        "shards 1 1 3\ncontext 0 0 0 0 0",
        "shards 1 1 3\nstream 0 1 1 1\ncontext 0 0 0 0",
        "shards 1 1 3\nfrom 1 2",
        "shards 1 1 3\nstream 0 1 1 1\nto 1 2\nto 1 2",
        "shards 1 1 3\nrefused",
        "shards 1 1 3\nrefused a reason that is longer than the longest that a session can have noted",
        "shards 1 1 3\nother 1",
        "shards 1 1 3\nstream 0 1 1 1\nto #1 2",
        "shards 1 1 3\nrefused why#",
    };
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char file[512];
        struct ct_shard *all = new_shard(w->ctx, 0, PARTS);
        struct ct_analysis *totals = new_totals(w->ctx);
        int size = snprintf(file, sizeof file, "coretap-shard 1\n%s\n", lines[i]);
        char *zero = strchr(file, '#');
        if (zero)
            *zero = 0;
        size += snprintf(file + size, sizeof file - (size_t)size, "end %016" PRIx64 "\n",
                         ct_fnv(CT_FNV_BEGIN, file, (size_t)size));
        assert_int_equal(ct_shard_load(all, totals, "part", file, (size_t)size), CT_ERR_FORMAT);
        ct_analysis_free(totals);
        ct_shard_free(all);
    }
}

/* A window of a stream begins where everything before it says: of such a capture no part is decoded. */
TEST(windows_are_not_cut)
{
    static struct output text;
    const struct world *w = *state;
    const struct ct_filter filter = {.size = sizeof filter,
                                     .from = {.kind = CT_POINT_INSTRUCTIONS, .value = 10}};
    struct ct_cover *cover, *sum;
    struct ct_shard *all = new_shard(w->ctx, 0, PARTS), *part = new_shard(w->ctx, 1, PARTS);
    assert_int_equal(ct_cover_new(w->ctx, &cover), CT_OK);
    assert_int_equal(ct_cover_new(w->ctx, &sum), CT_OK);
    make(w->ctx, part, ct_cover_analysis(cover), &filter, &text);
    assert_int_equal(ct_shard_load(all, ct_cover_analysis(sum), "part", text.text, text.size),
                     CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(w->ctx), "filter"));
    ct_cover_free(sum);
    ct_shard_free(part);
    ct_shard_free(all);
}

static int begin_turn(void *user, struct ct_session_turn *turn)
{
    (void)user, (void)turn;
    return CT_OK;
}

TEST(arguments_are_checked)
{
    const struct world *w = *state;
    struct ct_shard *shard;
    struct ct_session *session;
    struct ct_capture *capture;
    assert_int_equal(ct_shard_new(w->ctx, 0, 0, &shard), CT_ERR_ARG);
    assert_int_equal(ct_shard_new(w->ctx, 3, 2, &shard), CT_ERR_ARG);
    assert_int_equal(ct_shard_new(w->ctx, 1, CT_SHARD_MAX + 1, &shard), CT_ERR_ARG);
    shard = new_shard(w->ctx, 1, 2);
    const struct ct_session_options turns = {.size = sizeof turns, .shard = shard, .begin = begin_turn};
    const struct ct_session_options options = {.size = sizeof options, .shard = shard};
    assert_int_equal(ct_session_new(w->ctx, &turns, &session), CT_ERR_ARG);
    assert_int_equal(ct_session_new(w->ctx, &options, &session), CT_OK);
    assert_int_equal(ct_capture_open(w->ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_ERR_ARG);
    ct_session_free(session);
    ct_capture_free(capture);
    ct_shard_free(shard);
    ct_shard_free(NULL);
}
