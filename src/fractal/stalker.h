/* SPDX-License-Identifier: Apache-2.0 */
/* Translation Stalker: follows the target's page table walks by the lines that they read.
 *
 * A watermark marks a page as a table of a level for a part of the address space. The root is known; the
 * content of a line read in a marked table yields the watermarks of the next level and, at the last level,
 * mappings. While `track` is on, each line of a marked table is always either in no cache of the cluster, or
 * shared with the copy that the stalker read. So a first read and every write must be visible at the port.
 * Arm ARM DDI 0487, chapter D8 (VMSAv8-64). */
#pragma once

#include "fractal/filter.h"
#include "fractal/helper.h"
#include "fractal/mapping.h"
#include "fractal/ranges.h"

#define CT_STALKER_PENDING 64 /* most lines requested and not yet delivered */

struct ct_watermark {
    uint64_t base;   /* physical address of the table */
    uint64_t va;     /* virtual address of its first descriptor */
    uint64_t parent; /* physical address of the descriptor that links it */
    uint32_t next;   /* next in its hash chain, or in the free list */
    uint8_t level;
    uint8_t used;
    uint8_t dying; /* no longer linked, but walk caches may know it until the next invalidation */
};

struct ct_stalker {
    struct ct_watermark *mark;
    uint32_t *bucket;
    uint32_t marks, buckets, free, dying;
    uint32_t high; /* no watermark from this index on was ever used */
    uint32_t turn; /* next to be dropped when all are in use */
    uint64_t pending[CT_STALKER_PENDING];
    uint32_t pending_count;
    const struct ct_ranges *ranges; /* traced ranges */
    uint32_t root_mark;
    uint8_t granule, va_bits, top_level;
    uint8_t track, lost;
    uint64_t walks; /* lines of tables seen */
    struct ct_helper *helper;
    struct ct_address_filter *filter;
};

int ct_stalker_init(struct ct_stalker *s, uint32_t watermarks, const struct ct_ranges *ranges,
                    struct ct_helper *helper, struct ct_address_filter *filter);
void ct_stalker_free(struct ct_stalker *s);
size_t ct_stalker_bytes(const struct ct_stalker *s);

/* Resets everything and watches the table at `root`. Returns 0 if the geometry is impossible. */
int ct_stalker_start(struct ct_stalker *s, uint64_t root, unsigned granule, unsigned va_bits);

/* Requests the content of the line at pa if it belongs to a table. A core has read it, or is about to write
 * it. */
void ct_stalker_touch(struct ct_stalker *s, uint64_t pa);

/* Takes the content of a requested line. Stores up to CT_MAPPINGS_MAX mappings and returns how many; -1 if
 * the line was not requested. */
int ct_stalker_data(struct ct_stalker *s, uint64_t pa, const uint64_t line[CT_FRACTAL_LINE_WORDS],
                    struct ct_fractal_mapping *out);

/* Drops unlinked tables after translations of va (or all) were invalidated, including walk caches. */
void ct_stalker_invalidated(struct ct_stalker *s, uint64_t va, int all);

/* Cleans the descriptor of va in the deepest known table, so that the next walk to it is visible. */
void ct_stalker_expose(struct ct_stalker *s, uint64_t va);

/* Handles a change of the ranges: drops tables outside them, and evicts the lines of tables that map part of
 * a range, so that the next walks are visible. */
void ct_stalker_ranges_changed(struct ct_stalker *s);

/* Adds every watermark to the filter. */
void ct_stalker_announce(struct ct_stalker *s);

/* Drops the watermark at an index and nothing else (a test breaks the module with it). */
void ct_stalker_forget(struct ct_stalker *s, uint32_t index);

static inline uint32_t ct_stalker_hash(const struct ct_stalker *s, uint64_t pa)
{
    return (uint32_t)((pa >> s->granule) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (s->buckets - 1);
}
