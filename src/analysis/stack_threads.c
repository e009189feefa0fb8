/* SPDX-License-Identifier: Apache-2.0 */
/* Whose stack is the current one of a stream. Threads that handlers of the M profile switch have no context
 * ID: each of them is known by the address at which it was interrupted. */
#include "analysis/stacks.h"
#include "base/ctx.h"
#include "base/room.h"

int ct_stack_add_thread(struct ct_stacks *s, uint32_t lane, uint64_t key)
{
    if (s->thread_count < CT_STACK_CONTEXTS) {
        if (!CT_PUSH_ROOM(s->threads, s->thread_count))
            return ct_fail_nomem(s->ctx, "stacks");
        s->threads[s->thread_count++] =
            (struct ct_stack_thread){.key = key, .lane = lane, .way = CT_WAY_START};
    }
    s->lanes[lane].thread = s->thread_count;
    return CT_OK;
}

int ct_stack_switch(struct ct_stacks *s, uint32_t lane, uint64_t key)
{
    const size_t now = s->lanes[lane].thread;
    if (now && s->threads[now - 1].lane == lane && s->threads[now - 1].key == key)
        return CT_OK;
    for (size_t i = 0; i < s->thread_count; i++) {
        if (s->threads[i].lane == lane && s->threads[i].key == key && !s->threads[i].is_parked) {
            s->lanes[lane].thread = i + 1;
            return CT_OK;
        }
    }
    return ct_stack_add_thread(s, lane, key);
}

size_t ct_stack_find_parked(const struct ct_stacks *s, const struct ct_stack_thread *now, uint64_t addr,
                            size_t *found)
{
    size_t n = 0;
    for (size_t i = 0; i < s->thread_count; i++) {
        const struct ct_stack_thread *t = &s->threads[i];
        if (!t->is_parked || t->resumes != addr || t->lane != now->lane || t->key != now->key)
            continue;
        *found = i;
        n++;
    }
    return n;
}

int ct_stack_park(struct ct_stacks *s, struct ct_stack_thread *thread, uint64_t resumes)
{
    int result = CT_OK;
    thread->is_parked = true;
    thread->resumes = resumes;
    for (size_t i = thread->depth; i-- > 0 && result == CT_OK;)
        result = ct_stack_stop(s, thread, i, 0);
    return result;
}

int ct_stack_go_on(struct ct_stacks *s, size_t number)
{
    struct ct_stack_thread *thread = &s->threads[number];
    int result = CT_OK;
    thread->is_parked = false;
    s->lanes[thread->lane].thread = number + 1;
    for (size_t i = 0; i < thread->depth && result == CT_OK; i++)
        result = ct_stack_start(s, thread, &thread->frames[i]);
    return result;
}
