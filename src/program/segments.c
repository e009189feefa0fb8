/* SPDX-License-Identifier: Apache-2.0 */
#include "program/segments.h"
#include "base/search.h"
#include "coretap/base.h"

#include <stdlib.h>

struct sweep {
    const struct ct_extent *extents;
    struct ct_segment *segments;
    size_t count;
    size_t *open; /* the extents that have not ended, innermost last */
    size_t depth;
};

static void emit(struct sweep *sweep, uint64_t start, uint32_t owner)
{
    size_t n = sweep->count;
    if (n && sweep->segments[n - 1].start == start)
        n--;
    sweep->segments[n] = (struct ct_segment){.start = start, .owner = owner};
    sweep->count = n + 1;
}

/* Ends the open extents that end at or before `limit`; the extents around them continue. */
static void end_extents(struct sweep *sweep, uint64_t limit)
{
    const struct ct_extent *extents = sweep->extents;
    const size_t *open = sweep->open;
    size_t depth = sweep->depth;
    while (depth && extents[open[depth - 1]].end <= limit) {
        uint64_t end = extents[open[--depth]].end;
        while (depth && extents[open[depth - 1]].end <= end)
            depth--;
        emit(sweep, end, depth ? extents[open[depth - 1]].owner : CT_SEGMENT_NONE);
    }
    sweep->depth = depth;
}

int ct_segments_make(const struct ct_extent *extents, size_t count, struct ct_segment **out,
                     size_t *out_count)
{
    *out = NULL;
    *out_count = 0;
    if (count == 0)
        return CT_OK;
    struct sweep sweep = {.extents = extents};
    sweep.segments = malloc(count * 2 * sizeof *sweep.segments);
    sweep.open = malloc(count * sizeof *sweep.open);
    if (!sweep.segments || !sweep.open) {
        free(sweep.segments);
        free(sweep.open);
        return CT_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (extents[i].end <= extents[i].addr)
            continue;
        end_extents(&sweep, extents[i].addr);
        sweep.open[sweep.depth++] = i;
        emit(&sweep, extents[i].addr, extents[i].owner);
    }
    end_extents(&sweep, UINT64_MAX);
    free(sweep.open);
    *out = sweep.segments;
    *out_count = sweep.count;
    return CT_OK;
}

uint32_t ct_segments_at(const struct ct_segment *segments, size_t count, uint64_t addr)
{
    const size_t low = CT_COUNT_UP_TO(segments, count, start, addr);
    return low ? segments[low - 1].owner : CT_SEGMENT_NONE;
}

uint32_t ct_segments_around(const struct ct_segment *segments, size_t count, uint64_t addr, uint64_t *from,
                            uint64_t *end)
{
    const size_t low = CT_COUNT_UP_TO(segments, count, start, addr);
    if (low && segments[low - 1].start > *from)
        *from = segments[low - 1].start;
    if (low < count && segments[low].start < *end)
        *end = segments[low].start;
    return low ? segments[low - 1].owner : CT_SEGMENT_NONE;
}
