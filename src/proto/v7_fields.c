/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/v7_fields.h"

uint8_t ct_v7_u8(struct ct_v7_cursor *c)
{
    if (c->p < c->end)
        return *c->p++;
    c->cut = true;
    return 0;
}

uint32_t ct_v7_le(struct ct_v7_cursor *c, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)ct_v7_u8(c) << (8 * i);
    return value;
}

uint32_t ct_v7_cont(struct ct_v7_cursor *c)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t byte = ct_v7_u8(c);
        value |= (uint32_t)(byte & 0x7fu) << (7 * i);
        if (!(byte & 0x80))
            break;
    }
    return value;
}

uint64_t ct_v7_timestamp(struct ct_v7_cursor *c, bool wide, unsigned *bits)
{
    unsigned most = wide ? 9 : 7;
    uint64_t value = 0;
    *bits = 0;
    for (unsigned i = 1; i <= most; i++) {
        uint8_t byte = ct_v7_u8(c);
        unsigned count = i < most ? 7 : wide ? 8 : 6;
        value |= (uint64_t)(byte & ((1u << count) - 1)) << *bits;
        *bits += count;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

unsigned ct_v7_address_shift(unsigned isa)
{
    return isa == CT_V7_A32 ? 2 : isa == CT_V7_JAZ ? 0 : 1;
}
