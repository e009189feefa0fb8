/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which thread continues after a handler of the M profile. */
#include "analysis/m_threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/transfer.h"
#include "base/ctx.h"
#include "base/room.h"

#define LEVELS  16u /* most nested handlers */
#define RETURNS 64u /* most return addresses that are kept of a thread */

/* Return addresses of open calls, the innermost last. */
struct calls {
    uint64_t returns[RETURNS];
    size_t depth;
};

struct thread {
    struct calls calls;
    uint64_t waits_at; /* address at which it was interrupted */
    uint64_t since;    /* number of the return from an exception at which it began to wait */
    bool waits;
};

struct ct_m_threads {
    struct ct_ctx *ctx;
    struct thread threads[CT_M_THREADS];
    size_t count;
    size_t now; /* the running thread, or the one that a handler interrupted */
    uint64_t resumes_at[LEVELS];
    size_t level;     /* handlers that have not returned */
    uint64_t chained; /* address that the handler that just returned had interrupted; 0: a step came since */
    bool is_entered;  /* an exception was taken, and no step came since */
    uint64_t next;    /* address to which the last step led */
    uint64_t exceptions; /* returns from exceptions so far */

    /* Valid while it is unknown which thread continues. */
    uint64_t candidates; /* bit i: it may be thread i; 0: the thread is known */
    uint64_t doubted;    /* bit i: too little is known of the calls of thread i to rule it out */
    size_t asking;       /* index of the mark of the return from the exception */
    size_t popped;       /* calls of the thread that have returned since then */
    struct calls calls;  /* calls made since then */

    /* The steps and marks taken. Those in front were given out; those behind are held back. */
    uint32_t *edges, *cycles;
    struct ct_step_mark *marks;
    size_t edge_room, cycle_room, mark_room;
    size_t step_count, mark_count;
    size_t steps_given, marks_given;
    bool has_cycles;
};

int ct_m_threads_new(struct ct_ctx *ctx, struct ct_m_threads **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ct_fail_nomem(ctx, "threads");
    (*out)->ctx = ctx;
    (*out)->count = 1;
    return CT_OK;
}

void ct_m_threads_free(struct ct_m_threads *t)
{
    if (!t)
        return;
    free(t->edges);
    free(t->cycles);
    free(t->marks);
    free(t);
}

/* ---- calls ---- */

static void push(struct calls *calls, uint64_t address)
{
    if (calls->depth == RETURNS)
        memmove(calls->returns, calls->returns + 1, --calls->depth * sizeof *calls->returns);
    calls->returns[calls->depth++] = address;
}

/* Removes the calls down to the innermost one that returns to `target`. For a jump, removes only the
 * innermost one. Returns false when there is none. */
static bool pop(struct calls *calls, uint64_t target, bool is_jump)
{
    size_t at = calls->depth;
    while (at && calls->returns[at - 1] != target && !is_jump)
        at--;
    if (!at || calls->returns[at - 1] != target)
        return false;
    calls->depth = at - 1;
    return true;
}

/* ---- which thread continues ---- */

/* Returns the number of open calls of a candidate. */
static size_t left_of(const struct ct_m_threads *t, size_t thread)
{
    const size_t depth = t->threads[thread].calls.depth;
    return depth > t->popped ? depth - t->popped : 0;
}

/* Returns whether all candidates have the same return addresses, so that nothing will tell them apart. */
static bool are_alike(const struct ct_m_threads *t)
{
    const size_t first = (size_t)__builtin_ctzll(t->candidates);
    const size_t left = left_of(t, first);
    for (size_t i = first + 1; i < t->count; i++)
        if (t->candidates >> i & 1 &&
            (left_of(t, i) != left || memcmp(t->threads[i].calls.returns, t->threads[first].calls.returns,
                                             left * sizeof(uint64_t)) != 0))
            return false;
    return true;
}

/* Returns the candidate that has waited longest. */
static size_t find_oldest(const struct ct_m_threads *t, uint64_t candidates)
{
    size_t oldest = (size_t)__builtin_ctzll(candidates);
    for (size_t i = oldest + 1; i < t->count; i++)
        if (candidates >> i & 1 && t->threads[i].since < t->threads[oldest].since)
            oldest = i;
    return oldest;
}

static void say(struct ct_m_threads *t, size_t thread, uint8_t flags, uint64_t others)
{
    struct ct_step_mark *mark = &t->marks[t->asking];
    mark->n = 1;
    mark->value = thread;
    mark->elem.n = flags;
    mark->elem.v = others;
}

/* Makes a thread of which nothing is known the running one, with the calls that were seen. Where there are
 * too many, the one that waits for longest is forgotten, which this one may be. */
static void begin_thread(struct ct_m_threads *t)
{
    const bool is_full = t->count == CT_M_THREADS;
    const size_t number = is_full ? find_oldest(t, UINT64_MAX) : t->count++;
    t->threads[number] = (struct thread){.calls = t->calls};
    say(t, number, CT_RETURN_NEW | (is_full ? CT_RETURN_GUESSED : 0), 0);
    t->candidates = 0;
    t->now = number;
}

/* Chooses the candidate that has waited longest. */
static void decide(struct ct_m_threads *t)
{
    const size_t number = find_oldest(t, t->candidates);
    const uint64_t possible = t->candidates | t->doubted;
    const bool is_known = (possible & (possible - 1)) == 0;
    struct thread *thread = &t->threads[number];
    say(t, number, is_known ? 0 : CT_RETURN_GUESSED, is_known ? 0 : possible);
    thread->calls.depth = left_of(t, number);
    for (size_t i = 0; i < t->calls.depth; i++)
        push(&thread->calls, t->calls.returns[i]);
    thread->waits = false;
    t->candidates = 0;
    t->now = number;
}

static void decide_now(struct ct_m_threads *t)
{
    if (t->candidates)
        decide(t);
}

/* Decides when later steps cannot tell the candidates apart. */
static void try_to_decide(struct ct_m_threads *t)
{
    if (are_alike(t))
        decide(t);
}

/* Rules out the threads that would have returned elsewhere. Keeps those whose calls are not known that far
 * back as doubted. */
static void rule_out(struct ct_m_threads *t, uint64_t target, bool is_jump)
{
    uint64_t fit = 0;
    uint64_t unknown = 0;
    for (size_t i = 0; i < t->count; i++) {
        const size_t left = left_of(t, i);
        if (!(t->candidates >> i & 1))
            continue;
        if (!left)
            unknown |= UINT64_C(1) << i;
        else if (t->threads[i].calls.returns[left - 1] == target)
            fit |= UINT64_C(1) << i;
    }
    if (!fit && is_jump)
        return;
    t->candidates = fit ? fit : unknown | t->doubted;
    t->doubted |= fit ? unknown : 0;
    t->popped++;
    if (t->candidates)
        try_to_decide(t);
    else
        begin_thread(t);
}

/* Returns the threads that wait at `addr`, as a bit mask. */
static uint64_t find_waiting(const struct ct_m_threads *t, uint64_t addr)
{
    uint64_t found = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->threads[i].waits && t->threads[i].waits_at == addr)
            found |= UINT64_C(1) << i;
    return found;
}

/* Returns the threads that wait directly before `addr`, as a bit mask: the handler of a fault skipped the
 * instruction there. */
static uint64_t find_faulted(const struct ct_m_threads *t, uint64_t addr)
{
    const uint64_t now = UINT64_C(1) << t->now;
    const uint64_t found = find_waiting(t, addr - 2) | find_waiting(t, addr - 4);
    return found & now ? now : found;
}

/* Continues at `addr` after the outermost handler. The thread that ran before it waits. */
static void go_to(struct ct_m_threads *t, uint64_t addr)
{
    struct thread *before = &t->threads[t->now];
    before->waits = true;
    before->waits_at = t->resumes_at[0];
    before->since = ++t->exceptions;
    t->popped = t->calls.depth = 0;
    t->doubted = 0;
    t->candidates = find_waiting(t, addr);
    if (!t->candidates)
        t->candidates = find_faulted(t, addr);
    if (t->candidates)
        try_to_decide(t);
    else
        begin_thread(t);
}

/* ---- steps and marks ---- */

static void take_step(struct ct_m_threads *t, const struct ct_node *node, const struct ct_edge *edge)
{
    struct calls *calls = t->candidates ? &t->calls : &t->threads[t->now].calls;
    t->chained = 0;
    t->is_entered = false;
    t->next = edge->next;
    if (t->level || !edge->next) /* a return to an address that the trace does not give decides nothing */
        return;
    switch (ct_transfer_of(node, edge)) {
    case CT_TRANSFER_CALL:
        push(calls, node->end);
        break;
    case CT_TRANSFER_RETURN:
    case CT_TRANSFER_JUMP: {
        const bool is_jump = ct_transfer_of(node, edge) == CT_TRANSFER_JUMP;
        if (pop(calls, edge->next, is_jump))
            break;
        if (t->candidates && (!is_jump || !calls->depth))
            rule_out(t, edge->next, is_jump);
        else if (!is_jump)
            calls->depth = 0;
        break;
    }
    case CT_TRANSFER_NONE:
    case CT_TRANSFER_BRANCH:
    case CT_TRANSFER_ERET:
        break;
    }
}

static void enter(struct ct_m_threads *t, const struct ct_elem *elem)
{
    const uint64_t interrupted = t->level ? t->resumes_at[t->level - 1] : 0;
    const bool is_chained = ct_transfer_is_exc_return(elem->v);
    const uint64_t resumes_at = !is_chained ? elem->v : t->chained ? t->chained : interrupted;
    if (t->is_entered && resumes_at == interrupted)
        return; /* late arrival: the exception before it is pending */
    t->is_entered = true;
    t->level -= is_chained && !t->chained && t->level;
    if (t->level == LEVELS)
        t->level = 0;
    t->resumes_at[t->level++] = resumes_at;
}

/* Takes mark `index`, a return from an exception. */
static void leave(struct ct_m_threads *t, size_t index)
{
    t->is_entered = false;
    if (!t->level)
        return;
    t->chained = t->resumes_at[t->level - 1];
    t->level--;
    if (t->level || ct_transfer_is_exc_return(t->next) || !t->next || !t->chained)
        return;
    if (t->candidates && t->next == t->chained && !find_waiting(t, t->next))
        return; /* the same thread continues, whichever it is */
    decide_now(t);
    t->asking = index;
    go_to(t, t->next);
}

/* Forgets all threads, because trace is missing. */
static void forget(struct ct_m_threads *t)
{
    decide_now(t);
    t->level = 0;
    for (size_t i = 0; i < t->count; i++)
        t->threads[i] = (struct thread){0};
}

static void take_mark(struct ct_m_threads *t, size_t index)
{
    const struct ct_step_mark *mark = &t->marks[index];
    if (mark->kind != CT_MARK_ELEM) {
        forget(t);
        return;
    }
    switch (mark->elem.kind) {
    case CT_ELEM_EXCEPTION:
        enter(t, &mark->elem);
        break;
    case CT_ELEM_RETURN:
        leave(t, index);
        break;
    case CT_ELEM_TRACE_ON:
        decide_now(t);
        t->level = 0;
        break;
    case CT_ELEM_GAP:
        forget(t);
        break;
    case CT_ELEM_END:
        decide_now(t);
        break;
    default:
        break;
    }
    if (t->candidates && index - t->asking > CT_STEP_WAIT_MARKS)
        decide(t);
}

/* Drops the steps and marks that the last call gave out. */
static void drop_given(struct ct_m_threads *t)
{
    const size_t steps = t->step_count - t->steps_given;
    const size_t marks = t->mark_count - t->marks_given;
    if (!t->steps_given && !t->marks_given)
        return;
    memmove(t->edges, t->edges + t->steps_given, steps * sizeof *t->edges);
    if (t->has_cycles)
        memmove(t->cycles, t->cycles + t->steps_given, steps * sizeof *t->cycles);
    memmove(t->marks, t->marks + t->marks_given, marks * sizeof *t->marks);
    for (size_t i = 0; i < marks; i++)
        t->marks[i].at -= (uint32_t)t->steps_given;
    t->asking -= t->marks_given;
    t->step_count = steps;
    t->mark_count = marks;
}

/* Appends a batch to the steps and marks that are held back. CT_ERR_NOMEM. */
static int append(struct ct_m_threads *t, const struct ct_step_batch *in)
{
    const size_t steps = t->step_count + in->count;
    const size_t marks = t->mark_count + in->mark_count;
    if (!CT_MAKE_ROOM(t->edges, t->edge_room, steps + 1) ||
        !CT_MAKE_ROOM(t->marks, t->mark_room, marks + 1) ||
        (in->cycles && !CT_MAKE_ROOM(t->cycles, t->cycle_room, steps + 1)))
        return ct_fail_nomem(t->ctx, "threads");
    t->has_cycles = in->cycles != NULL;
    if (in->count)
        memcpy(t->edges + t->step_count, in->edge, in->count * sizeof *in->edge);
    if (in->count && in->cycles)
        memcpy(t->cycles + t->step_count, in->cycles, in->count * sizeof *in->cycles);
    for (size_t i = 0; i < in->mark_count; i++) {
        t->marks[t->mark_count + i] = in->marks[i];
        t->marks[t->mark_count + i].at += (uint32_t)t->step_count;
    }
    t->step_count = steps;
    t->mark_count = marks;
    return CT_OK;
}

int ct_m_threads_run(struct ct_m_threads *t, const struct ct_step_batch *in, struct ct_step_batch *out)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(in->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(in->graph, &count);
    drop_given(t);
    size_t step = t->step_count;
    size_t mark = t->mark_count;
    const int rc = append(t, in);
    if (rc)
        return rc;
    for (;;) {
        const bool marks_left = mark < t->mark_count;
        if (marks_left && t->marks[mark].at <= step) {
            take_mark(t, mark++);
            continue;
        }
        if (step == t->step_count)
            break;
        if (t->candidates && step - t->marks[t->asking].at >= CT_STEP_WAIT)
            decide(t);
        const struct ct_edge *edge = &edges[t->edges[step++]];
        take_step(t, &nodes[edge->from], edge);
    }
    t->marks_given = t->candidates ? t->asking : t->mark_count;
    t->steps_given = t->candidates ? t->marks[t->asking].at : t->step_count;
    *out = (struct ct_step_batch){.graph = in->graph,
                                  .edge = t->edges,
                                  .cycles = t->has_cycles ? t->cycles : NULL,
                                  .count = t->steps_given,
                                  .marks = t->marks,
                                  .mark_count = t->marks_given};
    return CT_OK;
}
