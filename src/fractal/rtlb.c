/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/rtlb.h"

#include "base/table_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int ct_rtlb_init(struct ct_rtlb *r, uint32_t sets, uint32_t ways, struct ct_helper *helper)
{
    memset(r, 0, sizeof *r);
    r->sets = sets;
    r->ways = ways;
    r->helper = helper;
    r->words = (ways + CT_RTLB_LANES - 1) / CT_RTLB_LANES;
    const size_t entries = (size_t)sets * ways;
    r->way = ct_table_of_zeros(entries, sizeof *r->way);
    r->print = ct_table_of_zeros((size_t)sets * r->words, sizeof *r->print);
    r->entry = ct_table_of_zeros(entries, sizeof *r->entry);
    r->turn = calloc(sets, 1);
    return r->way && r->print && r->entry && r->turn ? CT_OK : CT_ERR_NOMEM;
}

void ct_rtlb_free(struct ct_rtlb *r)
{
    free(r->way);
    free(r->print);
    free(r->entry);
    free(r->turn);
}

void ct_rtlb_reset(struct ct_rtlb *r)
{
    memset(r->way, 0, (size_t)r->sets * r->ways * sizeof *r->way);
    memset(r->print, 0, (size_t)r->sets * r->words * sizeof *r->print);
    memset(r->turn, 0, r->sets);
    r->used = r->shifts = r->stashed = 0;
}

size_t ct_rtlb_bytes(const struct ct_rtlb *r)
{
    return sizeof *r + (size_t)r->sets * r->ways * (sizeof *r->way + sizeof *r->entry) +
           (size_t)r->sets * (r->words * sizeof *r->print + sizeof *r->turn);
}

/* Counts an entry of this page size in or out, so that lookups try only sizes in use. CT_RTLB_SHIFTS has room
 * for all sizes of one granule. */
static void count_shift(struct ct_rtlb *r, unsigned shift, int up)
{
    uint32_t s = 0;
    while (s < r->shifts && r->shift[s] != shift)
        s++;
    if (s == r->shifts) {
        r->shift[s] = (uint8_t)shift;
        r->shift_used[s] = 0;
        r->shifts++;
    }
    r->shift_used[s] += up ? 1u : ~0u;
    if (!r->shift_used[s]) {
        r->shifts--;
        r->shift[s] = r->shift[r->shifts];
        r->shift_used[s] = r->shift_used[r->shifts];
    }
}

static struct ct_rtlb_way way_of(const struct ct_fractal_mapping *m)
{
    return (struct ct_rtlb_way){ct_rtlb_tag(m->pa, m->shift), m->va - m->pa};
}

/* Sets the fingerprint of a way. */
static void set_print(struct ct_rtlb *r, uint32_t set, uint32_t way, uint64_t print)
{
    uint64_t *word = &r->print[(size_t)set * r->words + way / CT_RTLB_LANES];
    const unsigned shift = way % CT_RTLB_LANES * 16;
    *word = (*word & ~(UINT64_C(0xffff) << shift)) | (print & 0xffff) << shift;
}

/* Puts a mapping into a way, replacing its current one. */
static void put(struct ct_rtlb *r, uint32_t set, uint32_t way, const struct ct_fractal_mapping *m)
{
    const size_t at = (size_t)set * r->ways + way;
    const bool holds = r->way[at].tag != 0;
    if (!holds || r->entry[at].shift != m->shift) {
        if (holds)
            count_shift(r, r->entry[at].shift, 0);
        count_shift(r, m->shift, 1);
    }
    r->used += !holds;
    r->way[at] = way_of(m);
    set_print(r, set, way, ct_rtlb_print(m->pa >> m->shift));
    r->entry[at] = *m;
}

static void drop(struct ct_rtlb *r, size_t at)
{
    r->way[at].tag = 0;
    set_print(r, (uint32_t)(at / r->ways), (uint32_t)(at % r->ways), 0);
    r->used--;
    count_shift(r, r->entry[at].shift, 0);
}

static void tlbi(struct ct_rtlb *r, const struct ct_fractal_mapping *m)
{
    ct_helper_tlbi(r->helper, m->va, 1u << (m->shift - m->page_shift), UINT64_C(1) << m->page_shift);
}

/* Evicts the mapping from the cores, too (active eviction). Cleans the descriptor first, so that a walk
 * between the two steps is visible. */
static void evict(struct ct_rtlb *r, const struct ct_fractal_mapping *m)
{
    r->evictions++;
    if (!r->active)
        return;
    ct_helper_clean(r->helper, m->desc, m->desc_lines);
    tlbi(r, m);
}

/* Makes the next walk to a mapping visible, after cores were told to drop it. For a contiguous mapping they
 * may have been told to drop one part only. */
static void expose(struct ct_rtlb *r, const struct ct_fractal_mapping *m)
{
    ct_helper_clean(r->helper, m->desc, m->desc_lines);
    if (m->shift != m->page_shift)
        tlbi(r, m);
}

static int same(const struct ct_fractal_mapping *a, const struct ct_fractal_mapping *b)
{
    return a->va == b->va && a->pa == b->pa && a->shift == b->shift;
}

/* The mappings of one refill, and the range of physical addresses where they begin. */
struct refill {
    const struct ct_fractal_mapping *maps;
    unsigned count;
    uint64_t lowest, highest;
};

static struct refill refill_of(const struct ct_fractal_mapping *maps, unsigned count)
{
    struct refill all = {maps, count, UINT64_MAX, 0};
    for (unsigned i = 0; i < count; i++) {
        all.lowest = maps[i].pa < all.lowest ? maps[i].pa : all.lowest;
        all.highest = maps[i].pa > all.highest ? maps[i].pa : all.highest;
    }
    return all;
}

static int among(const struct ct_fractal_mapping *m, const struct refill *all)
{
    if (m->pa < all->lowest || m->pa > all->highest)
        return 0;
    for (unsigned i = 0; i < all->count; i++)
        if (same(m, &all->maps[i]))
            return 1;
    return 0;
}

/* Chooses the way for a new mapping: the way of its old entry, or an empty way, or a victim outside this
 * refill. Returns -1 when the whole set belongs to this refill. */
static int choose(struct ct_rtlb *r, uint32_t set, const struct ct_fractal_mapping *m,
                  const struct refill *all)
{
    const size_t base = (size_t)set * r->ways;
    const struct ct_rtlb_way wanted = way_of(m);
    int empty = -1;
    for (uint32_t w = 0; w < r->ways; w++) {
        const struct ct_rtlb_way way = r->way[base + w];
        if (!way.tag)
            empty = (int)w;
        else if (way.tag == wanted.tag && way.delta == wanted.delta)
            return (int)w;
    }
    if (empty >= 0)
        return empty;
    for (uint32_t n = 0; n < r->ways; n++) {
        const uint32_t w = r->turn[set];
        r->turn[set] = (uint8_t)(w + 1 == r->ways ? 0 : w + 1);
        if (!among(&r->entry[base + w], all))
            return (int)w;
    }
    return -1;
}

static uint32_t set_of(const struct ct_rtlb *r, const struct ct_fractal_mapping *m)
{
    return (uint32_t)(m->pa >> m->shift & (r->sets - 1));
}

/* Prefetches the next victim of a set, so that the cache misses of a refill's sets overlap. */
static void fetch_set(const struct ct_rtlb *r, uint32_t set)
{
    const size_t base = (size_t)set * r->ways;
    __builtin_prefetch(&r->way[base]);
    __builtin_prefetch(&r->entry[base + r->turn[set]]);
}

void ct_rtlb_refill(struct ct_rtlb *r, const struct ct_fractal_mapping *maps, unsigned count)
{
    if (!count)
        return;
    const struct refill all = refill_of(maps, count);
    for (uint32_t i = 0; i < r->stashed; i++)
        if (!among(&r->stash[i], &all))
            evict(r, &r->stash[i]);
    r->stashed = 0;
    for (unsigned i = 0; i < count; i++)
        fetch_set(r, set_of(r, &maps[i]));
    for (unsigned i = 0; i < count; i++) {
        const struct ct_fractal_mapping *m = &maps[i];
        const uint32_t set = set_of(r, m);
        const int way = choose(r, set, m, &all);
        r->refills++;
        if (way < 0) {
            r->stash[r->stashed++] = *m;
            continue;
        }
        const size_t at = (size_t)set * r->ways + (unsigned)way;
        if (r->way[at].tag && !same(&r->entry[at], m))
            evict(r, &r->entry[at]);
        put(r, set, (uint32_t)way, m);
    }
}

static void remove_if(struct ct_rtlb *r, int all, uint64_t va, int exposed)
{
    const size_t entries = (size_t)r->sets * r->ways;
    for (size_t at = 0; at < entries; at++) {
        if (!r->way[at].tag || !(all || ct_mapping_covers(&r->entry[at], va)))
            continue;
        if (exposed)
            expose(r, &r->entry[at]);
        drop(r, at);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->stashed; i++) {
        if (!(all || ct_mapping_covers(&r->stash[i], va)))
            r->stash[kept++] = r->stash[i];
        else if (exposed)
            expose(r, &r->stash[i]);
    }
    r->stashed = kept;
}

void ct_rtlb_remove_va(struct ct_rtlb *r, uint64_t va, int exposed)
{
    remove_if(r, 0, va, exposed);
}

void ct_rtlb_remove_all(struct ct_rtlb *r, int exposed)
{
    remove_if(r, 1, 0, exposed);
}

const struct ct_fractal_mapping *ct_rtlb_find_va(const struct ct_rtlb *r, uint64_t va)
{
    const size_t entries = (size_t)r->sets * r->ways;
    for (size_t at = 0; at < entries; at++)
        if (r->way[at].tag && ct_mapping_covers(&r->entry[at], va))
            return &r->entry[at];
    for (uint32_t i = 0; i < r->stashed; i++)
        if (ct_mapping_covers(&r->stash[i], va))
            return &r->stash[i];
    return NULL;
}

unsigned ct_rtlb_collect(const struct ct_rtlb *r, uint64_t pa, const struct ct_fractal_mapping **out)
{
    unsigned n = 0;
    for (uint32_t s = 0; s < r->shifts; s++) {
        const uint64_t tag = ct_rtlb_tag(pa, r->shift[s]);
        const size_t base = (size_t)(pa >> r->shift[s] & (r->sets - 1)) * r->ways;
        for (uint32_t w = 0; w < r->ways && n < CT_RTLB_HITS_MAX; w++)
            if (r->way[base + w].tag == tag)
                out[n++] = &r->entry[base + w];
    }
    for (uint32_t i = 0; i < r->stashed && n < CT_RTLB_HITS_MAX; i++)
        if ((r->stash[i].pa ^ pa) >> r->stash[i].shift == 0)
            out[n++] = &r->stash[i];
    return n;
}
