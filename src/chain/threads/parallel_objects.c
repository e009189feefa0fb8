/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and lends the chain objects that tasks decode with. */
#include "chain/threads/parallel_own.h"

#include <stdlib.h>

#include "base/ctx.h"

int ct_parallel_init_object(const struct ct_parallel *p, struct ct_parallel_lane *lane,
                            struct ct_parallel_object *o)
{
    const int rc = ct_stream_chain_init(&o->chain, p->how.ctx, lane->total.source, lane->total.id,
                                        &p->task_options, p->gives_steps, p->how.memory);
    if (!rc && (p->counts || p->gives_steps))
        ct_follow_make_part(o->chain.follow, &lane->rest);
    if (!rc && p->how.segment)
        ct_stream_chain_tune(&o->chain);
    return rc;
}

static struct ct_parallel_object *free_object(const struct ct_parallel_lane *lane)
{
    struct ct_parallel_object *o = lane->objects;
    while (o && (o->busy || &o->chain == lane->live))
        o = o->next;
    return o;
}

bool ct_parallel_has_object(const struct ct_parallel_lane *lane)
{
    return free_object(lane);
}

struct ct_parallel_object *ct_parallel_get_object(struct ct_parallel *p, struct ct_parallel_lane *lane,
                                                  int *rc)
{
    struct ct_parallel_object *o = free_object(lane);
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o) {
        *rc = ct_fail_nomem(p->how.ctx, "threads");
        return NULL;
    }
    *rc = ct_parallel_init_object(p, lane, o);
    if (*rc) {
        ct_stream_chain_deinit(&o->chain);
        free(o);
        return NULL;
    }
    struct ct_parallel_object **end = &lane->objects;
    while (*end)
        end = &(*end)->next;
    *end = o; /* the first ones are lent first, because they know the most of the program */
    return o;
}

struct ct_parallel_object *ct_parallel_object_of(const struct ct_parallel_lane *lane,
                                                 const struct ct_stream_chain *chain)
{
    struct ct_parallel_object *o = lane->objects;
    while (o && &o->chain != chain)
        o = o->next;
    return o;
}
