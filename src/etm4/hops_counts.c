/* SPDX-License-Identifier: Apache-2.0 */
/* Counts edges without cycles: one hop for each atom packet, in the first lane and in the second. */
#include "etm4/hops_own.h"

#include "etm4/vector.h"

#ifdef CT_HAVE_VECTORS

static struct ct_ahead *first_lane(struct ct_etm4_hops *h)
{
    return &h->ways[h->here];
}

static struct ct_ahead *second_lane(struct ct_etm4_hops *h)
{
    return &h->ways[!h->here];
}

/* Returns whether the elements of one batch might make the engine forget the program, and with it the numbers
 * of blocks. The engine forgets domains when half of their numbers are used. */
static bool is_much(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX / 2 || b->pair_count > CT_BLOCKS_MAX / 2 ||
           b->domain_count > CT_DOMAINS_MAX / 4;
}

void ct_etm4_hops_undo_ahead(struct ct_etm4_hops *h)
{
    if (h->ahead)
        ct_ahead_undo(second_lane(h), &h->search);
    h->ahead = false;
}

/* Returns the number of the state of the engine, or 0 when hops cannot begin in it. Takes back the count of
 * the last step, which hops count again. */
static uint32_t enter(struct ct_etm4_hops *h)
{
    struct ct_fast *f = h->fast;
    struct ct_hops *hops = &h->hops;
    struct ct_elem tail[CT_FAST_TAIL];
    struct ct_step_batch batch;
    size_t taken;
    size_t count = ct_etm4_fast_release(h->bytes, tail);
    hops->elements += count;
    if (count)
        hops->error = ct_fast_run(f, tail, count, 0, &taken, &batch);
    if (hops->error || !ct_etm4_hops_is_ready(h))
        return 0;
    uint32_t state = ct_etm4_hops_state(h);
    if (state)
        ct_fast_uncount(f);
    return state;
}

static void leave(struct ct_etm4_hops *h, uint32_t state)
{
    const struct ct_hop_state *s = &h->hops.states[state];
    const struct ct_fast_place place = {.last = s->last >> 2, .cur = s->cur, .exec = s->last & 1};
    ct_fast_go_to(h->fast, &place);
    ct_etm4_fast_leave(h->bytes, s->recent_addresses);
}

/* Follows the first lane as far as hops go, and the second one beside it. Returns whether the first lane
 * moved. */
static bool follow(struct ct_etm4_hops *h)
{
    struct ct_etm4_lane *here = &first_lane(h)->lane;
    struct ct_ahead *ahead = second_lane(h);
    struct ct_etm4_lane *const lanes[CT_LANES] = {here, &ahead->lane};
    const size_t begin = here->at;
    bool more = true;
    while (more) {
        const bool both = h->ahead && !ahead->ended;
        ct_lanes_follow(lanes, both ? CT_LANES : 1);
        if (both)
            ct_ahead_step(ahead);
        more = ct_lane_step(here);
    }
    ct_lane_pass(here);
    return here->at > begin;
}

/* Compares the state that the second lane assumed at its begin with the real one. Returns true when they are
 * equal; the second lane then becomes the first one. Otherwise the counts of the second lane are undone. */
static bool meet(struct ct_etm4_hops *h, const struct ct_work *work)
{
    const uint32_t state = enter(h);
    if (state && h->ahead && state == second_lane(h)->first) {
        ct_ahead_keep(second_lane(h), &h->search, work->run);
        h->here = !h->here;
        h->ahead = false;
        return true;
    }
    ct_etm4_hops_undo_ahead(h);
    if (state)
        ct_fast_count(h->fast);
    return false;
}

/* Starts the first lane at work->at. Returns false when hops cannot begin there. */
static bool begin(struct ct_etm4_hops *h, const struct ct_work *work)
{
    struct ct_etm4_lane *lane = &first_lane(h)->lane;
    lane->run = work->run;
    lane->at = work->at;
    lane->stuck = false;
    if (!ct_lane_scan(lane))
        return false;
    const uint32_t state = enter(h);
    lane->link = ct_hop_link(state);
    return state;
}

/* Runs the lanes from work->at on, which is at the begin of the second lane or before it. */
static void run_lanes(struct ct_etm4_hops *h, struct ct_work *work)
{
    const bool there = h->ahead && work->at == second_lane(h)->begin;
    if (!ct_etm4_hops_is_ready(h) || !ct_fast_is_open(h->fast) || !ct_etm4_fast_enter(h->bytes)) {
        if (there)
            ct_etm4_hops_undo_ahead(h);
        return;
    }
    if (h->ahead && !ct_ahead_is_current(second_lane(h)))
        ct_etm4_hops_undo_ahead(h);
    if (there ? !meet(h, work) : !begin(h, work))
        return;
    struct ct_etm4_lane *lane = &first_lane(h)->lane;
    if (!h->ahead && !is_much(h->hops.blocks))
        h->ahead = ct_ahead_begin(second_lane(h), &h->search, h->bytes, work->run, lane->at,
                                  ct_fast_domain(h->fast));
    if (follow(h) || there) {
        ct_etm4_hops_pass(h, work, lane->at, &lane->others);
        leave(h, ct_hop_linked(lane->link));
    } else {
        ct_fast_count(h->fast);
    }
}

int ct_etm4_hops_counts(struct ct_etm4_hops *h, struct ct_work *work)
{
    /* When decoding goes on behind the begin of the second lane, or cannot get to it, the lane began inside
     * of a packet. */
    if (h->ahead && (work->at > second_lane(h)->begin || work->at == h->asked_at))
        ct_etm4_hops_undo_ahead(h);
    h->asked_at = work->at;
    run_lanes(h, work);
    /* Where hops met very many blocks, the engine may forget them soon; the second lane is undone as long as
     * they are known. */
    if (is_much(h->hops.blocks))
        ct_etm4_hops_undo_ahead(h);
    work->until = h->ahead ? second_lane(h)->begin : 0;
    return h->hops.error ? h->hops.error : h->hops.blocks->error;
}

#endif
