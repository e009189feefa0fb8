/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the innermost of many address ranges, which may be nested or overlap in any way. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CT_SEGMENT_NONE UINT32_MAX

struct ct_extent {
    uint64_t addr;
    uint64_t end; /* after the last byte; an empty range covers nothing */
    uint32_t owner;
    uint32_t pad;
};

/* A segment: up to the start of the next one, the innermost range is that of `owner`. */
struct ct_segment {
    uint64_t start;
    uint32_t owner; /* CT_SEGMENT_NONE outside of all ranges */
    uint32_t pad;
};

/* Makes segments in one pass over the ranges, which must be sorted by addr, outer ones first. The caller
 * frees the *out_count segments of *out. CT_ERR_NOMEM. */
int ct_segments_make(const struct ct_extent *extents, size_t count, struct ct_segment **out,
                     size_t *out_count);

/* Returns the owner of the innermost range that contains `addr`. */
uint32_t ct_segments_at(const struct ct_segment *segments, size_t count, uint64_t addr);

/* Returns the same, and narrows [*from, *end), which contains `addr`, to the addresses around it with the
 * same owner. */
uint32_t ct_segments_around(const struct ct_segment *segments, size_t count, uint64_t addr, uint64_t *from,
                            uint64_t *end);
