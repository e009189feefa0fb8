/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/etm4_fields.h"

#include "base/bytes.h"

uint32_t ct_etm4_cont(struct ct_cursor *c, unsigned most)
{
    uint32_t value = 0;
    uint8_t byte;
    unsigned i = 0;
    do {
        byte = ct_cursor_u8(c);
        if (i < most)
            value |= (uint32_t)(byte & 0x7f) << (7 * i);
        i++;
    } while (byte & 0x80);
    return value;
}

/* Replaces the `bits` low bits of the address by `low`. */
static void update(struct ct_etm4_address *address, uint64_t low, unsigned bits, unsigned is)
{
    uint64_t mask = ct_mask64(bits);
    address->value = (address->value & ~mask) | low;
    if (address->valid < bits)
        address->valid = (uint8_t)bits;
    address->is = (uint8_t)is;
}

/* Reads 7 + 8 address bits: IS0 has bits 8:2, then 16:9; IS1 bits 7:1, then 15:8. */
void ct_etm4_address_short(struct ct_cursor *c, unsigned is, struct ct_etm4_address *address)
{
    unsigned low_bit = is ? 1 : 2;
    uint8_t first = ct_cursor_u8(c);
    uint64_t low = (uint64_t)(first & 0x7f) << low_bit;
    unsigned bits = 7 + low_bit;
    if (first & 0x80) {
        low |= (uint64_t)ct_cursor_u8(c) << bits;
        bits += 8;
    }
    update(address, low, bits, is);
}

/* Reads the low 32 address bits: IS0 has bits 8:2, 15:9; IS1 bits 7:1, 15:8; both then 23:16, 31:24. */
static uint64_t low_32(struct ct_cursor *c, unsigned is)
{
    uint64_t first = ct_cursor_u8(c);
    uint64_t second = ct_cursor_u8(c);
    uint64_t low = is ? (first & 0x7f) << 1 | second << 8 : (first & 0x7f) << 2 | (second & 0x7f) << 9;
    return low | ct_cursor_le(c, 2) << 16;
}

void ct_etm4_address_32(struct ct_cursor *c, unsigned is, bool keep_high, struct ct_etm4_address *address)
{
    uint64_t low = low_32(c, is);
    if (!keep_high)
        address->value = 0;
    address->size = keep_high ? 64 : 32;
    update(address, low, 32, is);
}

void ct_etm4_address_64(struct ct_cursor *c, unsigned is, struct ct_etm4_address *address)
{
    uint64_t low = low_32(c, is);
    address->size = 64;
    update(address, low | ct_cursor_le(c, 4) << 32, 64, is);
}

void ct_etm4_context_info(struct ct_etm4_packet *packet, uint8_t info)
{
    uint8_t sec = (uint8_t)((info >> 5 & 1) | (info >> 2 & 2));
    packet->flags |= CT_ETM4_HAS_CONTEXT;
    if (info & 0x10)
        packet->flags |= CT_ETM4_SF;
    packet->el_sec = (uint8_t)((info & 3) | sec << 4);
}

void ct_etm4_context(struct ct_cursor *c, const struct ct_etm4_config *config, struct ct_etm4_packet *packet)
{
    uint8_t info = ct_cursor_u8(c);
    ct_etm4_context_info(packet, info);
    if (info & 0x40 && config->vmid_bytes) {
        packet->vmid = ct_cursor_le32(c, config->vmid_bytes);
        packet->flags |= CT_ETM4_HAS_VMID;
    }
    if (info & 0x80 && config->ctxt_bytes) {
        packet->ctxt = ct_cursor_le32(c, config->ctxt_bytes);
        packet->flags |= CT_ETM4_HAS_CTXT;
    }
}
