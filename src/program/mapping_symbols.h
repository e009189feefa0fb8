/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping symbols of the Arm ELF ABI ($a, $t, $x, $d), which mark where code of an instruction set, or data,
 * starts. */
#pragma once

#include "program/elf.h"

#include <stdint.h>

struct ct_map_point {
    uint64_t addr; /* start of the range, which ends at the next point */
    uint32_t isa;  /* enum ct_isa; UNKNOWN for data */
    uint32_t order;
};

/* The mapping symbols of a file; all zero when there are none. */
struct ct_mapping_symbols {
    struct ct_map_point *points; /* sorted by address */
    size_t count;
};

/* Reads the mapping symbols of the symbol table, and adds `bias` to them. A file without any is no error.
 * CT_ERR_NOMEM. */
int ct_mapping_read(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                    struct ct_mapping_symbols *out);
void ct_mapping_free(struct ct_mapping_symbols *mapping);

/* Returns the point whose range contains `addr`; NULL when there is none. */
const struct ct_map_point *ct_mapping_at(const struct ct_mapping_symbols *mapping, uint64_t addr);

/* Narrows [*from, *end), which contains `addr`, to the addresses around it with the same mapping symbol. */
void ct_mapping_around(const struct ct_mapping_symbols *mapping, uint64_t addr, uint64_t *from,
                       uint64_t *end);
