/* SPDX-License-Identifier: Apache-2.0 */
/* Logger: packs events, with the selected fields, into a ring of fixed size. */
#pragma once

#include <stdbool.h>

#include "coretap/fractal.h"

#define CT_RECORD_MAX 40 /* upper bound of the bytes of a record */

struct ct_logger {
    uint8_t *ring;
    uint32_t bytes, record, slots; /* ring size, record size, records that fit */
    uint32_t head, count;
    uint32_t fields;
    uint64_t events, dropped;
    uint8_t full; /* an event was dropped since the ring was last emptied */
};

int ct_logger_init(struct ct_logger *l, uint32_t bytes);
void ct_logger_free(struct ct_logger *l);
/* Selects the fields and empties the ring. */
void ct_logger_fields(struct ct_logger *l, uint32_t fields);
void ct_logger_put(struct ct_logger *l, const struct ct_fractal_event *e);
/* Returns the address of the next record, and the number of contiguous free records there: 0 when the ring is
 * full. */
static inline uint8_t *ct_logger_places(const struct ct_logger *l, uint32_t *room)
{
    const uint32_t end = l->head + l->count;
    const bool wraps = end >= l->slots;
    *room = wraps ? l->slots - l->count : l->slots - end;
    return l->ring + (size_t)(wraps ? end - l->slots : end) * l->record;
}

/* Returns whether there is more room after `room` contiguous records. */
static inline bool ct_logger_has_room(const struct ct_logger *l, uint32_t room)
{
    return l->count + room < l->slots;
}

/* Counts events, of which the first `room` were stored; the others are dropped. */
static inline void ct_logger_add(struct ct_logger *l, uint32_t events, uint32_t room)
{
    const uint32_t put = events < room ? events : room;
    l->events += events;
    l->count += put;
    l->dropped += events - put;
    l->full |= events > put;
}

size_t ct_logger_take(struct ct_logger *l, struct ct_fractal_event *out, size_t max);

/* bytes of a record with every field: time, va, pa, point, op, initiator, kind, flags, target */
#define CT_RECORD_ALL 33

/* Returns the bytes of a record, in the ring and in files. Fields are in the order of their bits. */
uint32_t ct_record_size(uint32_t fields);
void ct_record_pack(uint32_t fields, const struct ct_fractal_event *e, uint8_t *out);
void ct_record_unpack(uint32_t fields, const uint8_t *in, struct ct_fractal_event *e);

/* Gets bit, name and size of field `index`, from 0 on. Returns 0 after the last. */
int ct_record_field(unsigned index, uint32_t *bit, const char **name, uint32_t *bytes);
