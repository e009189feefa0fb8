/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the stacks of functions along the steps. The rules are in docs/analysis.md. */
#include "analysis/stacks.h"
#include "analysis/transfer.h"
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"

#include <stdlib.h>

int ct_stacks_new(struct ct_ctx *ctx, const struct ct_stack_options *options, struct ct_stacks **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_stack_options o;
    int result = ct_options_read(ctx, "ct_stacks_new", options, &o, sizeof o);
    if (result != CT_OK)
        return result;
    CT_REQUIRE(ctx, !o.program_count || o.programs);
    struct ct_stacks *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "stacks");
    s->ctx = ctx;
    s->program_count = o.program_count;
    s->wants_slices = o.slices;
    s->wants_moves = o.moves;
    s->wants_owners = o.owners;
    s->programs = malloc((o.program_count + 1) * sizeof *s->programs);
    for (size_t i = 0; s->programs && i < o.program_count; i++)
        s->programs[i] = o.programs[i];
    result = s->programs ? ct_stack_number_functions(s) : ct_fail_nomem(ctx, "stacks");
    if (result != CT_OK) {
        ct_stacks_free(s);
        return result;
    }
    *out = s;
    return CT_OK;
}

static void free_lane(struct ct_stack_lane *lane)
{
    free(lane->edges);
    free(lane->turns);
}

void ct_stacks_free(struct ct_stacks *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->lane_room; i++)
        free_lane(&s->lanes[i]);
    free(s->lanes);
    for (size_t i = 0; i < s->thread_count; i++)
        ct_stack_free(&s->threads[i]);
    free(s->programs);
    free(s->first);
    free(s->threads);
    free(s->places);
    free(s->owners);
    free(s->calls);
    free(s->slices);
    free(s->moves);
    ct_pair_map_free(&s->children);
    ct_pair_map_free(&s->call_numbers);
    free(s);
}

static uint64_t key_of(const struct ct_elem *context)
{
    return ct_elem_ctxt(context) | (uint64_t)ct_elem_vmid(context) << 32;
}

/* ---- where execution arrives ---- */

/* Returns the number of frames that remain when execution returns to `addr`, or 0 when no frame waits for
 * it. */
static size_t waiting_for(const struct ct_stack_thread *t, uint64_t addr)
{
    size_t i = t->depth;
    while (i > 1 && t->frames[i - 1].back != addr)
        i--;
    return i > 1 ? i - 1 : 0;
}

/* Returns the number of frames that remain when execution is in `function`, however it came there. 0 when no
 * frame is of that function. */
static size_t running(const struct ct_stack_thread *t, uint32_t function)
{
    size_t i = t->depth;
    while (i > 0 && t->frames[i - 1].function != function)
        i--;
    return i;
}

static int cut(struct ct_stacks *s, struct ct_stack_thread *t, size_t depth)
{
    int result = CT_OK;
    while (t->depth > depth && result == CT_OK)
        result = ct_stack_pop(s, t);
    return result;
}

static int begin_anew(struct ct_stacks *s, struct ct_stack_thread *t, uint32_t function)
{
    const int result = cut(s, t, 0);
    return result != CT_OK ? result : ct_stack_push(s, t, function, 0, 0);
}

/* The address at which execution arrives. */
struct arrival {
    uint64_t addr;
    uint32_t function;
    bool begins;    /* a function begins there */
    bool starts;    /* a program begins there */
    bool generated; /* it is in no program's file */
};

/* Makes `function` the innermost one behind the `depth` outermost frames. */
static int go_to(struct ct_stacks *s, struct ct_stack_thread *t, size_t depth, uint32_t function)
{
    const int result = cut(s, t, depth);
    if (result != CT_OK || (t->depth && t->frames[t->depth - 1].function == function))
        return result;
    return t->depth ? ct_stack_replace(s, t, function) : ct_stack_push(s, t, function, 0, 0);
}

/* Returns the number of frames that remain when execution returns to generated code of `function`, which no
 * frame waits for: an interpreter may call by a jump, after it has set the link register, and the called
 * function took its place. 0 when there was none. */
static size_t running_before(const struct ct_stack_thread *t, uint32_t function)
{
    for (size_t i = t->depth; i > 0; i--) {
        const struct ct_stack_frame *frame = &t->frames[i - 1];
        if (frame->function == function)
            return i;
        for (size_t k = 0; k < CT_STACK_BEFORE; k++)
            if (frame->before[k] == function + 1)
                return i;
    }
    return 0;
}

/* Leaves the innermost function for one that waits for nothing: longjmp, or a switch to the stack of a
 * coroutine, from which the program may come back. */
static int go_astray(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    const bool returned = t->way == CT_WAY_RETURN;
    const size_t depth =
        returned && to->generated ? running_before(t, to->function) : running(t, to->function);
    const size_t number = depth || !returned ? 0 : ct_stack_left_within(t, to->addr);
    if (number)
        return ct_stack_go_back(s, t, number, to->addr);
    /* Only the outermost function may return behind a call that was not seen. A new coroutine begins with a
     * function. */
    s->renewed += depth == 0 && t->depth > 1 && returned && !to->begins;
    const int result = t->depth > depth + 1 ? ct_stack_leave(s, t, depth) : CT_OK;
    return result != CT_OK ? result : go_to(s, t, depth, to->function);
}

/* Unwinds to the innermost frame that waits for the address. When there is none: if an exception handler has
 * returned, the function takes the place of the handler; if a stack that was left waits for it, that stack
 * continues; otherwise unwinds to the innermost frame of the function; without one the stack begins anew. */
static int unwind(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    const size_t depth = waiting_for(t, to->addr);
    const bool switches = t->way == CT_WAY_RETURN || t->way == CT_WAY_JUMP;
    if (depth) {
        const bool skips = switches && t->depth > depth + 1; /* as swapcontext() does */
        const int result = skips ? ct_stack_leave(s, t, depth) : CT_OK;
        return result != CT_OK ? result : go_to(s, t, depth, to->function);
    }
    const bool returned = t->way == CT_WAY_RETURN || t->way == CT_WAY_ERET;
    if (returned && t->depth && t->frames[t->depth - 1].exception)
        return ct_stack_replace(s, t, to->function);
    if (!switches)
        return go_to(s, t, running(t, to->function), to->function);
    const size_t number = ct_stack_left_by(t, to->addr);
    return number ? ct_stack_go_back(s, t, number, to->addr) : go_astray(s, t, to);
}

static int jump(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    const struct ct_stack_frame *top = &t->frames[t->depth - 1];
    if (t->depth > 1 && top->back == to->addr)
        return unwind(s, t, to); /* returned by a plain branch */
    if (top->function == to->function)
        return CT_OK;
    /* A branch whose target is in the code goes to another part of this function, or to a function that takes
     * its place, even if one of that name waits: a longjmp, or a switch to another stack, knows its target
     * only from memory. */
    if (t->way == CT_WAY_NONE || to->begins)
        return ct_stack_replace(s, t, to->function);
    const bool leaves = t->way == CT_WAY_JUMP && ct_stack_left_by(t, to->addr);
    if (!leaves && running(t, to->function) == 0)
        return ct_stack_replace(s, t, to->function);
    return unwind(s, t, to); /* longjmp, or a switch to another stack */
}

/* Goes to a function that no frame waits for. Unwinds to its innermost frame, because a handler changed where
 * the exception returns to. Without such a frame the context has another owner, whose stack begins anew. */
static int go_elsewhere(struct ct_stacks *s, struct ct_stack_thread *t, uint32_t function)
{
    const size_t depth = running(t, function);
    const int result = cut(s, t, depth);
    s->renewed += depth == 0;
    return depth || result != CT_OK ? result : ct_stack_push(s, t, function, 0, 0);
}

static bool may_be_handler(const struct ct_stacks *s, const struct ct_stack_thread *t,
                           const struct arrival *to)
{
    return ct_transfer_may_be_handler(s->lanes[t->lane].level, t->level, to->addr,
                                      ct_stacks_symbol(s, to->function, NULL) != NULL, to->begins);
}

static int go_on(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    return t->frames[t->depth - 1].function == to->function ? CT_OK : jump(s, t, to);
}

/* Takes the first step after an exception. It is in the interrupted code when the handler was not traced,
 * in code that a frame waits for when one exception ends another, and otherwise in a handler, which is
 * pushed. */
static int take_exception(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    if (to->addr == t->resumes)
        return go_on(s, t, to);
    if (waiting_for(t, to->addr))
        return unwind(s, t, to);
    if (!may_be_handler(s, t, to))
        return go_elsewhere(s, t, to->function);
    size_t depth = t->depth;
    int result = ct_stack_push(s, t, to->function, t->site, t->resumes);
    if (t->depth > depth)
        t->frames[depth].exception = 1;
    return result;
}

/* Returns the index of the innermost handler of an exception; 0 when there is none. */
static size_t innermost_handler(const struct ct_stack_thread *t)
{
    size_t i = t->depth;
    while (i > 0 && !t->frames[--i].exception) {
    }
    return i;
}

/* Leaves a handler of the M profile that interrupted another one. */
static int resume(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    const size_t handler = innermost_handler(t);
    if (!handler || !t->frames[handler].back || t->frames[handler].back == to->addr)
        return unwind(s, t, to);
    s->renewed++;
    return begin_anew(s, t, to->function);
}

/* Takes a tail-chained exception, taken when the handler of another one ends. When that was noted already and
 * nothing ran since, a later exception came before the handler of this one, and nothing changes. */
static int chain(struct ct_stacks *s, struct ct_stack_thread *t)
{
    const size_t handler = innermost_handler(t);
    if (!t->depth || (t->way == CT_WAY_EXCEPTION && t->resumes && !ct_transfer_is_exc_return(t->resumes)))
        return CT_OK;
    t->way = CT_WAY_EXCEPTION;
    t->is_interrupted = false;
    t->resumes = t->frames[handler].back;
    t->site = t->frames[handler].site;
    return handler ? cut(s, t, handler) : CT_OK;
}

/* Returns whether a program starts: execution is at its entry point, no code led there, and the exception
 * level did not rise, so that it is not a handler. The entry point seen first is the loader's, to which the
 * kernel goes. A trace of several runs shows it in each of them. */
static bool is_start(const struct ct_stacks *s, const struct ct_stack_thread *t, const struct arrival *to)
{
    const bool unseen = t->way == CT_WAY_EXCEPTION || t->way == CT_WAY_ERET || t->way == CT_WAY_UNKNOWN;
    return to->starts && unseen && s->lanes[t->lane].level <= t->level;
}

/* Goes to an address. The effect on the stack depends on how the last step ended. */
static int arrive(struct ct_stacks *s, struct ct_stack_thread *t, const struct arrival *to)
{
    uint8_t way = t->depth ? t->way : CT_WAY_START;
    if (is_start(s, t, to))
        return begin_anew(s, t, to->function);
    switch ((enum ct_stack_way)way) {
    case CT_WAY_START:
        return ct_stack_push(s, t, to->function, 0, 0);
    case CT_WAY_CALL:
        return ct_stack_push(s, t, to->function, t->site, t->back);
    case CT_WAY_EXCEPTION:
        return take_exception(s, t, to);
    case CT_WAY_ERET:
        if (!waiting_for(t, to->addr) && !may_be_handler(s, t, to))
            return go_elsewhere(s, t, to->function);
        return unwind(s, t, to);
    case CT_WAY_RESUME:
        return resume(s, t, to);
    case CT_WAY_RETURN:
    case CT_WAY_UNKNOWN:
        return unwind(s, t, to);
    case CT_WAY_NONE:
        return go_on(s, t, to);
    case CT_WAY_JUMP:
        return jump(s, t, to);
    }
    return CT_OK;
}

/* Returns whether execution stays in the innermost function, as in most steps. Then nothing is to be done. */
static bool stays(const struct ct_stack_thread *t, uint32_t function)
{
    return t->way == CT_WAY_NONE && t->depth && t->frames[t->depth - 1].function == function;
}

/* Goes to the address at which an exception interrupts execution, as the last step led there. */
static int arrive_interrupted(struct ct_stacks *s, struct ct_stack_thread *t, uint64_t addr,
                              const struct ct_graph *graph)
{
    uint32_t count;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const uint32_t from = edges[t->turn].from;
    const uint32_t memory = ct_graph_nodes(graph, &count)[from].memory;
    const uint32_t function = ct_stack_function_at(s, addr, memory);
    size_t size;
    return arrive(s, t,
                  &(struct arrival){.addr = addr,
                                    .function = function,
                                    .begins = ct_stack_begins(s, function, addr),
                                    .generated = !ct_stack_code_at(s, addr, memory, &size)});
}

/* Notes that an exception interrupted execution behind the last step. If that step ended with a branch, the
 * branch is followed first, although nothing ran at its target yet. */
static int interrupt(struct ct_stacks *s, struct ct_stack_thread *t, const struct ct_graph *graph)
{
    const bool is_told = t->resumes && !ct_transfer_is_exc_return(t->resumes);
    const int result = is_told && t->way != CT_WAY_NONE ? arrive_interrupted(s, t, t->resumes, graph) : CT_OK;
    t->way = CT_WAY_EXCEPTION;
    t->is_interrupted = false;
    return result;
}

/* Notes how a step by edge `number` ended. After a return or a jump, only the marks behind it tell whether it
 * left a handler, so the exception is taken later. */
static int leave(struct ct_stacks *s, struct ct_stack_thread *t, uint32_t number,
                 const struct ct_step_batch *batch, const struct ct_edge *edges)
{
    const struct ct_stack_turn *turn = &s->lanes[t->lane].turns[number];
    t->site = turn->last;
    t->back = turn->end;
    t->way = turn->way;
    t->turn = number;
    t->is_interrupted = turn->interrupted && t->way != CT_WAY_UNKNOWN;
    if (!t->is_interrupted)
        return CT_OK;
    t->resumes = edges[number].next;
    return t->way == CT_WAY_RETURN || t->way == CT_WAY_JUMP ? CT_OK : interrupt(s, t, batch->graph);
}

/* ---- steps ---- */

/* Adds what ran to the innermost function. */
static void spend(struct ct_stacks *s, struct ct_stack_lane *lane, struct ct_stack_thread *t, size_t steps,
                  uint64_t insns, uint64_t cycles)
{
    struct ct_stack_place *place = &s->places[t->frames[t->depth - 1].place];
    place->insns += insns;
    place->cycles += cycles;
    lane->insns += insns;
    lane->cycles += cycles;
    lane->steps += steps;
    t->level = lane->level;
}

static uint64_t cycles_of(const struct ct_step_batch *batch, size_t i)
{
    const uint32_t cycles = batch->cycles ? batch->cycles[i] : CT_STEP_NO_CYCLES;
    return cycles == CT_STEP_NO_CYCLES ? 0 : cycles & CT_STEP_CYCLES;
}

static int step(struct ct_stacks *s, uint32_t lane_number, const struct ct_step_batch *batch, size_t i,
                const struct ct_node *nodes, const struct ct_edge *edges)
{
    struct ct_stack_lane *lane = &s->lanes[lane_number];
    const uint32_t number = batch->edge[i];
    int result = lane->thread ? CT_OK : ct_stack_switch(s, lane_number, 0, 0);
    if (result == CT_OK)
        result = ct_stack_find_edge(s, lane, nodes, edges, number);
    if (result != CT_OK)
        return result;
    const uint32_t function = lane->edges[number].function - 1;
    struct ct_stack_thread *t = &s->threads[lane->thread - 1];
    if (t->is_interrupted) /* a filter removed the mark */
        result = interrupt(s, t, batch->graph);
    if (result == CT_OK && !stays(t, function))
        result = arrive(s, t,
                        &(struct arrival){.addr = lane->turns[number].start,
                                          .function = function,
                                          .begins = lane->turns[number].begins,
                                          .starts = lane->turns[number].starts,
                                          .generated = lane->turns[number].generated});
    if (result != CT_OK)
        return result;
    spend(s, lane, t, 1, lane->turns[number].insns, cycles_of(batch, i));
    return leave(s, t, number, batch, edges);
}

/* Takes the steps from `i` on that stay in the innermost function, faster than step() would. Returns the
 * index of the first step that may leave it, or `end`. */
static size_t take_steady(struct ct_stacks *s, uint32_t number, const struct ct_step_batch *batch, size_t i,
                          size_t end)
{
    struct ct_stack_lane *lane = &s->lanes[number];
    struct ct_stack_thread *t = lane->thread ? &s->threads[lane->thread - 1] : NULL;
    if (s->plain || !t || t->way != CT_WAY_NONE || !t->depth)
        return i;
    const uint32_t function = t->frames[t->depth - 1].function + 1;
    const size_t from = i;
    uint64_t insns = 0;
    uint64_t cycles = 0;
    for (; i < end && batch->edge[i] < lane->edge_room; i++) {
        const struct ct_stack_edge edge = lane->edges[batch->edge[i]];
        if (edge.function != function || edge.insns == CT_STACK_TURNS)
            break;
        insns += edge.insns;
        cycles += cycles_of(batch, i);
    }
    if (i > from)
        spend(s, lane, t, i - from, insns, cycles);
    return i;
}

/* Unwinds the stack of a thread, to which an exception returns, out of its handlers. */
static int end_handlers(struct ct_stacks *s, struct ct_stack_thread *t)
{
    size_t depth = 0;
    while (depth < t->depth && !t->frames[depth].exception)
        depth++;
    t->way = CT_WAY_NONE;
    return cut(s, t, depth);
}

/* Treats the last step, a return or jump, as a return from an exception. When another exception came at once,
 * that one interrupts the thread that continues. */
static int leave_handler(struct ct_stacks *s, uint32_t lane, const struct ct_step_mark *mark)
{
    struct ct_stack_thread *before = s->lanes[lane].thread ? &s->threads[s->lanes[lane].thread - 1] : NULL;
    if (!before || (before->way != CT_WAY_RETURN && before->way != CT_WAY_JUMP))
        return CT_OK;
    before->way = CT_WAY_RESUME;
    if (!mark->n)
        return CT_OK;
    const struct ct_stack_thread last = *before;
    s->renewed += mark->elem.n & CT_RETURN_GUESSED ? 1 : 0;
    before->is_interrupted = false;
    int result = end_handlers(s, before);
    if (result == CT_OK)
        result = ct_stack_go_to(s, lane, (uint32_t)mark->value);
    struct ct_stack_thread *t = &s->threads[s->lanes[lane].thread - 1];
    if (result == CT_OK && mark->elem.n & CT_RETURN_NEW)
        result = cut(s, t, 0);
    if (last.is_interrupted) {
        t->is_interrupted = true;
        t->site = t->resumes = last.resumes;
        t->turn = last.turn;
    }
    return result;
}

/* Takes an exception. When nothing ran since another one, there are two cases. Either the handler of that one
 * was entered and is interrupted before its first instruction, or this one arrived while the state was being
 * saved and goes first, which does not change where execution resumes (late arrival, B1.5 of the ARMv7-M
 * ARM). */
static int take_exception_mark(struct ct_stacks *s, struct ct_stack_thread *t, const struct ct_elem *elem,
                               const struct ct_graph *graph)
{
    const uint64_t resumes_at = ct_transfer_resumes_at(elem);
    if (ct_transfer_is_exc_return(resumes_at))
        return chain(s, t);
    if (t->is_interrupted)
        return interrupt(s, t, graph);
    if (!t->depth || t->way != CT_WAY_EXCEPTION || !t->resumes || !resumes_at || t->resumes == resumes_at)
        return CT_OK;
    const int result = arrive_interrupted(s, t, resumes_at, graph);
    t->site = t->resumes = resumes_at;
    return result;
}

/* Takes the mark with this index in the batch. */
static int take_mark(struct ct_stacks *s, uint32_t lane, const struct ct_step_batch *batch, size_t index)
{
    const struct ct_step_mark *mark = &batch->marks[index];
    const int result =
        ct_stack_note(s, lane, (struct ct_stack_move){.kind = CT_STACK_MARK, .of = (uint32_t)index});
    if (result != CT_OK || mark->kind != CT_MARK_ELEM)
        return result;
    if (mark->elem.kind == CT_ELEM_TRACE_ON)
        ct_stack_forget_ways(s, lane);
    if (mark->elem.kind == CT_ELEM_RETURN)
        return leave_handler(s, lane, mark);
    if (mark->elem.kind == CT_ELEM_EXCEPTION && s->lanes[lane].thread)
        return take_exception_mark(s, &s->threads[s->lanes[lane].thread - 1], &mark->elem, batch->graph);
    if (mark->elem.kind != CT_ELEM_CONTEXT)
        return CT_OK;
    s->lanes[lane].level = mark->elem.n & 3;
    const struct ct_stack_thread *now = s->lanes[lane].thread ? &s->threads[s->lanes[lane].thread - 1] : NULL;
    const uint64_t key = key_of(&mark->elem); /* in the M profile, threads have one context */
    return now && now->key == key ? CT_OK : ct_stack_switch(s, lane, key, 0);
}

/* Makes room for a stream. Numbers of streams are dense: 128 for each buffer. Returns false when out of
 * memory. */
static bool grow_lanes(struct ct_stacks *s, uint32_t lane)
{
    return CT_MAKE_ZEROED_ROOM(s->lanes, s->lane_room, (size_t)lane + 1);
}

int ct_stacks_add(struct ct_stacks *s, uint32_t lane, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(s, batch);
    if (s->ended)
        return ct_fail_ended(s->ctx, __func__);
    if (lane >= CT_STACK_LANES)
        return ct_fail(s->ctx, CT_ERR_LIMIT,
                       "stacks: stream number %u is not below the limit of %u; nothing was added", lane,
                       CT_STACK_LANES);
    if (lane >= s->lane_room && !grow_lanes(s, lane))
        return ct_fail_nomem(s->ctx, "stacks");
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    size_t at = 0;
    size_t i = 0;
    int result = CT_OK;
    s->slice_count = 0;
    s->move_count = 0;
    do {
        for (; at < batch->mark_count && batch->marks[at].at <= i && result == CT_OK; at++)
            result = take_mark(s, lane, batch, at);
        const size_t end =
            at < batch->mark_count && batch->marks[at].at < batch->count ? batch->marks[at].at : batch->count;
        while (i < end && result == CT_OK) {
            i = take_steady(s, lane, batch, i, end);
            if (i < end)
                result = step(s, lane, batch, i++, nodes, edges);
        }
    } while (result == CT_OK && (i < batch->count || (at < batch->mark_count && batch->marks[at].at <= i)));
    return result;
}

uint64_t ct_stacks_renewed(const struct ct_stacks *s)
{
    if (!s)
        return 0;
    return s->renewed;
}

int ct_stacks_finish(struct ct_stacks *s)
{
    CT_REQUIRE(NULL, s);
    int result = CT_OK;
    s->ended = true;
    s->slice_count = 0;
    s->move_count = 0;
    for (size_t i = 0; i < s->thread_count && result == CT_OK; i++) {
        result = ct_stack_forget_left(s, &s->threads[i]);
        if (result == CT_OK)
            result = ct_stack_go_on(s, &s->threads[i]);
        if (result == CT_OK)
            result = cut(s, &s->threads[i], 0);
    }
    return result;
}
