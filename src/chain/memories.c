/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/memories.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/ctx.h"
#include "base/search.h"
#include "program/memory.h"

struct own {
    const struct ct_generation *generation;
    uint32_t number;
};

struct ct_memories {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    const struct ct_maps *maps; /* of the buffer, or empty */
    bool changes;
    size_t count;
    struct ct_memory **made; /* memories by process and generation, NULL until made; entry 0 is the initial
                                memory */
    size_t *first;           /* for each process: index of its first generation in `made` */
    uint32_t *number;        /* for each entry of `made`: index of the memory used for it; 0 while unknown */
    struct own *own;         /* the memories in use */
    size_t own_count;
    struct ct_memory_files files; /* of all memories */
};

static const struct ct_maps no_maps;

static int add_images(struct ct_memories *m, struct ct_memory *memory, const struct ct_image *images,
                      size_t count)
{
    int rc = CT_OK;
    for (size_t i = 0; i < count && rc != CT_ERR_NOMEM; i++) {
        rc = ct_memory_add_image(memory, &images[i]);
        if (rc && !m->buffer->maps)
            return rc;
        if (rc)
            ct_log(m->ctx, CT_LOG_WARNING, "%s", ct_ctx_error(m->ctx));
    }
    return rc == CT_ERR_NOMEM ? rc : CT_OK;
}

static int make(struct ct_memories *m, const struct ct_generation *generation, struct ct_memory **out)
{
    struct ct_memory *memory;
    int rc = ct_memory_new_sharing(m->ctx, &m->files, &memory);
    if (rc)
        return rc;
    if (generation)
        rc = add_images(m, memory, generation->images, generation->image_count);
    if (!rc)
        rc = add_images(m, memory, m->buffer->images, m->buffer->image_count);
    if (!rc)
        rc = ct_memory_link(memory);
    if (rc) {
        ct_memory_free(memory);
        return rc;
    }
    *out = memory;
    return CT_OK;
}

/* Returns the only generation that the trace of the buffer can belong to, or NULL when there are several. */
static const struct ct_generation *only_one(const struct ct_buffer *buffer)
{
    const struct ct_maps *maps = buffer->maps;
    if (!maps || maps->process_count != 1 || maps->processes[0].generation_count != 1)
        return NULL;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (ct_source_tells_context(&buffer->sources[i]))
            return NULL;
    return maps->processes[0].generations;
}

int ct_memories_new(struct ct_ctx *ctx, const struct ct_buffer *buffer, struct ct_memories **out,
                    const struct ct_memory **common)
{
    struct ct_memories *m = calloc(1, sizeof *m);
    if (!m)
        return ct_fail_nomem(ctx, buffer->name);
    *m = (struct ct_memories){.ctx = ctx, .buffer = buffer, .maps = buffer->maps ? buffer->maps : &no_maps};
    m->first = calloc(m->maps->process_count + 1, sizeof *m->first);
    m->count = 1; /* entry 0: no process, no generation */
    for (size_t i = 0; m->first && i < m->maps->process_count; i++) {
        m->first[i] = m->count;
        m->count += m->maps->processes[i].generation_count;
    }
    m->made = calloc(m->count, sizeof(struct ct_memory *));
    m->number = calloc(m->count, sizeof *m->number);
    m->own = calloc(m->count, sizeof *m->own);
    const struct ct_generation *only = only_one(buffer);
    m->changes = m->count > 1 && !only;
    if (!m->first || !m->made || !m->number || !m->own) {
        ct_memories_free(m);
        return ct_fail_nomem(ctx, buffer->name);
    }
    int rc = make(m, only, &m->made[0]);
    if (rc) {
        ct_memories_free(m);
        return rc;
    }
    *out = m;
    *common = m->made[0];
    return CT_OK;
}

void ct_memories_free(struct ct_memories *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->made && i < m->count; i++)
        ct_memory_free(m->made[i]);
    ct_memory_files_free(&m->files);
    free(m->made);
    free(m->first);
    free(m->number);
    free(m->own);
    free(m);
}

bool ct_memories_stay(const struct ct_buffer *buffer)
{
    return only_one(buffer);
}

bool ct_memories_change(const struct ct_memories *m)
{
    return m->changes;
}

bool ct_memories_thread(const struct ct_source *source, const struct ct_elem *elem, uint32_t *tid)
{
    const bool in_vmid = ct_source_thread_in_vmid(source);
    if (elem->kind != CT_ELEM_CONTEXT)
        return false;
    *tid = (uint32_t)(in_vmid ? elem->v >> 32 : elem->v);
    return elem->aux & (in_vmid ? CT_CONTEXT_VMID : CT_CONTEXT_CTXT);
}

bool ct_memories_follow(const struct ct_memories *m, const struct ct_source *source,
                        const struct ct_elem *elem, struct ct_place *place)
{
    return ct_place_follow(place, m->maps, source, elem);
}

bool ct_place_follow(struct ct_place *place, const struct ct_maps *maps, const struct ct_source *source,
                     const struct ct_elem *elem)
{
    uint32_t tid;
    if (maps->by_piece)
        return false;
    if (elem->kind == CT_ELEM_TIMESTAMP && maps->clock.known) {
        place->time = ct_clock_nanoseconds(&maps->clock, elem->v);
        place->timed = true;
        return true;
    }
    if (!ct_memories_thread(source, elem, &tid) || tid == place->tid)
        return false;
    place->tid = tid;
    return true;
}

/* Counts the entries of the array, which is sorted by thread ID and time, up to and including (tid, time). */
static size_t threads_up_to(const struct ct_maps *maps, uint32_t tid, uint64_t time)
{
    const struct ct_thread *t = maps->threads;
    return CT_COUNT_WHILE(maps->thread_count, i, t[i].tid < tid || (t[i].tid == tid && t[i].from <= time));
}

uint32_t ct_place_process(const struct ct_place *place, const struct ct_maps *maps)
{
    size_t n = threads_up_to(maps, place->tid, place->time);
    if (n && maps->threads[n - 1].tid == place->tid)
        return maps->threads[n - 1].pid;
    /* The map names the thread only from a later time on: take that first entry. */
    if (n < maps->thread_count && maps->threads[n].tid == place->tid)
        return maps->threads[n].pid;
    return place->tid;
}

static const struct ct_process *find_process(const struct ct_maps *maps, uint32_t pid)
{
    const size_t low = CT_COUNT_WHILE(maps->process_count, i, maps->processes[i].pid < pid);
    return low < maps->process_count && maps->processes[low].pid == pid ? &maps->processes[low] : NULL;
}

/* Returns the index of the generation at a time; that of the first one before it. */
static size_t find_generation(const struct ct_process *process, uint64_t time)
{
    const size_t low = CT_COUNT_UP_TO(process->generations, process->generation_count, from, time);
    return low ? low - 1 : 0;
}

static bool same_images(const struct ct_generation *a, const struct ct_generation *b)
{
    bool same = a->image_count == b->image_count;
    for (size_t i = 0; same && i < a->image_count; i++)
        same = ct_image_same(&a->images[i], &b->images[i]);
    return same;
}

/* Returns the number of a memory that was made from the same images, or 0. A child process has the memory of
 * its parent until it runs another program. */
static uint32_t find_same(const struct ct_memories *m, const struct ct_generation *generation)
{
    for (size_t i = 0; i < m->own_count; i++)
        if (same_images(m->own[i].generation, generation))
            return m->own[i].number;
    return 0;
}

static int make_own(struct ct_memories *m, const struct ct_generation *generation, uint32_t number)
{
    int rc = make(m, generation, &m->made[number]);
    if (!rc)
        m->own[m->own_count++] = (struct own){generation, number};
    return rc;
}

int ct_memories_at(struct ct_memories *m, const struct ct_place *place, const struct ct_memory **out,
                   uint32_t *number)
{
    const struct ct_process *process = m->maps->by_piece ? m->maps->processes
                                       : place->tid == CT_NO_THREAD
                                           ? NULL
                                           : find_process(m->maps, ct_place_process(place, m->maps));
    size_t at = 0;
    int rc = CT_OK;
    if (process && process->generation_count) {
        size_t which = find_generation(process, place->time);
        const struct ct_generation *generation = &process->generations[which];
        at = m->first[process - m->maps->processes] + which;
        if (!m->number[at])
            m->number[at] = find_same(m, generation);
        if (!m->number[at]) {
            rc = make_own(m, generation, (uint32_t)at);
            m->number[at] = rc ? 0 : (uint32_t)at;
        }
    }
    *number = m->number[at];
    *out = m->made[*number];
    return rc;
}
