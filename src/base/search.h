/* SPDX-License-Identifier: Apache-2.0 */
/* Orders numbers, and searches in sorted arrays. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Compares two numbers as comparators of qsort do. Further keys follow behind ?:, which has the next result
 * where this one is 0. */
static inline int ct_order(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

static inline uint64_t ct_key_at(const void *array, size_t index, size_t stride, size_t offset)
{
    uint64_t key;
    memcpy(&key, (const char *)array + index * stride + offset, sizeof key);
    return key;
}

/* Counts the elements before the first one that does not meet the condition, an expression in their index
 * `at`. Of `count` elements, those that meet it must come before those that do not. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a variable cannot stand in them */
#define CT_COUNT_WHILE(count, at, condition)                                                                 \
    __extension__({                                                                                          \
        size_t low_ = 0;                                                                                     \
        size_t high_ = (count);                                                                              \
        while (low_ < high_) {                                                                               \
            const size_t at = low_ + (high_ - low_) / 2;                                                     \
            if (condition)                                                                                   \
                low_ = at + 1;                                                                               \
            else                                                                                             \
                high_ = at;                                                                                  \
        }                                                                                                    \
        low_;                                                                                                \
    })
/* NOLINTEND(bugprone-macro-parentheses) */

/* Returns how many elements have a key below `key`. */
static inline size_t ct_keys_below(const void *array, size_t count, size_t stride, size_t offset,
                                   uint64_t key)
{
    return CT_COUNT_WHILE(count, i, ct_key_at(array, i, stride, offset) < key);
}

/* Count the elements of an array whose `member` is below `value`, or at most `value`: the index of the first
 * other one. The array is sorted by the member. */
#define CT_COUNT_BELOW(array, count, member, value)                                                          \
    ct_keys_below((array), (count), sizeof *(array), offsetof(__typeof__(*(array)), member), (value))
#define CT_COUNT_UP_TO(array, count, member, value)                                                          \
    ((value) == UINT64_MAX ? (count) : CT_COUNT_BELOW(array, count, member, (value) + 1))
