/* SPDX-License-Identifier: Apache-2.0 */
/* Writes perf.data with samples instead of trace, like 'perf inject --itrace'. */
#include "export/perf.h"
#include "base/require.h"
#include "export/perf_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/described.h"
#include "base/options.h"
#include "base/path.h"
#include "base/room.h"
#include "chain/memories.h"

static const struct ct_maps no_maps;

/* One stream. */
struct lane {
    struct ct_perf_samples *of;
    struct ct_perf_stack stack;
    struct ct_place place;
    uint32_t memory; /* memory number of the steps in the stack */
    uint32_t cpu;
};

struct ct_perf_samples {
    struct ct_perf_export_of of;
    struct ct_perf_writer writer;
    const struct ct_maps *maps; /* of the capture, or empty */
    uint32_t entries;
    struct ct_perf_threads threads; /* the ones that have a name record already */
    struct ct_perf_codes codes;
    struct lane **lanes; /* NULL: no steps so far */
    size_t lane_count;
    uint64_t count;
    int result; /* the first error */
    bool ended;
};

/* ---- processes ---- */

static bool has_processes(const struct ct_perf_samples *s)
{
    return s->maps->process_count;
}

/* Returns the name of a context in the capture, or NULL. */
static const char *name_of(const struct ct_perf_samples *s, uint32_t tid)
{
    const struct ct_context_name *name = NULL;
    for (size_t i = 0; i < s->of.count && !name; i++)
        name = ct_context_name_find(&s->of.buffers[i], tid, CT_NO_TIME);
    return name ? name->name : NULL;
}

/* Returns a name for the process of a capture without processes. */
static const char *capture_name(const struct ct_perf_samples *s)
{
    const char *last = ct_base_name(s->of.options.name);
    return *last ? last : s->of.options.name;
}

/* Writes the mapping of CT_PERF_NOWHERE. */
static int put_nowhere(struct ct_perf_samples *s, const struct ct_perf_stamp *stamp)
{
    const struct ct_perf_map map = {.addr = CT_PERF_NOWHERE, .size = 4096, .path = "//anon"};
    return ct_perf_write_map(&s->writer, stamp, &map);
}

/* Writes all images for a process that the capture does not describe. */
static int put_images(struct ct_perf_samples *s, const struct ct_perf_stamp *stamp)
{
    return put_nowhere(s, stamp) ?: ct_perf_images_write(&s->of, &s->codes, &s->writer, stamp, 1);
}

/* Writes the name and the maps of a process of the recording. */
static int put_process(struct ct_perf_samples *s, const struct ct_process *process)
{
    const struct ct_perf_stamp first = {.time = process->generation_count ? process->generations[0].from : 0,
                                        .pid = process->pid,
                                        .tid = process->pid,
                                        .cpu = UINT32_MAX};
    int rc = put_nowhere(s, &first);
    for (size_t i = 0; i < process->generation_count && !rc; i++) {
        const struct ct_generation *generation = &process->generations[i];
        const struct ct_perf_stamp stamp = {
            .time = generation->from, .pid = process->pid, .tid = process->pid, .cpu = UINT32_MAX};
        if (*generation->name)
            rc = ct_perf_write_comm(&s->writer, &stamp, ct_base_name(generation->name), true);
        if (!rc)
            rc = ct_perf_generation_write(&s->of, generation, &s->writer, &stamp);
    }
    return rc;
}

static int put_processes(struct ct_perf_samples *s)
{
    const struct ct_perf_stamp kernel = {.cpu = UINT32_MAX};
    const struct ct_perf_stamp one = {
        .pid = CT_PERF_FIRST_FREE_PID, .tid = CT_PERF_FIRST_FREE_PID, .cpu = UINT32_MAX};
    int rc = CT_OK;
    if (!has_processes(s)) {
        return ct_perf_write_comm(&s->writer, &one, capture_name(s), false) ?: put_images(s, &one);
    }
    rc = ct_perf_images_write(&s->of, &s->codes, &s->writer, &kernel, 1);
    for (size_t i = 0; i < s->maps->process_count && !rc; i++)
        rc = put_process(s, &s->maps->processes[i]);
    return rc;
}

/* Returns the process that has the generation with this number. *from becomes the generation's begin. */
static const struct ct_process *owner_of(const struct ct_maps *maps, uint32_t number, uint64_t *from)
{
    const struct ct_generation *generation = ct_maps_generation(maps, number);
    for (size_t i = 0; i < maps->process_count && generation; i++) {
        const struct ct_process *process = &maps->processes[i];
        if (generation >= process->generations &&
            generation < process->generations + process->generation_count) {
            *from = generation->from;
            return process;
        }
    }
    return NULL;
}

/* Returns the thread, process and time of the stack of a lane. Without a thread in the trace, the memory
 * identifies the process. */
static struct ct_perf_stamp stamp_of(const struct ct_perf_samples *s, const struct lane *lane)
{
    const struct ct_place *place = &lane->place;
    const bool threaded = place->tid != CT_NO_THREAD;
    struct ct_perf_stamp stamp = {.cpu = lane->cpu};
    if (!has_processes(s)) {
        stamp.tid = threaded ? place->tid : CT_PERF_FIRST_FREE_PID;
        stamp.pid = stamp.tid ? CT_PERF_FIRST_FREE_PID : 0;
        return stamp;
    }
    const bool alone = s->maps->process_count == 1;
    const struct ct_process *owner =
        owner_of(s->maps, alone && !lane->memory ? 1 : lane->memory, &stamp.time);
    if (place->timed && place->time > stamp.time)
        stamp.time = place->time;
    stamp.tid = threaded ? place->tid : owner ? owner->pid : 0;
    stamp.pid = threaded ? ct_place_process(place, s->maps) : stamp.tid;
    return stamp;
}

/* Names a thread before its first sample. ID 0 is no thread and has its own maps. */
static int put_thread(struct ct_perf_samples *s, const struct ct_perf_stamp *stamp)
{
    const char *name = name_of(s, stamp->tid);
    int rc = CT_OK;
    if (!ct_perf_threads_add(&s->threads, stamp->tid))
        return CT_OK;
    if (!has_processes(s) && !stamp->tid)
        rc = put_images(s, stamp);
    else if (stamp->tid != stamp->pid)
        rc = ct_perf_write_fork(&s->writer, stamp, stamp->pid);
    if (!rc && (name || !has_processes(s)) && stamp->tid != CT_PERF_FIRST_FREE_PID)
        rc = ct_perf_write_comm(&s->writer, stamp, name ? name : capture_name(s), false);
    return rc;
}

/* ---- samples ---- */

/* Writes a sample at the newest branch of the stack, an address that was certainly executed. */
static int on_sample(void *user, const struct ct_perf_stack *stack)
{
    const struct lane *lane = user;
    struct ct_perf_samples *s = lane->of;
    const uint64_t ip = stack->branches[stack->count - 1].from;
    const struct ct_perf_stamp stamp = stamp_of(s, lane);
    const struct ct_perf_written_sample sample = {.ip = ip,
                                                  .period = stack->instructions,
                                                  .kernel = ct_perf_is_kernel(ip),
                                                  .branches = stack->branches,
                                                  .count = stack->count};
    const int rc = put_thread(s, &stamp);
    s->count++;
    return rc ? rc : ct_perf_write_sample(&s->writer, &stamp, &sample);
}

/* Returns the number at the end of the name of a source, which for perf is the CPU; 0 without one. */
static uint32_t cpu_of(const struct ct_source *source)
{
    const char *digits = source->name + strlen(source->name);
    while (digits > source->name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return (uint32_t)strtoul(digits, NULL, 10);
}

static struct lane *new_lane(struct ct_perf_samples *s, const struct ct_source *source)
{
    struct lane *lane = calloc(1, sizeof *lane);
    struct ct_perf_branch *branches = calloc(s->entries, sizeof *branches);
    if (!lane || !branches) {
        free(lane);
        free(branches);
        return NULL;
    }
    *lane = (struct lane){.of = s,
                          .stack = {.branches = branches, .room = s->entries, .sample = on_sample},
                          .place = {.time = CT_NO_TIME, .tid = CT_NO_THREAD},
                          .cpu = cpu_of(source)};
    lane->stack.user = lane;
    return lane;
}

/* Finds or makes a lane. CT_ERR_LIMIT, CT_ERR_NOMEM. */
static int find_lane(struct ct_perf_samples *s, uint32_t number, const struct ct_source *source,
                     struct lane **out)
{
    if (number >= CT_PERF_SAMPLES_LANES)
        return ct_fail(s->of.ctx, CT_ERR_LIMIT,
                       "ct_perf_samples_add: lane %u is not below %u; nothing was added", number,
                       CT_PERF_SAMPLES_LANES);
    if (!CT_MAKE_ZEROED_ROOM(s->lanes, s->lane_count, (size_t)number + 1))
        return ct_fail_nomem(s->of.ctx, "samples");
    if (!s->lanes[number])
        s->lanes[number] = new_lane(s, source);
    *out = s->lanes[number];
    return *out ? CT_OK : ct_fail_nomem(s->of.ctx, "samples");
}

static int take_mark(struct lane *lane, const struct ct_source *source, const struct ct_step_mark *mark)
{
    struct ct_place place = lane->place;
    if (mark->kind != CT_MARK_ELEM || !ct_place_follow(&place, lane->of->maps, source, &mark->elem))
        return CT_OK;
    const int rc = place.tid != lane->place.tid ? ct_perf_stack_end(&lane->stack) : CT_OK;
    lane->place = place;
    return rc;
}

static int take_step(struct lane *lane, const struct ct_node *node, const struct ct_edge *edge)
{
    const int rc = node->memory != lane->memory ? ct_perf_stack_end(&lane->stack) : CT_OK;
    lane->memory = node->memory;
    return rc ? rc : ct_perf_stack_step(&lane->stack, node, edge);
}

static int take(struct lane *lane, const struct ct_source *source, const struct ct_step_batch *batch)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &count);
    const struct ct_edge *edges = ct_graph_edges(batch->graph, &count);
    size_t mark = 0;
    int rc = CT_OK;
    for (size_t i = 0; i <= batch->count && !rc; i++) {
        for (; mark < batch->mark_count && batch->marks[mark].at <= i && !rc; mark++)
            rc = take_mark(lane, source, &batch->marks[mark]);
        if (!rc && i < batch->count) {
            const struct ct_edge *edge = &edges[batch->edge[i]];
            rc = take_step(lane, &nodes[edge->from], edge);
        }
    }
    return rc;
}

int ct_perf_samples_add(struct ct_perf_samples *s, uint32_t number, const struct ct_source *source,
                        const struct ct_step_batch *batch)
{
    struct lane *lane = NULL;
    CT_REQUIRE(s ? s->of.ctx : NULL, s, source, source->name, batch);
    if (s->ended)
        return ct_fail_ended(s->of.ctx, __func__);
    if (!s->result)
        s->result = find_lane(s, number, source, &lane);
    if (lane)
        s->result = take(lane, source, batch);
    return s->result;
}

/* ---- the file ---- */

int ct_perf_samples_finish(struct ct_perf_samples *s)
{
    CT_REQUIRE(NULL, s);
    if (s->ended)
        return ct_fail_ended(s->of.ctx, __func__);
    s->ended = true;
    for (size_t i = 0; i < s->lane_count && !s->result; i++)
        if (s->lanes[i])
            s->result = ct_perf_stack_end(&s->lanes[i]->stack);
    if (!s->result)
        s->result = ct_perf_write_end(&s->writer);
    return s->result;
}

uint64_t ct_perf_samples_count(const struct ct_perf_samples *s)
{
    return s ? s->count : 0;
}

void ct_perf_samples_free(struct ct_perf_samples *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->lane_count; i++) {
        if (s->lanes[i])
            free(s->lanes[i]->stack.branches);
        free(s->lanes[i]);
    }
    free(s->lanes);
    ct_perf_codes_free(&s->codes);
    free(s->writer.ids); /* in case the file was not ended */
    free(s);
}

static int begin(struct ct_perf_samples *s, ct_write_fn *write, void *user)
{
    const struct ct_perf_write_options options = {.pipe = !s->of.options.seek,
                                                  .exclude_kernel = !ct_perf_images_have_kernel(&s->of),
                                                  .timeless = !has_processes(s),
                                                  .samples = true,
                                                  .seek = s->of.options.seek};
    if (s->maps->by_piece)
        return ct_fail(s->of.ctx, CT_ERR_UNSUPPORTED,
                       "%s: its code changed while it ran, which samples in perf.data cannot represent; "
                       "nothing was exported; use the other commands on the capture itself",
                       s->of.options.name);
    int rc = has_processes(s) ? CT_OK : ct_perf_codes_find(&s->of, &s->codes);
    if (!rc)
        rc = ct_perf_write_begin(&s->writer, write, user, &options);
    if (!rc)
        rc = put_processes(s);
    if (rc == CT_ERR_LIMIT)
        return ct_fail(
            s->of.ctx, rc,
            "%s: a path is too long for a record of perf.data; nothing was exported; use shorter paths",
            s->of.options.name);
    return ct_tell_nomem(s->of.ctx, "perf.data", rc);
}

int ct_perf_samples_new(struct ct_ctx *ctx, const struct ct_capture *capture,
                        const struct ct_perf_samples_options *options, ct_write_fn *write, void *user,
                        struct ct_perf_samples **out)
{
    struct ct_perf_samples_options mine;
    CT_REQUIRE_OUT(ctx, out, capture, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine) ||
        ct_buffers_check(ctx, __func__, capture->buffers, capture->buffer_count))
        return CT_ERR_ARG;
    if (!mine.name)
        mine.name = capture->path ? capture->path : "capture";
    if (!mine.entries)
        mine.entries = CT_PERF_SAMPLES_ENTRIES;
    if (mine.entries < 2 || mine.entries > CT_PERF_SAMPLES_ENTRIES_MAX)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "ct_perf_samples_new: branch stacks of %u entries are not possible; use 2 to %u entries",
            mine.entries, CT_PERF_SAMPLES_ENTRIES_MAX);
    struct ct_perf_samples *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "samples");
    s->of = (struct ct_perf_export_of){.ctx = ctx,
                                       .capture = capture,
                                       .buffers = capture->buffers,
                                       .count = capture->buffer_count,
                                       .options = {.name = mine.name, .seek = mine.seek}};
    s->maps = capture->maps ? capture->maps : &no_maps;
    s->entries = mine.entries;
    const int rc = begin(s, write, user);
    if (rc)
        ct_perf_samples_free(s);
    else
        *out = s;
    return rc;
}
