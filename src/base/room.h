/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes `array` (a pointer to items, NULL when *room is 0) hold at least `needed` items. *room is its
 * capacity, which doubles. Returns false when out of memory; array and room do not change then. */
#define CT_MAKE_ROOM(array, room, needed)                                                                    \
    (((array) && (needed) <= (room)) || ct_make_room(&(array), &(room), (needed), sizeof *(array), false))

/* Does the same, and sets new items to zero. */
#define CT_MAKE_ZEROED_ROOM(array, room, needed)                                                             \
    (((array) && (needed) <= (room)) || ct_make_room(&(array), &(room), (needed), sizeof *(array), true))

/* Makes `array` hold one more item than its `count` items, without a stored capacity: all of its memory must
 * come from this macro. It is NULL when empty. Returns false when out of memory. */
#define CT_PUSH_ROOM(array, count) ct_push_room(&(array), (count), sizeof *(array))

/* Do the work of the macros for items of `size` bytes; `array` is the address of the pointer to them. */
bool ct_make_room(void *array, size_t *room, size_t needed, size_t size, bool zeroed);
bool ct_push_room(void *array, size_t count, size_t size);
