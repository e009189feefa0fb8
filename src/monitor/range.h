/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of Ints, Bools (0 and 1) and verdicts: the possible results of an operation. */
#pragma once

#include "monitor/op.h"

struct ct_mon_range {
    int64_t lo, hi; /* INT64_MIN and INT64_MAX include all values beyond */
    bool error;     /* the value may be an error */
};

/* Returns whether the interval is unbounded: an end at the limit of 64 bits includes all Ints beyond it. */
static inline bool range_is_open(struct ct_mon_range r)
{
    return r.lo == INT64_MIN || r.hi == INT64_MAX;
}

/* Returns the range of any Int, and the error of an Int that is too large. */
static inline struct ct_mon_range range_any_int(void)
{
    return (struct ct_mon_range){INT64_MIN, INT64_MAX, true};
}

static inline struct ct_mon_range range_truth(bool may_false, bool may_true)
{
    return (struct ct_mon_range){may_false ? 0 : 1, may_true ? 1 : 0, false};
}

static inline struct ct_mon_range range_join(struct ct_mon_range a, struct ct_mon_range b)
{
    return (struct ct_mon_range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.error || b.error};
}

static inline struct ct_mon_range range_sum(struct ct_mon_range a, struct ct_mon_range b)
{
    struct ct_mon_range r = {0};
    if (!range_is_open(a) && !range_is_open(b) && !__builtin_add_overflow(a.lo, b.lo, &r.lo) &&
        !__builtin_add_overflow(a.hi, b.hi, &r.hi))
        return r;
    return range_any_int();
}

static inline struct ct_mon_range range_difference(struct ct_mon_range a, struct ct_mon_range b)
{
    struct ct_mon_range r = {0};
    if (!range_is_open(a) && !range_is_open(b) && !__builtin_sub_overflow(a.lo, b.hi, &r.lo) &&
        !__builtin_sub_overflow(a.hi, b.lo, &r.hi))
        return r;
    return range_any_int();
}

static inline struct ct_mon_range range_product(struct ct_mon_range a, struct ct_mon_range b)
{
    const int64_t x[] = {a.lo, a.hi};
    const int64_t y[] = {b.lo, b.hi};
    struct ct_mon_range r = {INT64_MAX, INT64_MIN, false};
    if (range_is_open(a) || range_is_open(b))
        return range_any_int();
    for (unsigned i = 0; i < 4; i++) {
        int64_t p;
        if (__builtin_mul_overflow(x[i & 1], y[i >> 1], &p))
            return range_any_int();
        r.lo = p < r.lo ? p : r.lo;
        r.hi = p > r.hi ? p : r.hi;
    }
    return r;
}

/* Divides intervals. The result is bounded only if b is a single positive number. */
static inline struct ct_mon_range range_quotient(struct ct_mon_range a, struct ct_mon_range b, bool modulo)
{
    struct ct_mon_range r = {INT64_MIN, INT64_MAX, b.lo <= 0};
    if (r.error || b.lo != b.hi || range_is_open(b))
        return r;
    if (!modulo)
        return range_is_open(a) ? r : (struct ct_mon_range){a.lo / b.lo, a.hi / b.lo, false};
    return (struct ct_mon_range){a.lo < 0 ? 1 - b.lo : 0, a.hi > 0 ? b.lo - 1 : 0, false};
}

static inline bool range_may_be_less(struct ct_mon_range a, struct ct_mon_range b)
{
    return a.lo < b.hi || a.lo == INT64_MIN || b.hi == INT64_MAX;
}

static inline struct ct_mon_range range_compare(enum ct_mon_op op, struct ct_mon_range a,
                                                struct ct_mon_range b)
{
    switch (op) {
    case OP_LT:
        return range_truth(a.hi >= b.lo, range_may_be_less(a, b));
    case OP_GE:
        return range_truth(range_may_be_less(a, b), a.hi >= b.lo);
    case OP_GT:
        return range_truth(a.lo <= b.hi, range_may_be_less(b, a));
    default: /* OP_LE */
        return range_truth(range_may_be_less(b, a), a.lo <= b.hi);
    }
}

static inline struct ct_mon_range range_equal(enum ct_mon_op op, struct ct_mon_range a, struct ct_mon_range b)
{
    const bool may = a.lo <= b.hi && b.lo <= a.hi;
    const bool may_not = a.lo != a.hi || b.lo != b.hi || a.lo != b.lo || range_is_open(a);
    return op == OP_EQ ? range_truth(may_not, may) : range_truth(may, may_not);
}

/* Applies an operation on Ints and Bools. Returns false when the operation is not one of these. */
static inline bool range_apply(enum ct_mon_op op, struct ct_mon_range a, struct ct_mon_range b,
                               struct ct_mon_range *r)
{
    switch (op) {
    case OP_ADD:
        *r = range_sum(a, b);
        return true;
    case OP_SUB:
        *r = range_difference(a, b);
        return true;
    case OP_NEG:
        *r = range_difference((struct ct_mon_range){0}, a);
        return true;
    case OP_MUL:
        *r = range_product(a, b);
        return true;
    case OP_DIV:
    case OP_MOD:
        *r = range_quotient(a, b, op == OP_MOD);
        return true;
    case OP_LT:
    case OP_GT:
    case OP_LE:
    case OP_GE:
        *r = range_compare(op, a, b);
        return true;
    case OP_EQ:
    case OP_NE:
        *r = range_equal(op, a, b);
        return true;
    case OP_NOT:
        /* an unknown Bool has an unbounded range */
        *r = range_truth(a.lo != 0 || a.hi != 0, a.lo <= 0 && a.hi >= 0);
        return true;
    default:
        return false;
    }
}
