/* SPDX-License-Identifier: Apache-2.0 */
#include "base/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16 /* items */

bool ct_make_room(void *array, size_t *room, size_t needed, size_t size, bool zeroed)
{
    if (needed <= *room)
        return true;
    size_t wider = *room ? *room : FIRST_ROOM;
    while (wider < needed && wider <= SIZE_MAX / 2)
        wider *= 2;
    void *items;
    memcpy(&items, array, sizeof items); /* a pointer of any type */
    uint8_t *moved = wider < needed || wider > SIZE_MAX / size ? NULL : realloc(items, wider * size);
    if (!moved)
        return false;
    if (zeroed)
        memset(moved + *room * size, 0, (wider - *room) * size);
    memcpy(array, &moved, sizeof moved);
    *room = wider;
    return true;
}

bool ct_push_room(void *array, size_t count, size_t size)
{
    const bool is_full = !count || (count >= FIRST_ROOM && !(count & (count - 1)));
    size_t room = count;
    return !is_full || ct_make_room(array, &room, count + 1, size, false);
}
