/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the threads of a recording: from COMM records; a new thread has the name of the thread that
 * created it. */
#include <stdlib.h>

#include "base/search.h"
#include "input/perf.h"

/* A name, or a reference to that of the creating thread. */
struct entry {
    struct ct_context_name is;
    uint32_t order;  /* among all entries */
    uint32_t parent; /* the thread whose name it gets if is.name is NULL */
};

static int by_thread(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a;
    const struct entry *y = *(struct entry *const *)b;
    return ct_order(x->is.context, y->is.context) ?: ct_order(x->order, y->order);
}

/* Makes an entry for each event that names a thread. The events must be in order of time. */
static size_t collect(const struct ct_perf *p, struct entry *all)
{
    size_t count = 0;
    for (size_t i = 0; i < p->event_count; i++) {
        const struct ct_perf_event *e = &p->events[i];
        const bool is_fork = e->kind == CT_PERF_EVENT_FORK;
        if (!is_fork && e->kind != CT_PERF_EVENT_COMM && e->kind != CT_PERF_EVENT_EXEC)
            continue;
        all[count] = (struct entry){
            .is = {.name = is_fork ? NULL : e->name, .from = e->time, .context = e->tid, .process = e->pid},
            .order = (uint32_t)count,
            .parent = e->parent_tid};
        count++;
    }
    return count;
}

/* Returns the name of a thread before an entry; NULL: unknown. */
static const char *name_before(struct entry *const *sorted, size_t count, uint32_t thread, uint32_t order)
{
    const size_t n = CT_COUNT_WHILE(count, at,
                                    sorted[at]->is.context < thread ||
                                        (sorted[at]->is.context == thread && sorted[at]->order < order));
    return n && sorted[n - 1]->is.context == thread ? sorted[n - 1]->is.name : NULL;
}

int ct_perf_name_threads(struct ct_perf *p, const struct ct_context_name **names, size_t *count)
{
    struct entry *all = ct_arena_alloc(&p->arena, (p->event_count + 1) * sizeof *all);
    const size_t n = all ? collect(p, all) : 0;
    struct entry **sorted = ct_arena_alloc(&p->arena, (n + 1) * sizeof *sorted);
    struct ct_context_name *out = ct_arena_alloc(p->opening->arena, (n + 1) * sizeof *out);
    *count = 0;
    *names = out;
    if (!all || !sorted || !out)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &all[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_thread); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < n; i++)
        if (!all[i].is.name)
            all[i].is.name = name_before(sorted, n, all[i].parent, all[i].order);
    for (size_t i = 0; i < n; i++) {
        if (!sorted[i]->is.name)
            continue;
        out[*count] = sorted[i]->is;
        out[*count].name = ct_arena_strdup(p->opening->arena, sorted[i]->is.name);
        if (!out[(*count)++].name)
            return ct_fail_nomem(p->opening->ctx, p->file.path);
    }
    return CT_OK;
}
