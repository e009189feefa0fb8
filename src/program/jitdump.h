/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names in jitdump files (jit-PID.dump), in which programs describe the code that they generate:
 * tools/perf/Documentation/jitdump-specification.txt of Linux. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pair_map.h"

struct ct_jitdump {
    const uint8_t *bytes;
    size_t size, at;           /* `at`: offset of the next record */
    bool is_damaged;           /* the record there is damaged or cut, and so is all that follows */
    uint64_t moves;            /* records of moved code whose load is not in the file */
    struct ct_pair_map loaded; /* by the index of code: number that the caller gave it */
};

/* Code at an address, from a point of the file on. */
struct ct_jit_code {
    const char *name; /* in the bytes of the file; NULL: that of the code with number `same` */
    uint64_t addr, size;
    uint32_t same;
};

/* Returns whether the file begins as a jitdump of a little-endian machine. */
bool ct_is_jitdump(const void *bytes, size_t size);

/* Begins to read. The bytes must stay. */
void ct_jitdump_begin(struct ct_jitdump *dump, const void *bytes, size_t size);

/* Reads up to the next code that was loaded or moved, which gets `number`. *found becomes false at the end.
 * CT_ERR_NOMEM. */
int ct_jitdump_next(struct ct_jitdump *dump, uint32_t number, struct ct_jit_code *code, bool *found);

void ct_jitdump_end(struct ct_jitdump *dump);
