/* SPDX-License-Identifier: Apache-2.0 */
/* Looking in arrays that are sorted by a member of 64 bits. */
#ifndef CT_BASE_SEARCH_H
#define CT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ct_key_at(const void *array, size_t index, size_t stride, size_t offset)
{
    uint64_t key;
    memcpy(&key, (const char *)array + index * stride + offset, sizeof key);
    return key;
}

/* How many elements have a key below `key`. */
static inline size_t ct_keys_below(const void *array, size_t count, size_t stride, size_t offset,
                                   uint64_t key)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ct_key_at(array, middle, stride, offset) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many elements of an array have a `member` below `value`, or up to it: the index of the first that has
 * not. */
#define CT_COUNT_BELOW(array, count, member, value)                                                          \
    ct_keys_below((array), (count), sizeof *(array), offsetof(__typeof__(*(array)), member), (value))
#define CT_COUNT_UP_TO(array, count, member, value)                                                          \
    ((value) == UINT64_MAX ? (count) : CT_COUNT_BELOW(array, count, member, (value) + 1))

#endif
