/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/hops_own.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "etm4/vector.h"

/* number of bytes of a stream after which hops begin, since a program seldom repeats what it does at its
 * start */
#define BEGIN (UINT64_C(512) << 10)

/* the same for strips with cycles, which have to meet a stretch before they gain anything */
#define BEGIN_STRIPS (UINT64_C(64) << 10)

/* number of bytes that hops decode between two judgements, and number of judgements that are skipped at first
 * and after a rest, while the tables fill */
#define JUDGED     (UINT64_C(256) << 10)
#define LEARNING   3u
#define RELEARNING 1u

/* length in bytes of the first rest, which doubles with each further rest, and its limit */
#define REST      (UINT64_C(1) << 20)
#define REST_MOST (UINT64_C(32) << 20)

/* Bytes of trace that take as long as moving a hop to the quick table, without cycles and with them. Elements
 * decode faster without cycles, and fastest where stretches of them repeat. */
#define MISS_BYTES           25u
#define MISS_BYTES_TIMED     20u
#define MISS_BYTES_STRETCHES 150u

/* How many times the usual cost is allowed while the tables fill before hops rest all the same; with cycles,
 * also after a rest, where elements are nearly as quick. */
#define FILLING         3u
#define REFILLING_TIMED 2u

/* Where time decides, elements (or strips) decode PROBE bytes to be measured, and are measured again after
 * PROBE_AGAIN bytes unless hops take less than PROBE_CLEAR of their time. Hops become quicker while their
 * tables fill, so time only decides after they have decoded PATIENCE bytes. */
#define PROBE          (UINT64_C(512) << 10)
#define PROBE_TIMED    (UINT64_C(256) << 10)
#define PROBE_AGAIN    (UINT64_C(16) << 20)
#define PROBE_CLEAR    0.6
#define PATIENCE       (UINT64_C(1) << 20)
#define PATIENCE_TIMED (UINT64_C(6) << 20)

/* Hops that have not rested yet go on while they take less than this many times the time of elements, because
 * they become quicker. */
#define SLOW 1.3

/* The same number for hops with cycles that have rested: they are measured before their tables have filled
 * again. */
#define SLOW_AGAIN_TIMED 1.15

/* Without cycles, hops go on while each judgement finds that they take less than this share of the time found
 * by the previous one. */
#define QUICKER 0.9

/* Hops that take more than this share of the time of elements gain too little to be tried as often again. */
#define CLEAR 0.8

/* Returns how many bytes of trace take as long as moving a hop to the quick table. Repeating stretches only
 * count after a rest: hops that are worth while shall not rest because of a small cost. */
static uint64_t miss_bytes(const struct ct_etm4_hops *h)
{
    if (h->hops.timed)
        return MISS_BYTES_TIMED;
    return h->worth.rested && ct_fast_repeats_stretches(h->fast) ? MISS_BYTES_STRETCHES : MISS_BYTES;
}

/* Returns how many times the usual cost hops may have now. */
static unsigned allowance(const struct ct_etm4_hops *h)
{
    if (!h->worth.learning)
        return 1;
    return h->hops.timed && h->worth.rested ? REFILLING_TIMED : FILLING;
}

/* Begins to count for the next judgement. Slightly more than the allowed cost ends the count early. */
static void begin_judgement(struct ct_etm4_hops *h)
{
    struct ct_hops_worth *w = &h->worth;
    w->cost = miss_bytes(h);
    w->bytes = 0;
    w->missed = h->hops.missed;
    h->hops.enough = w->missed + w->judged * allowance(h) / w->cost + 1;
}

int ct_etm4_hops_new(struct ct_ctx *ctx, struct ct_etm4_fast *bytes, struct ct_fast *fast,
                     struct ct_etm4_hops **out)
{
    *out = NULL;
    if (!ct_etm4_fast_scans(bytes) || !ct_fast_takes_hops(fast))
        return CT_OK;
    struct ct_etm4_hops *h = calloc(1, sizeof *h);
    if (!h)
        return ct_fail_nomem(ctx, "hops");
    h->bytes = bytes;
    h->fast = fast;
    const bool timed = ct_fast_counts_cycles(fast);
    h->worth = (struct ct_hops_worth){.judged = JUDGED,
                                      .learning = LEARNING,
                                      .rest_most = REST_MOST,
                                      .paced = timed,
                                      .probe = timed ? PROBE_TIMED : PROBE,
                                      .patience = timed ? PATIENCE_TIMED : PATIENCE};
    for (unsigned i = 0; i < CT_LANES; i++) {
        h->ways[i].lane.hops = &h->hops;
        h->ways[i].lane.table = &ct_etm4_fast_tables(bytes)->scan;
    }
    ct_hops_init(&h->hops, ctx, fast, ct_etm4_fast_burst(bytes));
    begin_judgement(h);
    *out = h;
    return CT_OK;
}

void ct_etm4_hops_tune(struct ct_etm4_hops *h, uint64_t judged)
{
    h->worth.begun = true;
    if (judged == CT_HOPS_REST)
        h->worth.until = UINT64_MAX;
    else if (judged)
        h->worth = (struct ct_hops_worth){.begun = true,
                                          .judged = judged,
                                          .rest_most = REST_MOST / JUDGED * judged,
                                          .paced = h->worth.paced,
                                          .probe = judged};
    begin_judgement(h);
}

void ct_etm4_hops_free(struct ct_etm4_hops *h)
{
    if (h)
        ct_hops_deinit(&h->hops);
    free(h);
}

#ifdef CT_HAVE_VECTORS

uint32_t ct_etm4_hops_state(struct ct_etm4_hops *h)
{
    const struct ct_etm4_burst *burst = ct_etm4_fast_burst(h->bytes);
    const uint64_t *recent_addresses = burst->address;
    const struct ct_fast_place place = ct_fast_place(h->fast);
    struct ct_hops *hops = &h->hops;
    if (ct_hops_are_full(hops) || h->generation != hops->blocks->generation) {
        ct_etm4_hops_undo_ahead(h);
        hops->error = ct_hops_clear(hops);
    }
    h->generation = hops->blocks->generation;
    if (!ct_fast_is_as_wide(h->fast, burst->sf))
        return 0;
    const uint32_t last = place.last << 2 | (place.have_addr ? 2u : 0) | place.exec;
    return ct_hops_state(hops, recent_addresses, last, place.cur);
}

bool ct_etm4_hops_is_long(const struct ct_etm4_hops *h)
{
    return h->passed >> 31;
}

void ct_etm4_hops_pass(struct ct_etm4_hops *h, struct ct_work *work, size_t to, struct ct_cut_others *others)
{
    h->hops.elements += ct_etm4_cuts_tell(others, ct_etm4_fast_burst(h->bytes)->packets);
    h->passed += to - work->at;
    work->at = to;
    work->last_offset = ct_run_offset(work->run, work->run->pos + to - 1);
}

/* Returns a pointer to the length of the next rest, in bytes. Parts of a stream share it: what one of them
 * tried without gain, the others need not try as often. */
static uint64_t *next_rest(struct ct_etm4_hops *h)
{
    uint64_t *const shared = ct_fast_shared_rest(h->fast);
    return shared ? shared : &h->worth.rest;
}

/* Returns whether time decides between hops and elements once both are measured. Without cycles it only does
 * where stretches repeat: elsewhere hops are quicker, and a rest because of one bad measurement would
 * cost. */
static bool is_told_by_time(const struct ct_etm4_hops *h)
{
    return h->hops.timed || ct_fast_repeats_stretches(h->fast);
}

/* Returns whether elements are to be measured before hops are judged. */
static bool wants_probe(const struct ct_etm4_hops *h, uint64_t position)
{
    const struct ct_hops_worth *w = &h->worth;
    if (!w->paced || w->pace.hops == 0 || w->hopped < w->patience)
        return false;
    if (w->pace.elems == 0)
        return !w->probed;
    return is_told_by_time(h) && position >= w->probe_from && w->pace.hops > w->pace.elems * PROBE_CLEAR;
}

/* Returns whether hops take longer than elements. Without cycles they must do so twice in a row and not
 * become quicker meanwhile, because a judgement covers only half a millisecond, which other work may
 * disturb. */
static bool is_slower(const struct ct_etm4_hops *h)
{
    const struct ct_hops_worth *w = &h->worth;
    const double most = w->pace.elems * (!w->rested ? SLOW : h->hops.timed ? SLOW_AGAIN_TIMED : 1);
    if (h->hops.timed)
        return w->pace.hops > most;
    return w->pace.hops > most && w->before > most && w->pace.hops > w->before * QUICKER;
}

/* Returns whether hops are not worth while: too many of them are new or, where both times are known, they
 * take longer than elements. */
static bool is_bad(const struct ct_etm4_hops *h)
{
    const struct ct_hops_worth *w = &h->worth;
    const bool known = w->pace.hops > 0 && w->pace.elems > 0;
    if (known && is_told_by_time(h) && (w->rested || w->hopped >= w->patience))
        return is_slower(h);
    return (h->hops.missed - w->missed) * w->cost > w->bytes;
}

/* Returns whether hops are so much quicker than elements that a few new hops cost little. If not, the next
 * rest is longer than the last one even when hops go on. */
static bool is_clear(const struct ct_hops_worth *w)
{
    return w->pace.hops == 0 || w->pace.elems == 0 || w->pace.hops < w->pace.elems * CLEAR;
}

static void begin_rest(struct ct_hops_worth *w, uint64_t position, uint64_t bytes)
{
    w->until = position + bytes;
    w->measure_from = position + w->probe / 4; /* once the caches have filled */
    w->resting = true;
}

/* Judges the bytes that hops decoded since the last judgement, up to a position in the stream: begins a rest,
 * or lets hops go on. */
static void judge(struct ct_etm4_hops *h, uint64_t position)
{
    struct ct_hops_worth *w = &h->worth;
    uint64_t *const next = next_rest(h);
    const uint64_t known = __atomic_load_n(next, __ATOMIC_RELAXED);
    const uint64_t rest = known ? known : w->rest_most / (REST_MOST / REST);
    w->hopped += w->bytes;
    if (w->paced)
        w->pace.hops = ct_hops_pace_end(&w->pace, position);
    if (w->learning && h->hops.missed < h->hops.enough) {
        w->learning--;
    } else if (wants_probe(h, position)) {
        begin_rest(w, position, w->probe);
        w->probed = true;
    } else if (is_bad(h)) {
        begin_rest(w, position, rest);
        __atomic_store_n(next, rest * 2 < w->rest_most ? rest * 2 : w->rest_most, __ATOMIC_RELAXED);
        w->learning = RELEARNING;
        w->rested = true;
    } else if (is_clear(w)) {
        __atomic_store_n(next, 0, __ATOMIC_RELAXED);
        w->rested = false;
    }
    w->before = w->resting ? 0 : w->pace.hops;
    begin_judgement(h);
    if (w->paced)
        ct_hops_pace_begin(&w->pace, position);
}

/* Measures elements while hops rest, up to a position in the stream. */
static void measure_rest(struct ct_hops_worth *w, uint64_t position)
{
    ct_hops_pace_see(&w->pace, position);
    if (!w->resting)
        return;
    if (position >= w->until) {
        w->pace.elems = w->measure_from ? 0 : ct_hops_pace_end(&w->pace, position);
        w->probe_from = position + PROBE_AGAIN;
        w->resting = false;
        ct_hops_pace_begin(&w->pace, position);
    } else if (w->measure_from && position >= w->measure_from) {
        w->measure_from = 0;
        ct_hops_pace_begin(&w->pace, position);
    }
}

/* Returns whether hops rest at a position in the stream. */
static bool rests(struct ct_etm4_hops *h, uint64_t position)
{
    struct ct_hops_worth *w = &h->worth;
    if (!w->begun) {
        w->until = position + BEGIN;
        h->strip.since = position;
        h->strip.wait = BEGIN_STRIPS;
    }
    w->begun = true;
    if (w->paced)
        measure_rest(w, position);
    if (position >= w->until && (w->bytes >= w->judged || h->hops.missed >= h->hops.enough))
        judge(h, position);
    return position < w->until;
}

int ct_etm4_hops_run(struct ct_etm4_hops *h, struct ct_work *work)
{
    if (ct_fast_has_returns(h->fast))
        return ct_etm4_hops_strips(h, work);
    if (rests(h, work->run->pos + work->at)) {
        ct_etm4_hops_undo_ahead(h);
        begin_judgement(h);
        work->until = 0;
        if (h->hops.error)
            return h->hops.error;
        return h->hops.timed ? ct_etm4_hops_timed_strips(h, work) : ct_etm4_hops_strips(h, work);
    }
    int rc = ct_hops_have_tables(&h->hops);
    if (rc)
        return rc;
    if (ct_etm4_hops_is_long(h)) {
        h->passed = 0;
        h->hops.error = ct_hops_sync(&h->hops);
    }
    const size_t begin = work->at;
    rc = h->hops.timed ? ct_etm4_hops_cycles(h, work) : ct_etm4_hops_counts(h, work);
    h->worth.bytes += work->at - begin;
    return rc;
}

#else

int ct_etm4_hops_run(struct ct_etm4_hops *h, struct ct_work *work)
{
    (void)h, (void)work;
    return CT_OK;
}

#endif

int ct_etm4_hops_sync(struct ct_etm4_hops *h, struct ct_stream_stats *stats)
{
    int rc = ct_hops_sync(&h->hops);
    stats->elements += h->hops.elements;
    h->hops.elements = 0;
    ct_etm4_fast_count_packets(h->bytes, stats);
    return rc;
}
