/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the demultiplexer over some bytes and keeps everything it reports, so that tests can compare two ways
 * of running it. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "frame/demux.h"

struct demux_bytes {
    uint8_t *data;
    uint64_t *offsets; /* of each byte: its offset in the capture */
    size_t size, cap;
};

struct demux_mark {
    struct ct_frame_mark mark;
    uint64_t before; /* bytes of all runs before the mark */
};

struct demux_result {
    struct demux_bytes ids[128];
    struct demux_mark *marks;
    size_t mark_count, mark_cap;
    uint64_t total;
    struct ct_frame_stats stats;
};

struct demux_how {
    uint8_t framing, no_fsync_reset, plain;
    const struct ct_frame_ops *ops; /* NULL without `plain`: those for this processor */
    unsigned leave_out;             /* an ID that is only counted; 0: none */
    uint32_t seed;                  /* seed of random pieces with partial consumption; 0: everything at
                                     * once */
    size_t cut;                     /* with seed 0: where the input is cut in two; 0: nowhere */
};

static inline void demux_grow(void *array, size_t *cap, size_t need, size_t size)
{
    void **slot = (void **)array;
    while (*cap < need) {
        *cap = *cap ? 2 * *cap : 64;
        *slot = realloc(*slot, *cap * size);
        if (!*slot)
            abort();
    }
}

static inline uint32_t demux_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static inline void demux_take(struct demux_result *result, struct ct_demux *demux, unsigned id, size_t most)
{
    struct demux_bytes *bytes = &result->ids[id];
    struct ct_run run;
    ct_demux_run(demux, (uint8_t)id, &run);
    if (run.pos != bytes->size)
        abort();
    if (run.size > most)
        run.size = most;
    size_t cap = bytes->cap;
    demux_grow(&bytes->data, &cap, bytes->size + run.size, sizeof *bytes->data);
    demux_grow(&bytes->offsets, &bytes->cap, bytes->size + run.size, sizeof *bytes->offsets);
    for (size_t i = 0; i < run.size; i++) {
        bytes->data[bytes->size] = run.data[i];
        bytes->offsets[bytes->size++] = ct_run_offset(&run, run.pos + i);
    }
    result->total += run.size;
    ct_demux_consume(demux, (uint8_t)id, run.size);
}

static inline void demux_drain(struct demux_result *result, struct ct_demux *demux, uint32_t *seed)
{
    size_t count;
    const struct ct_frame_mark *marks = ct_demux_marks(demux, &count);
    for (unsigned id = 0; id < 128; id++)
        if (ct_demux_stats(demux)->id_bytes[id] > result->ids[id].size && !demux->streams[id].dropped)
            demux_take(result, demux, id, *seed && !count ? demux_random(seed) % 64 : SIZE_MAX);
    for (size_t i = 0; i < count; i++) {
        demux_grow(&result->marks, &result->mark_cap, result->mark_count + 1, sizeof *result->marks);
        result->marks[result->mark_count++] = (struct demux_mark){.mark = marks[i], .before = result->total};
    }
}

static inline void demux_all(struct demux_result *result, const struct demux_how *how, const uint8_t *data,
                             size_t size)
{
    struct ct_demux_options options = {
        .size = sizeof options, .framing = how->framing, .no_fsync_reset = how->no_fsync_reset};
    struct ct_demux *demux;
    uint32_t seed = how->seed;
    memset(result, 0, sizeof *result);
    if (ct_demux_new(NULL, &options, &demux))
        abort();
    if (how->leave_out)
        ct_demux_keep(demux, (uint8_t)how->leave_out, 0);
    if (how->ops || how->plain)
        demux->ops = how->ops;
    for (size_t at = 0, used = 0; at < size; at += used) {
        size_t piece = size - at;
        if (seed && demux_random(&seed) % 4)
            piece = 1 + demux_random(&seed) % 70;
        else if (how->cut > at)
            piece = how->cut - at;
        if (piece > size - at)
            piece = size - at;
        if (ct_demux_push(demux, data + at, piece, &used))
            abort();
        demux_drain(result, demux, &seed);
        size_t marks;
        ct_demux_marks(demux, &marks);
        if (used != piece && !marks)
            abort();
    }
    seed = 0;
    ct_demux_finish(demux);
    demux_drain(result, demux, &seed);
    result->stats = *ct_demux_stats(demux);
    ct_demux_free(demux);
}

/* Returns NULL when the two results are the same, else text that names the difference. */
static inline const char *demux_difference(const struct demux_result *a, const struct demux_result *b)
{
    for (unsigned id = 0; id < 128; id++) {
        const struct demux_bytes *x = &a->ids[id], *y = &b->ids[id];
        if (x->size != y->size)
            return "number of bytes of an ID";
        if (x->size && memcmp(x->data, y->data, x->size) != 0)
            return "bytes of an ID";
        if (x->size && memcmp(x->offsets, y->offsets, x->size * sizeof *x->offsets) != 0)
            return "offsets of an ID";
    }
    if (memcmp(&a->stats, &b->stats, sizeof a->stats) != 0)
        return "statistics";
    if (a->mark_count != b->mark_count)
        return "number of marks";
    for (size_t i = 0; i < a->mark_count; i++) {
        const struct demux_mark *x = &a->marks[i], *y = &b->marks[i];
        if (x->before != y->before || x->mark.kind != y->mark.kind || x->mark.lost != y->mark.lost ||
            x->mark.offset != y->mark.offset)
            return "a mark";
    }
    return NULL;
}

static inline void demux_result_free(struct demux_result *result)
{
    for (unsigned id = 0; id < 128; id++) {
        free(result->ids[id].data);
        free(result->ids[id].offsets);
    }
    free(result->marks);
}
