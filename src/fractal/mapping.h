/* SPDX-License-Identifier: Apache-2.0 */
/* One translation of the target: found by the Translation Stalker, kept in the reverse TLB. */
#pragma once

#include <stdint.h>

/* most mappings from one line of descriptors: eight for each place in the address space where its table is
 * linked, of which four are followed */
#define CT_MAPPINGS_MAX 32

struct ct_fractal_mapping {
    uint64_t va, pa;     /* addresses of the first byte */
    uint64_t desc;       /* physical address of the first line with a descriptor of the mapping */
    uint16_t desc_lines; /* more than 1 with the contiguous hint */
    uint8_t shift;       /* log2 of the size in bytes; 0: empty */
    uint8_t page_shift;  /* log2 of the size that one descriptor maps; smaller than `shift` with the
                          * contiguous hint */
};

static inline int ct_mapping_covers(const struct ct_fractal_mapping *m, uint64_t va)
{
    return m->shift && (m->va ^ va) >> m->shift == 0;
}
