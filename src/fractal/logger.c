/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/logger.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t bit;
    uint8_t at, bytes; /* offset in struct ct_fractal_event, and size */
} field[] = {
#define FIELD(NAME, member)                                                                                  \
    {                                                                                                        \
#member, CT_FRACTAL_FIELD_##NAME, offsetof(struct ct_fractal_event, member),                         \
            sizeof(((struct ct_fractal_event *)0)->member)                                                   \
    }
    FIELD(TIME, time),           FIELD(VA, va),     FIELD(PA, pa),       FIELD(POINT, point),   FIELD(OP, op),
    FIELD(INITIATOR, initiator), FIELD(KIND, kind), FIELD(FLAGS, flags), FIELD(TARGET, target),
#undef FIELD
};
#define FIELDS (sizeof field / sizeof field[0])

int ct_record_field(unsigned index, uint32_t *bit, const char **name, uint32_t *bytes)
{
    if (index >= FIELDS)
        return 0;
    *bit = field[index].bit;
    *name = field[index].name;
    *bytes = field[index].bytes;
    return 1;
}

uint32_t ct_record_size(uint32_t fields)
{
    uint32_t size = 0;
    for (size_t i = 0; i < FIELDS; i++)
        size += fields & field[i].bit ? field[i].bytes : 0;
    return size;
}

/* Copies 8, 4 or 1 byte, each by a single move. Records are little-endian, like all supported hosts; a port
 * to big-endian would have to change this. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are stored as they lie in memory");

static void copy(void *to, const void *from, unsigned bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, 1);
}

/* Packs every field, in order, which is faster than testing each field. */
static void pack_all(const struct ct_fractal_event *e, uint8_t *out)
{
    memcpy(out, &e->time, 8);
    memcpy(out + 8, &e->va, 8);
    memcpy(out + 16, &e->pa, 8);
    memcpy(out + 24, &e->point, 4);
    memcpy(out + 28, (const uint8_t *)e + offsetof(struct ct_fractal_event, op),
           5); /* op, initiator, kind, flags and target are adjacent */
}

static void unpack_all(const uint8_t *in, struct ct_fractal_event *e)
{
    memcpy(&e->time, in, 8);
    memcpy(&e->va, in + 8, 8);
    memcpy(&e->pa, in + 16, 8);
    memcpy(&e->point, in + 24, 4);
    memcpy((uint8_t *)e + offsetof(struct ct_fractal_event, op), in + 28, 5);
}

_Static_assert(offsetof(struct ct_fractal_event, target) == offsetof(struct ct_fractal_event, op) + 4,
               "pack_all copies five bytes at once");

void ct_record_pack(uint32_t fields, const struct ct_fractal_event *e, uint8_t *out)
{
    if (fields == CT_FRACTAL_FIELD_ALL) {
        pack_all(e, out);
        return;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields & field[i].bit) {
            copy(out, (const uint8_t *)e + field[i].at, field[i].bytes);
            out += field[i].bytes;
        }
    }
}

void ct_record_unpack(uint32_t fields, const uint8_t *in, struct ct_fractal_event *e)
{
    if (fields == CT_FRACTAL_FIELD_ALL) {
        unpack_all(in, e);
        return;
    }
    memset(e, 0, sizeof *e);
    e->point = CT_FRACTAL_NO_POINT;
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields & field[i].bit) {
            copy((uint8_t *)e + field[i].at, in, field[i].bytes);
            in += field[i].bytes;
        }
    }
}

int ct_logger_init(struct ct_logger *l, uint32_t bytes)
{
    memset(l, 0, sizeof *l);
    l->bytes = bytes;
    l->ring = malloc(bytes);
    if (!l->ring)
        return CT_ERR_NOMEM;
    ct_logger_fields(l, CT_FRACTAL_FIELD_ALL);
    return CT_OK;
}

void ct_logger_free(struct ct_logger *l)
{
    free(l->ring);
}

void ct_logger_fields(struct ct_logger *l, uint32_t fields)
{
    l->fields = fields;
    l->record = ct_record_size(fields);
    l->slots = l->bytes / l->record;
    l->head = l->count = 0;
}

void ct_logger_put(struct ct_logger *l, const struct ct_fractal_event *e)
{
    uint32_t room;
    uint8_t *place = ct_logger_places(l, &room);
    if (room)
        ct_record_pack(l->fields, e, place);
    ct_logger_add(l, 1, room);
}

/* Unpacks consecutive records. */
static void unpack_row(uint32_t fields, const uint8_t *in, size_t record, struct ct_fractal_event *out,
                       size_t count)
{
    if (fields == CT_FRACTAL_FIELD_ALL) {
        for (size_t i = 0; i < count; i++)
            unpack_all(in + i * CT_RECORD_ALL, &out[i]);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ct_record_unpack(fields, in + i * record, &out[i]);
}

size_t ct_logger_take(struct ct_logger *l, struct ct_fractal_event *out, size_t max)
{
    size_t n = 0;
    while (n < max && l->count) {
        size_t row = l->slots - l->head;
        row = row < l->count ? row : l->count;
        row = row < max - n ? row : max - n;
        unpack_row(l->fields, l->ring + (size_t)l->head * l->record, l->record, out + n, row);
        n += row;
        l->head = l->head + (uint32_t)row == l->slots ? 0 : l->head + (uint32_t)row;
        l->count -= (uint32_t)row;
    }
    if (!l->count)
        l->full = 0;
    return n;
}
