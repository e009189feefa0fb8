/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the ELF files of a recording that ran: those of the processes with trace, if the recording says whose
 * it is. Context IDs in the trace may show more. */
#include "base/search.h"
#include "input/perf.h"

#include <stdlib.h>

/* Sorted numbers of threads or processes. */
struct numbers {
    uint32_t *all;
    size_t count;
};

static int number_order(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return ct_order(x, y);
}

static bool has(const struct numbers *n, uint32_t number)
{
    return n->count && bsearch(&number, n->all, n->count, sizeof *n->all, number_order);
}

static int reserve(struct ct_perf *p, struct numbers *n, size_t most)
{
    *n = (struct numbers){.all = ct_arena_alloc(&p->arena, (most + 1) * sizeof *n->all)};
    return n->all ? CT_OK : ct_fail_nomem(p->opening->ctx, p->file.path);
}

static void sort(struct numbers *n)
{
    if (n->count)
        qsort(n->all, n->count, sizeof *n->all, number_order);
}

/* Lists the processes to which pieces of trace belong. */
static int find_processes(struct ct_perf *p, const struct ct_maps *maps, struct numbers *pids)
{
    struct numbers tids;
    int rc = reserve(p, &tids, p->aux_count + p->trace_count);
    for (size_t i = 0; !rc && i < p->aux_count; i++)
        tids.all[tids.count++] = p->auxes[i].sample.tid;
    for (size_t i = 0; !rc && i < p->trace_count; i++)
        tids.all[tids.count++] = p->traces[i].tid;
    if (!rc)
        rc = reserve(p, pids, tids.count + maps->thread_count);
    if (rc)
        return rc;
    sort(&tids);
    for (size_t i = 0; i < tids.count; i++)
        pids->all[pids->count++] = tids.all[i];
    for (size_t i = 0; i < maps->thread_count; i++)
        if (has(&tids, maps->threads[i].tid))
            pids->all[pids->count++] = maps->threads[i].pid;
    sort(pids);
    return CT_OK;
}

static int add(struct ct_perf *p, const struct ct_image *program, bool started)
{
    struct ct_capture *capture = p->opening->capture;
    for (size_t i = 0; i < capture->program_count; i++)
        if (ct_image_same(&capture->programs[i], program))
            return CT_OK;
    if (capture->program_count == CT_PERF_PROGRAMS_MAX)
        return CT_OK;
    struct ct_image *programs =
        ct_arena_push(p->opening->arena, capture->programs, &capture->program_count, sizeof *programs);
    if (!programs)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    programs[capture->program_count - 1] = *program;
    capture->programs = programs;
    capture->main_count += started;
    return CT_OK;
}

/* Adds the ELF files of a process: those that were started, or all others. */
static int add_process(struct ct_perf *p, const struct ct_process *process, bool started)
{
    int rc = CT_OK;
    for (size_t i = 0; i < process->generation_count; i++) {
        const struct ct_generation *g = &process->generations[i];
        size_t first = started ? 0 : g->has_main;
        size_t last = started ? g->has_main : g->program_count;
        for (size_t k = first; !rc && k < last; k++)
            rc = add(p, &g->programs[k], started);
    }
    return rc;
}

int ct_perf_name_programs(struct ct_perf *p, const struct ct_maps *maps)
{
    struct numbers pids;
    int rc = find_processes(p, maps, &pids);
    for (unsigned pass = 0; !rc && pass < 2; pass++)
        for (size_t i = 0; !rc && i < maps->process_count; i++)
            if (has(&pids, maps->processes[i].pid))
                rc = add_process(p, &maps->processes[i], pass == 0);
    return rc;
}
