/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of stacks, the calls between functions, and slices of time. */
#include "analysis/stacks.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#include <string.h>

/* Returns the number that stands for the parent of a stack's outermost functions. */
static uint32_t root_of(const struct ct_stacks *s, const struct ct_stack_thread *thread)
{
    return CT_STACK_NONE - (s->wants_owners ? (uint32_t)(thread - s->threads) : 0);
}

static bool is_root(uint32_t parent)
{
    return parent > CT_STACK_NONE - CT_STACK_CONTEXTS - CT_STACK_LANES;
}

/* Notes the thread that owns the next place. CT_ERR_NOMEM. */
static int note_owner(struct ct_stacks *s, uint32_t parent)
{
    if (!s->wants_owners)
        return CT_OK;
    if (!CT_MAKE_ROOM(s->owners, s->owner_room, s->place_count + 1))
        return CT_ERR_NOMEM;
    s->owners[s->place_count] = is_root(parent) ? CT_STACK_NONE - parent : s->owners[parent];
    return CT_OK;
}

/* Finds or makes the place of `function` called from place `parent`. When there are too many places, returns
 * `parent` itself. */
static int find_place(struct ct_stacks *s, uint32_t parent, uint32_t function, uint32_t *place)
{
    *place = ct_pair_map_get(&s->children, parent, function);
    if (*place != CT_PAIR_NONE)
        return CT_OK;
    if (s->place_count >= CT_STACK_PLACES && !is_root(parent)) {
        *place = parent;
        return CT_OK;
    }
    *place = (uint32_t)s->place_count;
    if (!CT_MAKE_ROOM(s->places, s->place_room, s->place_count + 1) || note_owner(s, parent) ||
        ct_pair_map_put(&s->children, parent, function, *place))
        return ct_fail_nomem(s->ctx, "stacks");
    s->places[s->place_count++] =
        (struct ct_stack_place){.parent = is_root(parent) ? CT_STACK_NONE : parent, .function = function};
    return CT_OK;
}

static int find_call(struct ct_stacks *s, const struct ct_stack_frame *frame, struct ct_stack_call **call)
{
    uint32_t number = ct_pair_map_get(&s->call_numbers, frame->site, frame->function);
    if (number == CT_PAIR_NONE) {
        number = (uint32_t)s->call_count;
        if (!CT_MAKE_ROOM(s->calls, s->call_room, s->call_count + 1) ||
            ct_pair_map_put(&s->call_numbers, frame->site, frame->function, number))
            return ct_fail_nomem(s->ctx, "stacks");
        s->calls[s->call_count++] =
            (struct ct_stack_call){.site = frame->site, .caller = frame->caller, .callee = frame->function};
    }
    *call = &s->calls[number];
    return CT_OK;
}

/* Returns the memo of the last call that made a frame. NULL when the last step did not make the call, as when
 * one handler is chained to another. */
static struct ct_stack_memo *memo_of(const struct ct_stacks *s, const struct ct_stack_thread *thread,
                                     const struct ct_stack_frame *frame)
{
    if (frame->turn == CT_STACK_NONE || s->plain)
        return NULL;
    struct ct_stack_turn *turn = &s->lanes[thread->lane].turns[frame->turn];
    return turn->last == frame->site ? &turn->memos[frame->replaced] : NULL;
}

/* Does the same as find_place(), mostly without a look-up. */
static int recall_place(struct ct_stacks *s, struct ct_stack_memo *memo, uint32_t parent, uint32_t function,
                        uint32_t *place)
{
    if (!memo)
        return find_place(s, parent, function, place);
    if (memo->function == function && memo->parent == parent) {
        *place = memo->place;
        return CT_OK;
    }
    const int result = find_place(s, parent, function, place);
    if (memo->function != function)
        memo->call = CT_STACK_NONE;
    memo->function = result == CT_OK ? function : CT_STACK_NONE;
    memo->parent = parent;
    memo->place = *place;
    return result;
}

/* Does the same as find_call(), mostly without a look-up. */
static int recall_call(struct ct_stacks *s, struct ct_stack_memo *memo, const struct ct_stack_frame *frame,
                       struct ct_stack_call **call)
{
    const bool known = memo && memo->function == frame->function;
    if (known && memo->call != CT_STACK_NONE) {
        *call = &s->calls[memo->call];
        return CT_OK;
    }
    const int result = find_call(s, frame, call);
    if (known && result == CT_OK)
        memo->call = (uint32_t)(*call - s->calls);
    return result;
}

int ct_stack_note(struct ct_stacks *s, uint32_t lane, struct ct_stack_move move)
{
    if (!s->wants_moves)
        return CT_OK;
    if (!CT_MAKE_ROOM(s->moves, s->move_room, s->move_count + 1))
        return ct_fail_nomem(s->ctx, "stacks");
    move.lane = lane;
    move.insns = s->lanes[lane].insns;
    move.cycles = s->lanes[lane].cycles;
    move.steps = s->lanes[lane].steps;
    s->moves[s->move_count++] = move;
    return CT_OK;
}

int ct_stack_start(struct ct_stacks *s, const struct ct_stack_thread *thread, struct ct_stack_frame *frame)
{
    const struct ct_stack_lane *lane = &s->lanes[thread->lane];
    frame->insns = lane->insns;
    frame->cycles = lane->cycles;
    return ct_stack_note(
        s, thread->lane,
        (struct ct_stack_move){.kind = CT_STACK_ENTER, .of = frame->function, .context = thread->key});
}

static int enter(struct ct_stacks *s, struct ct_stack_thread *thread, struct ct_stack_frame *frame,
                 uint32_t parent)
{
    int result = recall_place(s, memo_of(s, thread, frame), parent, frame->function, &frame->place);
    if (result != CT_OK)
        return result;
    if (frame->site)
        s->places[frame->place].calls++;
    return ct_stack_start(s, thread, frame);
}

int ct_stack_push(struct ct_stacks *s, struct ct_stack_thread *thread, uint32_t function, uint64_t site,
                  uint64_t back)
{
    if (thread->depth == CT_STACK_DEPTH)
        return CT_OK;
    if (!CT_MAKE_ROOM(thread->frames, thread->room, thread->depth + 1) || !thread->frames)
        return ct_fail_nomem(s->ctx, "stacks");
    struct ct_stack_frame *frame = &thread->frames[thread->depth];
    const struct ct_stack_frame *top = thread->depth ? frame - 1 : NULL;
    *frame = (struct ct_stack_frame){.back = back,
                                     .site = top ? site : 0,
                                     .function = function,
                                     .turn = top && site ? thread->turn : CT_STACK_NONE,
                                     .caller = top ? top->function : CT_STACK_NONE};
    const int result = enter(s, thread, frame, top ? top->place : root_of(s, thread));
    if (result == CT_OK)
        thread->depth++;
    return result;
}

int ct_stack_stop(struct ct_stacks *s, const struct ct_stack_thread *thread, size_t depth, unsigned ends)
{
    const struct ct_stack_frame *frame = &thread->frames[depth];
    const struct ct_stack_lane *lane = &s->lanes[thread->lane];
    struct ct_stack_call *call = NULL;
    int result = frame->site ? recall_call(s, memo_of(s, thread, frame), frame, &call) : CT_OK;
    if (result != CT_OK)
        return result;
    if (call) {
        call->count += ends;
        call->insns += lane->insns - frame->insns;
        call->cycles += lane->cycles - frame->cycles;
    }
    result = ct_stack_note(
        s, thread->lane,
        (struct ct_stack_move){.kind = CT_STACK_LEAVE, .of = frame->function, .context = thread->key});
    if (result != CT_OK || !s->wants_slices)
        return result;
    if (!CT_MAKE_ROOM(s->slices, s->slice_room, s->slice_count + 1))
        return ct_fail_nomem(s->ctx, "stacks");
    s->slices[s->slice_count++] = (struct ct_stack_slice){.function = frame->function,
                                                          .depth = (uint32_t)depth,
                                                          .insns_from = frame->insns,
                                                          .insns_to = lane->insns,
                                                          .cycles_from = frame->cycles,
                                                          .cycles_to = lane->cycles,
                                                          .ctxt = (uint32_t)thread->key,
                                                          .lane = thread->lane};
    return CT_OK;
}

int ct_stack_count_end(struct ct_stacks *s, const struct ct_stack_thread *thread,
                       const struct ct_stack_frame *frame)
{
    struct ct_stack_call *call = NULL;
    const int result = frame->site ? recall_call(s, memo_of(s, thread, frame), frame, &call) : CT_OK;
    if (call)
        call->count++;
    return result;
}

/* Adds up what the innermost function took, and ends it. */
static int leave(struct ct_stacks *s, const struct ct_stack_thread *thread)
{
    return ct_stack_stop(s, thread, thread->depth - 1, 1);
}

int ct_stack_pop(struct ct_stacks *s, struct ct_stack_thread *thread)
{
    int result = leave(s, thread);
    thread->depth--;
    return result;
}

int ct_stack_replace(struct ct_stacks *s, struct ct_stack_thread *thread, uint32_t function)
{
    int result = leave(s, thread);
    if (result != CT_OK)
        return result;
    struct ct_stack_frame *frame = &thread->frames[thread->depth - 1];
    memmove(frame->before + 1, frame->before, sizeof frame->before - sizeof *frame->before);
    frame->before[0] = frame->function + 1;
    frame->function = function;
    frame->replaced = 1;
    return enter(s, thread, frame, thread->depth > 1 ? frame[-1].place : root_of(s, thread));
}

const struct ct_stack_place *ct_stacks_places(const struct ct_stacks *s, size_t *count)
{
    return CT_ARRAY_OF(s, places, place_count, count);
}

int ct_stacks_owner(const struct ct_stacks *s, size_t place, struct ct_stack_owner *owner)
{
    CT_REQUIRE_OF(s, owner, s->wants_owners, place < s->place_count);
    const struct ct_stack_thread *thread = &s->threads[s->owners[place]];
    *owner = (struct ct_stack_owner){.context = thread->key, .lane = thread->lane, .stack = s->owners[place]};
    return CT_OK;
}

const struct ct_stack_call *ct_stacks_calls(const struct ct_stacks *s, size_t *count)
{
    return CT_ARRAY_OF(s, calls, call_count, count);
}

const struct ct_stack_slice *ct_stacks_slices(const struct ct_stacks *s, size_t *count)
{
    return CT_ARRAY_OF(s, slices, slice_count, count);
}

const struct ct_stack_move *ct_stacks_moves(const struct ct_stacks *s, size_t *count)
{
    return CT_ARRAY_OF(s, moves, move_count, count);
}
