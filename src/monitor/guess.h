/* SPDX-License-Identifier: Apache-2.0 */
/* What a value may be when some of its inputs were lost: an interval, or which forms of an option. */
#pragma once

#include "monitor/ir.h"

struct ct_mon_guess {
    bool known;      /* the value is exactly `cell` */
    bool error;      /* the value may be, or contain, an error value */
    bool none, some; /* of an option: whether it may be None, and whether it may be Some of what follows */
    int64_t lo, hi;  /* of Int, Bool, Unit and verdicts; INT64_MIN and INT64_MAX include all values beyond;
                      * unused for other types, where anything may be */
    struct ct_mon_cell cell;
};

/* Returns whether an interval describes values of the type fully: Int, Bool, Unit, verdicts. */
bool ct_mon_guess_is_plain(const struct ct_mon_type *type);
/* Returns "any value of the type", or also an error value with `error`. */
struct ct_mon_guess ct_mon_guess_any(const struct ct_mon_type *type, bool error);
struct ct_mon_guess ct_mon_guess_cell(const struct ct_mon_type *type, struct ct_mon_cell cell);
struct ct_mon_guess ct_mon_guess_range(int64_t lo, int64_t hi);
struct ct_mon_guess ct_mon_guess_join(const struct ct_mon_guess *a, const struct ct_mon_guess *b);
/* Returns whether the guess is exactly one plain value. Two such guesses are equal when their `lo` are. */
bool ct_mon_guess_single(const struct ct_mon_type *type, const struct ct_mon_guess *g);
/* Makes the option that a lift sees of an event: Some of it, None, or either. */
struct ct_mon_guess ct_mon_guess_option(const struct ct_mon_guess *g, bool none, bool some);
/* Returns what an option holds when it is Some: the inverse of ct_mon_guess_option. */
struct ct_mon_guess ct_mon_guess_payload(const struct ct_mon_type *type, const struct ct_mon_guess *option);

/* Evaluates a lift's function for these parameters. Charges the work to `payer`. */
struct ct_mon_guess ct_mon_guess_eval(struct ct_mon_heap *payer, const struct ct_mon_ir *kernel,
                                      const struct ct_mon_guess *params);
