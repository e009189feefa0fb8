/* SPDX-License-Identifier: Apache-2.0 */
/* Observation Points Watchdog: virtual lines whose every access must be visible. A point is resolved to a
 * physical line when its page is refilled; the line is then evicted from the caches, and again after each
 * snoop of it. */
#pragma once

#include "fractal/filter.h"
#include "fractal/helper.h"
#include "fractal/mapping.h"

struct ct_point {
    uint64_t va;   /* virtual address of the line */
    uint64_t pa;   /* physical address of the line, when resolved */
    uint32_t id;   /* number in events: points are numbered as they are added */
    uint32_t next; /* next point in the hash chain of its physical line */
    uint8_t shift; /* log2 of the size of the page in which it was resolved; 0: not resolved */
};

struct ct_points {
    struct ct_point *point; /* sorted by va */
    uint32_t *bucket;       /* hash table from physical line to first point */
    uint32_t capacity, count, buckets, resolved, next_id;
    struct ct_helper *helper;
    struct ct_address_filter *filter;
    uint8_t active; /* lines are evicted from the caches */
    uint64_t hits;
};

int ct_points_init(struct ct_points *p, uint32_t capacity, struct ct_helper *helper,
                   struct ct_address_filter *filter);
void ct_points_free(struct ct_points *p);
void ct_points_clear(struct ct_points *p);
size_t ct_points_bytes(const struct ct_points *p);

/* Adds the line of `va`, unless it is a point already. Returns its point, or NULL when all are in use. */
const struct ct_point *ct_points_add(struct ct_points *p, uint64_t va);
/* Removes the point of the line of `va`. Returns 0 if there is none. */
int ct_points_remove(struct ct_points *p, uint64_t va);

/* Adds every resolved point to the filter. */
void ct_points_announce(struct ct_points *p);

/* Resolves the points in a mapping. */
void ct_points_refill(struct ct_points *p, const struct ct_fractal_mapping *m);
/* Drops the translation of va, or of every point. Returns how many points lost theirs. */
uint32_t ct_points_forget(struct ct_points *p, uint64_t va, int all);

/* Evicts the line at pa again after a snoop of it, if it has points. `data`: it surely contains no
 * instructions. */
void ct_points_hit(struct ct_points *p, uint64_t pa, int data);

/* Returns the point for (va, pa), or NULL. */
const struct ct_point *ct_points_at(const struct ct_points *p, uint64_t va, uint64_t pa);

static inline uint32_t ct_points_hash(const struct ct_points *p, uint64_t pa)
{
    return (uint32_t)((pa >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (p->buckets - 1);
}

/* Returns the first point whose physical line may be that of pa, or UINT32_MAX. Follow `next` and compare
 * pa. */
static inline uint32_t ct_points_first(const struct ct_points *p, uint64_t pa)
{
    return p->resolved ? p->bucket[ct_points_hash(p, pa)] : UINT32_MAX;
}
