/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/fields_text.h"

#include <inttypes.h>

#include "base/bytes.h"

static const char capitals[] = "0123456789ABCDEF";

void ct_ocsd_fields_address(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr)
{
    const int bits = addr->size == VA_64BIT || addr->valid_bits > 32 ? 64 : 32;
    const int digits = (addr->valid_bits + 3) / 4;
    ct_ocsd_line_say(line, "Addr=0x");
    if (addr->valid_bits >= bits) {
        ct_ocsd_line_hex(line, addr->val, (unsigned)bits / 4, capitals);
    } else { /* at most 32 bits are known; 1.3.3 prints higher ones among these 32 only */
        ct_ocsd_line_add(line, "%.*s", bits / 4 - digits, "????????????????");
        ct_ocsd_line_add(line, "%0*" PRIX32 " (%d:0)", digits, (uint32_t)addr->val, addr->valid_bits - 1);
    }
}

void ct_ocsd_fields_address_bits(struct ct_ocsd_line *line, const ocsd_pkt_vaddr *addr)
{
    ct_ocsd_line_say(line, " ~[0x");
    ct_ocsd_line_hex(line, addr->val & ct_mask64(addr->pkt_bits), 1, capitals);
    ct_ocsd_line_say(line, "]");
}

void ct_ocsd_fields_atoms(struct ct_ocsd_line *line, const ocsd_pkt_atom *atom)
{
    char text[UINT8_MAX];
    for (unsigned i = 0; i < atom->num; i++)
        text[i] = atom->En_bits >> (i & 31) & 1 ? 'E' : 'N';
    ct_ocsd_line_put(line, text, atom->num);
}
