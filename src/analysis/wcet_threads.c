/* SPDX-License-Identifier: Apache-2.0 */
/* Counts loops separately for each thread (context ID and VMID) and for each exception on top of it, because
 * a handler may run in the very loops that it interrupted. Threads of the M profile have a number in place of
 * a context ID. */
#include <stdlib.h>

#include "analysis/transfer.h"
#include "analysis/wcet.h"
#include "base/ctx.h"

static int make_counts(struct ct_wcet *w, struct ct_wcet_counts *c)
{
    size_t loops = w->loop_count + 1;
    size_t nests = w->nest_first[w->loop_count] + 1;
    size_t functions;
    ct_cfg_functions(w->cfg, &functions);
    uint64_t *all = calloc(4 * loops + 2 * nests + 5 * functions, sizeof *all);
    if (!all)
        return ct_fail_nomem(w->ctx, "wcet");
    c->rounds = all;
    c->entries = all + loops;
    c->run_sums = all + 2 * loops;
    c->run_stamps = all + 3 * loops;
    c->sums = all + 4 * loops;
    c->stamps = c->sums + nests;
    c->calls = c->stamps + nests;
    c->depths = c->calls + functions;
    c->depth_stamps = c->depths + functions;
    c->run_calls = c->depth_stamps + functions;
    c->run_call_stamps = c->run_calls + functions;
    return CT_OK;
}

/* Makes the counts of the thread's level the current ones. CT_ERR_NOMEM. */
static int take_up(struct ct_wcet *w)
{
    w->at->counts = &w->at->now->levels[w->at->now->level].counts;
    return w->at->counts->rounds ? CT_OK : make_counts(w, w->at->counts);
}

/* Makes a new thread with this context the current one. When no counter is left, threads share one: counts
 * may then become too large, but not too small. */
static int add_thread(struct ct_wcet *w, uint32_t ctxt, uint32_t vmid, uint32_t number)
{
    struct ct_wcet_stream *s = w->at;
    if (s->thread_count == CT_WCET_THREADS)
        s->shares = w->no_runs = true;
    else
        s->threads[s->thread_count++] = (struct ct_wcet_thread){.ctxt = ctxt, .vmid = vmid, .number = number};
    s->now = &s->threads[s->thread_count - 1];
    return take_up(w);
}

int ct_wcet_switch_thread(struct ct_wcet *w, uint32_t ctxt, uint32_t vmid, uint32_t number)
{
    struct ct_wcet_stream *s = w->at;
    if (!s->threads)
        s->threads = calloc(CT_WCET_THREADS, sizeof *s->threads);
    if (!s->threads)
        return ct_fail_nomem(w->ctx, "wcet");
    if (s->now && s->now->ctxt == ctxt && s->now->vmid == vmid && s->now->number == number)
        return take_up(w);
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].ctxt == ctxt && s->threads[i].vmid == vmid && s->threads[i].number == number) {
            s->now = &s->threads[i];
            return take_up(w);
        }
    return add_thread(w, ctxt, vmid, number);
}

void ct_wcet_free_threads(struct ct_wcet_stream *s)
{
    for (size_t i = 0; i < s->thread_count; i++)
        for (size_t l = 0; l < CT_WCET_LEVELS; l++)
            free(s->threads[i].levels[l].counts.rounds);
    free(s->threads);
}

/* Handles missing trace: a run of the entry that was not seen as a whole has no total, and no exception
 * counts as open. */
static int forget(struct ct_wcet *w)
{
    for (size_t i = 0; i < w->at->thread_count; i++) {
        w->at->threads[i].level = 0;
        for (size_t l = 0; l < CT_WCET_LEVELS; l++)
            w->at->threads[i].levels[l].counts.runs = false;
    }
    return take_up(w);
}

static int enter_exception(struct ct_wcet *w, uint64_t resumes_at)
{
    struct ct_wcet_thread *t = w->at->now;
    if (w->at->arrives && t->level && t->levels[t->level].resumes_at == resumes_at)
        return CT_OK; /* nothing ran since an exception with the same return address: this one goes first */
    if (t->level + 1 == CT_WCET_LEVELS)
        return forget(w);
    if (ct_transfer_is_exc_return(resumes_at)) { /* tail-chained; may have no RETURN before it */
        resumes_at = w->at->chained ? w->at->chained : t->levels[t->level].resumes_at;
        t->level -= !w->at->chained && t->level;
    }
    t->levels[++t->level].resumes_at = resumes_at;
    t->levels[t->level].counts.runs = false;
    w->at->arrives = true;
    return take_up(w);
}

static int leave_exception(struct ct_wcet *w)
{
    w->at->now->level -= w->at->now->level > 0;
    return take_up(w);
}

/* Leaves the outermost handler to another thread. When several threads cannot be told apart, none of their
 * runs counts as seen as a whole. */
static int go_to_thread(struct ct_wcet *w, const struct ct_step_mark *mark)
{
    struct ct_wcet_stream *s = w->at;
    const uint32_t ctxt = s->now->ctxt;
    const uint32_t vmid = s->now->vmid;
    const int rc = ct_wcet_switch_thread(w, ctxt, vmid, (uint32_t)mark->value);
    if (rc)
        return rc;
    if (mark->elem.n & CT_RETURN_NEW)
        s->counts->runs = false;
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].ctxt == ctxt && s->threads[i].vmid == vmid &&
            mark->elem.v >> s->threads[i].number & 1)
            s->threads[i].levels[0].counts.runs = false;
    return CT_OK;
}

/* Leaves a handler of the M profile. */
static int resume(struct ct_wcet *w, const struct ct_step_mark *mark)
{
    const struct ct_wcet_thread *t = w->at->now;
    const uint64_t expected = t->level ? t->levels[t->level].resumes_at : 0;
    const uint64_t next = w->at->next;
    const int rc = w->at->after_eret ? CT_OK : leave_exception(w);
    w->at->chained = expected;
    if (rc || w->at->after_eret)
        return rc;
    if (mark->n)
        return go_to_thread(w, mark);
    const bool is_known = expected && next && !ct_transfer_is_exc_return(next);
    return is_known && next - expected > 4 ? forget(w) : CT_OK;
}

int ct_wcet_step_begins(struct ct_wcet *w, uint64_t addr)
{
    struct ct_wcet_thread *t = w->at->now;
    uint32_t level = t->level;
    w->at->arrives = w->at->after_eret = false;
    while (level && t->levels[level].resumes_at != addr)
        level--;
    if (level)
        t->level = level - 1;
    return take_up(w);
}

int ct_wcet_step_leaves(struct ct_wcet *w, enum ct_wcet_act_kind leaving, uint64_t next)
{
    const struct ct_wcet_thread *t = w->at->now;
    if (!t->level)
        return CT_OK;
    if (leaving == CT_WCET_JUMPS && t->levels[t->level].resumes_at != next)
        return CT_OK;
    w->at->after_eret = w->at->arrives = leaving == CT_WCET_ERET;
    return leave_exception(w);
}

static int on_element(struct ct_wcet *w, const struct ct_step_mark *mark)
{
    const struct ct_elem *elem = &mark->elem;
    switch (elem->kind) {
    case CT_ELEM_CONTEXT: {
        const struct ct_wcet_thread *now = w->at->now;
        const uint32_t ctxt = ct_elem_ctxt(elem), vmid = ct_elem_vmid(elem);
        const bool same = now && now->ctxt == ctxt && now->vmid == vmid;
        return ct_wcet_switch_thread(w, ctxt, vmid, same ? now->number : 0);
    }
    case CT_ELEM_EXCEPTION:
        return enter_exception(w, ct_transfer_resumes_at(elem));
    case CT_ELEM_RETURN:
        return resume(w, mark);
    case CT_ELEM_TRACE_ON:
        w->at->arrives = true;
        return elem->n == CT_TRACE_ON_FILTER ? CT_OK : forget(w);
    case CT_ELEM_GAP:
        return forget(w);
    default:
        return CT_OK;
    }
}

int ct_wcet_on_mark(struct ct_wcet *w, const struct ct_step_mark *mark)
{
    return mark->kind == CT_MARK_ELEM ? on_element(w, mark) : forget(w);
}
