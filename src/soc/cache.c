/* SPDX-License-Identifier: Apache-2.0 */
/* Caches: L1I without coherence, L1D with MOESI between cores, and an inclusive last level. */
#include "soc/internal.h"

#include "base/table_memory.h"

#include <stdlib.h>

static int l1_new(struct ct_soc_l1 *c, uint32_t bytes, uint32_t ways)
{
    c->ways = ways;
    c->mask = bytes / CT_FRACTAL_LINE / ways - 1;
    c->way = ct_table_of_zeros((size_t)(c->mask + 1) * ways, sizeof *c->way);
    return c->way != NULL;
}

int ct_soc_caches_new(struct ct_soc *soc)
{
    const struct ct_soc_config *k = &soc->config;
    for (unsigned i = 0; i < k->cores; i++)
        if (!l1_new(&soc->core[i].l1i, k->l1i_bytes, k->l1i_ways) ||
            !l1_new(&soc->core[i].l1d, k->l1d_bytes, k->l1d_ways))
            return CT_ERR_NOMEM;
    struct ct_soc_l2 *l2 = &soc->l2;
    l2->ways = k->l2_ways;
    l2->mask = k->l2_bytes / CT_FRACTAL_LINE / k->l2_ways - 1;
    l2->tag = ct_table_of_zeros((size_t)(l2->mask + 1) * k->l2_ways, sizeof *l2->tag);
    l2->meta = ct_table_of_zeros((size_t)(l2->mask + 1) * k->l2_ways, sizeof *l2->meta);
    l2->used = calloc(l2->mask + 1, sizeof *l2->used);
    return l2->tag && l2->meta && l2->used ? CT_OK : CT_ERR_NOMEM;
}

void ct_soc_caches_free(struct ct_soc *soc)
{
    for (unsigned i = 0; i < soc->config.cores; i++) {
        free(soc->core[i].l1i.way);
        free(soc->core[i].l1d.way);
    }
    free(soc->l2.tag);
    free(soc->l2.meta);
    free(soc->l2.used);
}

static uint32_t *l1_set(const struct ct_soc_l1 *c, uint32_t line)
{
    return c->way + (size_t)(line & c->mask) * c->ways;
}

/* Finds the line's entry and moves it to the front of its set. NULL: not in the cache. */
static inline uint32_t *l1_find(const struct ct_soc_l1 *c, uint32_t line)
{
    uint32_t *set = l1_set(c, line);
    for (uint32_t w = 0; w < c->ways; w++) {
        const uint32_t e = set[w];
        if (e >> 2 != line)
            continue;
        for (; w; w--)
            set[w] = set[w - 1];
        set[0] = e;
        return set;
    }
    return NULL;
}

/* Puts an entry in front. Returns the entry that this evicts from the set, or 0. */
static uint32_t l1_fill(const struct ct_soc_l1 *c, uint32_t entry)
{
    uint32_t *set = l1_set(c, entry >> 2);
    uint32_t w = 0;
    while (w < c->ways - 1 && set[w])
        w++;
    const uint32_t out = set[w];
    for (; w; w--)
        set[w] = set[w - 1];
    set[0] = entry;
    return out;
}

/* Removes the line. Returns its entry, or 0. */
static uint32_t l1_remove(const struct ct_soc_l1 *c, uint32_t line)
{
    uint32_t *set = l1_set(c, line);
    for (uint32_t w = 0; w < c->ways; w++) {
        const uint32_t e = set[w];
        if (e >> 2 != line || !e)
            continue;
        for (; w + 1 < c->ways; w++)
            set[w] = set[w + 1];
        set[w] = 0;
        return e;
    }
    return 0;
}

static void l2_use(struct ct_soc_l2 *c, uint32_t set, uint32_t way)
{
    const uint32_t all = (1u << c->ways) - 1, used = c->used[set] | 1u << way;
    c->used[set] = (uint16_t)(used == all ? 1u << way : used);
}

/* Four tags in a 128-bit register. With gcc's vectors each compiler uses the compare instructions of its
 * machine. */
typedef uint32_t tags4 __attribute__((vector_size(16), aligned(4)));

/* Compares 16 tags with the line. Returns a bit for each equal one. */
static inline uint32_t match16(const uint32_t *tag, uint32_t line)
{
    const tags4 *four = (const void *)tag, wanted = {line, line, line, line}, bits = {1, 2, 4, 8};
    const tags4 hits = ((tags4)(four[0] == wanted) & bits) | ((tags4)(four[1] == wanted) & bits << 4) |
                       ((tags4)(four[2] == wanted) & bits << 8) | ((tags4)(four[3] == wanted) & bits << 12);
    return hits[0] | hits[1] | hits[2] | hits[3];
}

/* Returns the way with the line, or -1. The whole set is compared at once. */
static inline int l2_way(const struct ct_soc_l2 *c, uint32_t line)
{
    const uint32_t *tag = c->tag + (size_t)(line & c->mask) * c->ways;
    uint32_t hits = 0;
    if (c->ways == 16)
        hits = match16(tag, line);
    else
        for (uint32_t w = 0; w < c->ways; w++)
            hits |= (uint32_t)(tag[w] == line) << w;
    return hits ? __builtin_ctz(hits) : -1;
}

/* Prefetches the set of a line, so that a lookup waits for all its data at once. */
static inline void l2_fetch(const struct ct_soc_l2 *c, uint32_t line)
{
    const size_t at = (size_t)(line & c->mask) * c->ways;
    __builtin_prefetch(&c->tag[at]);
    __builtin_prefetch(&c->meta[at]);
}

/* Returns the line's meta word and records the use. NULL: not in the cache. */
static uint16_t *l2_find(struct ct_soc_l2 *c, uint32_t line)
{
    const int way = l2_way(c, line);
    if (way < 0)
        return NULL;
    l2_use(c, line & c->mask, (uint32_t)way);
    return &c->meta[(size_t)(line & c->mask) * c->ways + (uint32_t)way];
}

static int dirty(uint32_t entry)
{
    return (entry & 3) == LINE_MODIFIED || (entry & 3) == LINE_OWNED;
}

/* Removes the line from the data caches of the cores in `cores`. Returns 1 when one of them was dirty. */
static int recall(struct ct_soc *soc, uint32_t line, unsigned cores)
{
    int was_dirty = 0;
    for (unsigned i = 0; cores >> i; i++)
        if (cores >> i & 1)
            was_dirty |= dirty(l1_remove(&soc->core[i].l1d, line));
    return was_dirty;
}

/* Makes the line read-only in the data caches of the cores in `cores`. A modified copy becomes owned. */
static void demote(struct ct_soc *soc, uint32_t line, unsigned cores)
{
    for (unsigned i = 0; cores >> i; i++) {
        uint32_t *e = cores >> i & 1 ? l1_find(&soc->core[i].l1d, line) : NULL;
        if (e)
            *e = (*e & ~3u) | (dirty(*e) ? LINE_OWNED : LINE_SHARED);
    }
}

static void write_back(struct ct_soc *soc, unsigned core, uint32_t line)
{
    soc->counts.write_backs++;
    ct_soc_message(soc, core, CT_FRACTAL_WRITE_BACK, CT_FRACTAL_KIND_DATA, (uint64_t)line << 6, 0);
}

static uint16_t *l2_fill(struct ct_soc *soc, unsigned core, uint32_t line)
{
    struct ct_soc_l2 *c = &soc->l2;
    const uint32_t set = line & c->mask;
    const uint32_t way = (uint32_t)__builtin_ctz(~(uint32_t)c->used[set]) % c->ways;
    const size_t at = (size_t)set * c->ways + way;
    const uint32_t out = c->tag[at], meta = c->meta[at];
    c->tag[at] = line;
    c->meta[at] = 0;
    l2_use(c, set, way);
    if (out) {
        const int copies_dirty = recall(soc, out, meta >> 8);
        if (copies_dirty || meta & L2_DIRTY)
            write_back(soc, core, out);
    }
    return &c->meta[at];
}

unsigned ct_soc_use_op(unsigned use)
{
    static const uint8_t op[] = {CT_FRACTAL_READ_CLEAN, CT_FRACTAL_READ_SHARED, CT_FRACTAL_READ_UNIQUE,
                                 CT_FRACTAL_READ_SHARED};
    return op[use];
}

/* Finds the line in the last level or fills it in; *missed: it was filled in. */
static uint16_t *l2_get(struct ct_soc *soc, unsigned core, uint32_t line, unsigned op, unsigned kind,
                        int *missed)
{
    uint16_t *e = l2_find(&soc->l2, line);
    soc->core[core].cycles += ct_soc_latency.l2;
    *missed = !e;
    if (e)
        return e;
    soc->counts.l2_misses++;
    const uint64_t pa = (uint64_t)line << 6;
    soc->core[core].cycles += ct_soc_memory_cycles(soc, core, pa);
    e = l2_fill(soc, core, line); /* the evicted line is written back first */
    ct_soc_message(soc, core, op, kind, pa | soc->wanted, 0);
    return e;
}

static void l1d_fill(struct ct_soc *soc, unsigned core, uint32_t line, uint16_t *e, unsigned state)
{
    const uint32_t copy = 0x100u << core;
    *e = (uint16_t)(*e | copy);
    const uint32_t out = l1_fill(&soc->core[core].l1d, line << 2 | state);
    uint16_t *below = out ? l2_find(&soc->l2, out >> 2) : NULL;
    if (below)
        *below = (uint16_t)((*below & ~copy) | (dirty(out) ? L2_DIRTY : 0));
}

/* Makes the line writable for the cluster, with a message to the port when agents outside may share it. */
static void own(struct ct_soc *soc, unsigned core, uint32_t line, uint16_t *e, int missed)
{
    if (*e & L2_SHARED && !missed)
        ct_soc_message(soc, core, CT_FRACTAL_CLEAN_INVALID, CT_FRACTAL_KIND_DATA, (uint64_t)line << 6, 0);
    *e = (uint16_t)(*e & ~L2_SHARED);
}

static int fetch(struct ct_soc *soc, unsigned core, uint32_t line)
{
    struct ct_soc_l1 *c = &soc->core[core].l1i;
    if (l1_find(c, line))
        return 0;
    soc->counts.l1i_misses++;
    int missed;
    uint16_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_CLEAN, CT_FRACTAL_KIND_INSN, &missed);
    demote(soc, line, *e >> 8);
    l1_fill(c, line << 2);
    return missed;
}

static int load(struct ct_soc *soc, unsigned core, uint32_t line)
{
    if (l1_find(&soc->core[core].l1d, line))
        return 0;
    soc->counts.l1d_misses++;
    int missed;
    uint16_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_SHARED, CT_FRACTAL_KIND_DATA, &missed);
    const unsigned others = *e >> 8;
    demote(soc, line, others);
    l1d_fill(soc, core, line, e, others || *e & L2_SHARED ? LINE_SHARED : LINE_EXCLUSIVE);
    return missed;
}

static int store(struct ct_soc *soc, unsigned core, uint32_t line)
{
    uint32_t *hit = l1_find(&soc->core[core].l1d, line);
    if (hit && ((*hit & 3) == LINE_MODIFIED || (*hit & 3) == LINE_EXCLUSIVE)) {
        *hit |= LINE_MODIFIED;
        return 0;
    }
    int missed;
    soc->counts.l1d_misses += !hit;
    uint16_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_UNIQUE, CT_FRACTAL_KIND_DATA, &missed);
    own(soc, core, line, e, missed);
    const unsigned self = 1u << core, others = (unsigned)(*e >> 8) & ~self;
    if (recall(soc, line, others))
        *e |= L2_DIRTY;
    *e = (uint16_t)(*e & ~(others << 8));
    if (hit)
        *hit = line << 2 | LINE_MODIFIED;
    else
        l1d_fill(soc, core, line, e, LINE_MODIFIED);
    return missed;
}

/* Reads a line for a walk, through the last level. A core's modified copy is used. */
static int walk(struct ct_soc *soc, unsigned core, uint32_t line)
{
    int missed;
    uint16_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_SHARED, CT_FRACTAL_KIND_DATA, &missed);
    demote(soc, line, *e >> 8);
    return missed;
}

int ct_soc_cache_use(struct ct_soc *soc, unsigned core, uint64_t pa, unsigned use)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    l2_fetch(&soc->l2, line);
    if (use != USE_FETCH) /* a data cache passes its evicted line to the last level */
        l2_fetch(&soc->l2, l1_set(&soc->core[core].l1d, line)[soc->core[core].l1d.ways - 1] >> 2);
    soc->wanted = pa & (CT_FRACTAL_LINE - 1) & ~(uint64_t)(soc->config.port_bytes - 1);
    switch (use) {
    case USE_FETCH:
        return fetch(soc, core, line);
    case USE_LOAD:
        return load(soc, core, line);
    case USE_STORE:
        return store(soc, core, line);
    default:
        return walk(soc, core, line);
    }
}

void ct_soc_cache_zero(struct ct_soc *soc, unsigned core, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    uint32_t *hit = l1_find(&soc->core[core].l1d, line);
    uint16_t *e = l2_find(&soc->l2, line);
    if (e && (!(*e & L2_SHARED) || (hit && (*hit & 3) == LINE_MODIFIED))) {
        store(soc, core, line); /* nobody outside shares it: no message */
        return;
    }
    if (!e)
        e = l2_fill(soc, core, line);
    ct_soc_message(soc, core, CT_FRACTAL_MAKE_INVALID, CT_FRACTAL_KIND_DATA, pa & ~UINT64_C(63), 0);
    *e = (uint16_t)(*e & ~L2_SHARED);
    store(soc, core, line);
}

void ct_soc_cache_clean_invalidate(struct ct_soc *soc, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6), set = line & soc->l2.mask;
    const int way = l2_way(&soc->l2, line);
    if (way < 0)
        return;
    const size_t at = (size_t)set * soc->l2.ways + (unsigned)way;
    const unsigned meta = soc->l2.meta[at];
    soc->counts.write_backs += recall(soc, line, meta >> 8) || meta & L2_DIRTY;
    soc->l2.tag[at] = 0;
    soc->l2.meta[at] = 0;
    soc->l2.used[set] = (uint16_t)(soc->l2.used[set] & ~(1u << way));
}

void ct_soc_cache_share(struct ct_soc *soc, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    uint16_t *e = l2_find(&soc->l2, line);
    if (!e)
        return;
    demote(soc, line, *e >> 8);
    *e |= L2_SHARED;
}

int ct_soc_cached(const struct ct_soc *soc, uint64_t pa)
{
    return l2_way(&soc->l2, (uint32_t)(pa >> 6)) >= 0;
}

void ct_soc_cache_ici(struct ct_soc *soc, uint64_t pa)
{
    for (unsigned i = 0; i < soc->config.cores; i++)
        l1_remove(&soc->core[i].l1i, (uint32_t)(pa >> 6));
}
