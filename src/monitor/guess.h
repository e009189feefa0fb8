/* SPDX-License-Identifier: Apache-2.0 */
/* What a value may be when part of what it was made of was lost: an interval, or
 * one of the forms of an option. */
#ifndef CT_MONITOR_GUESS_H
#define CT_MONITOR_GUESS_H

#include "monitor/ir.h"

struct ct_mon_guess {
    bool known;      /* the value is `cell`, and nothing else */
    bool error;      /* the value may be, or hold, an error value */
    bool none, some; /* of an option: whether it may be None, and Some of what follows */
    int64_t lo, hi;  /* of Int, Bool, Unit and verdicts; INT64_MIN, INT64_MAX: and all beyond; of other types
                        anything may be */
    struct ct_mon_cell cell;
};

/* Tells whether values of the type are numbers of which an interval says all: Int, Bool, Unit, verdicts. */
bool ct_mon_guess_is_plain(const struct ct_mon_type *type);
/* Gives any value of the type and, with `error`, an error value, too. */
struct ct_mon_guess ct_mon_guess_any(const struct ct_mon_type *type, bool error);
struct ct_mon_guess ct_mon_guess_cell(const struct ct_mon_type *type, struct ct_mon_cell cell);
struct ct_mon_guess ct_mon_guess_range(int64_t lo, int64_t hi);
struct ct_mon_guess ct_mon_guess_join(const struct ct_mon_guess *a, const struct ct_mon_guess *b);
/* Tells whether this is exactly one plain value. Two such are equal when their `lo` are. */
bool ct_mon_guess_single(const struct ct_mon_type *type, const struct ct_mon_guess *g);
/* Makes an option of a lift's event: Some of it, None, or either. */
struct ct_mon_guess ct_mon_guess_option(const struct ct_mon_guess *g, bool none, bool some);
/* Gives what an option holds when it is Some: the inverse of ct_mon_guess_option. */
struct ct_mon_guess ct_mon_guess_payload(const struct ct_mon_type *type, const struct ct_mon_guess *option);

/* Works out what a lift's function may give for these parameters. The work is charged to `payer`. */
struct ct_mon_guess ct_mon_guess_eval(struct ct_mon_heap *payer, const struct ct_mon_ir *kernel,
                                      const struct ct_mon_guess *params);

#endif
