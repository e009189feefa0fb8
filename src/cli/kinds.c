/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kinds.h"

#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/fractal_sums.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "coretap/verify_sums.h"

static int make_cover(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct ct_cover *cover;
    const int rc = ct_cover_new(ctx, &cover);
    *out = rc ? NULL : ct_cover_analysis(cover);
    return rc;
}

static int make_timing(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct ct_timing_sums *sums;
    const int rc = ct_timing_sums_new(ctx, NULL, &sums);
    *out = rc ? NULL : ct_timing_sums_analysis(sums);
    return rc;
}

static int make_stacks(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct ct_stack_sums *sums;
    const int rc = ct_stack_sums_new(ctx, NULL, &sums);
    *out = rc ? NULL : ct_stack_sums_analysis(sums);
    return rc;
}

static int make_counts(struct ct_ctx *ctx, struct ct_analysis **out,
                       int (*make)(struct ct_ctx *ctx, struct ct_counts **counts))
{
    struct ct_counts *counts = NULL;
    const int rc = make(ctx, &counts);
    *out = ct_counts_analysis(counts);
    return rc;
}

static int make_statistics(struct ct_ctx *ctx, struct ct_analysis **out)
{
    return make_counts(ctx, out, ct_total_counts_new);
}

static int make_events(struct ct_ctx *ctx, struct ct_analysis **out)
{
    return make_counts(ctx, out, ct_event_counts_new);
}

static int make_watch(struct ct_ctx *ctx, struct ct_analysis **out)
{
    return make_counts(ctx, out, ct_watch_counts_new);
}

static int make_monitors(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct ct_verify_sums *sums = NULL;
    const int rc = ct_verify_sums_new(ctx, NULL, &sums);
    *out = ct_verify_sums_analysis(sums);
    return rc;
}

static int make_fractal(struct ct_ctx *ctx, struct ct_analysis **out)
{
    struct ct_fractal_sums *sums = NULL;
    const int rc = ct_fractal_sums_new(ctx, &sums);
    *out = ct_fractal_sums_analysis(sums);
    return rc;
}

const struct cli_result_kind cli_result_kinds[] = {
    {"coverage", ct_cover_kind, make_cover, true, false, NULL, NULL},
    {"timing", ct_timing_sums_kind, make_timing, false, false, NULL, NULL},
    {"stacks", ct_stack_sums_kind, make_stacks, true, false, NULL, NULL},
    {"statistics", ct_total_counts_kind, make_statistics, false, true, NULL, NULL},
    {"events", ct_event_counts_kind, make_events, false, true, NULL, NULL},
    {"watch", ct_watch_counts_kind, make_watch, false, false, "what to watch in",
     "watch --at PLACE --format data"},
    {"monitors", ct_verify_sums_kind, make_monitors, false, false, "which specifications to check on",
     "monitor --spec FILE --format data"},
    {"fractal", ct_fractal_sums_kind, make_fractal, false, false, "how to name the addresses of",
     "fractal report --data"},
    {0},
};
