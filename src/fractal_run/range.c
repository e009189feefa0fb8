/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses in textual form. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/fractal_run.h"

#define TOP (UINT64_C(1) << 48) /* first address that is too high */

/* Reads a hexadecimal number and moves *at past it. Returns false when there is none. */
static bool hex_number(const char **at, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 16);
    const bool ok = end != *at && !errno && **at != '-' && **at != '+';
    *at = end;
    return ok;
}

/* Reads "LO..HI". Returns false for any other text. */
static bool bounds(const char *text, uint64_t *lo, uint64_t *hi)
{
    if (!hex_number(&text, lo) || strncmp(text, "..", 2) != 0)
        return false;
    text += 2;
    return hex_number(&text, hi) && !*text && *lo < *hi && *hi <= TOP;
}

int ct_fractal_range_parse(struct ct_ctx *ctx, const char *text, uint64_t *lo, uint64_t *hi)
{
    CT_REQUIRE(ctx, text, lo, hi);
    const bool all = strcmp(text, "all") == 0;
    if (all) {
        *lo = 0;
        *hi = TOP;
    }
    return all || bounds(text, lo, hi)
               ? CT_OK
               : ct_fail(ctx, CT_ERR_FORMAT,
                         "'%s': this is not a range; write it as LO..HI in hexadecimal, with LO below HI and "
                         "HI at most 1000000000000",
                         text);
}
