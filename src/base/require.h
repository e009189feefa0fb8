/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments of public functions. Each is one statement at the beginning of a function, lists
 * what must be true of the arguments (of a pointer: that it is not NULL), and returns CT_ERR_ARG for the
 * first that is not, with a text that names the function and the argument:
 *
 *     int ct_counts_new(struct ct_ctx *ctx, const char *name, struct ct_counts **out)
 *     {
 *         CT_REQUIRE_OUT(ctx, out, name, strlen(name) < 64);
 *
 * They are checked in order, so that a condition may use an argument that stands before it. At most eight. */
#pragma once

#include "base/ctx.h"

#define CT_FIRST_FALSE_OF(a, b, c, d, e, f, g, h, ...)                                                       \
    (!(a) ? 1 : !(b) ? 2 : !(c) ? 3 : !(d) ? 4 : !(e) ? 5 : !(f) ? 6 : !(g) ? 7 : !(h) ? 8 : 0)

#define CT_REQUIRE(ctx, ...)                                                                                 \
    do {                                                                                                     \
        const int ct_first_false = CT_FIRST_FALSE_OF(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1);                   \
        if (ct_first_false)                                                                                  \
            return ct_fail_argument(ctx, __func__, #__VA_ARGS__, ct_first_false);                            \
    } while (0)

/* The same for functions of an object, whose context gets the text. */
#define CT_REQUIRE_OF(object, ...) CT_REQUIRE((object) ? (object)->ctx : NULL, object, __VA_ARGS__)

/* The same for functions that return an object in *out, which is NULL when they fail. */
#define CT_REQUIRE_OUT(ctx, out, ...)                                                                        \
    do {                                                                                                     \
        if (out)                                                                                             \
            *(out) = NULL;                                                                                   \
        CT_REQUIRE(ctx, out, ##__VA_ARGS__);                                                                 \
    } while (0)
