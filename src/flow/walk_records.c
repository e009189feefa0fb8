/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_records.h"

void ct_walk_put_last_place(struct ct_walk *w, struct ct_walk_sink *sink, struct ct_elem elem)
{
    bool known = !w->need_address && !w->need_context && !w->doubt;
    ct_walk_put_elem(w, sink, elem);
    sink->records[sink->count - 1].start = known ? w->addr : 0;
    sink->records[sink->count - 1].n = known;
}

void ct_walk_put_no_access(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t addr)
{
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset,
        .kind = CT_FLOW_NO_ACCESS,
        .start = addr,
        .space = (uint8_t)ct_walk_space(w),
        .stale = w->stale || w->doubt,
    };
}

void ct_walk_put_bad_image(struct ct_walk *w, struct ct_walk_sink *sink)
{
    ct_walk_put_elem(
        w, sink, (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_IMAGE, .pos = (uint32_t)w->offset});
    sink->records[sink->count - 1].stale = w->stale || w->doubt; /* then a record said so before */
    w->need_address = w->lost = w->told = true;
}

void ct_walk_contradict(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (w->doubt || w->stale)
        return;
    const struct ct_elem gap = {.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_IMAGE, .pos = (uint32_t)w->offset};
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset, .kind = CT_FLOW_ELEM, .isa = w->isa, .unlisted = 1, .elem = gap};
    ct_return_stack_doubt(&w->stack);
    w->doubt = true;
}

void ct_walk_end_doubt(struct ct_walk *w)
{
    if (w->doubt)
        ct_return_stack_doubt(&w->stack);
    w->doubt = false;
}

void ct_walk_put_broken(struct ct_walk *w, struct ct_walk_sink *sink, const struct ct_walk_range *range,
                        enum ct_walk_found found)
{
    if (found == CT_WALK_TOO_LONG)
        ct_walk_contradict(w, sink);
    if (range->n)
        ct_walk_put_range(w, sink, range, true);
    if (found == CT_WALK_NO_ACCESS)
        ct_walk_put_no_access(w, sink, w->addr);
    else
        ct_walk_put_bad_image(w, sink);
    ct_return_stack_doubt(&w->stack);
    w->need_address = w->told = true;
    w->placed = false;
}
