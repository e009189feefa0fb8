/* SPDX-License-Identifier: Apache-2.0 */
#include "program/name_limit.h"

#include "base/ctx.h"

#include <string.h>

#define FREE  (UINT64_C(1) << 20)
#define RATIO 4u

struct ct_name_limit ct_name_limit_of(uint64_t size)
{
    return (struct ct_name_limit){.left = FREE + RATIO * size};
}

void ct_name_limit_grow(struct ct_name_limit *limit, uint64_t size)
{
    limit->left += RATIO * size;
}

const char *ct_name_limit_apply(struct ct_name_limit *limit, struct ct_ctx *ctx, struct ct_arena *arena,
                                const char *file, const char *name)
{
    const size_t size = strlen(name);
    if (size <= CT_SHORT_NAME)
        return name;
    if (size <= limit->left) {
        limit->left -= size;
        return name;
    }
    if (!limit->told)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: its symbol names share parts of their table and are together longer than 1 MiB and four "
               "times the table; names of more than %d bytes were shortened",
               file, CT_SHORT_NAME);
    limit->told = true;
    return ct_arena_printf(arena, "%.*s...", CT_SHORT_NAME, name);
}
