/* Snoop Listener: gives each read of the port its virtual address, or passes it by. */
#include "fractal/machine.h"

static int in_range(const struct ct_config *c, uint64_t line)
{
    return line < c->range_hi && line + (CT_FRACTAL_LINE - 1) >= c->range_lo;
}

static void emit(struct ct_fractal *f, struct ct_fractal_event *e, const struct ct_point *point)
{
    if (!in_range(&f->config, e->va) || (!point && f->config.control & CT_FRACTAL_CTRL_POINTS_ONLY))
        return;
    e->point = point ? point->id : CT_FRACTAL_NO_POINT;
    ct_logger_put(&f->logger, e);
    e->flags = CT_FRACTAL_ALIAS;
}

static void annotate(struct ct_fractal *f, const struct ct_fractal_message *m, uint64_t pa, uint32_t chain)
{
    const struct ct_mapping *hit[CT_RTLB_HITS_MAX];
    const unsigned hits = ct_rtlb_collect(&f->rtlb, pa, hit);
    struct ct_fractal_event e = {.time = m->time,
                                 .pa = pa,
                                 .op = m->op,
                                 .initiator = m->initiator,
                                 .kind = m->kind,
                                 .target = f->config.target};
    for (unsigned i = 0; i < hits; i++) {
        e.va = hit[i]->va + (pa - hit[i]->pa);
        emit(f, &e, chain == UINT32_MAX ? NULL : ct_points_at(&f->points, e.va, pa));
    }
    /* The watchdog keeps translations of its own: they outlive silent evictions. */
    for (uint32_t i = chain; i != UINT32_MAX; i = f->points.point[i].next) {
        const struct ct_point *point = &f->points.point[i];
        unsigned known = 0;
        while (known < hits && hit[known]->va + (pa - hit[known]->pa) != point->va)
            known++;
        if (point->pa != pa || known < hits)
            continue;
        e.va = point->va;
        emit(f, &e, point);
    }
}

void ct_listener_read(struct ct_fractal *f, const struct ct_fractal_message *m)
{
    const uint64_t pa = m->addr & ~UINT64_C(63);
    f->snoops++;
    const uint32_t chain = ct_points_first(&f->points, pa);
    if ((chain != UINT32_MAX || ct_rtlb_hit(&f->rtlb, pa)) && f->config.context >> m->initiator & 1)
        annotate(f, m, pa, chain);
    if (chain != UINT32_MAX)
        ct_points_hit(&f->points, pa, m->kind == CT_FRACTAL_KIND_DATA);
    if (ct_stalker_maybe(&f->stalker, pa))
        ct_stalker_touch(&f->stalker, pa);
}
