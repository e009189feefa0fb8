/* SPDX-License-Identifier: Apache-2.0 */
/* Ints of more than 64 bits: heap objects (OBJ_BIG). An Int that fits into 64 bits is never such an object,
 * so equal Ints have equal representations. */
#pragma once

#include "monitor/op.h"

struct ct_mon_text;

enum {
    /* longest Int, in bits; a longer one becomes the error value E_OVERFLOW, so that no number uses up a
     * run's memory or time */
    BIG_BITS_MOST = 65536
};

/* Returns whether the Int is a heap object. The cell must be an Int and not an error. */
static inline bool cell_is_big(const struct ct_mon_cell *c)
{
    return (c->meta & META_PTR) != 0;
}

static inline bool int_is_negative(const struct ct_mon_cell *c)
{
    return cell_is_big(c) ? c->v.o->negative : c->v.i < 0;
}

/* Applies an operation from OP_ADD to OP_SHR to Ints of any size; OP_BITNOT ignores b. Without a heap, a
 * result of more than 64 bits is the error E_MEMORY. */
struct ct_mon_cell ct_mon_big_op(enum ct_mon_op op, struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                 const struct ct_mon_cell *b);

double ct_mon_big_to_float(const struct ct_mon_cell *c);
/* Converts the integer part of a finite number to an Int. */
struct ct_mon_cell ct_mon_big_from_float(struct ct_mon_heap *h, double f);

/* Converts digits of base 10 or 16, without sign or prefix, to an Int. */
struct ct_mon_cell ct_mon_int_from_digits(struct ct_mon_heap *h, const char *digits, size_t n, unsigned base,
                                          bool negative);
/* Appends the magnitude in base 8, 10 or 16 (small letters). Sets t->failed when out of memory. */
void ct_mon_big_print(struct ct_mon_text *t, const struct ct_mon_cell *c, unsigned base);
