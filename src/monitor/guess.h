/* SPDX-License-Identifier: Apache-2.0 */
/* What a value may be when part of what it was made of was lost: an interval, or
 * one of the forms of an option. */
#ifndef CT_MONITOR_GUESS_H
#define CT_MONITOR_GUESS_H

#include "monitor/ir.h"

struct guess {
    bool known;      /* it is `cell`, and nothing else */
    bool error;      /* it may be, or hold, an error value */
    bool none, some; /* of an option: whether it may be None, and Some of what follows */
    int64_t lo, hi;  /* of Int, Bool, Unit and verdicts; INT64_MIN, INT64_MAX: and all beyond; of other types
                        anything may be */
    struct cell cell;
};

/* Any value of the type; `error`: or an error value. */
struct guess ct_mon_guess_any(const struct type *type, bool error);
struct guess ct_mon_guess_cell(const struct type *type, struct cell cell);
struct guess ct_mon_guess_range(int64_t lo, int64_t hi);
struct guess ct_mon_guess_join(const struct guess *a, const struct guess *b);
/* One plain value and no other? Two such are equal when their `lo` are. */
bool ct_mon_guess_single(const struct type *type, const struct guess *g);
/* As an event of a lift: Some of it, or None, or both. */
struct guess ct_mon_guess_option(const struct guess *g, bool none, bool some);
/* The other way: what an option holds when it is Some. */
struct guess ct_mon_guess_payload(const struct type *type, const struct guess *option);

/* The value of a lift's function for these parameters. The work is the payer's. */
struct guess ct_mon_guess_eval(struct heap *payer, const struct ir *kernel, const struct guess *params);

#endif
