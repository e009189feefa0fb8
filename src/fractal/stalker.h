/* SPDX-License-Identifier: Apache-2.0 */
/* Translation Stalker: follows the target's page table walks by the lines they read.
 *
 * A watermark says: this page is a table of that level for that part of the address space. The root is
 * known; the content of a line read in a watermarked table gives the watermarks of the level below and,
 * at the last level, mappings. While `track` is on, a line of a watermarked table is, at any time,
 * either in no cache of the cluster or shared with what the stalker read: a first read and every write
 * must therefore show on the port. Arm ARM DDI 0487, chapter D8 (VMSAv8-64). */
#ifndef CT_FRACTAL_STALKER_H
#define CT_FRACTAL_STALKER_H

#include "fractal/filter.h"
#include "fractal/helper.h"
#include "fractal/mapping.h"
#include "fractal/ranges.h"

#define CT_STALKER_PENDING 64 /* lines asked for and not yet delivered */

struct ct_watermark {
    uint64_t base;   /* physical address of the table */
    uint64_t va;     /* of its first descriptor */
    uint64_t parent; /* physical address of the descriptor that links it */
    uint32_t next;   /* in its hash chain, or in the list of free ones */
    uint8_t level;
    uint8_t used;
    uint8_t dying; /* no longer linked, but walk caches may know it until the next invalidation */
};

struct ct_stalker {
    struct ct_watermark *mark;
    uint32_t *bucket;
    uint32_t marks, buckets, free, dying;
    uint32_t high; /* no watermark from this index on was ever used */
    uint32_t turn; /* next to be given up when all are used */
    uint64_t pending[CT_STALKER_PENDING];
    uint32_t pending_count;
    const struct ct_ranges *ranges; /* what is traced */
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

/* Forgets everything and watches the table at `root`. 0: the geometry is impossible. */
int ct_stalker_start(struct ct_stalker *s, uint64_t root, unsigned granule, unsigned va_bits);

/* Asks for the content of the line at pa if it is a table's: a core read it, or is about to write it. */
void ct_stalker_touch(struct ct_stalker *s, uint64_t pa);

/* Takes the content of a line that was asked for. Fills up to CT_MAPPINGS_MAX mappings and returns how many;
 * -1 when nobody asked. */
int ct_stalker_data(struct ct_stalker *s, uint64_t pa, const uint64_t line[CT_FRACTAL_LINE_WORDS],
                    struct ct_fractal_mapping *out);

/* Drops tables that were unlinked: translations of va (or all) were invalidated, walk caches included. */
void ct_stalker_invalidated(struct ct_stalker *s, uint64_t va, int all);

/* Cleans the descriptor of va at the deepest known table, so that the next walk to it is seen. */
void ct_stalker_expose(struct ct_stalker *s, uint64_t va);

/* Follows a change of the ranges: forgets tables that are outside of them, and evicts the lines of tables
 * that map a part of one, so that the next walks are seen. */
void ct_stalker_ranges_changed(struct ct_stalker *s);

/* Puts every watermark into the filter. */
void ct_stalker_announce(struct ct_stalker *s);

/* Forgets the watermark at an index and nothing else (a test breaks the module with it). */
void ct_stalker_forget(struct ct_stalker *s, uint32_t index);

static inline uint32_t ct_stalker_hash(const struct ct_stalker *s, uint64_t pa)
{
    return (uint32_t)((pa >> s->granule) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (s->buckets - 1);
}

#endif
