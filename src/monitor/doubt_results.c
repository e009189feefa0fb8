/* SPDX-License-Identifier: Apache-2.0 */
/* Results of instants whose order is in doubt: stored until it is known which orders have them, then returned
 * in order. */
#include "monitor/doubt.h"

#include <stdlib.h>

#include "base/room.h"

bool ct_mon_doubt_add(struct ct_mon_doubt_results *list, const struct ct_mon_doubt_result *r)
{
    if (!CT_MAKE_ROOM(list->all, list->cap, list->count + 1))
        return false;
    list->all[list->count++] = *r;
    return true;
}

void ct_mon_doubt_keep(struct ct_monitor *m)
{
    struct ct_mon_doubt *d = m->doubt;
    for (size_t i = 0; i < m->nresults; i++) {
        const struct ct_monitor_result *from = &m->results[i];
        const struct ct_mon_doubt_result r = {.value = {.v.i = from->v.i, .meta = from->form},
                                              .time = (int64_t)from->time,
                                              .output = from->output};
        d->no_memory |= !ct_mon_doubt_add(&d->fresh, &r);
    }
    m->nresults = m->instant_first = 0;
}

/* Finds an equal result: compares values, and for a timer's result the time, too. */
static struct ct_mon_doubt_result *find(struct ct_monitor *m, const struct ct_mon_doubt_results *list,
                                        const struct ct_mon_doubt_result *r)
{
    for (size_t i = 0; i < list->count; i++) {
        struct ct_mon_doubt_result *x = &list->all[i];
        if (x->output == r->output && x->timed == r->timed && (!r->timed || x->time == r->time) &&
            ct_mon_value_compare(&m->heap, &x->value, &r->value) == 0)
            return x;
    }
    return NULL;
}

/* Returns whether the state in the monitor holds the value of a signal's result. */
static bool holds(struct ct_monitor *m, const struct ct_mon_doubt_result *r)
{
    struct ct_mon_cell value;
    return ct_mon_world_is_signal(m, r->output) && ct_mon_world_held(m, r->output, &value) &&
           ct_mon_value_compare(&m->heap, &value, &r->value) == 0;
}

void ct_mon_doubt_compare(struct ct_monitor *m, struct ct_mon_doubt_results *mine, int64_t time,
                          const struct ct_mon_doubt_pair *pair)
{
    struct ct_mon_doubt *d = m->doubt;
    for (size_t i = 0; i < mine->count; i++) {
        struct ct_mon_doubt_result *r = &mine->all[i];
        if (r->uncertain || find(m, &d->fresh, r) || (!r->possible && holds(m, r)))
            continue;
        r->uncertain = true;
        r->pair = *pair;
    }
    for (size_t i = 0; i < d->fresh.count; i++) {
        struct ct_mon_doubt_result r = d->fresh.all[i];
        if (find(m, mine, &r))
            continue;
        r.uncertain = r.possible = true;
        r.time = r.timed && r.time < time ? r.time : time;
        r.pair = *pair;
        d->no_memory |= !ct_mon_doubt_add(mine, &r);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct ct_mon_doubt_result *x = a;
    const struct ct_mon_doubt_result *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->output != y->output)
        return x->output < y->output ? -1 : 1;
    return (int)x->possible - (int)y->possible;
}

static void give(struct ct_monitor *m, const struct ct_mon_doubt_result *r)
{
    struct ct_mon_doubt *d = m->doubt;
    d->given_time = r->time > d->given_time ? r->time : d->given_time;
    struct ct_monitor_result result = {
        .time = (uint64_t)d->given_time, .v.i = r->value.v.i, .output = r->output, .form = r->value.meta};
    result.form |= r->uncertain ? CERTAIN_NOT : 0;
    result.form |= r->possible ? CERTAIN_POSSIBLE : 0;
    d->given = r->pair;
    ct_mon_run_give(m, &result, 1);
    d->given = (struct ct_mon_doubt_pair){0};
}

void ct_mon_doubt_leave_run(struct ct_monitor *m)
{
    ct_mon_world_save(&m->doubt->run, m);
    m->doubt->away = true;
}

void ct_mon_doubt_back_to_run(struct ct_monitor *m)
{
    ct_mon_world_load(&m->doubt->run, m);
    m->doubt->away = false;
}

/* Marks a signal's result as certain when every state holds its value by now. Drops results of other orders
 * that the run has, too. */
static void settle_signals(struct ct_monitor *m, struct ct_mon_doubt_results *list)
{
    struct ct_mon_doubt *d = m->doubt;
    bool doubtful = false;
    for (size_t i = 0; i < list->count; i++) {
        list->all[i].held = list->all[i].uncertain && holds(m, &list->all[i]);
        doubtful |= list->all[i].held;
    }
    if (!doubtful)
        return;
    ct_mon_doubt_leave_run(m);
    for (size_t k = 0; k < d->world_count; k++) {
        ct_mon_world_load(&d->worlds[k], m);
        for (size_t i = 0; i < list->count; i++)
            if (list->all[i].held && !list->all[i].possible)
                list->all[i].held = holds(m, &list->all[i]);
    }
    ct_mon_doubt_back_to_run(m);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct ct_mon_doubt_result *r = &list->all[i];
        if (r->held && r->possible)
            continue;
        r->uncertain &= !r->held;
        list->all[kept++] = *r;
    }
    list->count = kept;
}

void ct_mon_doubt_give(struct ct_monitor *m, struct ct_mon_doubt_results *list)
{
    if (list->count)
        qsort(list->all, list->count, sizeof *list->all, by_time);
    for (size_t i = 0; i < list->count; i++)
        give(m, &list->all[i]);
    list->count = 0;
}

void ct_mon_doubt_give_settled(struct ct_monitor *m, struct ct_mon_doubt_results *list)
{
    settle_signals(m, list);
    ct_mon_doubt_give(m, list);
}
