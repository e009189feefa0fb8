/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the coverage of a live run from time to time, and takes samples for the plots of its page. */
#include "coretap/session.h"
#include "live/live.h"

#define COVER_EVERY 1.0 /* least seconds between two computations of coverage */
#define COVER_SHARE 20  /* computing coverage takes at most 1/20 of the time */
#define RATE_EVERY  1.0 /* least seconds between two computations of the rate */

/* ---- coverage ---- */

static void add_ratio(struct ct_cover_ratio *to, struct ct_cover_ratio some)
{
    to->seen += some.seen;
    to->all += some.all;
}

/* Adds up the counts of all programs. */
static int add_programs(struct ct_live *l, struct ct_cover *cover, struct ct_cover_sums *sums)
{
    const struct ct_buffer *buffer = l->options.buffer;
    const struct ct_cover_views_options options = {
        .size = sizeof options, .arch = buffer->source_count ? &buffer->sources[0].arch : NULL};
    struct ct_cover_views *views;
    const int rc = ct_cover_views_new(cover, l->options.covered, &options, &views);
    if (rc)
        return rc;
    for (size_t i = 0; i < ct_cover_views_count(views); i++) {
        const struct ct_cover_sums *some = &ct_cover_views_report(views, i)->sums;
        add_ratio(&sums->functions, some->functions);
        add_ratio(&sums->lines, some->lines);
        add_ratio(&sums->insns, some->insns);
        add_ratio(&sums->branches, some->branches);
        add_ratio(&sums->conditions, some->conditions);
        add_ratio(&sums->calls, some->calls);
    }
    ct_cover_views_free(views);
    return CT_OK;
}

/* Counts again what the chain has seen so far. Leaves the old counts when the result would be incomplete. */
static int take_cover(struct ct_live *l)
{
    struct ct_cover_sums sums = {0};
    ct_cover_free(l->cover);
    l->cover = NULL;
    int rc = ct_cover_new(l->ctx, &l->cover);
    if (!rc)
        rc = ct_session_give(ct_cover_analysis(l->cover), l->options.covered, l->chain);
    if (rc) {
        ct_cover_free(l->cover);
        l->cover = NULL;
        return rc;
    }
    rc = add_programs(l, l->cover, &sums);
    if (!rc)
        l->sums = sums;
    return rc;
}

/* Returns how many different edges ran so far. Coverage changes only when this number does. */
static uint64_t count_edges(const struct ct_live *l)
{
    uint64_t all = 0;
    for (size_t i = 0; i < 128; i++) {
        uint32_t count = 0;
        if (l->streams[i])
            ct_graph_edges(l->streams[i]->graph, &count);
        all += count;
    }
    return all;
}

struct ct_cover_ratio ct_live_outside(const struct ct_live *l)
{
    const struct ct_cover_share *share = ct_cover_ran(l->cover);
    return share ? (struct ct_cover_ratio){ct_holes_total(&share->outside), share->ran}
                 : (struct ct_cover_ratio){0};
}

void ct_live_update_cover(struct ct_live *l, bool now)
{
    const double begin = ct_live_now();
    if (!l->options.covered || (!now && (begin < l->cover_next || count_edges(l) == l->edges_then)))
        return;
    const int rc = take_cover(l);
    if (rc == CT_ERR_NOMEM)
        ct_live_lack(&l->say);
    else if (rc)
        ct_live_say(&l->say, CT_LOG_WARNING, "%s", ct_ctx_error(l->ctx));
    l->edges_then = count_edges(l);
    const double end = ct_live_now();
    const double pause = (end - begin) * COVER_SHARE;
    l->cover_next = end + (pause > COVER_EVERY ? pause : COVER_EVERY);
}

/* ---- samples ---- */

static void update_rate(struct ct_live *l, double now)
{
    if (now - l->rate_then < RATE_EVERY)
        return;
    l->rate = (double)(l->analysed - l->bytes_then) / (now - l->rate_then);
    l->rate_then = now;
    l->bytes_then = l->analysed;
}

/* Drops every other sample, and halves the sampling rate. */
static void thin_out(struct ct_live *l)
{
    for (size_t i = 0; i < LIVE_HISTORY / 2; i++)
        l->history[i] = l->history[2 * i + 1];
    l->sample_count = LIVE_HISTORY / 2;
    l->sample_every *= 2;
}

void ct_live_sample(struct ct_live *l, double now)
{
    update_rate(l, now);
    if (now < l->sample_next)
        return;
    ct_live_update_cover(l, false);
    if (l->sample_count == LIVE_HISTORY)
        thin_out(l);
    l->history[l->sample_count++] = (struct ct_live_sample){.seconds = now - l->begun,
                                                            .rate = l->rate,
                                                            .lines = ct_live_covered(l->sums.lines),
                                                            .branches = ct_live_covered(l->sums.branches),
                                                            .functions = ct_live_covered(l->sums.functions)};
    l->sample_next = now + l->sample_every;
}
