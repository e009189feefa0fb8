/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the names that a table gives to functions. Names may share the end of one text, so they may take
 * much more than the file. Long ones are limited to 1 MiB, and to four times the size of their table. */
#pragma once

#include "base/arena.h"
#include "coretap/base.h"

#include <stdbool.h>

#define CT_SHORT_NAME 256 /* names of at most so many bytes are always kept whole */

struct ct_name_limit {
    uint64_t left; /* bytes of long names that may still be used */
    bool told;
};

/* Returns the limit of a table of `size` bytes. */
struct ct_name_limit ct_name_limit_of(uint64_t size);

/* Allows for `size` more bytes of the table. */
void ct_name_limit_grow(struct ct_name_limit *limit, uint64_t size);

/* Returns the name, or the beginning of a long one when the limit is used up; warns of the first such name in
 * the file `file`. Returns NULL when out of memory. */
const char *ct_name_limit_apply(struct ct_name_limit *limit, struct ct_ctx *ctx, struct ct_arena *arena,
                                const char *file, const char *name);
