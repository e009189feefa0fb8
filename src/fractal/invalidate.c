/* SPDX-License-Identifier: Apache-2.0 */
/* TLB invalidations, requested by messages or by commands. */
#include "fractal/machine.h"

void ct_fractal_tlbi_va(struct ct_fractal *f, uint64_t va, int walk_caches)
{
    const int track = f->stalker.track;
    ct_rtlb_remove_va(&f->rtlb, va, track);
    if (ct_points_forget(&f->points, va, 0) && track)
        ct_stalker_expose(&f->stalker, va);
    if (walk_caches)
        ct_stalker_invalidated(&f->stalker, va, 0);
}

void ct_fractal_tlbi_all(struct ct_fractal *f)
{
    const int track = f->stalker.track;
    ct_rtlb_remove_all(&f->rtlb, track);
    /* also points whose page the reverse TLB has evicted silently */
    for (uint32_t i = 0; track && f->points.resolved && i < f->points.count; i++)
        if (f->points.point[i].shift)
            ct_stalker_expose(&f->stalker, f->points.point[i].va);
    ct_points_forget(&f->points, 0, 1);
    ct_stalker_invalidated(&f->stalker, 0, 1);
}
