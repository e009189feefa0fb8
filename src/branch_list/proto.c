/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_list/proto.h"

/* Reads a varint: a number with seven bits in each byte, lowest first. */
static uint64_t get_varint(struct ct_proto *m)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m->at == m->end)
            break;
        const uint8_t byte = *m->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    m->bad = true;
    return 0;
}

/* Takes `size` bytes. */
static const uint8_t *get_bytes(struct ct_proto *m, uint64_t size)
{
    const uint8_t *bytes = m->at;
    m->bad = m->bad || size > (uint64_t)(m->end - m->at);
    if (!m->bad)
        m->at += size;
    return bytes;
}

bool ct_proto_next(struct ct_proto *m, struct ct_proto_field *field)
{
    if (m->bad || m->at == m->end)
        return false;
    const uint64_t tag = get_varint(m);
    *field = (struct ct_proto_field){.number = tag >> 3, .type = (enum ct_proto_type)(tag & 7)};
    switch (field->type) {
    case CT_PROTO_NUMBER:
        field->value = get_varint(m);
        break;
    case CT_PROTO_FIXED64:
        get_bytes(m, 8);
        break;
    case CT_PROTO_FIXED32:
        get_bytes(m, 4);
        break;
    case CT_PROTO_BYTES:
        field->size = get_varint(m);
        field->bytes = get_bytes(m, field->size);
        break;
    default:
        m->bad = true;
    }
    m->bad = m->bad || !field->number;
    return !m->bad;
}
