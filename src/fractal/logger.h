/* SPDX-License-Identifier: Apache-2.0 */
/* Logger: packs events, with the fields that were asked for, into a ring of fixed size. */
#ifndef CT_FRACTAL_LOGGER_H
#define CT_FRACTAL_LOGGER_H

#include "coretap/fractal.h"

#define CT_RECORD_MAX 40 /* bytes of a record with every field */

struct ct_logger {
    uint8_t *ring;
    uint32_t bytes, record, slots; /* ring size, record size, records that fit */
    uint32_t head, count;
    uint32_t fields;
    uint64_t events, dropped;
    uint8_t full; /* something was dropped since the ring was last emptied */
};

int ct_logger_init(struct ct_logger *l, uint32_t bytes);
void ct_logger_free(struct ct_logger *l);
/* Chooses the fields and empties the ring. */
void ct_logger_fields(struct ct_logger *l, uint32_t fields);
void ct_logger_put(struct ct_logger *l, const struct ct_fractal_event *e);
/* Gives the place for the next record. NULL: the ring is full, and the record is counted as dropped. */
static inline uint8_t *ct_logger_place(struct ct_logger *l)
{
    l->events++;
    if (l->count == l->slots) {
        l->dropped++;
        l->full = 1;
        return NULL;
    }
    const uint32_t end = l->head + l->count++;
    return l->ring + (size_t)(end < l->slots ? end : end - l->slots) * l->record;
}
size_t ct_logger_take(struct ct_logger *l, struct ct_fractal_event *out, size_t max);

/* Bytes of a record with every field: time, va, pa, point, op, initiator, kind, flags, target. */
#define CT_RECORD_ALL 33

/* Gives the bytes of a record, which is the same in ring and file. Fields lie in the order of their bits. */
uint32_t ct_record_size(uint32_t fields);
void ct_record_pack(uint32_t fields, const struct ct_fractal_event *e, uint8_t *out);
void ct_record_unpack(uint32_t fields, const uint8_t *in, struct ct_fractal_event *e);

/* Gives bit, name and bytes of field `index`, from 0 on; returns 0 after the last. */
int ct_record_field(unsigned index, uint32_t *bit, const char **name, uint32_t *bytes);

#endif
