/* SPDX-License-Identifier: Apache-2.0 */
/* The order of counts: kind, from, to, isa. Long lists are sorted digit by digit of kind and from, which
 * takes a quarter of the time of comparing; what is equal in both, the targets of one branch, is compared. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cover.h"

#define FEW        512u /* items that are compared */
#define DIGIT_BITS 10u
#define DIGITS     (1u << DIGIT_BITS)
#define BY_KIND    64u /* in the place of a bit */

int ct_cover_order(const void *a, const void *b)
{
    const struct ct_cover_item *x = a;
    const struct ct_cover_item *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->isa - y->isa;
}

/* Returns the bits in which values of `from` differ, with all below the highest one. */
static uint64_t differing_bits(const struct ct_cover_item *items, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < count; i++)
        bits |= items[i].from ^ items[0].from;
    return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0;
}

/* Returns the digit of an item that begins at bit `shift` of its `from`, or its kind. */
static unsigned digit_of(const struct ct_cover_item *item, unsigned shift)
{
    if (shift < BY_KIND)
        return (unsigned)(item->from >> shift) % DIGITS;
    return item->kind < DIGITS ? item->kind : DIGITS - 1; /* there are three of them */
}

/* Copies items in the order of one digit; what is equal in it keeps its order. */
static void sort_by_digit(const struct ct_cover_item *items, size_t count, unsigned shift,
                          struct ct_cover_item *sorted)
{
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        at[digit_of(&items[i], shift)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        const size_t before = sum;
        sum += at[i];
        at[i] = before;
    }
    for (size_t i = 0; i < count; i++)
        sorted[at[digit_of(&items[i], shift)]++] = items[i];
}

/* Sorts what has the same kind and from, where it is not in order. */
static void sort_equal(struct ct_cover_item *items, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        bool ordered = true;
        for (end = begin + 1;
             end < count && items[end].from == items[begin].from && items[end].kind == items[begin].kind;
             end++)
            ordered &= ct_cover_order(&items[end - 1], &items[end]) <= 0;
        if (!ordered)
            qsort(items + begin, end - begin, sizeof *items, ct_cover_order);
    }
}

static void swap(struct ct_cover_item **a, struct ct_cover_item **b)
{
    struct ct_cover_item *const other = *a;
    *a = *b;
    *b = other;
}

void ct_cover_sort(struct ct_cover_item *items, size_t count)
{
    struct ct_cover_item *other = count > FEW ? malloc(count * sizeof *other) : NULL;
    if (!other) { /* which is slower, but needs no memory of its own */
        qsort(items, count, sizeof *items, ct_cover_order);
        return;
    }
    struct ct_cover_item *from = items, *to = other;
    uint64_t bits = differing_bits(items, count);
    for (unsigned shift = 0; bits; shift += DIGIT_BITS, bits >>= DIGIT_BITS) {
        sort_by_digit(from, count, shift, to);
        swap(&from, &to);
    }
    sort_by_digit(from, count, BY_KIND, to);
    if (to != items)
        memcpy(items, to, count * sizeof *items);
    free(other);
    sort_equal(items, count);
}
