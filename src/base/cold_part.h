/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the parts of functions that compilers move away from the rest. */
#ifndef CT_BASE_COLD_PART_H
#define CT_BASE_COLD_PART_H

#include <stdbool.h>
#include <string.h>

/* Returns true when `name` is a part of function `of`: "name.cold" and "name.cold.1" are parts of "name". */
static inline bool ct_is_cold_part(const char *name, const char *of)
{
    const size_t length = strlen(of);
    return strncmp(name, of, length) == 0 && strncmp(name + length, ".cold", 5) == 0 &&
           (name[length + 5] == 0 || name[length + 5] == '.');
}

#endif
