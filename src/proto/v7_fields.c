/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/v7_fields.h"

uint32_t ct_v7_cont(struct ct_cursor *c)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t byte = ct_cursor_u8(c);
        value |= (uint32_t)(byte & 0x7fu) << (7 * i);
        if (!(byte & 0x80))
            break;
    }
    return value;
}

unsigned ct_v7_address_shift(unsigned isa)
{
    return isa == CT_V7_A32 ? 2 : isa == CT_V7_JAZ ? 0 : 1;
}
