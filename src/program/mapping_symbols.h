/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping symbols of the Arm ELF ABI ($a, $t, $x, $d): where code of which
 * instruction set begins, and where data. */
#ifndef CT_PROGRAM_MAPPING_SYMBOLS_H
#define CT_PROGRAM_MAPPING_SYMBOLS_H

#include "program/elf.h"

#include <stdint.h>

struct ct_map_point {
    uint64_t addr; /* up to the next point */
    uint32_t isa;  /* enum ct_isa; UNKNOWN: data */
    uint32_t order;
};

/* All zero is an empty mapping. */
struct ct_mapping_symbols {
    struct ct_map_point *points; /* by address */
    size_t count;
};

/* Reads those of the symbol table, `bias` added; a file without any is no error. CT_ERR_NOMEM. */
int ct_mapping_read(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                    struct ct_mapping_symbols *out);
void ct_mapping_free(struct ct_mapping_symbols *mapping);

/* What is at `addr`; NULL when no mapping symbol says it. */
const struct ct_map_point *ct_mapping_at(const struct ct_mapping_symbols *mapping, uint64_t addr);

#endif
