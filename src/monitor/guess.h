/* SPDX-License-Identifier: Apache-2.0 */
/* What a value may be when part of what it was made of was lost: an interval, or
 * one of the forms of an option. */
#ifndef CT_MONITOR_GUESS_H
#define CT_MONITOR_GUESS_H

#include "monitor/ir.h"

struct ct_mon_guess {
    bool known;      /* it is `cell`, and nothing else */
    bool error;      /* it may be, or hold, an error value */
    bool none, some; /* of an option: whether it may be None, and Some of what follows */
    int64_t lo, hi;  /* of Int, Bool, Unit and verdicts; INT64_MIN, INT64_MAX: and all beyond; of other types
                        anything may be */
    struct ct_mon_cell cell;
};

/* Any value of the type; `error`: or an error value. */
struct ct_mon_guess ct_mon_guess_any(const struct ct_mon_type *type, bool error);
struct ct_mon_guess ct_mon_guess_cell(const struct ct_mon_type *type, struct ct_mon_cell cell);
struct ct_mon_guess ct_mon_guess_range(int64_t lo, int64_t hi);
struct ct_mon_guess ct_mon_guess_join(const struct ct_mon_guess *a, const struct ct_mon_guess *b);
/* One plain value and no other? Two such are equal when their `lo` are. */
bool ct_mon_guess_single(const struct ct_mon_type *type, const struct ct_mon_guess *g);
/* As an event of a lift: Some of it, or None, or both. */
struct ct_mon_guess ct_mon_guess_option(const struct ct_mon_guess *g, bool none, bool some);
/* The other way: what an option holds when it is Some. */
struct ct_mon_guess ct_mon_guess_payload(const struct ct_mon_type *type, const struct ct_mon_guess *option);

/* The value of a lift's function for these parameters. The work is the payer's. */
struct ct_mon_guess ct_mon_guess_eval(struct ct_mon_heap *payer, const struct ct_mon_ir *kernel,
                                      const struct ct_mon_guess *params);

#endif
