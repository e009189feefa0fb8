/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, contexts and Q packets of an ETMv4 or ETE. IHI 0064H 6.4.9 to 6.4.12. */
#include "base/bytes.h"
#include "encode/etm4_draft.h"

/* Returns the number of low address bits that are not traced: 2 for IS0, 1 for IS1. */
static unsigned address_shift(unsigned is)
{
    return is ? 1 : 2;
}

void ct_etm4_push_address(struct ct_etm4_draft *d, uint64_t value, unsigned is)
{
    d->next.history[2] = d->next.history[1];
    d->next.history[1] = d->next.history[0];
    d->next.history[0] = (struct ct_etm4_said){value, (uint8_t)is};
}

/* Puts a short address: bits up to 8 (IS0) or 7 (IS1) in the first byte, eight more in the second
 * (6.4.12). */
static int put_short(struct ct_etm4_draft *d, unsigned is, unsigned want)
{
    uint64_t value = d->packet->value, last = d->next.history[0].value;
    unsigned shift = address_shift(is), low = 7 + shift;
    if (value & ct_mask64(shift))
        return ct_etm4_refuse(d, "the address is not aligned for its instruction set");
    if ((value ^ last) >> (low + 8))
        return ct_etm4_refuse(d, "a short address cannot change these upper bits");
    int two = (value ^ last) >> low != 0 || want == 2;
    ct_etm4_put_byte(d, (unsigned)(value >> shift & 0x7f) | (two ? 0x80 : 0));
    if (two)
        ct_etm4_put_byte(d, (unsigned)(value >> low & 0xff));
    ct_etm4_push_address(d, value, is);
    return CT_OK;
}

static int put_long(struct ct_etm4_draft *d, unsigned is, unsigned bytes)
{
    uint64_t value = d->packet->value, last = d->next.history[0].value;
    unsigned shift = address_shift(is);
    if (value & ct_mask64(shift))
        return ct_etm4_refuse(d, "the address is not aligned for its instruction set");
    uint64_t upper = d->encoder->now.sf ? last >> 32 : 0;
    if (bytes == 4 && value >> 32 != upper)
        return ct_etm4_refuse(d, "a 32-bit address cannot change the upper half");
    ct_etm4_put_byte(d, (unsigned)(value >> shift & 0x7f));
    ct_etm4_put_byte(d, (unsigned)(value >> (7 + shift)) & (is ? 0xff : 0x7f));
    ct_etm4_put_le(d, value >> 16, bytes - 2);
    ct_etm4_push_address(d, value, is);
    return CT_OK;
}

int ct_etm4_put_match(struct ct_etm4_draft *d, unsigned header)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->idx > 2)
        return ct_etm4_refuse(d, "only the last three addresses can be matched");
    struct ct_etm4_said match = d->next.history[p->idx];
    if (match.value != p->value)
        return ct_etm4_refuse(d, "the address is not the one of that index");
    ct_etm4_put_byte(d, header | p->idx);
    ct_etm4_push_address(d, match.value, match.is);
    return CT_OK;
}

/* Puts a context: information byte, then VMID, then context ID (6.4.9). */
static int put_context(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    const struct ct_etm4_config *config = &d->encoder->config;
    unsigned sec = p->el_sec >> 4, el = p->el_sec & 15;
    if (el > 3 || sec > CT_SEC_REALM)
        return ct_etm4_refuse(d, "no such exception level or security state");
    if ((p->flags & CT_ETM4_HAS_CTXT && !config->ctxt_bytes) ||
        (p->flags & CT_ETM4_HAS_VMID && !config->vmid_bytes))
        return ct_etm4_refuse(d, "TRCIDR2 gives this identifier no bytes");
    if (p->flags & CT_ETM4_HAS_VMID && (uint64_t)p->vmid >> 8 * config->vmid_bytes)
        return ct_etm4_refuse(d, "the VMID has more bits than TRCIDR2.VMIDSIZE");
    unsigned ns = sec == CT_SEC_NS || sec == CT_SEC_REALM, nse = sec == CT_SEC_ROOT || sec == CT_SEC_REALM;
    unsigned info = el | nse << 3 | ns << 5;
    if (p->flags & CT_ETM4_SF)
        info |= 0x10;
    if (p->flags & CT_ETM4_HAS_VMID)
        info |= 0x40;
    if (p->flags & CT_ETM4_HAS_CTXT)
        info |= 0x80;
    ct_etm4_put_byte(d, info);
    if (p->flags & CT_ETM4_HAS_VMID)
        ct_etm4_put_le(d, p->vmid, config->vmid_bytes);
    if (p->flags & CT_ETM4_HAS_CTXT)
        ct_etm4_put_le(d, p->ctxt, config->ctxt_bytes);
    d->next.sf = (p->flags & CT_ETM4_SF) != 0;
    return CT_OK;
}

int ct_etm4_put_context(struct ct_etm4_draft *d)
{
    if (!(d->packet->flags & CT_ETM4_HAS_CONTEXT)) {
        ct_etm4_put_byte(d, 0x80);
        return CT_OK;
    }
    ct_etm4_put_byte(d, 0x81);
    return put_context(d);
}

int ct_etm4_put_address(struct ct_etm4_draft *d, unsigned header, unsigned is, unsigned bytes, int context)
{
    ct_etm4_put_byte(d, header);
    int err = put_long(d, is, bytes);
    return err || !context ? err : put_context(d);
}

int ct_etm4_put_short(struct ct_etm4_draft *d, unsigned header, unsigned is)
{
    ct_etm4_put_byte(d, header);
    return put_short(d, is, d->packet->size ? d->packet->size - 1u : 0);
}

/* Encodes a Q: alone, with a count, or with an address and a count (6.4.10). */
int ct_etm4_put_q(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int counted = (p->flags & CT_ETM4_HAS_COUNT) != 0, err = CT_OK;
    if (!(p->flags & CT_ETM4_HAS_ADDR)) {
        ct_etm4_put_byte(d, counted ? 0xac : 0xaf);
        if (counted)
            ct_etm4_put_continued(d, p->count);
        return CT_OK;
    }
    if (!counted)
        return ct_etm4_refuse(d, "a Q packet with an address has a count");
    if (p->flags & CT_ETM4_MATCH) {
        err = ct_etm4_put_match(d, 0xa0);
    } else {
        uint64_t last = d->next.history[0].value;
        unsigned is = p->is & 1, shift = address_shift(is);
        int fits = (p->value ^ last) >> (15 + shift) == 0;
        ct_etm4_put_byte(d, (fits ? 0xa5 : 0xaa) + is);
        err = fits ? put_short(d, is, 0) : put_long(d, is, 4);
    }
    if (!err)
        ct_etm4_put_continued(d, p->count);
    return err;
}
