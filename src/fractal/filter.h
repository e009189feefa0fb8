/* SPDX-License-Identifier: Apache-2.0 */
/* A Bloom filter over the addresses that modules other than the reverse TLB need: pages of followed tables,
 * and observed lines with their pages. A clear bit means that an address is surely none of them, which holds
 * for most snoops. */
#pragma once

#include <stdint.h>
#include <string.h>

#define CT_FILTER_BITS 15

/* contents of a 4 KB page */
#define CT_FILTER_TABLE 1u
#define CT_FILTER_POINT 2u

struct ct_address_filter {
    uint64_t page[1u << (CT_FILTER_BITS - 5)]; /* two bits per hash of a page: CT_FILTER_… */
    uint64_t line[1u << (CT_FILTER_BITS - 6)]; /* one bit per hash of an observed line */
    uint32_t added;                            /* additions since the last clear; bits are never removed
                                                * singly */
};

static inline uint32_t ct_address_filter_hash(uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CT_FILTER_BITS));
}

/* Returns what the 4 KB page at pa may contain: CT_FILTER_… */
static inline unsigned ct_address_filter_page(const struct ct_address_filter *f, uint64_t pa)
{
    const uint32_t h = ct_address_filter_hash(pa >> 12);
    return (unsigned)(f->page[h >> 5] >> (h & 31) * 2) & 3;
}

/* Returns 1 if the line at pa may be an observed one. */
static inline unsigned ct_address_filter_line(const struct ct_address_filter *f, uint64_t pa)
{
    const uint32_t h = ct_address_filter_hash(pa >> 6);
    return f->line[h >> 6] >> (h & 63) & 1;
}

static inline void ct_address_filter_mark(struct ct_address_filter *f, uint64_t pa, unsigned what)
{
    const uint32_t h = ct_address_filter_hash(pa >> 12);
    f->page[h >> 5] |= (uint64_t)what << (h & 31) * 2;
    f->added++;
}

/* Adds a table of 1 << shift bytes. */
static inline void ct_address_filter_add_table(struct ct_address_filter *f, uint64_t pa, unsigned shift)
{
    for (uint64_t at = 0; at < UINT64_C(1) << shift; at += 4096)
        ct_address_filter_mark(f, pa + at, CT_FILTER_TABLE);
}

/* Adds an observed line. */
static inline void ct_address_filter_add_line(struct ct_address_filter *f, uint64_t pa)
{
    const uint32_t h = ct_address_filter_hash(pa >> 6);
    f->line[h >> 6] |= UINT64_C(1) << (h & 63);
    ct_address_filter_mark(f, pa, CT_FILTER_POINT);
}

static inline void ct_address_filter_clear(struct ct_address_filter *f)
{
    memset(f, 0, sizeof *f);
}
