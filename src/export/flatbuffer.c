/* SPDX-License-Identifier: Apache-2.0 */
#include "export/flatbuffer.h"

#include <string.h>

static size_t position(const struct ct_flat *flat)
{
    return flat->to->size - flat->begin;
}

static void put_zeros(struct ct_flat *flat, size_t count)
{
    uint8_t *room = count ? ct_grown_add(flat->to, count) : NULL;
    if (room)
        memset(room, 0, count);
}

void ct_flat_align(struct ct_flat *flat, size_t to_multiple)
{
    put_zeros(flat, (to_multiple - position(flat) % to_multiple) % to_multiple);
}

/* Makes the field at `from` point to the end of the data so far. */
static void point_here(struct ct_flat *flat, size_t from)
{
    if (flat->to->failed)
        return;
    struct ct_grown field = {.bytes = flat->to->bytes + flat->begin + from, .room = 4};
    ct_grown_put32(&field, (uint32_t)(position(flat) - from));
}

void ct_flat_begin(struct ct_flat *flat, struct ct_grown *to)
{
    *flat = (struct ct_flat){.to = to, .begin = to->size};
    put_zeros(flat, 4);
}

/* Sets the positions of the fields in a table at `table`. Returns where the table ends. */
static size_t place_fields(struct ct_flat_field *fields, size_t count, size_t table)
{
    size_t end = table + 4; /* after the offset to the list of positions */
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].size)
            continue;
        fields[i].at = (end + fields[i].size - 1) / fields[i].size * fields[i].size;
        end = fields[i].at + fields[i].size;
    }
    return end;
}

void ct_flat_table(struct ct_flat *flat, size_t from, struct ct_flat_field *fields, size_t count)
{
    ct_flat_align(flat, 2);
    const size_t places = position(flat);
    const size_t table = (places + 4 + 2 * count + 3) / 4 * 4;
    const size_t end = place_fields(fields, count, table);
    ct_grown_put_number(flat->to, 4 + 2 * count, 2);
    ct_grown_put_number(flat->to, end - table, 2);
    for (size_t i = 0; i < count; i++)
        ct_grown_put_number(flat->to, fields[i].size ? fields[i].at - table : 0, 2);
    ct_flat_align(flat, 4);
    point_here(flat, from);
    ct_grown_put32(flat->to, (uint32_t)(table - places));
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].size)
            continue;
        ct_flat_align(flat, fields[i].size);
        ct_grown_put_number(flat->to, fields[i].value, fields[i].size);
    }
}

void ct_flat_text(struct ct_flat *flat, size_t from, const char *text)
{
    ct_flat_align(flat, 4);
    point_here(flat, from);
    ct_grown_put32(flat->to, (uint32_t)strlen(text));
    ct_grown_put(flat->to, text, strlen(text) + 1);
}

size_t ct_flat_list(struct ct_flat *flat, size_t from, size_t count, size_t size)
{
    ct_flat_align(flat, 4);
    if (size % 8 == 0 && position(flat) % 8 == 0)
        put_zeros(flat, 4);
    point_here(flat, from);
    ct_grown_put32(flat->to, (uint32_t)count);
    const size_t first = position(flat);
    put_zeros(flat, count * size);
    return first;
}
