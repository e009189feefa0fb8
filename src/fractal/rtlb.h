/* SPDX-License-Identifier: Apache-2.0 */
/* Reverse TLB: maps a physical page to every virtual page of the target on it. Set-associative. Entries that
 * leave it also leave the cores' TLBs (active eviction), so a miss means that the page does not belong to the
 * target. */
#pragma once

#include "fractal/helper.h"
#include "fractal/mapping.h"

#define CT_RTLB_SHIFTS   8  /* most page sizes in use at once */
#define CT_RTLB_HITS_MAX 64 /* most mappings of one page that a lookup returns */

/* The part of an entry that lookups read. */
struct ct_rtlb_way {
    uint64_t tag;   /* page number << 6 | shift; 0: empty */
    uint64_t delta; /* virtual minus physical address, for callers that need nothing else */
};

#define CT_RTLB_LANES 4 /* fingerprints per word */

struct ct_rtlb {
    struct ct_rtlb_way *way; /* sets × ways */
    uint64_t *print;         /* sets × words: a 16-bit fingerprint per way; 0: empty */
    struct ct_fractal_mapping *entry;
    uint8_t *turn; /* next victim, by set */
    uint32_t sets, ways, used;
    uint32_t words;                /* words of fingerprints per set */
    uint8_t shift[CT_RTLB_SHIFTS]; /* page sizes in use, as log2 of bytes */
    uint32_t shift_used[CT_RTLB_SHIFTS];
    uint32_t shifts;
    /* Mappings of the last refilled line for which their set had no way left. The core is about to use one of
     * them, and only the core knows which, so none may be evicted before the next refill. */
    struct ct_fractal_mapping stash[CT_MAPPINGS_MAX];
    uint32_t stashed;
    uint64_t refills, evictions;
    struct ct_helper *helper;
    uint8_t active; /* evictions reach the cores */
};

int ct_rtlb_init(struct ct_rtlb *r, uint32_t sets, uint32_t ways, struct ct_helper *helper);
void ct_rtlb_free(struct ct_rtlb *r);
void ct_rtlb_reset(struct ct_rtlb *r);

/* Takes all mappings of one line of descriptors. */
void ct_rtlb_refill(struct ct_rtlb *r, const struct ct_fractal_mapping *maps, unsigned count);

/* Removes the mappings of va, or all mappings. With `expose`, the lines of their descriptors leave the
 * caches, so that the next walk is visible. */
void ct_rtlb_remove_va(struct ct_rtlb *r, uint64_t va, int expose);
void ct_rtlb_remove_all(struct ct_rtlb *r, int expose);

/* Returns a mapping of va, or NULL. Slow: the table is indexed by physical address. */
const struct ct_fractal_mapping *ct_rtlb_find_va(const struct ct_rtlb *r, uint64_t va);

/* Collects the mappings of the page of pa, at most CT_RTLB_HITS_MAX. Returns how many. */
unsigned ct_rtlb_collect(const struct ct_rtlb *r, uint64_t pa, const struct ct_fractal_mapping **out);

size_t ct_rtlb_bytes(const struct ct_rtlb *r);

static inline uint64_t ct_rtlb_tag(uint64_t pa, unsigned shift)
{
    return pa >> shift << 6 | shift;
}

/* Returns a page's fingerprint, repeated in each lane of a word. Pages with different fingerprints differ. */
static inline uint64_t ct_rtlb_print(uint64_t page)
{
    const uint64_t print = (page * UINT64_C(0x9e3779b97f4a7c15) >> 32 & 0xffff) | 1;
    return print * UINT64_C(0x0001000100010001);
}

/* Returns nonzero if a set may contain a page, judged by fingerprint. */
static inline uint64_t ct_rtlb_maybe(const uint64_t *set, uint32_t words, uint64_t print)
{
    uint64_t zero = 0;
    for (uint32_t w = 0; w < words; w++) {
        const uint64_t lanes = set[w] ^ print; /* a lane with the same fingerprint becomes 0 */
        zero |= (lanes - UINT64_C(0x0001000100010001)) & ~lanes & UINT64_C(0x8000800080008000);
    }
    return zero;
}

/* Returns whether a mapping covers pa. */
static inline int ct_rtlb_hit(const struct ct_rtlb *r, uint64_t pa)
{
    for (uint32_t s = 0; s < r->shifts; s++) {
        const uint64_t tag = ct_rtlb_tag(pa, r->shift[s]);
        const struct ct_rtlb_way *way = r->way + (pa >> r->shift[s] & (r->sets - 1)) * r->ways;
        unsigned hit = 0;
        for (uint32_t w = 0; w < r->ways; w++)
            hit |= way[w].tag == tag;
        if (hit)
            return 1;
    }
    return r->stashed != 0;
}
