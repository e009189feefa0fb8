/* Caches: L1I without coherence, L1D with MOESI between cores, an inclusive last level. */
#include "soc/internal.h"

#include <stdlib.h>

static int l1_new(struct l1 *c, uint32_t bytes, uint32_t ways)
{
    c->ways = ways;
    c->mask = bytes / CT_FRACTAL_LINE / ways - 1;
    c->way = calloc((size_t)(c->mask + 1) * ways, sizeof *c->way);
    return c->way != NULL;
}

int soc_caches_new(struct ct_soc *soc)
{
    const struct ct_soc_config *k = &soc->config;
    for (unsigned i = 0; i < k->cores; i++)
        if (!l1_new(&soc->core[i].l1i, k->l1i_bytes, k->l1i_ways) ||
            !l1_new(&soc->core[i].l1d, k->l1d_bytes, k->l1d_ways))
            return CT_ERR_NOMEM;
    soc->l2.ways = k->l2_ways;
    soc->l2.mask = k->l2_bytes / CT_FRACTAL_LINE / k->l2_ways - 1;
    soc->l2.way = calloc((size_t)(soc->l2.mask + 1) * k->l2_ways, sizeof *soc->l2.way);
    return soc->l2.way ? CT_OK : CT_ERR_NOMEM;
}

void soc_caches_free(struct ct_soc *soc)
{
    for (unsigned i = 0; i < soc->config.cores; i++) {
        free(soc->core[i].l1i.way);
        free(soc->core[i].l1d.way);
    }
    free(soc->l2.way);
}

static uint32_t *l1_set(const struct l1 *c, uint32_t line)
{
    return c->way + (size_t)(line & c->mask) * c->ways;
}

/* The line's entry, moved to the front of its set; NULL: not there. */
static inline uint32_t *l1_find(const struct l1 *c, uint32_t line)
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

/* Puts an entry in front; returns the one that fell out of the set, or 0. */
static uint32_t l1_fill(const struct l1 *c, uint32_t entry)
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

/* Takes the line out; returns its entry or 0. */
static uint32_t l1_remove(const struct l1 *c, uint32_t line)
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

static uint64_t *l2_set(const struct l2 *c, uint32_t line)
{
    return c->way + (size_t)(line & c->mask) * c->ways;
}

static uint64_t *l2_find(const struct l2 *c, uint32_t line)
{
    uint64_t *set = l2_set(c, line);
    for (uint32_t w = 0; w < c->ways; w++) {
        const uint64_t e = set[w];
        if (e >> 16 != line)
            continue;
        for (; w; w--)
            set[w] = set[w - 1];
        set[0] = e;
        return set;
    }
    return NULL;
}

static int dirty(uint32_t entry)
{
    return (entry & 3) == LINE_MODIFIED || (entry & 3) == LINE_OWNED;
}

/* Takes the line out of the data caches of the cores in `cores`; 1 when one of them was dirty. */
static int recall(struct ct_soc *soc, uint32_t line, unsigned cores)
{
    int was_dirty = 0;
    for (unsigned i = 0; cores >> i; i++)
        if (cores >> i & 1)
            was_dirty |= dirty(l1_remove(&soc->core[i].l1d, line));
    return was_dirty;
}

/* The same, but they keep it for reading: a modified copy becomes the owner. */
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
    soc_message(soc, core, CT_FRACTAL_WRITE_BACK, CT_FRACTAL_KIND_DATA, (uint64_t)line << 6, 0);
}

static uint64_t *l2_fill(struct ct_soc *soc, unsigned core, uint32_t line)
{
    uint64_t *set = l2_set(&soc->l2, line);
    uint32_t w = 0;
    while (w < soc->l2.ways - 1 && set[w])
        w++;
    const uint64_t out = set[w];
    for (; w; w--)
        set[w] = set[w - 1];
    set[0] = (uint64_t)line << 16;
    if (out) {
        const int copies_dirty = recall(soc, (uint32_t)(out >> 16), out >> 8 & 0xff);
        if (copies_dirty || out & L2_DIRTY)
            write_back(soc, core, (uint32_t)(out >> 16));
    }
    return set;
}

unsigned soc_use_op(unsigned use)
{
    static const uint8_t op[] = {CT_FRACTAL_READ_CLEAN, CT_FRACTAL_READ_SHARED, CT_FRACTAL_READ_UNIQUE,
                                 CT_FRACTAL_READ_SHARED};
    return op[use];
}

/* Finds the line in the last level or brings it there; *missed says which. */
static uint64_t *l2_get(struct ct_soc *soc, unsigned core, uint32_t line, unsigned op, unsigned kind,
                        int *missed)
{
    uint64_t *e = l2_find(&soc->l2, line);
    soc->core[core].cycles += ct_soc_latency.l2;
    *missed = !e;
    if (e)
        return e;
    soc->counts.l2_misses++;
    const uint64_t pa = (uint64_t)line << 6;
    soc->core[core].cycles += soc_memory_cycles(soc, pa);
    e = l2_fill(soc, core, line); /* what has to make place goes out first */
    soc_message(soc, core, op, kind, pa, 0);
    return e;
}

static void l1d_fill(struct ct_soc *soc, unsigned core, uint64_t *e, unsigned state)
{
    *e |= UINT64_C(0x100) << core;
    const uint32_t line = (uint32_t)(*e >> 16), out = l1_fill(&soc->core[core].l1d, line << 2 | state);
    if (!out)
        return;
    uint64_t *below = l2_find(&soc->l2, out >> 2);
    if (below) {
        *below &= ~(UINT64_C(0x100) << core);
        *below |= dirty(out) ? L2_DIRTY : 0;
    }
}

/* The cluster may write the line: asks outside when it was shared there. */
static void own(struct ct_soc *soc, unsigned core, uint64_t *e, int missed)
{
    if (*e & L2_SHARED && !missed)
        soc_message(soc, core, CT_FRACTAL_CLEAN_INVALID, CT_FRACTAL_KIND_DATA, *e >> 16 << 6, 0);
    *e &= ~(uint64_t)L2_SHARED;
}

static int fetch(struct ct_soc *soc, unsigned core, uint32_t line)
{
    struct l1 *c = &soc->core[core].l1i;
    if (l1_find(c, line))
        return 0;
    soc->counts.l1i_misses++;
    int missed;
    uint64_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_CLEAN, CT_FRACTAL_KIND_INSN, &missed);
    demote(soc, line, *e >> 8 & 0xff);
    l1_fill(c, line << 2);
    return missed;
}

static int load(struct ct_soc *soc, unsigned core, uint32_t line)
{
    if (l1_find(&soc->core[core].l1d, line))
        return 0;
    soc->counts.l1d_misses++;
    int missed;
    uint64_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_SHARED, CT_FRACTAL_KIND_DATA, &missed);
    const unsigned others = *e >> 8 & 0xff;
    demote(soc, line, others);
    l1d_fill(soc, core, e, others || *e & L2_SHARED ? LINE_SHARED : LINE_EXCLUSIVE);
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
    uint64_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_UNIQUE, CT_FRACTAL_KIND_DATA, &missed);
    own(soc, core, e, missed);
    const unsigned self = 1u << core, others = (*e >> 8 & 0xff) & ~self;
    if (recall(soc, line, others))
        *e |= L2_DIRTY;
    *e &= ~((uint64_t)others << 8);
    if (hit)
        *hit = line << 2 | LINE_MODIFIED;
    else
        l1d_fill(soc, core, e, LINE_MODIFIED);
    return missed;
}

/* Walks go through the last level; a core's modified copy answers them. */
static int walk(struct ct_soc *soc, unsigned core, uint32_t line)
{
    int missed;
    uint64_t *e = l2_get(soc, core, line, CT_FRACTAL_READ_SHARED, CT_FRACTAL_KIND_DATA, &missed);
    demote(soc, line, *e >> 8 & 0xff);
    return missed;
}

int soc_cache(struct ct_soc *soc, unsigned core, uint64_t pa, unsigned use)
{
    const uint32_t line = (uint32_t)(pa >> 6);
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

void soc_cache_zero(struct ct_soc *soc, unsigned core, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    uint32_t *hit = l1_find(&soc->core[core].l1d, line);
    uint64_t *e = l2_find(&soc->l2, line);
    if (e && (!(*e & L2_SHARED) || (hit && (*hit & 3) == LINE_MODIFIED))) {
        store(soc, core, line); /* the cluster has it alone: nothing to ask for */
        return;
    }
    if (!e)
        e = l2_fill(soc, core, line);
    soc_message(soc, core, CT_FRACTAL_MAKE_INVALID, CT_FRACTAL_KIND_DATA, pa & ~UINT64_C(63), 0);
    *e &= ~(uint64_t)L2_SHARED;
    store(soc, core, line);
}

void soc_cache_clean_invalidate(struct ct_soc *soc, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    uint64_t *e = l2_find(&soc->l2, line);
    if (!e)
        return;
    const int was_dirty = recall(soc, line, *e >> 8 & 0xff) || *e & L2_DIRTY;
    soc->counts.write_backs += was_dirty != 0;
    uint64_t *set = l2_set(&soc->l2, line);
    for (uint32_t w = 0; w + 1 < soc->l2.ways; w++)
        set[w] = set[w + 1];
    set[soc->l2.ways - 1] = 0;
}

void soc_cache_share(struct ct_soc *soc, uint64_t pa)
{
    const uint32_t line = (uint32_t)(pa >> 6);
    uint64_t *e = l2_find(&soc->l2, line);
    if (!e)
        return;
    demote(soc, line, *e >> 8 & 0xff);
    *e |= L2_SHARED;
}

int ct_soc_cached(const struct ct_soc *soc, uint64_t pa)
{
    const uint64_t *set = l2_set(&soc->l2, (uint32_t)(pa >> 6));
    for (uint32_t w = 0; w < soc->l2.ways; w++)
        if (set[w] >> 16 == pa >> 6)
            return 1;
    return 0;
}

void soc_cache_ici(struct ct_soc *soc, uint64_t pa)
{
    for (unsigned i = 0; i < soc->config.cores; i++)
        l1_remove(&soc->core[i].l1i, (uint32_t)(pa >> 6));
}
