/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which contexts, threads, processes and exception levels a filter wants. */
#include "session/sieve.h"

#include "base/ctx.h"
#include "chain/memories.h"

static bool is_in(const uint32_t *list, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

static void note(uint32_t *list, uint32_t *count, uint32_t number)
{
    if (*count < CT_SIEVE_CONTEXTS && !is_in(list, *count, number))
        list[(*count)++] = number;
}

/* Returns whether a thread belongs to a wanted process. Linux reuses thread IDs, so one ID may belong to
 * several processes; it counts for each. */
static bool in_processes(const struct ct_filter *f, const struct ct_maps *maps, uint32_t tid)
{
    bool known = false;
    for (size_t i = 0; maps && i < maps->thread_count; i++) {
        if (maps->threads[i].tid != tid)
            continue;
        known = true;
        if (is_in(f->pids, f->pid_count, maps->threads[i].pid))
            return true;
    }
    return !known && is_in(f->pids, f->pid_count, tid);
}

bool ct_sieve_wants(const struct ct_filter *f, const struct ct_source *source, const struct ct_maps *maps,
                    const struct ct_elem *context, struct ct_sieve_seen *seen)
{
    const bool has_context = context->aux & CT_CONTEXT_CTXT;
    const bool has_level = context->aux & CT_CONTEXT_EL;
    const uint8_t level = (uint8_t)(1u << (context->n & 3));
    const uint32_t ctxt = ct_elem_ctxt(context);
    uint32_t tid = 0;
    const bool has_thread = ct_memories_thread(source, context, &tid);
    if (has_context)
        note(seen->contexts, &seen->context_count, ctxt);
    if (has_thread)
        note(seen->threads, &seen->thread_count, tid);
    seen->levels |= has_level ? level : 0;
    return (!f->context_count || (has_context && is_in(f->contexts, f->context_count, ctxt))) &&
           (!f->tid_count || (has_thread && is_in(f->tids, f->tid_count, tid))) &&
           (!f->pid_count || (has_thread && in_processes(f, maps, tid))) &&
           (!f->levels || (has_level && f->levels & level));
}

bool ct_sieve_wants_all(const struct ct_filter *f)
{
    return !(f->context_count || f->tid_count || f->pid_count || f->levels);
}

void ct_sieve_note_ticks(struct ct_sieve_clock *clock, struct ct_sieve_seen *seen, uint64_t ticks)
{
    if (!seen->has_ticks)
        seen->first_ticks = ticks;
    clock->ticks = ticks > clock->ticks ? ticks : clock->ticks;
    seen->last_ticks = clock->ticks;
    seen->has_ticks = 1;
}

int ct_sieve_no_cycles(struct ct_ctx *ctx, const struct ct_source *source)
{
    return ct_fail(
        ctx, CT_ERR_NOT_FOUND,
        "%s: the trace has no cycle counts, so a window in cycles selects nothing; give the window in time, "
        "instructions or places, or choose another trace ID or core",
        source->name ? source->name : "a stream");
}
