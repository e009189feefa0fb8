/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that a module other than the reverse TLB asks for: tables that are followed, and pages with
 * observation points. One bit for each hash; a clear bit means that the page is surely none of them, which
 * holds for most snoops. */
#ifndef CT_FRACTAL_FILTER_H
#define CT_FRACTAL_FILTER_H

#include <stdint.h>
#include <string.h>

#define CT_FILTER_BITS 15

struct ct_address_filter {
    uint64_t word[1u << (CT_FILTER_BITS - 6)];
    uint32_t added; /* since the last clear; bits are never taken out one by one */
};

static inline uint32_t ct_address_filter_hash(uint64_t pa)
{
    return (uint32_t)((pa >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CT_FILTER_BITS));
}

/* Tells, with 1, that the page of 4 KB at pa may be one of the filter's. */
static inline int ct_address_filter_maybe(const struct ct_address_filter *f, uint64_t pa)
{
    const uint32_t h = ct_address_filter_hash(pa);
    return f->word[h >> 6] >> (h & 63) & 1;
}

static inline void ct_address_filter_add(struct ct_address_filter *f, uint64_t pa, unsigned shift)
{
    for (uint64_t at = 0; at < UINT64_C(1) << shift; at += 4096) {
        const uint32_t h = ct_address_filter_hash(pa + at);
        f->word[h >> 6] |= UINT64_C(1) << (h & 63);
        f->added++;
    }
}

static inline void ct_address_filter_clear(struct ct_address_filter *f)
{
    memset(f, 0, sizeof *f);
}

#endif
