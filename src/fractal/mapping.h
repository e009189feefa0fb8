/* SPDX-License-Identifier: Apache-2.0 */
/* What the Translation Stalker finds and the reverse TLB keeps: one translation of the target. */
#ifndef CT_FRACTAL_MAPPING_H
#define CT_FRACTAL_MAPPING_H

#include <stdint.h>

/* Mappings that one line of descriptors can give: eight, for each place in the address space at which
 * its table is linked. Four such places are followed. */
#define CT_MAPPINGS_MAX 32

struct ct_fractal_mapping {
    uint64_t va, pa;     /* of the first byte */
    uint64_t desc;       /* physical address of the first line that holds a descriptor of it */
    uint16_t desc_lines; /* more than 1 with the contiguous hint */
    uint8_t shift;       /* log2 of the size in bytes; 0: empty */
    uint8_t page_shift;  /* smaller with the contiguous hint: log2 of the size of one descriptor's part */
};

static inline int ct_mapping_covers(const struct ct_fractal_mapping *m, uint64_t va)
{
    return m->shift && (m->va ^ va) >> m->shift == 0;
}

#endif
