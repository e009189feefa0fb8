/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grown.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"

uint8_t *ct_grown_add(struct ct_grown *to, size_t size)
{
    to->failed =
        to->failed || size > SIZE_MAX - to->size || !CT_MAKE_ROOM(to->bytes, to->room, to->size + size);
    if (to->failed)
        return NULL;
    to->size += size;
    return to->bytes + to->size - size;
}

void ct_grown_put(struct ct_grown *to, const void *bytes, size_t size)
{
    uint8_t *room = size ? ct_grown_add(to, size) : NULL;
    if (room)
        memcpy(room, bytes, size);
}

void ct_grown_put_number(struct ct_grown *to, uint64_t number, unsigned size)
{
    uint8_t *room = ct_grown_add(to, size);
    for (unsigned i = 0; room && i < size; i++)
        room[i] = (uint8_t)(number >> 8 * i);
}

void ct_grown_put32(struct ct_grown *to, uint32_t number)
{
    ct_grown_put_number(to, number, 4);
}

void ct_grown_put64(struct ct_grown *to, uint64_t number)
{
    ct_grown_put_number(to, number, 8);
}

void ct_grown_put_varint(struct ct_grown *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        ct_grown_put_number(to, (number & 0x7f) | 0x80, 1);
    ct_grown_put_number(to, number, 1);
}

void ct_grown_free(struct ct_grown *bytes)
{
    free(bytes->bytes);
    *bytes = (struct ct_grown){0};
}
