/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the thread whose stack is the current one of a stream. Threads of the M profile have a number in
 * place of a context ID. */
#include "analysis/stacks.h"
#include "base/ctx.h"
#include "base/room.h"

int ct_stack_switch(struct ct_stacks *s, uint32_t lane, uint64_t key, uint32_t number)
{
    size_t last = 0; /* last thread of this stream, whose frames may name only edges of this stream */
    for (size_t i = 0; i < s->thread_count; i++) {
        if (s->threads[i].lane != lane)
            continue;
        last = i + 1;
        if (s->threads[i].key == key && s->threads[i].number == number) {
            s->lanes[lane].thread = last;
            return CT_OK;
        }
    }
    if (s->thread_count < CT_STACK_CONTEXTS || !last) {
        if (!CT_PUSH_ROOM(s->threads, s->thread_count))
            return ct_fail_nomem(s->ctx, "stacks");
        s->threads[s->thread_count++] =
            (struct ct_stack_thread){.key = key, .number = number, .lane = lane, .way = CT_WAY_START};
        last = s->thread_count;
    }
    s->lanes[lane].thread = last;
    return CT_OK;
}

static int park(struct ct_stacks *s, struct ct_stack_thread *thread)
{
    int result = CT_OK;
    thread->is_parked = true;
    for (size_t i = thread->depth; i-- > 0 && result == CT_OK;)
        result = ct_stack_stop(s, thread, i, 0);
    return result;
}

int ct_stack_go_on(struct ct_stacks *s, struct ct_stack_thread *thread)
{
    int result = CT_OK;
    if (!thread->is_parked)
        return CT_OK;
    thread->is_parked = false;
    for (size_t i = 0; i < thread->depth && result == CT_OK; i++)
        result = ct_stack_start(s, thread, &thread->frames[i]);
    return result;
}

int ct_stack_go_to(struct ct_stacks *s, uint32_t lane, uint32_t number)
{
    struct ct_stack_thread *before = &s->threads[s->lanes[lane].thread - 1];
    int result = before->number == number ? CT_OK : park(s, before);
    if (result == CT_OK)
        result = ct_stack_switch(s, lane, before->key, number);
    return result != CT_OK ? result : ct_stack_go_on(s, &s->threads[s->lanes[lane].thread - 1]);
}

void ct_stack_forget_ways(struct ct_stacks *s, uint32_t lane)
{
    for (size_t i = 0; i < s->thread_count; i++) {
        struct ct_stack_thread *t = &s->threads[i];
        if (t->lane == lane && t->way != CT_WAY_START && t->way != CT_WAY_EXCEPTION)
            t->way = CT_WAY_UNKNOWN;
    }
}
