/* SPDX-License-Identifier: Apache-2.0 */
/* Makes runs of functions from calls and returns. Each thread (context ID and VMID) has a stack of its own.
 * Each exception is a level on top of the thread's, and the clock of a level stands still while another level
 * runs. Threads of the M profile have a number in place of a context ID. */
#include <stdlib.h>

#include "analysis/dist.h"
#include "analysis/timing.h"
#include "analysis/transfer.h"
#include "base/ctx.h"

static struct ct_timing_level *level(struct ct_timing *t)
{
    return &t->now->levels[t->now->level];
}

static struct ct_timing_frame *pop(struct ct_timing *t, struct ct_timing_thread *thread)
{
    struct ct_timing_frame *frame = &thread->frames[--thread->depth];
    t->open[frame->function].frames--;
    return frame;
}

static void cut_frames(struct ct_timing *t, struct ct_timing_thread *thread, uint32_t base)
{
    while (thread->depth > base)
        t->functions[pop(t, thread)->function].cut++;
}

static void reset(struct ct_timing *t, struct ct_timing_thread *thread)
{
    cut_frames(t, thread, 0);
    thread->level = 0;
    thread->levels[0] =
        (struct ct_timing_level){.clock = thread->levels[0].clock, .untimed = thread->levels[0].untimed};
}

void ct_timing_forget(struct ct_timing *t)
{
    for (size_t i = 0; i < t->thread_count; i++)
        reset(t, &t->threads[i]);
}

/* Returns a free thread, or the one that ran longest ago. Returns NULL when out of memory. */
static struct ct_timing_thread *make_thread(struct ct_timing *t)
{
    if (t->thread_count < CT_TIMING_THREADS) {
        struct ct_timing_thread *thread = &t->threads[t->thread_count];
        thread->frames = calloc(CT_TIMING_DEEPEST, sizeof *thread->frames);
        t->thread_count += thread->frames != NULL;
        return thread->frames ? thread : NULL;
    }
    struct ct_timing_thread *oldest = &t->threads[0];
    for (size_t i = 1; i < t->thread_count; i++)
        if (t->threads[i].used < oldest->used)
            oldest = &t->threads[i];
    reset(t, oldest);
    return oldest;
}

static int add_thread(struct ct_timing *t, uint32_t ctxt, uint32_t vmid, uint32_t number)
{
    struct ct_timing_thread *thread = make_thread(t);
    if (!thread)
        return ct_fail_nomem(t->ctx, "timing");
    thread->ctxt = ctxt;
    thread->vmid = vmid;
    thread->number = number;
    t->now = thread;
    return CT_OK;
}

int ct_timing_switch(struct ct_timing *t, uint32_t ctxt, uint32_t vmid, uint32_t number)
{
    if (t->now)
        t->now->used = t->totals.steps;
    for (size_t i = 0; i < t->thread_count; i++)
        if (t->threads[i].ctxt == ctxt && t->threads[i].vmid == vmid && t->threads[i].number == number) {
            t->now = &t->threads[i];
            return CT_OK;
        }
    return add_thread(t, ctxt, vmid, number);
}

/* ---- runs ---- */

/* Returns the cycles counted since the stream began. */
static uint64_t position(const struct ct_timing *t)
{
    return t->totals.cycles + t->left_out;
}

/* Notes the ending run as the longest one of its function. */
static void note_longest(struct ct_timing *t, const struct ct_timing_frame *frame, uint64_t cycles)
{
    struct ct_timing_longest *longest = &t->functions[frame->function].longest;
    *longest = t->origin;
    longest->cycles = t->open[frame->function].longest = cycles;
    longest->from = frame->from;
    longest->to = position(t);
}

static bool runs_below(const struct ct_timing *t, uint32_t base, uint32_t function)
{
    const struct ct_timing_thread *thread = t->now;
    if (!t->open[function].frames) /* common case: it runs nowhere */
        return false;
    for (uint32_t i = thread->depth; i-- > base;)
        if (thread->frames[i].function == function)
            return true;
    return false;
}

static void begin_run(struct ct_timing *t, uint32_t function, uint64_t returns_to, bool is_tail)
{
    struct ct_timing_thread *thread = t->now;
    const struct ct_timing_level *on = level(t);
    struct ct_timing_open *open = &t->open[function];
    open->runs++;
    if (thread->depth == CT_TIMING_DEEPEST)
        cut_frames(t, thread, on->base); /* too deep to follow: begins anew */
    if (thread->depth == CT_TIMING_DEEPEST) {
        t->functions[function].cut++;
        return;
    }
    thread->frames[thread->depth] = (struct ct_timing_frame){.returns_to = returns_to,
                                                             .clock = on->clock,
                                                             .untimed = on->untimed,
                                                             .wall = t->totals.cycles,
                                                             .from = position(t),
                                                             .function = function,
                                                             .is_tail = is_tail,
                                                             .is_inner = runs_below(t, on->base, function)};
    thread->depth++;
    open->frames++;
}

static int end_run(struct ct_timing *t)
{
    const struct ct_timing_frame *frame = pop(t, t->now);
    const struct ct_timing_level *on = level(t);
    if (frame->untimed != on->untimed) {
        t->functions[frame->function].cut++;
        return CT_OK;
    }
    const uint64_t inclusive = on->clock - frame->clock;
    const uint64_t wall = t->totals.cycles - frame->wall;
    if (inclusive > t->open[frame->function].longest && !frame->is_inner)
        note_longest(t, frame, inclusive);
    const int rc = ct_timing_count_run(t, frame->function, inclusive, frame->self, frame->is_inner);
    if (rc || wall <= inclusive)
        return rc;
    return ct_dist_add(&t->functions[frame->function].preempted, wall - inclusive, t->histograms);
}

/* Returns whether the innermost run is of the function that an exception called, or was begun by jumps from
 * it. */
static bool is_in_handler(struct ct_timing *t)
{
    const struct ct_timing_thread *thread = t->now;
    const uint32_t base = level(t)->base;
    uint32_t at = thread->depth;
    while (at > base && thread->frames[at - 1].is_tail)
        at--;
    return at == base + 1 && thread->frames[base].is_handler;
}

/* Ends the runs down to the one that returns to `target`. Runs above it that were not begun by a jump never
 * returned, and are cut. */
static int return_to(struct ct_timing *t, uint64_t target)
{
    struct ct_timing_thread *thread = t->now;
    uint32_t base = level(t)->base;
    uint32_t at = thread->depth;
    while (at > base && (thread->frames[at - 1].is_tail || thread->frames[at - 1].returns_to != target))
        at--;
    if (at == base && is_in_handler(t))
        return CT_OK; /* ct_timing_exception_return ends it */
    if (at == base) {
        cut_frames(t, thread, base); /* returned to where no known call came from */
        return CT_OK;
    }
    bool whole = true;
    for (uint32_t i = at; i < thread->depth; i++)
        whole &= thread->frames[i].is_tail;
    if (!whole)
        cut_frames(t, thread, at);
    int rc = CT_OK;
    while (!rc && thread->depth >= at)
        rc = end_run(t);
    return rc;
}

/* Returns whether a computed jump is a return, judged by its target. */
static bool is_return(struct ct_timing *t, uint64_t target)
{
    const struct ct_timing_thread *thread = t->now;
    uint32_t base = level(t)->base;
    uint32_t at = thread->depth;
    while (at > base && thread->frames[at - 1].is_tail)
        at--;
    return at > base && thread->frames[at - 1].returns_to == target;
}

/* ---- exceptions ---- */

static void leave_level(struct ct_timing *t)
{
    struct ct_timing_thread *thread = t->now;
    cut_frames(t, thread, level(t)->base);
    if (thread->level)
        thread->level--;
}

static bool may_be_handler(const struct ct_timing *t, uint64_t addr, uint32_t function)
{
    return ct_transfer_may_be_handler(t->exception_level, t->level_before, addr, function != 0,
                                      t->functions[function].addr == addr);
}

/* Finds where execution continues after tracing was off, because an exception is not traced or for another
 * reason. After an exception it continues at the return address of this one or of one below it (the end of a
 * signal handler is a system call of its own), in a handler, or in another thread. */
static void come_back(struct ct_timing *t, uint64_t addr, uint32_t function)
{
    struct ct_timing_thread *thread = t->now;
    uint32_t resumed = thread->level;
    while (resumed && thread->levels[resumed].resumes_at != addr)
        resumed--;
    while (resumed && thread->level >= resumed)
        leave_level(t);
    const uint64_t expected = t->last == CT_TIMING_NO_EDGE ? 0 : t->ways[t->last].next;
    if (!resumed && !t->was_taken && expected != addr)
        ct_timing_forget(t);
    if (!resumed && t->was_taken && thread->level && !may_be_handler(t, addr, function)) {
        reset(t, thread);
        t->totals.renewed++;
    }
    t->was_off = false;
}

static int end_handler(struct ct_timing *t)
{
    int rc = CT_OK;
    if (is_in_handler(t))
        while (!rc && t->now->depth > level(t)->base)
            rc = end_run(t);
    return rc;
}

/* Takes a tail-chained exception, which may have no RETURN before it. Sets *resumes_at to the address that
 * the first exception had interrupted. */
static int chain(struct ct_timing *t, uint64_t *resumes_at)
{
    int rc = CT_OK;
    *resumes_at = t->chained;
    if (t->chained || !t->now->level)
        return CT_OK;
    *resumes_at = level(t)->resumes_at;
    rc = end_handler(t);
    leave_level(t);
    return rc;
}

/* Returns whether nothing ran since another exception with the same return address. Then this exception
 * arrived late and goes first, or the other one was handled where nothing is traced. */
static bool goes_first(struct ct_timing *t, uint64_t resumes_at)
{
    return t->was_taken && t->now->level && resumes_at && level(t)->resumes_at == resumes_at;
}

/* When tracing is on again and nothing ran yet, the previous exception has just returned to where this one
 * was taken. */
int ct_timing_exception(struct ct_timing *t, uint64_t resumes_at, uint32_t function)
{
    struct ct_timing_thread *thread = t->now;
    int rc = CT_OK;
    if (t->was_off && resumes_at)
        come_back(t, resumes_at, function);
    if (ct_transfer_is_exc_return(resumes_at))
        rc = chain(t, &resumes_at);
    t->totals.exceptions++;
    t->level_before = t->exception_level;
    if (goes_first(t, resumes_at))
        return rc;
    if (thread->level + 1 == CT_TIMING_LEVELS)
        reset(t, thread);
    thread->level++;
    t->was_taken = true;
    *level(t) = (struct ct_timing_level){.resumes_at = resumes_at, .base = thread->depth};
    return rc;
}

/* Begins a run of the function that an exception called. Only the M profile calls functions; in other
 * profiles execution enters a vector table, or tracing was off. */
static void begin_handler(struct ct_timing *t, const struct ct_timing_way *way)
{
    struct ct_timing_thread *thread = t->now;
    const uint32_t depth = thread->depth;
    if (!thread->level || depth != level(t)->base || !way->function ||
        t->functions[way->function].addr != way->start)
        return;
    begin_run(t, way->function, 0, false);
    if (thread->depth > depth)
        thread->frames[depth].is_handler = true;
}

/* Leaves the outermost handler to another thread. When several threads cannot be told apart, cuts the runs of
 * all of them, because none is certain. */
static int go_to_thread(struct ct_timing *t, const struct ct_step_mark *mark)
{
    struct ct_timing_thread *before = t->now;
    const uint32_t number = (uint32_t)mark->value;
    if (number != before->number) {
        const int rc = ct_timing_switch(t, before->ctxt, before->vmid, number);
        if (rc)
            return rc;
    }
    if (mark->elem.n & CT_RETURN_NEW)
        reset(t, t->now);
    for (size_t i = 0; i < t->thread_count; i++)
        if (t->threads[i].ctxt == before->ctxt && t->threads[i].vmid == before->vmid &&
            mark->elem.v >> t->threads[i].number & 1)
            cut_frames(t, &t->threads[i], 0);
    t->totals.renewed += mark->elem.n & CT_RETURN_GUESSED ? 1 : 0;
    return CT_OK;
}

int ct_timing_exception_return(struct ct_timing *t, const struct ct_step_mark *mark)
{
    const uint64_t next = t->last == CT_TIMING_NO_EDGE ? 0 : t->ways[t->last].next;
    const uint64_t expected = t->now->level ? level(t)->resumes_at : 0;
    const bool has_left = t->after_eret;
    t->chained = expected;
    t->after_eret = false;
    const int rc = has_left ? CT_OK : end_handler(t);
    if (rc)
        return rc;
    if (!has_left)
        leave_level(t);
    t->was_taken = t->now->level && t->now->depth == level(t)->base; /* nothing of that handler ran yet */
    if (mark->n)
        return go_to_thread(t, mark);
    if (!has_left && expected && next && !ct_transfer_is_exc_return(next) && next - expected > 4) {
        reset(t, t->now);
        t->totals.renewed++;
    }
    return CT_OK;
}

/* ---- steps ---- */

static int go(struct ct_timing *t, enum ct_timing_class class, const struct ct_timing_way *way)
{
    switch (class) {
    case CT_TIMING_CALL:
        begin_run(t, way->callee, way->behind, false);
        return CT_OK;
    case CT_TIMING_TAIL:
        if (is_return(t, way->next))
            return return_to(t, way->next);
        begin_run(t, way->callee, 0, true);
        return CT_OK;
    case CT_TIMING_RETURN:
        return return_to(t, way->next);
    case CT_TIMING_JUMP:
        if (is_return(t, way->next))
            return return_to(t, way->next);
        if (t->now->level && level(t)->resumes_at == way->next) {
            leave_level(t);
            t->after_eret = true;
        }
        return CT_OK;
    case CT_TIMING_ERET:
        leave_level(t);
        t->after_eret = true;
        return CT_OK;
    default:
        return CT_OK;
    }
}

/* Adds cycles to the current run. */
static void spend(struct ct_timing *t, uint64_t cycles, uint64_t untimed)
{
    struct ct_timing_level *on = level(t);
    on->clock += cycles;
    on->untimed += untimed;
    t->totals.cycles += cycles;
    t->totals.untimed += untimed;
    t->after_eret = t->was_taken = false;
    t->chained = 0;
    if (t->now->depth > on->base)
        t->now->frames[t->now->depth - 1].self += cycles;
}

int ct_timing_steps(struct ct_timing *t, const struct ct_step_batch *batch, size_t from, size_t to)
{
    const uint64_t before = t->totals.cycles;
    uint64_t cycles = 0; /* of steps that stay in the current run */
    uint64_t untimed = 0;
    size_t last = from; /* behind the last step that left its run */
    size_t i = from;
    int rc = CT_OK;
    if (from < to && t->was_off)
        come_back(t, t->ways[batch->edge[from]].start, t->ways[batch->edge[from]].function);
    else if (from < to && t->was_taken)
        begin_handler(t, &t->ways[batch->edge[from]]);
    for (; i < to && !rc; i++) {
        const uint32_t edge = batch->edge[i];
        const uint32_t word = ct_timing_word(batch->cycles ? batch->cycles[i] : CT_STEP_NO_CYCLES);
        const enum ct_timing_class class = t->classes[edge];
        struct ct_timing_cell *cell = &t->tallies[edge].cells[word % CT_TIMING_CELLS];
        if (cell->cycles == word && !t->plain)
            cell->count++;
        else
            rc = ct_timing_count(t, edge, word);
        untimed += word == CT_TIMING_NO_CYCLES;
        cycles += word == CT_TIMING_NO_CYCLES ? 0 : word & CT_STEP_CYCLES;
        if (class == CT_TIMING_ON)
            continue;
        spend(t, cycles, untimed);
        cycles = untimed = 0;
        last = i + 1;
        if (!rc)
            rc = go(t, class, &t->ways[edge]);
    }
    if (i > last)
        spend(t, cycles, untimed);
    if (i > from)
        t->last = batch->edge[i - 1];
    t->totals.steps += i - from;
    t->totals.edges += t->totals.cycles - before;
    return rc ? ct_fail_nomem(t->ctx, "timing") : CT_OK;
}
