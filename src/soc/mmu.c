/* SPDX-License-Identifier: Apache-2.0 */
/* Translation: micro-TLBs, main TLB, walk cache, and the walk itself through the last-level cache. */
#include "soc/internal.h"

#include "base/table_memory.h"

#include <stdlib.h>

int ct_soc_tlbs_new(struct ct_soc *soc)
{
    const unsigned stride = soc->config.granule - 3u;
    soc->tlb_sets = soc->config.tlb_entries / TLB_WAYS;
    soc->top_level = 4 - (soc->config.va_bits - soc->config.granule + stride - 1) / stride;
    static const uint8_t contig[] = {4, 7, 5};
    soc->shift[0] = soc->config.granule;
    soc->shift[1] = (uint8_t)(soc->config.granule + contig[(soc->config.granule - 12) / 2]);
    soc->shift[2] = (uint8_t)soc_level_shift(soc, 2);
    soc->shifts = 3;
    for (unsigned i = 0; i < soc->config.cores; i++) {
        struct ct_soc_core *c = &soc->core[i];
        c->tlb_key = ct_table_of_zeros(soc->config.tlb_entries, sizeof *c->tlb_key);
        c->tlb_pa = ct_table_of_zeros(soc->config.tlb_entries, sizeof *c->tlb_pa);
        c->generation = c->walk_generation = 1;
        if (!c->tlb_key || !c->tlb_pa)
            return CT_ERR_NOMEM;
    }
    return CT_OK;
}

void ct_soc_tlbs_free(struct ct_soc *soc)
{
    for (unsigned i = 0; i < soc->config.cores; i++) {
        free(soc->core[i].tlb_key);
        free(soc->core[i].tlb_pa);
    }
}

#define KEY_ASIDS (UINT64_C(0xffff) << 6)

static inline uint64_t tlb_key(uint64_t va, unsigned shift, uint16_t asid)
{
    return va >> shift << 22 | (uint64_t)asid << 6 | shift;
}

/* Returns the index of the first way of a set. */
static inline size_t tlb_set(const struct ct_soc *soc, uint64_t va, unsigned shift)
{
    return (size_t)(va >> shift & (soc->tlb_sets - 1)) * TLB_WAYS;
}

/* Translates an address with the main TLB. 0: not in it. */
static inline int tlb_find(const struct ct_soc *soc, const struct ct_soc_core *c, uint64_t va, uint16_t asid,
                           uint64_t *pa, int *writable)
{
    for (unsigned sizes = c->tlb_sizes; sizes; sizes &= sizes - 1) {
        const unsigned shift = soc->shift[__builtin_ctz(sizes)];
        const size_t set = tlb_set(soc, va, shift);
        const uint64_t *key = c->tlb_key + set, wanted = tlb_key(va, shift, asid);
        const unsigned hits = (unsigned)(key[0] == wanted) | (unsigned)(key[1] == wanted) << 1 |
                              (unsigned)(key[2] == wanted) << 2 | (unsigned)(key[3] == wanted) << 3;
        if (!hits)
            continue;
        const uint64_t entry = c->tlb_pa[set + (unsigned)__builtin_ctz(hits)];
        *pa = (entry & ~TLB_WRITABLE) + (va & ct_mask64(shift));
        *writable = entry & TLB_WRITABLE;
        return 1;
    }
    return 0;
}

static void tlb_fill(struct ct_soc *soc, struct ct_soc_core *c, uint64_t va, const struct ct_soc_tlb_entry *e)
{
    const unsigned shift = e->key & 63;
    const size_t set = tlb_set(soc, va, shift);
    unsigned way = TLB_WAYS;
    for (unsigned w = 0; w < TLB_WAYS; w++)
        if (!c->tlb_key[set + w] || c->tlb_key[set + w] == e->key)
            way = w;
    if (way == TLB_WAYS)
        way = c->tlb_turn++ % TLB_WAYS;
    c->tlb_key[set + way] = e->key;
    c->tlb_pa[set + way] = e->pa;
    for (unsigned s = 0; s < soc->shifts; s++)
        c->tlb_sizes |= (unsigned)(soc->shift[s] == shift) << s;
}

void ct_soc_tlb_flush_va(struct ct_soc *soc, uint64_t va, int asid, int walk_caches)
{
    const uint64_t key = va >> soc_level_shift(soc, 2), ignored = asid < 0 ? KEY_ASIDS : 0;
    for (unsigned i = 0; i < soc->config.cores; i++) {
        struct ct_soc_core *c = &soc->core[i];
        c->generation++;
        c->cycles += ct_soc_latency.tlbi / 4u;
        for (unsigned sizes = c->tlb_sizes; sizes; sizes &= sizes - 1) {
            const unsigned shift = soc->shift[__builtin_ctz(sizes)];
            const uint64_t wanted = tlb_key(va, shift, asid < 0 ? 0 : (uint16_t)asid);
            uint64_t *of_set = c->tlb_key + tlb_set(soc, va, shift);
            for (unsigned w = 0; w < TLB_WAYS; w++)
                of_set[w] = (of_set[w] & ~ignored) == wanted ? 0 : of_set[w];
        }
        struct ct_soc_walk_entry *e = &c->walk[key % WALK_ENTRIES];
        if (walk_caches && e->key == key && (asid < 0 || e->asid == asid))
            e->generation = 0;
    }
    if (soc->walking && (asid < 0 || soc->walk_asid == asid) &&
        (soc->walk_va ^ va) >> soc_level_shift(soc, 2) == 0)
        soc->walk_stale = 1;
}

void ct_soc_tlb_flush_asid(struct ct_soc *soc, int asid)
{
    for (unsigned i = 0; i < soc->config.cores; i++) {
        struct ct_soc_core *c = &soc->core[i];
        c->generation++;
        c->walk_generation++;
        c->cycles += ct_soc_latency.tlbi;
        for (uint32_t n = 0; n < soc->config.tlb_entries; n++)
            if (asid < 0 || (c->tlb_key[n] >> 6 & 0xffff) == (uint64_t)asid)
                c->tlb_key[n] = 0;
    }
    if (soc->walking && (asid < 0 || soc->walk_asid == asid))
        soc->walk_stale = 1;
}

/* Makes a TLB entry from a leaf descriptor. Returns 0 when a TLB must not cache it. */
static int leaf(const struct ct_soc *soc, uint64_t desc, unsigned level, uint64_t va, uint16_t asid,
                struct ct_soc_tlb_entry *out)
{
    if (!(desc & PTE_AF))
        return 0;
    const unsigned shift = level == 3 && desc & PTE_CONTIG ? soc->shift[1] : soc_level_shift(soc, level);
    const uint64_t pa = desc & PTE_ADDR & ~ct_mask64(shift);
    *out = (struct ct_soc_tlb_entry){tlb_key(va, shift, asid), pa | (desc & PTE_RO ? 0 : TLB_WRITABLE)};
    return 1;
}

/* Walks once, from the deepest known table. 1: entry found; 0: there is none; -1: an invalidation came in
 * between. */
static int walk_once(struct ct_soc *soc, unsigned core, uint64_t va, const struct ct_soc_process *p,
                     struct ct_soc_tlb_entry *out)
{
    struct ct_soc_core *c = &soc->core[core];
    const unsigned table_shift = soc_level_shift(soc, 2);
    const uint64_t key = va >> table_shift;
    struct ct_soc_walk_entry *cached = &c->walk[key % WALK_ENTRIES];
    unsigned level = soc->top_level;
    uint64_t table = p->pgd;
    if (cached->generation == c->walk_generation && cached->key == key && cached->asid == p->asid) {
        level = 3;
        table = cached->table;
    }
    for (;; level++) {
        const unsigned shift = soc_level_shift(soc, level);
        const uint64_t entries = level == soc->top_level ? ct_mask64(soc->config.va_bits - shift)
                                                         : ct_mask64(soc->config.granule - 3u);
        const uint64_t pa = table + (va >> shift & entries) * 8;
        if (soc->config.walks == CT_SOC_WALKS_SEEN)
            ct_soc_read_past(soc, core, pa);
        else
            ct_soc_cache(soc, core, pa, USE_WALK);
        const uint64_t desc = *soc_word(soc, pa);
        ct_soc_drain(soc, core);
        if (soc->walk_stale)
            return -1;
        if (!(desc & PTE_VALID))
            return 0;
        if (level == 3 || !(desc & PTE_TABLE))
            return leaf(soc, desc, level, va, p->asid, out);
        table = desc & PTE_ADDR;
        if (level == 2)
            *cached = (struct ct_soc_walk_entry){
                .key = key, .table = table, .generation = c->walk_generation, .asid = p->asid};
    }
}

/* Limit for a walk's restarts. A tracer with few watermarks can restart a walk more than once, but each time
 * one more table is known. The limit is for a tap that invalidates everything it sees. */
#define WALK_TRIES 1000

static int walk(struct ct_soc *soc, unsigned core, uint64_t va, struct ct_soc_tlb_entry *out)
{
    const struct ct_soc_process *p = &soc->process[soc->core[core].pid];
    soc->counts.walks++;
    int found = -1;
    for (unsigned n = 0; found < 0 && n < WALK_TRIES; n++) {
        soc->walk_va = va;
        soc->walk_asid = p->asid;
        soc->walking = 1;
        soc->walk_stale = 0;
        found = walk_once(soc, core, va, p, out);
    }
    soc->walking = 0;
    return found > 0;
}

int ct_soc_utlb_refill(struct ct_soc *soc, unsigned core, uint64_t va, struct ct_soc_utlb_entry *entry)
{
    struct ct_soc_core *c = &soc->core[core];
    struct ct_soc_tlb_entry found;
    uint64_t pa;
    int writable;
    if (!tlb_find(soc, c, va, soc->process[c->pid].asid, &pa, &writable)) {
        soc->counts.tlb_misses++;
        if (!walk(soc, core, va, &found))
            return 0;
        tlb_fill(soc, c, va, &found);
        pa = (found.pa & ~TLB_WRITABLE) + (va & ct_mask64(found.key & 63));
        writable = found.pa & TLB_WRITABLE;
    }
    *entry = (struct ct_soc_utlb_entry){.page = va >> soc->config.granule,
                                        .base = pa & ~ct_mask64(soc->config.granule),
                                        .generation = c->generation,
                                        .writable = (uint32_t)writable};
    return 1;
}

int ct_soc_translate(const struct ct_soc *soc, uint32_t pid, uint64_t va, uint64_t *pa)
{
    if (!soc_has_process(soc, pid) || !pa)
        return 0;
    uint64_t table = soc->process[pid].pgd;
    for (unsigned level = soc->top_level; level <= 3; level++) {
        const unsigned shift = soc_level_shift(soc, level);
        const uint64_t entries = level == soc->top_level ? ct_mask64(soc->config.va_bits - shift)
                                                         : ct_mask64(soc->config.granule - 3u);
        const uint64_t desc = *soc_word(soc, table + (va >> shift & entries) * 8);
        if (!(desc & PTE_VALID))
            return 0;
        if (level == 3 || !(desc & PTE_TABLE)) {
            *pa = (desc & PTE_ADDR & ~ct_mask64(shift)) + (va & ct_mask64(shift));
            return 1;
        }
        table = desc & PTE_ADDR;
    }
    return 0;
}
