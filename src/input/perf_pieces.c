/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a perf.data file. AUXTRACE records contain pieces of AUX streams, one stream for each CPU or
 * thread that was recorded. AUX records say which parts of a stream were traced without interruption, how,
 * and by whom. */
#include "input/perf.h"
#include "base/search.h"

#include <stdlib.h>

/* A group of pieces that becomes one buffer: a stream, or the part of it that one sink (with frames) or one
 * CPU (without) wrote. */
struct group {
    const struct ct_perf_trace *trace; /* the first of the group */
    struct ct_piece *pieces;
    size_t count;
    uint64_t end;                  /* end of the last piece in the AUX stream */
    const struct ct_perf_aux *aux; /* AUX record of the last piece */
    uint32_t writer;               /* number of the sink or CPU */
    bool raw;
};

struct layout {
    struct ct_perf *perf;
    const struct ct_perf_aux **by_cpu, **by_tid; /* all AUX records, sorted by CPU or thread, then by start */
    struct group *groups;
    size_t count;
};

static int cpu_order(const void *a, const void *b)
{
    const struct ct_perf_aux *x = *(const struct ct_perf_aux *const *)a;
    const struct ct_perf_aux *y = *(const struct ct_perf_aux *const *)b;
    return ct_order(x->sample.cpu, y->sample.cpu) ?: ct_order(x->begin, y->begin);
}

static int tid_order(const void *a, const void *b)
{
    const struct ct_perf_aux *x = *(const struct ct_perf_aux *const *)a;
    const struct ct_perf_aux *y = *(const struct ct_perf_aux *const *)b;
    return ct_order(x->sample.tid, y->sample.tid) ?: ct_order(x->begin, y->begin);
}

/* Sets start and end of snapshots. The record of a snapshot has the end in place of the start, and a size
 * that may exceed what was kept. */
static void place_snapshots(struct ct_perf *p)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < p->trace_count; i++)
        largest = p->traces[i].size > largest ? p->traces[i].size : largest;
    for (size_t i = 0; i < p->aux_count; i++) {
        struct ct_perf_aux *aux = &p->auxes[i];
        if (!(aux->flags & CT_PERF_AUX_OVERWRITE))
            continue;
        uint64_t size = aux->end - aux->begin < largest ? aux->end - aux->begin : largest;
        aux->end = aux->begin;
        aux->begin = aux->end > size ? aux->end - size : 0;
    }
}

static int sort_auxes(struct layout *l)
{
    struct ct_perf *p = l->perf;
    size_t size = (p->aux_count + 1) * sizeof(struct ct_perf_aux *);
    l->by_cpu = ct_arena_alloc(&p->arena, size);
    l->by_tid = ct_arena_alloc(&p->arena, size);
    if (!l->by_cpu || !l->by_tid)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    for (size_t i = 0; i < p->aux_count; i++)
        l->by_cpu[i] = l->by_tid[i] = &p->auxes[i];
    qsort(l->by_cpu, p->aux_count, sizeof(struct ct_perf_aux *), cpu_order);
    qsort(l->by_tid, p->aux_count, sizeof(struct ct_perf_aux *), tid_order);
    return CT_OK;
}

/* Returns whether a record has a lower key, or ends at or before `at`. */
static bool is_before(const struct ct_perf_aux *aux, bool by_cpu, uint32_t key, uint64_t at)
{
    const uint32_t of = by_cpu ? aux->sample.cpu : aux->sample.tid;
    return of < key || (of == key && aux->end <= at);
}

/* Finds the index of the first record in a sorted list that has `key` and ends after `at`. Records have no
 * key when the recording does not say to whom they belong. */
static size_t find_aux(const struct ct_perf_aux *const *list, size_t count, bool by_cpu, uint32_t key,
                       uint64_t at)
{
    return CT_COUNT_WHILE(count, i, is_before(list[i], by_cpu, key, at));
}

static uint32_t sink_of(const struct ct_perf *p, uint32_t cpu)
{
    for (size_t i = 0; i < p->cpu_count; i++)
        if (p->cpus[i].cpu == cpu)
            return p->cpus[i].sink;
    return 0;
}

static int find_group(struct layout *l, const struct ct_perf_trace *trace, bool raw, uint32_t writer,
                      struct group **out)
{
    for (size_t i = l->count; i-- > 0;) {
        struct group *g = &l->groups[i];
        if (g->trace->idx == trace->idx && g->raw == raw && g->writer == writer) {
            *out = g;
            return CT_OK;
        }
    }
    struct ct_perf *p = l->perf;
    if (l->count == CT_ITEMS_MAX)
        return ct_fail(p->opening->ctx, CT_ERR_LIMIT,
                       "%s: the file has trace of more than %d buffers, which is the "
                       "limit; it is not read",
                       p->file.path, CT_ITEMS_MAX);
    void *room = NULL;
    int rc = ct_perf_push(p, l->groups, &l->count, sizeof *l->groups, &room);
    if (rc)
        return rc;
    l->groups = room;
    *out = &l->groups[l->count - 1];
    **out = (struct group){.trace = trace, .raw = raw, .writer = writer};
    return CT_OK;
}

/* Adds bytes [begin, end) of an AUX stream to a buffer. `aux` is the record that covers them, or NULL. `last`
 * is the one that covered bytes before: uncovered bytes were probably written in the same way. */
static int add_piece(struct layout *l, const struct ct_perf_trace *trace, uint64_t begin, uint64_t end,
                     const struct ct_perf_aux *aux, const struct ct_perf_aux *last)
{
    const struct ct_perf_aux *how = aux ? aux : last;
    bool raw = how && (how->flags & CT_PERF_AUX_FORMAT) == CT_PERF_AUX_RAW;
    uint32_t cpu = how && how->sample.cpu != CT_PERF_NO_CPU ? how->sample.cpu : trace->cpu;
    struct group *g = NULL;
    int rc = find_group(l, trace, raw, raw ? cpu : sink_of(l->perf, cpu), &g);
    if (rc)
        return rc;
    bool joins = g->count && g->end == begin && g->aux == aux;
    struct ct_piece *pieces = ct_arena_push(l->perf->opening->arena, g->pieces, &g->count, sizeof *pieces);
    if (!pieces)
        return ct_fail_nomem(l->perf->opening->ctx, l->perf->file.path);
    pieces[g->count - 1] = (struct ct_piece){
        .offset = trace->offset + (begin - trace->aux),
        .size = end - begin,
        .time = aux && aux->sample.time ? aux->sample.time : CT_NO_TIME,
        .tid = aux && aux->sample.tid != CT_NO_THREAD ? aux->sample.tid
               : trace->cpu == CT_PERF_NO_CPU         ? trace->tid
                                                      : CT_NO_THREAD,
        .joins = joins,
        .cut = aux && aux->end == end && aux->flags & CT_PERF_AUX_LOST,
    };
    g->pieces = pieces;
    g->end = end;
    g->aux = aux;
    return CT_OK;
}

static int cut_up(struct layout *l, const struct ct_perf_trace *trace)
{
    struct ct_perf *p = l->perf;
    bool by_cpu = trace->cpu != CT_PERF_NO_CPU;
    const struct ct_perf_aux **list = by_cpu ? l->by_cpu : l->by_tid;
    uint32_t key = by_cpu ? trace->cpu : trace->tid;
    uint64_t at = trace->aux;
    uint64_t end = trace->aux + trace->size;
    size_t i = find_aux(list, p->aux_count, by_cpu, key, at);
    uint32_t of = UINT32_MAX;
    if (i < p->aux_count)
        of = by_cpu ? list[i]->sample.cpu : list[i]->sample.tid;
    if (of != key) {
        /* records without sample IDs apply to all */
        key = UINT32_MAX;
        i = find_aux(list, p->aux_count, by_cpu, key, at);
    }
    const struct ct_perf_aux *last = NULL;
    int rc = CT_OK;
    for (; !rc && at < end && i < p->aux_count && list[i]->begin < end; i++) {
        const struct ct_perf_aux *aux = list[i];
        if ((by_cpu ? aux->sample.cpu : aux->sample.tid) != key)
            break;
        if (aux->begin > at) {
            rc = add_piece(l, trace, at, aux->begin, NULL, last);
            at = aux->begin;
        }
        uint64_t stop = aux->end < end ? aux->end : end;
        if (!rc && stop > at) {
            rc = add_piece(l, trace, at, stop, aux, last);
            p->auxes[aux - p->auxes].there += stop - at;
            at = stop;
        }
        last = aux;
    }
    return !rc && at < end ? add_piece(l, trace, at, end, NULL, last) : rc;
}

static int aux_order(const void *a, const void *b)
{
    const struct ct_perf_trace *x = *(const struct ct_perf_trace *const *)a;
    const struct ct_perf_trace *y = *(const struct ct_perf_trace *const *)b;
    return ct_order(x->idx, y->idx) ?: ct_order(x->aux, y->aux);
}

/* Reports trace that the file contains twice. Snapshots may overlap, because each one is a whole buffer. */
static int tell_repeated(struct ct_perf *p)
{
    for (size_t i = 0; i < p->aux_count; i++)
        if (p->auxes[i].flags & CT_PERF_AUX_OVERWRITE)
            return CT_OK;
    const struct ct_perf_trace **list = ct_arena_alloc(&p->arena, (p->trace_count + 1) * sizeof *list);
    if (!list)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    for (size_t i = 0; i < p->trace_count; i++)
        list[i] = &p->traces[i];
    qsort(list, p->trace_count, sizeof *list, aux_order);
    uint64_t bytes = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < p->trace_count; i++) {
        const uint64_t begin = list[i]->aux;
        const uint64_t stop = begin + list[i]->size;
        if (!i || list[i]->idx != list[i - 1]->idx)
            end = 0;
        bytes += begin < end ? (stop < end ? stop : end) - begin : 0;
        end = stop > end ? stop : end;
    }
    return bytes ? ct_perf_damage(p,
                                  "%llu bytes of trace are in the file twice, so what ran then is counted "
                                  "twice; copy the file again",
                                  (unsigned long long)bytes)
                 : CT_OK;
}

/* Reports how much trace in the records is not in the file. For a snapshot it is unknown how much was kept,
 * and a truncated file was reported before. */
static int tell_absent(struct ct_perf *p)
{
    uint64_t bytes = 0, records = 0;
    for (size_t i = 0; i < p->aux_count; i++) {
        const struct ct_perf_aux *aux = &p->auxes[i];
        const uint64_t size = aux->end > aux->begin ? aux->end - aux->begin : 0;
        if (aux->flags & CT_PERF_AUX_OVERWRITE || aux->there >= size)
            continue;
        bytes += size - aux->there;
        records++;
    }
    if (!bytes || p->cut)
        return CT_OK;
    return ct_perf_damage(
        p,
        "%llu bytes of trace that %llu AUX record%s are not in the file, so what ran then is unknown; record "
        "with a larger AUX buffer",
        (unsigned long long)bytes, (unsigned long long)records, records == 1 ? " announces" : "s announce");
}

static int add_source(struct ct_perf *p, struct ct_buffer *buffer, struct ct_source **sources,
                      const struct ct_source *source)
{
    struct ct_source *grown =
        ct_arena_push(p->opening->arena, *sources, &buffer->source_count, sizeof **sources);
    if (!grown)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    grown[buffer->source_count - 1] = *source;
    *sources = grown;
    return CT_OK;
}

static bool has_id(const struct ct_source *sources, size_t count, uint8_t id)
{
    for (size_t i = 0; sources && i < count; i++)
        if (sources[i].trace_id == id)
            return true;
    return false;
}

static int add_sources(struct ct_perf *p, const struct group *g, struct ct_buffer *buffer)
{
    struct ct_source *sources = NULL;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < p->cpu_count; i++) {
        const struct ct_perf_cpu *cpu = &p->cpus[i];
        uint8_t id = cpu->source.trace_id;
        if (g->raw ? cpu->cpu != g->writer : cpu->unused || cpu->sink != g->writer || id == 0 || id >= 0x70)
            continue;
        if (!g->raw && has_id(sources, buffer->source_count, id)) {
            rc = ct_perf_damage(
                p,
                "the trace unit of CPU %u has trace ID 0x%02x, which another one also has; the trace of both "
                "is decoded as that of the other",
                cpu->cpu, (unsigned)id);
            continue;
        }
        rc = add_source(p, buffer, &sources, &cpu->source);
    }
    buffer->sources = sources;
    return rc;
}

static const char *group_name(const struct layout *l, const struct group *g)
{
    struct ct_arena *arena = l->perf->opening->arena;
    const char *name = g->trace->cpu == CT_PERF_NO_CPU ? ct_arena_printf(arena, "tid%u", g->trace->tid)
                                                       : ct_arena_printf(arena, "cpu%u", g->trace->cpu);
    bool alone = true;
    bool only = true;
    for (size_t i = 0; i < l->count; i++) {
        const struct group *other = &l->groups[i];
        if (other == g)
            continue;
        alone &= other->trace->idx != g->trace->idx;
        only &= other->trace->cpu != g->trace->cpu || other->trace->tid != g->trace->tid ||
                other->trace->idx == g->trace->idx;
    }
    if (name && !only)
        name = ct_arena_printf(arena, "%s.%u", name, g->trace->idx);
    if (name && !alone)
        name = g->raw ? ct_arena_printf(arena, "%s.cpu%u", name, g->writer)
                      : ct_arena_printf(arena, "%s.sink%u", name, g->writer);
    return name;
}

static int add_buffer(struct layout *l, const struct group *g)
{
    struct ct_perf *p = l->perf;
    struct ct_capture *capture = p->opening->capture;
    struct ct_buffer buffer = {
        .name = group_name(l, g),
        .path = ct_arena_strdup(p->opening->arena, p->file.path),
        .pieces = g->pieces,
        .piece_count = g->count,
        .framing = g->raw ? CT_FRAMING_NONE : CT_FRAMING_FRAMES,
    };
    struct ct_buffer *buffers =
        ct_arena_push(p->opening->arena, capture->buffers, &capture->buffer_count, sizeof *buffers);
    if (!buffer.name || !buffer.path || !buffers)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    int rc = add_sources(p, g, &buffer);
    buffers[capture->buffer_count - 1] = buffer;
    capture->buffers = buffers;
    if (!rc && !buffer.source_count)
        rc = ct_perf_damage(p,
                            "buffer %s: the recording describes no trace unit for it, so its trace cannot "
                            "be decoded",
                            buffer.name);
    return rc;
}

int ct_perf_make_buffers(struct ct_perf *p)
{
    struct layout l = {.perf = p};
    place_snapshots(p);
    int rc = sort_auxes(&l);
    for (size_t i = 0; !rc && i < p->trace_count; i++)
        rc = cut_up(&l, &p->traces[i]);
    if (!rc)
        rc = tell_absent(p);
    if (!rc)
        rc = tell_repeated(p);
    for (size_t i = 0; !rc && i < l.count; i++)
        rc = add_buffer(&l, &l.groups[i]);
    return rc;
}
