/* Edge counts: a hop for each atom packet, here and ahead. */
#include "decode/etm4_hops_own.h"

#include "decode/avx2.h"
#include "flow/edge_table.h"

#ifdef CT_HAVE_AVX2

/* The way here, or the n-th ahead. */
static struct ct_ahead *way(struct ct_etm4_hops *h, unsigned n)
{
    return &h->ways[h->order[n]];
}

/* Way n is no more; those behind it come nearer. */
static void remove_way(struct ct_etm4_hops *h, unsigned n)
{
    const uint8_t free = h->order[n];
    for (; n + 1 < CT_LANES; n++)
        h->order[n] = h->order[n + 1];
    h->order[n] = free;
    h->ahead--;
}

/* The program may be forgotten soon, and numbers of blocks with it. */
static bool is_much(const struct ct_blocks *b)
{
    return b->count > CT_BLOCKS_MAX / 2 || b->pair_count > CT_BLOCKS_MAX / 2 ||
           b->domain_count > CT_DOMAINS_MAX / 2;
}

static void undo_next(struct ct_etm4_hops *h)
{
    ct_ahead_undo(way(h, 1), &h->search);
    remove_way(h, 1);
}

void ct_etm4_hops_undo_ahead(struct ct_etm4_hops *h)
{
    while (h->ahead)
        undo_next(h);
}

/* The engine is where it was before. */
static void stay(struct ct_fast *f)
{
    if (!ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]++;
}

/* The state of the engine, whose last step does not count any more; 0: not one for hops. */
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
    if (state && !ct_fast_is_indirect(f))
        f->blocks.blocks[f->last].count[f->last_exec]--;
    return state;
}

static void leave(struct ct_etm4_hops *h, uint32_t state)
{
    const struct ct_hop_state *s = &h->hops.states[state];
    struct ct_fast *f = h->fast;
    f->last = s->last >> 2;
    f->last_exec = s->last & 1;
    f->cur = s->cur;
    f->have_addr = false;
    f->marks = 0;
    h->tail = (struct ct_memo){.last = f->last, .flags = f->last_exec ? CT_MEMO_EXEC : 0};
    f->tail = &h->tail;
    if (ct_fast_is_indirect(f))
        h->tail.flags |= CT_MEMO_INDIRECT;
    stay(f);
    ct_etm4_fast_leave(h->bytes, s->past);
}

/* As far as hops go, with those ahead side by side. True: there was one. */
static bool follow(struct ct_etm4_hops *h)
{
    struct ct_lane *here = &way(h, 0)->lane;
    const size_t begin = here->at;
    bool more = true;
    while (more) {
        struct ct_lane *lanes[CT_LANES] = {here};
        unsigned count = 1;
        for (unsigned i = 1; i <= h->ahead; i++)
            if (!way(h, i)->ended)
                lanes[count++] = &way(h, i)->lane;
        ct_lanes_follow(lanes, count);
        for (unsigned i = 1; i <= h->ahead; i++)
            if (!way(h, i)->ended)
                ct_ahead_step(way(h, i));
        more = ct_lane_step(here);
    }
    ct_lane_pass(here);
    return here->at > begin;
}

/* Where the next way ahead began. True: what it did is so, and it is the way here. */
static bool meet(struct ct_etm4_hops *h, const struct ct_work *work)
{
    const uint32_t state = enter(h);
    if (state && h->ahead && state == way(h, 1)->first) {
        ct_ahead_keep(way(h, 1), &h->search, work->run);
        remove_way(h, 0);
        return true;
    }
    if (h->ahead)
        undo_next(h);
    if (state)
        stay(h->fast);
    return false;
}

/* A way begins here. False: none does. */
static bool begin(struct ct_etm4_hops *h, const struct ct_work *work)
{
    struct ct_lane *lane = &way(h, 0)->lane;
    lane->run = work->run;
    lane->at = work->at;
    lane->stuck = false;
    if (!ct_lane_scan(lane))
        return false;
    const uint32_t state = enter(h);
    lane->link = ct_hop_link(state);
    return state;
}

static void look_ahead(struct ct_etm4_hops *h, const struct ct_work *work)
{
    if (is_much(&h->fast->blocks))
        return;
    while (h->ahead < CT_LANES - 1 && ct_ahead_begin(way(h, h->ahead + 1), &h->search, h->bytes, work->run,
                                                     way(h, h->ahead)->lane.at, h->fast->domain))
        h->ahead++;
}

/* From work->at on, where the next way ahead began or before it. */
static void run_ways(struct ct_etm4_hops *h, struct ct_work *work)
{
    const bool there = h->ahead && work->at == way(h, 1)->begin;
    if (!ct_etm4_hops_is_ready(h) || !h->fast->open || !ct_etm4_fast_enter(h->bytes)) {
        if (there)
            undo_next(h);
        return;
    }
    if (there ? !meet(h, work) : !begin(h, work))
        return;
    look_ahead(h, work);
    if (follow(h) || there) {
        struct ct_lane *lane = &way(h, 0)->lane;
        ct_etm4_hops_pass(h, work, lane->at, &lane->others);
        leave(h, ct_hop_linked(lane->link));
    } else {
        stay(h->fast);
    }
}

int ct_etm4_hops_counts(struct ct_etm4_hops *h, struct ct_work *work)
{
    for (unsigned i = 0; i < CT_LANES; i++) {
        h->ways[i].lane.hops = &h->hops;
        h->ways[i].lane.table = &ct_etm4_fast_tables(h->bytes)->scan;
    }
    if (is_much(&h->fast->blocks))
        ct_etm4_hops_undo_ahead(h);
    /* Bytes that cannot be read up to where the way ahead began, or go on behind that: it began inside of a packet. */
    while (h->ahead && (work->at > way(h, 1)->begin || work->at == h->asked_at)) {
        undo_next(h);
        h->asked_at = SIZE_MAX;
    }
    h->asked_at = work->at;
    run_ways(h, work);
    work->until = h->ahead ? way(h, 1)->begin : 0;
    return h->hops.error ? h->hops.error : h->fast->blocks.error;
}
#endif
