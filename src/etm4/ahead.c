/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/ahead.h"

#include <string.h>

#include "base/bytes.h"
#include "etm4/hop_find.h"
#include "etm4/seam.h"

#ifdef CT_HAVE_VECTORS

/* Fewest bytes before a synchronisation point that make a lane after it worth while, and most points that are
 * skipped after one whose counts were undone. */
#define LEAST     512u
#define MOST_SKIP 256u

/* Returns the next synchronisation point for a second lane, as a byte of the run; SIZE_MAX when the run has
 * none. */
static size_t find_point(struct ct_ahead_search *s, const struct ct_run *run, size_t from)
{
    const uint64_t searched = s->searched > run->pos ? s->searched - run->pos : 0;
    size_t at = from + LEAST > searched ? from + LEAST : (size_t)searched;
    size_t point = at < run->size ? ct_etm4_find_sync(run->data, run->size, at) : SIZE_MAX;
    for (; s->skip && point != SIZE_MAX; s->skip--)
        point = ct_etm4_find_sync(run->data, run->size, point + 1);
    if (point != SIZE_MAX)
        s->searched = run->pos + point + 1;
    else if (run->size > CT_SYNC_SIZE_MAX && at < run->size)
        s->searched = run->pos + run->size - CT_SYNC_SIZE_MAX;
    return point;
}

/* Starts the lane: decodes from the synchronisation point at lane->at up to and including the first atom
 * packet. Returns false when the state there is not known. */
static bool land(struct ct_etm4_lane *lane, struct ct_etm4_fast *bytes, uint16_t domain)
{
    const struct ct_run *run = lane->run;
    const struct ct_etm4_cuts *c = &lane->cuts;
    uint64_t recent_addresses[3];
    const size_t lead =
        ct_etm4_fast_peek(bytes, run->data + lane->at, run->size - lane->at, recent_addresses);
    lane->at += lead;
    if (!lead || !ct_lane_scan(lane) || !c->atoms[0])
        return false;
    const unsigned size = (unsigned)__builtin_ctzll(c->atoms[0]) + 1;
    if (size > CT_HOP_BYTES || size > c->count)
        return false;
    const struct ct_hop_bytes first = ct_hop_bytes_at(c->bytes, size);
    const uint32_t state = ct_hops_land(lane->hops, recent_addresses, domain, &first, size);
    lane->link = ct_hop_link(state);
    lane->at += ct_etm4_cuts_place(c, size - 1) + 1;
    return state;
}

bool ct_ahead_begin(struct ct_ahead *a, struct ct_ahead_search *search, struct ct_etm4_fast *bytes,
                    const struct ct_run *run, size_t from, uint16_t domain)
{
    struct ct_etm4_lane *lane = &a->lane;
    const size_t point = find_point(search, run, from);
    if (point == SIZE_MAX || run->size - point < 2 * CT_SCAN_BYTES)
        return false;
    a->run = *run;
    a->run.size -= CT_SCAN_BYTES; /* so that whoever decodes these bytes again always has a whole chunk */
    lane->run = &a->run;
    lane->at = point;
    lane->stuck = false;
    lane->others = (struct ct_cut_others){0};
    a->table = *lane->table;
    if (!land(lane, bytes, domain) || !ct_lane_scan(lane))
        return false;
    a->ended = false;
    a->begin = lane->at;
    a->first = ct_hop_linked(lane->link);
    return true;
}

bool ct_ahead_is_current(const struct ct_ahead *a)
{
    return memcmp(&a->table, a->lane.table, sizeof a->table) == 0;
}

void ct_ahead_step(struct ct_ahead *a)
{
    a->lane.hops->known_only = true;
    a->ended = !ct_lane_step(&a->lane);
    a->lane.hops->known_only = false;
}

void ct_ahead_keep(struct ct_ahead *a, struct ct_ahead_search *search, const struct ct_run *run)
{
    search->misled = 0;
    a->lane.run = run;
    if (!a->ended)
        return;
    ct_lane_pass(&a->lane); /* what was new to this lane may be known by now, so scan again */
    a->lane.stuck = false;
    ct_lane_scan(&a->lane);
}

/* Makes room for another hop and returns the number of the state: when the tables are full, clears them and
 * adds the state again. */
static uint32_t with_room(struct ct_hops *h, uint32_t state)
{
    const struct ct_hop_state s = h->states[state];
    if (!ct_hops_are_full(h))
        return state;
    ct_hops_clear(h);
    return ct_hops_state(h, s.recent_addresses, s.last, s.cur);
}

/* Undoes the counts of the packets of a chunk up to byte `end` of the run, and returns the state behind
 * them. */
CT_VECTOR static uint32_t undo_chunk(struct ct_etm4_lane *lane, uint32_t state, size_t end)
{
    const struct ct_etm4_cuts *c = &lane->cuts;
    struct ct_hops *h = lane->hops;
    unsigned at = 0;
    size_t done = 0;
    while (at < c->count && ct_cuts_bits(c->atoms, at) && !h->error) {
        size_t place;
        const unsigned size = (unsigned)__builtin_ctzll(ct_cuts_bits(c->atoms, at)) + 1;
        const size_t behind = ct_etm4_cuts_place(c, at + size - 1) + 1;
        state = with_room(h, state);
        const struct ct_hop *hop =
            lane->at + behind <= end ? ct_hops_wide(h, state, c->bytes + at, size, 0, &place) : NULL;
        if (!hop)
            break;
        ct_hops_spend(h, h->wide_records[place], 0, UINT64_MAX); /* adds -1 */
        state = hop->next;
        done = behind;
        at += size;
    }
    lane->at += done;
    return state;
}

void ct_ahead_undo(struct ct_ahead *a, struct ct_ahead_search *search)
{
    struct ct_etm4_lane *lane = &a->lane;
    const struct ct_etm4_scan_table *current = lane->table;
    uint32_t state = a->first;
    size_t before = SIZE_MAX;
    ct_lane_pass(lane);
    const size_t end = lane->at;
    lane->hops->known_only = true;
    a->run.size += CT_SCAN_BYTES;
    lane->table = &a->table;
    for (lane->at = a->begin; lane->at < end && lane->at != before && ct_lane_cut(lane);) {
        before = lane->at;
        state = undo_chunk(lane, state, end);
    }
    lane->table = current;
    lane->hops->known_only = false;
    if (1u << search->misled < MOST_SKIP)
        search->misled++;
    search->skip = 1u << search->misled;
}

#endif
