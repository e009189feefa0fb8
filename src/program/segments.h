/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many ranges of addresses, nested or overlapping in any way, is the innermost one at an address. */
#ifndef CT_PROGRAM_SEGMENTS_H
#define CT_PROGRAM_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#define CT_SEGMENT_NONE UINT32_MAX

struct ct_extent {
    uint64_t addr;
    uint64_t end; /* behind it; an empty one is nowhere */
    uint32_t owner;
    uint32_t pad;
};

/* From `start` up to the start of the next segment the innermost extent is that of `owner`. */
struct ct_segment {
    uint64_t start;
    uint32_t owner; /* CT_SEGMENT_NONE: there is none */
    uint32_t pad;
};

/* Cuts the address space by one sweep over the extents, which are in order of addr, the outer ones first.
 * *out has *out_count segments and is the caller's to free. CT_ERR_NOMEM. */
int ct_segments_make(const struct ct_extent *extents, size_t count, struct ct_segment **out,
                     size_t *out_count);

/* The owner of the innermost extent that holds `addr`. */
uint32_t ct_segments_at(const struct ct_segment *segments, size_t count, uint64_t addr);

#endif
