/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that a program left for another one. A routine that switches to the stack of a coroutine is called
 * on one stack and returns on another, to where its caller there waits. So each stack that is left is kept,
 * and found again by the address for which its innermost function waits. */
#include "analysis/stacks.h"
#include "base/ctx.h"
#include "base/room.h"

#include <stdlib.h>
#include <string.h>

/* A switch takes at most so many functions, one called by the other: swapcontext() calls setcontext(). */
#define SWITCH_FRAMES 3

/* Returns the number of frames outside the innermost one that waits for `addr`, among the `count` innermost
 * ones; the depth when there is none. */
static size_t waiting(const struct ct_stack_left *left, size_t count, uint64_t addr)
{
    const size_t end = left->depth > count ? left->depth - count : 1;
    size_t i = left->depth;
    while (i > end && left->frames[i - 1].back != addr)
        i--;
    return i > end ? i - 1 : left->depth;
}

static size_t find(const struct ct_stack_thread *t, size_t count, uint64_t addr)
{
    size_t i = t->left_count;
    while (i > 0 && waiting(&t->left[i - 1], count, addr) == t->left[i - 1].depth)
        i--;
    return i;
}

size_t ct_stack_left_by(const struct ct_stack_thread *t, uint64_t addr)
{
    return find(t, SWITCH_FRAMES, addr);
}

size_t ct_stack_left_within(const struct ct_stack_thread *t, uint64_t addr)
{
    return find(t, CT_STACK_LEFT_DEPTH, addr);
}

/* Ends the functions of a stack from `from` on, as often as it was left. */
static int end(struct ct_stacks *s, const struct ct_stack_thread *t, const struct ct_stack_left *left,
               size_t from, uint64_t times)
{
    int result = CT_OK;
    for (uint64_t k = 0; k < times; k++)
        for (size_t i = from; i < left->depth && result == CT_OK; i++)
            result = ct_stack_count_end(s, t, &left->frames[i]);
    return result;
}

static void take_out(struct ct_stack_thread *t, size_t index)
{
    t->left_count--;
    memmove(t->left + index, t->left + index + 1, (t->left_count - index) * sizeof *t->left);
}

/* Ends the functions of a stack that was left, and forgets it. */
static int forget(struct ct_stacks *s, struct ct_stack_thread *t, size_t index)
{
    const int result = end(s, t, &t->left[index], 0, t->left[index].times);
    free(t->left[index].frames);
    take_out(t, index);
    return result;
}

int ct_stack_forget_left(struct ct_stacks *s, struct ct_stack_thread *t)
{
    int result = CT_OK;
    while (t->left_count && result == CT_OK)
        result = forget(s, t, t->left_count - 1);
    return result;
}

/* Adds a stack as the one that was left last. Stacks with the same functions that wait for the same address
 * are kept as one. */
static int keep(struct ct_stacks *s, struct ct_stack_thread *t, const struct ct_stack_left *left)
{
    const struct ct_stack_frame *top = &left->frames[left->depth - 1];
    struct ct_stack_left added = *left;
    for (size_t i = t->left_count; i-- > 0;) {
        const struct ct_stack_left *other = &t->left[i];
        const struct ct_stack_frame *its_top = &other->frames[other->depth - 1];
        if (its_top->back != top->back || its_top->place != top->place || other->shared != left->shared)
            continue;
        added.times += other->times;
        free(other->frames);
        take_out(t, i);
        break;
    }
    const int result = t->left_count == CT_STACK_LEFT ? forget(s, t, 0) : CT_OK;
    if (result != CT_OK || !CT_MAKE_ROOM(t->left, t->left_room, t->left_count + 1)) {
        free(added.frames);
        return result != CT_OK ? result : ct_fail_nomem(s->ctx, "stacks");
    }
    t->left[t->left_count++] = added;
    return CT_OK;
}

static struct ct_stack_frame *copy_of(const struct ct_stack_frame *frames, size_t count)
{
    struct ct_stack_frame *copy = malloc(count * sizeof *copy);
    return copy ? memcpy(copy, frames, count * sizeof *copy) : NULL;
}

int ct_stack_leave(struct ct_stacks *s, struct ct_stack_thread *t, size_t shared)
{
    int result = CT_OK;
    const size_t depth = t->depth;
    if (depth > CT_STACK_LEFT_DEPTH) {
        while (t->depth > shared && result == CT_OK)
            result = ct_stack_pop(s, t);
        return result;
    }
    for (size_t i = depth; i-- > shared && result == CT_OK;)
        result = ct_stack_stop(s, t, i, 0);
    if (result != CT_OK)
        return result;
    struct ct_stack_left left = {.depth = depth, .room = t->room, .shared = shared, .times = 1};
    left.frames = shared ? copy_of(t->frames, depth) : t->frames;
    if (!left.frames)
        return ct_fail_nomem(s->ctx, "stacks");
    t->depth = shared;
    if (shared) {
        left.room = depth;
        for (size_t i = 0; i < shared; i++)
            left.frames[i].site = 0; /* these calls are counted on the current stack */
    } else {
        t->frames = NULL;
        t->room = 0;
    }
    return keep(s, t, &left);
}

/* Takes a stack out of those that were left; its frames become those of the caller. */
static int take(struct ct_stacks *s, struct ct_stack_thread *t, size_t index, struct ct_stack_left *taken)
{
    struct ct_stack_left *left = &t->left[index];
    *taken = *left;
    if (left->times > 1) {
        left->times--;
        taken->frames = copy_of(left->frames, left->depth);
        taken->room = left->depth;
    } else {
        take_out(t, index);
    }
    return taken->frames ? CT_OK : ct_fail_nomem(s->ctx, "stacks");
}

int ct_stack_go_back(struct ct_stacks *s, struct ct_stack_thread *t, size_t number, uint64_t addr)
{
    struct ct_stack_left taken;
    int result = take(s, t, number - 1, &taken);
    if (result != CT_OK)
        return result;
    const size_t depth = waiting(&taken, CT_STACK_LEFT_DEPTH, addr);
    result = end(s, t, &taken, depth, 1);
    if (result == CT_OK)
        result = ct_stack_leave(s, t, 0);
    free(t->frames); /* those of a stack that was too deep to be kept */
    t->frames = taken.frames;
    t->room = taken.room;
    t->depth = depth;
    for (size_t i = 0; i < depth && result == CT_OK; i++)
        result = ct_stack_start(s, t, &t->frames[i]);
    return result;
}

void ct_stack_free(struct ct_stack_thread *t)
{
    for (size_t i = 0; i < t->left_count; i++)
        free(t->left[i].frames);
    free(t->left);
    free(t->frames);
}
