/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ETMv4 or ETE packet record to bytes. Encodings: IHI 0064H chapter 6, "Instruction trace element
 * and packet encodings"; ETE: DDI 0487 part D. */
#include <stdlib.h>
#include <string.h>

#include "coretap/encode.h"
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/etm4_config.h"
#include "encode/etm4_state.h"
#include "proto/etm4_header.h"

struct ct_etm4_encoder {
    struct ct_ctx *ctx;
    struct ct_etm4_config config;
    struct ct_etm4_header headers[256];
    struct ct_etm4_state now;
};

/* A packet that is being made. Nothing is output before all of it is valid. */
struct draft {
    struct ct_etm4_encoder *encoder;
    const struct ct_etm4_packet *packet;
    struct ct_etm4_state next;
    uint8_t bytes[CT_ETM4_PACKET_MAX];
    unsigned size;
};

static int refuse(const struct draft *d, const char *why)
{
    return ct_fail(d->encoder->ctx, CT_ERR_ARG, "ETMv4 packet of type %u: %s; it was not encoded",
                   d->packet->type, why);
}

static void put(struct draft *d, unsigned byte)
{
    d->bytes[d->size++] = (uint8_t)byte;
}

static void put_le(struct draft *d, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put(d, (unsigned)(value >> 8 * i) & 0xff);
}

/* Puts seven bits in each byte, with bit 7 set while more follow. */
static void put_continued(struct draft *d, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put(d, (unsigned)(value & 0x7f) | 0x80);
    put(d, (unsigned)value);
}

/* Returns the number of low address bits that are not traced: 2 for IS0, 1 for IS1. */
static unsigned address_shift(unsigned is)
{
    return is ? 1 : 2;
}

static void push_address(struct draft *d, uint64_t value, unsigned is)
{
    d->next.history[2] = d->next.history[1];
    d->next.history[1] = d->next.history[0];
    d->next.history[0] = (struct ct_etm4_said){value, (uint8_t)is};
}

/* Puts a short address: bits up to 8 (IS0) or 7 (IS1) in the first byte, eight more in the second
 * (6.4.12). */
static int put_short(struct draft *d, unsigned is, unsigned want)
{
    uint64_t value = d->packet->value, last = d->next.history[0].value;
    unsigned shift = address_shift(is), low = 7 + shift;
    if (value & ct_mask64(shift))
        return refuse(d, "the address is not aligned for its instruction set");
    if ((value ^ last) >> (low + 8))
        return refuse(d, "a short address cannot change these upper bits");
    int two = (value ^ last) >> low != 0 || want == 2;
    put(d, (unsigned)(value >> shift & 0x7f) | (two ? 0x80 : 0));
    if (two)
        put(d, (unsigned)(value >> low & 0xff));
    push_address(d, value, is);
    return CT_OK;
}

static int put_long(struct draft *d, unsigned is, unsigned bytes)
{
    uint64_t value = d->packet->value, last = d->next.history[0].value;
    unsigned shift = address_shift(is);
    if (value & ct_mask64(shift))
        return refuse(d, "the address is not aligned for its instruction set");
    uint64_t upper = d->encoder->now.sf ? last >> 32 : 0;
    if (bytes == 4 && value >> 32 != upper)
        return refuse(d, "a 32-bit address cannot change the upper half");
    put(d, (unsigned)(value >> shift & 0x7f));
    put(d, (unsigned)(value >> (7 + shift)) & (is ? 0xff : 0x7f));
    put_le(d, value >> 16, bytes - 2);
    push_address(d, value, is);
    return CT_OK;
}

static int put_match(struct draft *d, unsigned header)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->idx > 2)
        return refuse(d, "only the last three addresses can be matched");
    struct ct_etm4_said match = d->next.history[p->idx];
    if (match.value != p->value)
        return refuse(d, "the address is not the one of that index");
    put(d, header | p->idx);
    push_address(d, match.value, match.is);
    return CT_OK;
}

/* Puts a context: information byte, then VMID, then context ID (6.4.9). */
static int put_context(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    const struct ct_etm4_config *config = &d->encoder->config;
    unsigned sec = p->el_sec >> 4, el = p->el_sec & 15;
    if (el > 3 || sec > CT_SEC_REALM)
        return refuse(d, "no such exception level or security state");
    if ((p->flags & CT_ETM4_HAS_CTXT && !config->ctxt_bytes) ||
        (p->flags & CT_ETM4_HAS_VMID && !config->vmid_bytes))
        return refuse(d, "TRCIDR2 gives this identifier no bytes");
    if (p->flags & CT_ETM4_HAS_VMID && (uint64_t)p->vmid >> 8 * config->vmid_bytes)
        return refuse(d, "the VMID has more bits than TRCIDR2.VMIDSIZE");
    unsigned ns = sec == CT_SEC_NS || sec == CT_SEC_REALM, nse = sec == CT_SEC_ROOT || sec == CT_SEC_REALM;
    unsigned info = el | nse << 3 | ns << 5;
    if (p->flags & CT_ETM4_SF)
        info |= 0x10;
    if (p->flags & CT_ETM4_HAS_VMID)
        info |= 0x40;
    if (p->flags & CT_ETM4_HAS_CTXT)
        info |= 0x80;
    put(d, info);
    if (p->flags & CT_ETM4_HAS_VMID)
        put_le(d, p->vmid, config->vmid_bytes);
    if (p->flags & CT_ETM4_HAS_CTXT)
        put_le(d, p->ctxt, config->ctxt_bytes);
    d->next.sf = (p->flags & CT_ETM4_SF) != 0;
    return CT_OK;
}

static int encode_context(struct draft *d)
{
    if (!(d->packet->flags & CT_ETM4_HAS_CONTEXT)) {
        put(d, 0x80);
        return CT_OK;
    }
    put(d, 0x81);
    return put_context(d);
}

static int encode_address(struct draft *d, unsigned header, unsigned is, unsigned bytes, int context)
{
    put(d, header);
    int err = put_long(d, is, bytes);
    return err || !context ? err : put_context(d);
}

static int encode_short(struct draft *d, unsigned header, unsigned is)
{
    put(d, header);
    return put_short(d, is, d->packet->size ? d->packet->size - 1u : 0);
}

static unsigned continued_size(uint32_t value)
{
    unsigned bytes = 1;
    while (value >>= 7)
        bytes++;
    return bytes;
}

/* Encodes a trace info packet. Sections that are 0 are omitted, except where `size` requests them (6.4.4). */
static int encode_trace_info(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int has_info = p->info != 0, has_spec = (p->flags & CT_ETM4_HAS_SPEC) != 0, has_cyct = p->count != 0;
    unsigned size = 2 + (has_info ? continued_size(p->info) : 0) +
                    (has_spec ? continued_size(p->count2) : 0) + (has_cyct ? continued_size(p->count) : 0);
    if (!has_info && p->size > size) {
        has_info = 1;
        size++;
    }
    if (!has_cyct && p->size > size)
        has_cyct = 1;
    put(d, 0x01);
    put(d, (has_info ? 1u : 0) | (has_spec ? 4u : 0) | (has_cyct ? 8u : 0));
    if (has_info)
        put_continued(d, p->info);
    if (has_spec)
        put_continued(d, p->count2);
    if (has_cyct)
        put_continued(d, p->count);
    d->next.ccthr = p->count;
    d->next.ts = 0;
    memset(d->next.history, 0, sizeof(d->next.history));
    return CT_OK;
}

/* Encodes a timestamp: up to nine bytes, the ninth with eight bits; unchanged upper bytes are omitted
 * (6.4.3). */
static int encode_timestamp(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    uint64_t changed = p->value ^ d->encoder->now.ts;
    unsigned bytes = 1, count_bytes = 0;
    int has_count = (p->flags & CT_ETM4_HAS_COUNT) != 0;
    if (has_count && p->count >> 20)
        return refuse(d, "its cycle count has at most 20 bits");
    if (has_count)
        count_bytes = p->count >> 14 ? 3 : p->count >> 7 ? 2 : 1;
    while (bytes < 9 && changed >> 7 * bytes)
        bytes++;
    if (p->size > 1 + bytes + count_bytes && p->size <= 10 + count_bytes)
        bytes = p->size - 1 - count_bytes;
    put(d, has_count ? 0x03 : 0x02);
    for (unsigned i = 0; i + 1 < bytes; i++)
        put(d, (unsigned)(p->value >> 7 * i & 0x7f) | 0x80);
    put(d, (unsigned)(p->value >> 7 * (bytes - 1)) & (bytes == 9 ? 0xff : 0x7f));
    if (has_count)
        put_continued(d, p->count);
    d->next.ts = p->value;
    return CT_OK;
}

/* Encodes an exception. The M profile and large numbers need the second byte. On an ETE, PE reset and
 * transaction failure are exception packets with a fixed form (6.4.6). */
static int encode_exception(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->info >> 10 || p->idx > 3)
        return refuse(d, "no such exception number or E bits");
    unsigned low = p->info & 0x1f;
    if (d->encoder->config.ete && (low == 0 || low == 0x18))
        return refuse(d, "on ETE this exception number means PE reset or transaction failure");
    unsigned more = p->info >> 5 | (p->flags & CT_ETM4_FAULT_PENDING ? 0x20 : 0);
    int two = more || p->size == 3;
    put(d, 0x06);
    put(d, low << 1 | (p->idx & 1u) | (p->idx & 2u) << 5 | (two ? 0x80 : 0));
    if (two)
        put(d, more);
    return CT_OK;
}

static int encode_ete_exception(struct draft *d, unsigned number)
{
    put(d, 0x06);
    put(d, number << 1);
    put(d, 0x70);
    push_address(d, 0, CT_IS0);
    return CT_OK;
}

/* Encodes a cycle count. With TRCIDR0.COMMOPT 1 the packet has no number of commits (6.4.7). */
static int encode_ccnt_f1(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int known = (p->flags & CT_ETM4_HAS_COUNT) != 0;
    uint32_t over = p->count - d->encoder->now.ccthr;
    if (known && (p->count < d->encoder->now.ccthr || over >> 20))
        return refuse(d, "its cycle count lies below the threshold or above 20 bits");
    put(d, known ? 0x0e : 0x0f);
    if (!d->encoder->config.comm_opt)
        put_continued(d, p->count2);
    if (known)
        put_continued(d, over);
    return CT_OK;
}

static int encode_ccnt_f2(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    const struct ct_etm4_config *config = &d->encoder->config;
    uint32_t over = p->count - d->encoder->now.ccthr;
    if (p->count < d->encoder->now.ccthr || over > 15)
        return refuse(d, "its cycle count is not within 15 of the threshold");
    uint32_t few = p->count2 - 1, many = p->count2 - config->max_spec + 15;
    if (config->comm_opt)
        few = 0;
    if (few > 15 && many > 15)
        return refuse(d, "its commits fit neither 1 to 16 nor the 16 numbers up to the speculation depth");
    int deep = few > 15 || (p->header == 0x0d && many <= 15);
    put(d, deep ? 0x0d : 0x0c);
    put(d, (deep ? many : few) << 4 | over);
    return CT_OK;
}

static int encode_ccnt_f3(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    uint32_t over = p->count - d->encoder->now.ccthr;
    uint32_t commits = d->encoder->config.comm_opt ? 0 : p->count2 - 1;
    if (p->count < d->encoder->now.ccthr || over > 3 || commits > 3)
        return refuse(d, "it holds 1 to 4 commits and a count of up to 3 over the threshold");
    put(d, 0x10 | commits << 2 | over);
    return CT_OK;
}

/* Puts a cancel of format 2 or 3, or a mispredict, with the two-bit code of its atoms (6.4.8). */
static int put_speculation(struct draft *d, unsigned header)
{
    const struct ct_etm4_packet *p = d->packet;
    static const struct {
        uint8_t natoms, atoms;
    } codes[] = {{0, 0}, {1, 1}, {2, 3}, {1, 0}};
    for (unsigned i = 0; i < 4; i++)
        if (codes[i].natoms == p->natoms && codes[i].atoms == p->atoms) {
            put(d, header | i);
            return CT_OK;
        }
    return refuse(d, "its atoms are none, E, EE or N");
}

static int encode_cancel_f3(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->count2 < 2 || p->count2 > 5 || p->natoms > 1 || p->atoms != p->natoms)
        return refuse(d, "it cancels 2 to 5 elements after at most one E atom");
    put(d, 0x38 | (p->count2 - 2) << 1 | p->natoms);
    return CT_OK;
}

/* Encodes atoms. Formats 4 and 5 have only these patterns, oldest atom in bit 0 (6.4.5). */
static int encode_atoms(struct draft *d)
{
    static const uint8_t f4[] = {0xe, 0x0, 0xa, 0x5};
    static const struct {
        uint8_t atoms, header;
    } f5[] = {{0x00, 0xd5}, {0x0a, 0xd6}, {0x15, 0xd7}, {0x1e, 0xf5}};
    const struct ct_etm4_packet *p = d->packet;
    unsigned n = p->natoms;
    if (n > 24 || p->atoms >> n)
        return refuse(d, "too many atoms");
    if (p->type == CT_ETM4_ATOM_F1 && n == 1)
        put(d, 0xf6 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F2 && n == 2)
        put(d, 0xd8 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F3 && n == 3)
        put(d, 0xf8 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F4 && n == 4)
        for (unsigned i = 0; i < 4 && !d->size; i++) {
            if (f4[i] == p->atoms)
                put(d, 0xdc | i);
        }
    else if (p->type == CT_ETM4_ATOM_F5 && n == 5)
        for (unsigned i = 0; i < 4 && !d->size; i++) {
            if (f5[i].atoms == p->atoms)
                put(d, f5[i].header);
        }
    else if (p->type == CT_ETM4_ATOM_F6 && n >= 4 && (~p->atoms & ct_mask64(n - 1)) == 0)
        put(d, (p->atoms >> (n - 1) ? 0xc0 : 0xe0) | (n - 4));
    return d->size ? CT_OK : refuse(d, "this atom format cannot hold these atoms");
}

/* Encodes a Q: alone, with a count, or with an address and a count (6.4.10). */
static int encode_q(struct draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    int counted = (p->flags & CT_ETM4_HAS_COUNT) != 0, err = CT_OK;
    if (!(p->flags & CT_ETM4_HAS_ADDR)) {
        put(d, counted ? 0xac : 0xaf);
        if (counted)
            put_continued(d, p->count);
        return CT_OK;
    }
    if (!counted)
        return refuse(d, "a Q packet with an address has a count");
    if (p->flags & CT_ETM4_MATCH) {
        err = put_match(d, 0xa0);
    } else {
        uint64_t last = d->next.history[0].value;
        unsigned is = p->is & 1, shift = address_shift(is);
        int fits = (p->value ^ last) >> (15 + shift) == 0;
        put(d, (fits ? 0xa5 : 0xaa) + is);
        err = fits ? put_short(d, is, 0) : put_long(d, is, 4);
    }
    if (!err)
        put_continued(d, p->count);
    return err;
}

static int encode_header(struct draft *d, unsigned byte)
{
    put(d, byte);
    return CT_OK;
}

/* Returns the header of the record when it belongs to the packet's type, else `first`: these types have
 * fields in it. */
static unsigned own_header(const struct draft *d, unsigned first)
{
    unsigned header = d->packet->header;
    return d->encoder->headers[header].type == d->packet->type ? header : first;
}

/* Encodes a conditional packet. Its payload is stored as described in packet.h, a second key in the upper
 * half (6.4.19 to 6.4.26). */
static int encode_conditional(struct draft *d, unsigned first)
{
    uint64_t payload = d->packet->value;
    unsigned header = own_header(d, first);
    put(d, header);
    switch (d->encoder->headers[header].form) {
    case CT_ETM4_FORM_COND_KEY:
        put_continued(d, (uint32_t)payload);
        break;
    case CT_ETM4_FORM_COND_BYTE:
        put(d, payload & 0xff);
        break;
    case CT_ETM4_FORM_COND_RES1:
        put_continued(d, (uint32_t)payload);
        if ((header & 0xfc) != 0x6c)
            put_continued(d, payload >> 32);
        break;
    default: /* only the header */
        break;
    }
    return CT_OK;
}

/* Encodes zeros and the byte that ends them: an extension packet or, with eleven zeros and 0x80, an alignment
 * packet (6.4.1). */
static int encode_extension(struct draft *d, unsigned zeros, unsigned last)
{
    for (unsigned i = 0; i < zeros; i++)
        put(d, 0);
    put(d, last);
    return CT_OK;
}

static int encode_counted(struct draft *d, unsigned header)
{
    put(d, header);
    put_continued(d, d->packet->count2);
    return CT_OK;
}

static int encode_ite(struct draft *d)
{
    put(d, 0x09);
    put(d, d->packet->el_sec & 3);
    put_le(d, d->packet->value, 8);
    return CT_OK;
}

static int encode_event(struct draft *d)
{
    if (d->packet->info < 1 || d->packet->info > 15)
        return refuse(d, "it has four event bits, not all 0");
    return encode_header(d, 0x70 | d->packet->info);
}

static int encode_cancel_f2(struct draft *d)
{
    if (d->packet->count2 != 1)
        return refuse(d, "it cancels one element");
    return put_speculation(d, 0x34);
}

static int encode(struct draft *d)
{
    switch ((enum ct_etm4_type)d->packet->type) {
    case CT_ETM4_ASYNC:
        return encode_extension(d, 11, 0x80);
    case CT_ETM4_DISCARD:
        return encode_extension(d, 1, 0x03);
    case CT_ETM4_OVERFLOW:
        return encode_extension(d, 1, 0x05);
    case CT_ETM4_TRACE_INFO:
        return encode_trace_info(d);
    case CT_ETM4_TRACE_ON:
        return encode_header(d, 0x04);
    case CT_ETM4_TIMESTAMP:
        return encode_timestamp(d);
    case CT_ETM4_TS_MARKER:
        return encode_header(d, 0x88);
    case CT_ETM4_CTXT:
        return encode_context(d);
    case CT_ETM4_ADDR_S_IS0:
        return encode_short(d, 0x95, CT_IS0);
    case CT_ETM4_ADDR_S_IS1:
        return encode_short(d, 0x96, CT_IS1);
    case CT_ETM4_ADDR_L_32IS0:
        return encode_address(d, 0x9a, CT_IS0, 4, 0);
    case CT_ETM4_ADDR_L_32IS1:
        return encode_address(d, 0x9b, CT_IS1, 4, 0);
    case CT_ETM4_ADDR_L_64IS0:
        return encode_address(d, 0x9d, CT_IS0, 8, 0);
    case CT_ETM4_ADDR_L_64IS1:
        return encode_address(d, 0x9e, CT_IS1, 8, 0);
    case CT_ETM4_ADDR_CTXT_L_32IS0:
        return encode_address(d, 0x82, CT_IS0, 4, 1);
    case CT_ETM4_ADDR_CTXT_L_32IS1:
        return encode_address(d, 0x83, CT_IS1, 4, 1);
    case CT_ETM4_ADDR_CTXT_L_64IS0:
        return encode_address(d, 0x85, CT_IS0, 8, 1);
    case CT_ETM4_ADDR_CTXT_L_64IS1:
        return encode_address(d, 0x86, CT_IS1, 8, 1);
    case CT_ETM4_ADDR_MATCH:
        return put_match(d, 0x90);
    case CT_ETM4_SRC_ADDR_S_IS0:
        return encode_short(d, 0xb4, CT_IS0);
    case CT_ETM4_SRC_ADDR_S_IS1:
        return encode_short(d, 0xb5, CT_IS1);
    case CT_ETM4_SRC_ADDR_L_32IS0:
        return encode_address(d, 0xb6, CT_IS0, 4, 0);
    case CT_ETM4_SRC_ADDR_L_32IS1:
        return encode_address(d, 0xb7, CT_IS1, 4, 0);
    case CT_ETM4_SRC_ADDR_L_64IS0:
        return encode_address(d, 0xb8, CT_IS0, 8, 0);
    case CT_ETM4_SRC_ADDR_L_64IS1:
        return encode_address(d, 0xb9, CT_IS1, 8, 0);
    case CT_ETM4_SRC_ADDR_MATCH:
        return put_match(d, 0xb0);
    case CT_ETM4_ATOM_F1:
    case CT_ETM4_ATOM_F2:
    case CT_ETM4_ATOM_F3:
    case CT_ETM4_ATOM_F4:
    case CT_ETM4_ATOM_F5:
    case CT_ETM4_ATOM_F6:
        return encode_atoms(d);
    case CT_ETM4_Q:
        return encode_q(d);
    case CT_ETM4_CCNT_F1:
        return encode_ccnt_f1(d);
    case CT_ETM4_CCNT_F2:
        return encode_ccnt_f2(d);
    case CT_ETM4_CCNT_F3:
        return encode_ccnt_f3(d);
    case CT_ETM4_COMMIT:
        return encode_counted(d, 0x2d);
    case CT_ETM4_CANCEL_F1:
        return encode_counted(d, 0x2e);
    case CT_ETM4_CANCEL_F1_MISPRED:
        return encode_counted(d, 0x2f);
    case CT_ETM4_CANCEL_F2:
        return encode_cancel_f2(d);
    case CT_ETM4_CANCEL_F3:
        return encode_cancel_f3(d);
    case CT_ETM4_MISPREDICT:
        return put_speculation(d, 0x30);
    case CT_ETM4_COND_I_F1:
        return encode_conditional(d, 0x6c);
    case CT_ETM4_COND_I_F2:
        return encode_conditional(d, 0x40);
    case CT_ETM4_COND_I_F3:
        return encode_conditional(d, 0x6d);
    case CT_ETM4_COND_FLUSH:
        return encode_conditional(d, 0x43);
    case CT_ETM4_COND_RES_F1:
        return encode_conditional(d, 0x6e);
    case CT_ETM4_COND_RES_F2:
        return encode_conditional(d, 0x48);
    case CT_ETM4_COND_RES_F3:
        return encode_conditional(d, 0x50);
    case CT_ETM4_COND_RES_F4:
        return encode_conditional(d, 0x44);
    case CT_ETM4_EXCEPT:
        return encode_exception(d);
    case CT_ETM4_EXCEPT_RTN:
        return encode_header(d, 0x07);
    case CT_ETM4_FUNC_RET:
        return encode_header(d, 0x05);
    case CT_ETM4_EVENT:
        return encode_event(d);
    case CT_ETM4_NUM_DS_MKR:
        return encode_header(d, own_header(d, 0x20));
    case CT_ETM4_UNNUM_DS_MKR:
        return encode_header(d, own_header(d, 0x28));
    case CT_ETM4_ITE:
        return encode_ite(d);
    case CT_ETM4_TRANS_ST:
        return encode_header(d, 0x0a);
    case CT_ETM4_TRANS_COMMIT:
        return encode_header(d, 0x0b);
    case CT_ETM4_TRANS_FAIL:
        return encode_ete_exception(d, 0x18);
    case CT_ETM4_PE_RESET:
        return encode_ete_exception(d, 0);
    case CT_ETM4_IGNORE:
        return encode_header(d, 0x70);
    case CT_ETM4_NOT_SYNC:
    case CT_ETM4_INCOMPLETE_EOT:
    case CT_ETM4_BAD_SEQUENCE:
    case CT_ETM4_BAD_TRACEMODE:
    case CT_ETM4_RESERVED:
    case CT_ETM4_RESERVED_CFG:
    case CT_ETM4_EXTENSION:
    case CT_ETM4_TYPE_COUNT:
        break;
    }
    return refuse(d, "it stands for damage or for nothing");
}

/* Returns whether a source with these registers has the packet, by the decoder's table of headers. */
static int is_configured(const struct draft *d)
{
    const struct ct_etm4_header *header = &d->encoder->headers[d->bytes[0]];
    unsigned type = d->packet->type;
    if (type == CT_ETM4_ASYNC || type == CT_ETM4_DISCARD || type == CT_ETM4_OVERFLOW)
        return 1;
    if (type == CT_ETM4_PE_RESET || type == CT_ETM4_TRANS_FAIL)
        return d->encoder->config.ete;
    return header->type == type && header->form != CT_ETM4_FORM_CFG;
}

int ct_etm4_encode_packet(struct ct_etm4_encoder *encoder, const struct ct_etm4_packet *packet, uint8_t *out,
                          size_t cap, size_t *len)
{
    if (!encoder || !packet || !out || !len)
        return CT_ERR_ARG;
    struct draft d = {.encoder = encoder, .packet = packet, .next = encoder->now};
    *len = 0;
    int err = encode(&d);
    if (err)
        return err;
    if (!is_configured(&d))
        return refuse(&d, "the source's registers rule it out");
    if (d.size > cap)
        return ct_fail(encoder->ctx, CT_ERR_LIMIT, "ETMv4 packet of type %u: %u bytes, but room for %zu",
                       packet->type, d.size, cap);
    memcpy(out, d.bytes, d.size);
    *len = d.size;
    encoder->now = d.next;
    return CT_OK;
}

int ct_etm4_encoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_encoder **out)
{
    if (!source || !out)
        return ct_fail_null(ctx, __func__);
    struct ct_etm4_config config;
    *out = NULL;
    int err = ct_etm4_config_init(ctx, source, &config);
    if (err)
        return err;
    struct ct_etm4_encoder *encoder = calloc(1, sizeof(*encoder));
    if (!encoder)
        return ct_fail_nomem(ctx, "ETMv4 encoder");
    encoder->ctx = ctx;
    ct_etm4_headers_init(&config, encoder->headers);
    encoder->config = config;
    *out = encoder;
    return CT_OK;
}

void ct_etm4_encoder_free(struct ct_etm4_encoder *encoder)
{
    free(encoder);
}

void ct_etm4_encoder_reset(struct ct_etm4_encoder *encoder)
{
    if (!encoder)
        return;
    encoder->now = (struct ct_etm4_state){0};
}

const struct ct_etm4_state *ct_etm4_encoder_state(const struct ct_etm4_encoder *encoder)
{
    return &encoder->now;
}
