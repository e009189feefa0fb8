/* SPDX-License-Identifier: Apache-2.0 */
/* Reads single records of a perf.data file. */
#include "input/perf.h"

#include <string.h>

#include "base/bytes.h"

/* ---- the sample ID at the end of a kernel's record ---- */

/* Finds the attribute of a record's event. Most recordings have one layout for all; otherwise the record's
 * last word identifies it. */
static const struct ct_perf_attr *attr_of(const struct ct_perf *p, const struct ct_perf_record *r)
{
    if (!p->attrs_differ || p->attrs_lack_identifier || r->size < 8)
        return p->attrs;
    const uint32_t index = ct_pair_map_get(&p->attr_ids, ct_load64(r->body + r->size - 8), 0);
    return p->attrs + (index != CT_PAIR_NONE ? index : 0);
}

/* Reads the sample ID; *size receives the size of the record's body without it. */
static struct ct_perf_sample sample_of(const struct ct_perf *p, const struct ct_perf_record *r, size_t *size)
{
    struct ct_perf_sample sample = {.tid = CT_NO_THREAD, .cpu = CT_PERF_NO_CPU};
    const struct ct_perf_attr *attr = attr_of(p, r);
    uint64_t type = attr ? attr->sample_type & CT_PERF_IN_SAMPLE_ID : 0;
    *size = r->size;
    if (!type || !(attr->flags & CT_PERF_ATTR_SAMPLE_ID_ALL))
        return sample;
    size_t id_size = 8 * (size_t)__builtin_popcountll(type);
    if (id_size > r->size)
        return sample;
    const uint8_t *at = r->body + r->size - id_size;
    *size = r->size - id_size;
    if (type & CT_PERF_SAMPLE_TID) {
        sample.tid = ct_load32(at + 4);
        at += 8;
    }
    if (type & CT_PERF_SAMPLE_TIME) {
        sample.time = ct_load64(at);
        at += 8;
    }
    at += type & CT_PERF_SAMPLE_ID ? 8 : 0;
    at += type & CT_PERF_SAMPLE_STREAM_ID ? 8 : 0;
    if (type & CT_PERF_SAMPLE_CPU)
        sample.cpu = ct_load32(at);
    return sample;
}

/* Counts a record that is ignored because it is damaged. */
static int ignore(struct ct_perf *p, const struct ct_perf_record *r)
{
    if (!p->bad++)
        p->bad_at = r->offset;
    return CT_OK;
}

/* ---- mappings, processes and threads ---- */

static int add_event(struct ct_perf *p, const struct ct_perf_event *event)
{
    void *room = NULL;
    int rc = ct_perf_push(p, p->events, &p->event_count, sizeof *p->events, &room);
    if (rc)
        return rc;
    p->events = room;
    p->events[p->event_count - 1] = *event;
    p->events[p->event_count - 1].order = (uint32_t)p->event_count;
    return CT_OK;
}

static const char *copy_name(struct ct_perf *p, const uint8_t *bytes, size_t size)
{
    return ct_arena_strndup(&p->arena, (const char *)bytes, strnlen((const char *)bytes, size));
}

/* Copies a build id, which replaces the file's device and inode in the record. */
static int copy_build_id(struct ct_perf *p, const uint8_t *bytes, const struct ct_build_id **out)
{
    struct ct_build_id *id = ct_arena_alloc(&p->arena, sizeof *id);
    if (!id)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    id->size = bytes[0] < CT_BUILD_ID_MAX ? bytes[0] : CT_BUILD_ID_MAX;
    memcpy(id->bytes, bytes + 4, id->size);
    *out = id;
    return CT_OK;
}

static int take_map(struct ct_perf *p, const struct ct_perf_record *r, size_t size, uint64_t time)
{
    bool second = r->type == CT_PERF_MMAP2;
    size_t name_at = second ? 64 : 32;
    if (size <= name_at)
        return ignore(p, r);
    bool executable =
        second ? ct_load32(r->body + 56) & CT_PERF_PROT_EXEC : !(r->misc & CT_PERF_MISC_MMAP_DATA);
    if (!executable)
        return CT_OK;
    struct ct_perf_event event = {
        .kind = CT_PERF_EVENT_MAP,
        .time = time,
        .pid = ct_load32(r->body),
        .tid = ct_load32(r->body + 4),
        .addr = ct_load64(r->body + 8),
        .size = ct_load64(r->body + 16),
        .file_offset = ct_load64(r->body + 24),
        .name = copy_name(p, r->body + name_at, size - name_at),
    };
    event.kernel = event.pid == UINT32_MAX || (r->misc & CT_PERF_MISC_MODE) == CT_PERF_MISC_KERNEL;
    if (!event.name)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    int rc = CT_OK;
    if (second && r->misc & CT_PERF_MISC_MMAP_BUILD_ID)
        rc = copy_build_id(p, r->body + 32, &event.id);
    return rc ? rc : add_event(p, &event);
}

static int take_comm(struct ct_perf *p, const struct ct_perf_record *r, size_t size, uint64_t time)
{
    if (size <= 8)
        return ignore(p, r);
    struct ct_perf_event event = {
        .kind = r->misc & CT_PERF_MISC_COMM_EXEC ? CT_PERF_EVENT_EXEC : CT_PERF_EVENT_COMM,
        .time = time,
        .pid = ct_load32(r->body),
        .tid = ct_load32(r->body + 4),
        .name = copy_name(p, r->body + 8, size - 8),
    };
    return event.name ? add_event(p, &event) : ct_fail_nomem(p->opening->ctx, p->file.path);
}

static int take_fork(struct ct_perf *p, const struct ct_perf_record *r, size_t size, uint64_t time)
{
    if (size < 24)
        return ignore(p, r);
    return add_event(p, &(struct ct_perf_event){
                            .kind = CT_PERF_EVENT_FORK,
                            .time = time ? time : ct_load64(r->body + 16),
                            .pid = ct_load32(r->body),
                            .parent = ct_load32(r->body + 4),
                            .tid = ct_load32(r->body + 8),
                            .parent_tid = ct_load32(r->body + 12),
                            .name = "",
                        });
}

/* The inode of the initial PID namespace of a system (include/linux/proc_ns.h); others are containers. */
#define FIRST_PID_NAMESPACE UINT64_C(0xeffffffc)
#define PID_NAMESPACE       3u

static int take_namespaces(struct ct_perf *p, const struct ct_perf_record *r, size_t size, uint64_t time)
{
    size_t at = 16 + 16 * PID_NAMESPACE;
    if (size < at + 16 || ct_load64(r->body + 8) <= PID_NAMESPACE ||
        ct_load64(r->body + at + 8) == FIRST_PID_NAMESPACE)
        return CT_OK;
    return add_event(p, &(struct ct_perf_event){.kind = CT_PERF_EVENT_CONTAINER,
                                                .time = time,
                                                .pid = ct_load32(r->body),
                                                .tid = ct_load32(r->body + 4),
                                                .name = ""});
}

/* ---- trace ---- */

static int take_aux(struct ct_perf *p, const struct ct_perf_record *r, size_t size,
                    const struct ct_perf_sample *sample)
{
    if (size < 24)
        return ignore(p, r);
    uint64_t offset = ct_load64(r->body);
    uint64_t length = ct_load64(r->body + 8);
    uint64_t flags = ct_load64(r->body + 16);
    p->lossy += (flags & CT_PERF_AUX_LOST) != 0;
    if (offset > UINT64_MAX - length)
        return ignore(p, r);
    if (!length)
        return CT_OK;
    void *room = NULL;
    int rc = ct_perf_push(p, p->auxes, &p->aux_count, sizeof *p->auxes, &room);
    if (rc)
        return rc;
    p->auxes = room;
    p->auxes[p->aux_count - 1] =
        (struct ct_perf_aux){.begin = offset, .end = offset + length, .flags = flags, .sample = *sample};
    return CT_OK;
}

static int take_trace(struct ct_perf *p, const struct ct_perf_record *r)
{
    if (r->size < 36)
        return ignore(p, r);
    struct ct_perf_trace trace = {
        .size = ct_load64(r->body),
        .aux = ct_load64(r->body + 8),
        .idx = ct_load32(r->body + 24),
        .tid = ct_load32(r->body + 28),
        .cpu = ct_load32(r->body + 32),
        .offset = r->offset + 8 + r->size,
    };
    uint64_t left = p->file.size - trace.offset;
    if (trace.size > left)
        trace.size = left;
    if (trace.aux > UINT64_MAX - trace.size)
        return ignore(p, r);
    if (!trace.size)
        return CT_OK;
    void *room = NULL;
    int rc = ct_perf_push(p, p->traces, &p->trace_count, sizeof *p->traces, &room);
    if (rc)
        return rc;
    p->traces = room;
    p->traces[p->trace_count - 1] = trace;
    return CT_OK;
}

static int take_hw_id(struct ct_perf *p, const struct ct_perf_record *r, size_t size,
                      const struct ct_perf_sample *sample)
{
    if (size < 8 || sample->cpu == CT_PERF_NO_CPU)
        return CT_OK;
    void *room = NULL;
    int rc = ct_perf_push(p, p->hw_ids, &p->hw_id_count, sizeof *p->hw_ids, &room);
    if (rc)
        return rc;
    p->hw_ids = room;
    p->hw_ids[p->hw_id_count - 1] = (struct ct_perf_hw_id){.value = ct_load64(r->body), .cpu = sample->cpu};
    return CT_OK;
}

static void take_clock(struct ct_perf *p, const struct ct_perf_record *r)
{
    uint64_t shift = r->size >= 24 ? ct_load64(r->body) : 64;
    uint64_t mult = r->size >= 24 ? ct_load64(r->body + 8) : 0;
    if (shift < 64 && mult && mult <= UINT32_MAX)
        p->clock = (struct ct_clock){
            .shift = (uint16_t)shift, .mult = (uint32_t)mult, .zero = ct_load64(r->body + 16), .known = 1};
}

/* ---- records of perf itself ---- */

static int take_attr(struct ct_perf *p, const struct ct_perf_record *r)
{
    uint32_t attr_size = r->size >= 8 ? ct_load32(r->body + 4) : 0;
    if (attr_size < 48 || attr_size > r->size)
        return ignore(p, r);
    struct ct_perf_attr *attr;
    int rc = ct_perf_add_attr(p, r->body, attr_size, &attr);
    if (rc || !attr)
        return rc;
    for (size_t at = attr_size; !rc && r->size - at >= 8; at += 8)
        rc = ct_perf_add_attr_id(p, ct_load64(r->body + at));
    return rc;
}

static int take_user(struct ct_perf *p, const struct ct_perf_record *r)
{
    switch (r->type) {
    case CT_PERF_ATTR:
        return p->pipe ? take_attr(p, r) : CT_OK;
    case CT_PERF_BUILD_ID:
        return ct_perf_add_build_id(p, r->body, r->size, r->misc);
    case CT_PERF_FEATURE:
        return r->size > 8 ? ct_perf_feature(p, ct_load64(r->body), r->body + 8, r->size - 8) : CT_OK;
    case CT_PERF_AUXTRACE_INFO:
        return ct_perf_take_info(p, r);
    case CT_PERF_AUXTRACE:
        return take_trace(p, r);
    case CT_PERF_TIME_CONV:
        take_clock(p, r);
        return CT_OK;
    default:
        return CT_OK;
    }
}

int ct_perf_take(struct ct_perf *p, const struct ct_perf_record *r)
{
    if (r->type >= CT_PERF_USER)
        return take_user(p, r);
    size_t size;
    struct ct_perf_sample sample = sample_of(p, r, &size);
    switch (r->type) {
    case CT_PERF_MMAP:
    case CT_PERF_MMAP2:
        return take_map(p, r, size, sample.time);
    case CT_PERF_COMM:
        return take_comm(p, r, size, sample.time);
    case CT_PERF_FORK:
        return take_fork(p, r, size, sample.time);
    case CT_PERF_NAMESPACES:
        return take_namespaces(p, r, size, sample.time);
    case CT_PERF_AUX:
        return take_aux(p, r, size, &sample);
    case CT_PERF_AUX_HW_ID:
        return take_hw_id(p, r, size, &sample);
    case CT_PERF_LOST:
        p->lost += size >= 16 ? ct_load64(r->body + 8) : 1;
        return CT_OK;
    default:
        return CT_OK;
    }
}
