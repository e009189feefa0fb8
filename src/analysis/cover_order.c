/* SPDX-License-Identifier: Apache-2.0 */
/* The order of counts: kind, from, to, isa. Long lists are sorted by a radix sort over kind and from, in a
 * quarter of the time of comparisons. Items equal in both, the targets of one branch, are then compared. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cover.h"
#include "base/table_memory.h"

#define FEW        512u /* most items that are sorted by comparison */
#define DIGIT_MOST 11u  /* most bits of a digit */
#define KIND_BITS  2u   /* enough for the three kinds */

/* The radix key of long lists: the kind, and the range of bits of `from` in which items differ. */
struct key {
    unsigned low;  /* lowest bit of the range */
    unsigned bits; /* number of bits of the range */
};

static int by_order(const void *a, const void *b)
{
    return ct_cover_compare(a, b);
}

static struct key find_key(const struct ct_cover_item *items, size_t count)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= items[i].from ^ items[0].from;
    if (!differ)
        return (struct key){0};
    const unsigned low = (unsigned)__builtin_ctzll(differ);
    return (struct key){low, 64 - (unsigned)__builtin_clzll(differ) - low};
}

/* Returns `width` bits of the key of an item, from bit `shift` on. The kind is in the highest bits of the
 * key. */
static size_t digit_of(const struct ct_cover_item *item, struct key key, unsigned shift, unsigned width)
{
    uint64_t digit = shift < key.bits ? item->from >> key.low >> shift : 0;
    if (shift < key.bits && key.bits - shift < width)
        digit &= (UINT64_C(1) << (key.bits - shift)) - 1;
    if (shift + width > key.bits)
        digit |= shift < key.bits ? (uint64_t)item->kind << (key.bits - shift)
                                  : (uint64_t)item->kind >> (shift - key.bits);
    return (size_t)digit & (((size_t)1 << width) - 1);
}

/* Copies items in the order of one digit. The sort is stable. */
static void sort_by_digit(const struct ct_cover_item *items, size_t count, struct key key, unsigned shift,
                          unsigned width, struct ct_cover_item *sorted)
{
    size_t at[1u << DIGIT_MOST] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        at[digit_of(&items[i], key, shift, width)]++;
    for (size_t i = 0; i < (size_t)1 << width; i++) {
        const size_t before = sum;
        sum += at[i];
        at[i] = before;
    }
    for (size_t i = 0; i < count; i++)
        sorted[at[digit_of(&items[i], key, shift, width)]++] = items[i];
}

/* Sorts each group of items with the same kind and from that is not sorted yet. */
static void sort_equal(struct ct_cover_item *items, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        bool ordered = true;
        for (end = begin + 1;
             end < count && items[end].from == items[begin].from && items[end].kind == items[begin].kind;
             end++)
            ordered &= ct_cover_compare(&items[end - 1], &items[end]) <= 0;
        if (!ordered)
            qsort(items + begin, end - begin, sizeof *items, by_order);
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
    struct ct_cover_item *other = count > FEW ? ct_table_of_records(count, sizeof *other) : NULL;
    if (!other) { /* slower, but needs no memory */
        qsort(items, count, sizeof *items, by_order);
        return;
    }
    struct ct_cover_item *from = items, *to = other;
    const struct key key = find_key(items, count);
    const unsigned bits = key.bits + KIND_BITS;
    const unsigned digits = (bits + DIGIT_MOST - 1) / DIGIT_MOST, width = (bits + digits - 1) / digits;
    for (unsigned shift = 0; shift < bits; shift += width) {
        sort_by_digit(from, count, key, shift, width, to);
        swap(&from, &to);
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    free(other);
    sort_equal(items, count);
}
