/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/points.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

int ct_points_init(struct ct_points *p, uint32_t capacity, struct ct_helper *helper,
                   struct ct_address_filter *filter)
{
    memset(p, 0, sizeof *p);
    p->capacity = capacity;
    p->buckets = 64;
    while (p->buckets < capacity * 2)
        p->buckets *= 2;
    p->helper = helper;
    p->filter = filter;
    p->point = calloc(capacity, sizeof *p->point);
    p->bucket = malloc(p->buckets * sizeof *p->bucket);
    if (!p->point || !p->bucket)
        return CT_ERR_NOMEM;
    ct_points_clear(p);
    return CT_OK;
}

void ct_points_free(struct ct_points *p)
{
    free(p->point);
    free(p->bucket);
}

void ct_points_clear(struct ct_points *p)
{
    memset(p->bucket, 0xff, p->buckets * sizeof *p->bucket);
    p->count = p->resolved = p->next_id = 0;
}

size_t ct_points_bytes(const struct ct_points *p)
{
    return sizeof *p + p->capacity * sizeof *p->point + p->buckets * sizeof *p->bucket;
}

/* Returns the index of the first point at or above va. */
static uint32_t lower_bound(const struct ct_points *p, uint64_t va)
{
    return (uint32_t)CT_COUNT_BELOW(p->point, p->count, va, va);
}

/* Rebuilds the hash chains. They contain indices, which change when a point is added or removed. */
static void rechain(struct ct_points *p)
{
    memset(p->bucket, 0xff, p->buckets * sizeof *p->bucket);
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->point[i].shift)
            continue;
        uint32_t *head = &p->bucket[ct_points_hash(p, p->point[i].pa)];
        p->point[i].next = *head;
        *head = i;
    }
}

const struct ct_point *ct_points_add(struct ct_points *p, uint64_t va)
{
    va &= ~UINT64_C(63);
    const uint32_t at = lower_bound(p, va);
    if (at < p->count && p->point[at].va == va)
        return &p->point[at];
    if (p->count == p->capacity)
        return NULL;
    memmove(&p->point[at + 1], &p->point[at], (p->count - at) * sizeof *p->point);
    p->point[at] = (struct ct_point){.va = va, .id = p->next_id++};
    p->count++;
    rechain(p);
    return &p->point[at];
}

int ct_points_remove(struct ct_points *p, uint64_t va)
{
    va &= ~UINT64_C(63);
    const uint32_t at = lower_bound(p, va);
    if (at == p->count || p->point[at].va != va)
        return 0;
    p->resolved -= p->point[at].shift != 0;
    p->count--;
    memmove(&p->point[at], &p->point[at + 1], (p->count - at) * sizeof *p->point);
    rechain(p);
    return 1;
}

void ct_points_announce(struct ct_points *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->point[i].shift)
            ct_address_filter_add_line(p->filter, p->point[i].pa);
}

static void unchain(struct ct_points *p, uint32_t index)
{
    struct ct_point *point = &p->point[index];
    uint32_t *link = &p->bucket[ct_points_hash(p, point->pa)];
    while (*link != index)
        link = &p->point[*link].next;
    *link = point->next;
    point->shift = 0;
    p->resolved--;
}

void ct_points_refill(struct ct_points *p, const struct ct_fractal_mapping *m)
{
    const uint64_t last = m->va + ((UINT64_C(1) << m->shift) - 1);
    for (uint32_t i = lower_bound(p, m->va); i < p->count && p->point[i].va <= last; i++) {
        struct ct_point *point = &p->point[i];
        const uint64_t pa = m->pa + (point->va - m->va);
        if (point->shift && point->pa == pa) {
            point->shift = m->shift;
            continue;
        }
        if (point->shift)
            unchain(p, i);
        point->pa = pa;
        point->shift = m->shift;
        p->resolved++;
        ct_address_filter_add_line(p->filter, pa);
        uint32_t *head = &p->bucket[ct_points_hash(p, pa)];
        point->next = *head;
        *head = i;
        if (p->active) {
            ct_helper_clean(p->helper, pa, 1);
            ct_helper_ici(p->helper, point->va, pa);
        }
    }
}

uint32_t ct_points_forget(struct ct_points *p, uint64_t va, int all)
{
    uint32_t forgotten = 0;
    for (uint32_t i = 0; p->resolved && i < p->count; i++) {
        const struct ct_point *point = &p->point[i];
        if (point->shift && (all || (point->va ^ va) >> point->shift == 0)) {
            unchain(p, i);
            forgotten++;
        }
    }
    return forgotten;
}

const struct ct_point *ct_points_at(const struct ct_points *p, uint64_t va, uint64_t pa)
{
    for (uint32_t i = ct_points_first(p, pa); i != NONE; i = p->point[i].next)
        if (p->point[i].pa == pa && p->point[i].va == va)
            return &p->point[i];
    return NULL;
}

void ct_points_hit(struct ct_points *p, uint64_t pa, int data)
{
    for (uint32_t i = ct_points_first(p, pa); i != NONE; i = p->point[i].next) {
        if (p->point[i].pa != pa)
            continue;
        p->hits++;
        if (p->active) {
            ct_helper_clean(p->helper, pa, 1);
            if (!data)
                ct_helper_ici(p->helper, p->point[i].va, pa);
        }
        return;
    }
}
