/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ETMv4 or ETE packet record to bytes. Encodings: IHI 0064H chapter 6, "Instruction trace element
 * and packet encodings"; ETE: DDI 0487 part D. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/require.h"
#include "encode/etm4_draft.h"

/* Encodes an exception. The M profile and large numbers need the second byte. On an ETE, PE reset and
 * transaction failure are exception packets with a fixed form (6.4.6). */
static int encode_exception(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->info >> 10 || p->idx > 3)
        return ct_etm4_refuse(d, "no such exception number or E bits");
    unsigned low = p->info & 0x1f;
    if (d->encoder->config.ete && (low == 0 || low == 0x18))
        return ct_etm4_refuse(d, "on ETE this exception number means PE reset or transaction failure");
    unsigned more = p->info >> 5 | (p->flags & CT_ETM4_FAULT_PENDING ? 0x20 : 0);
    int two = more || p->size == 3;
    ct_etm4_put_byte(d, 0x06);
    ct_etm4_put_byte(d, low << 1 | (p->idx & 1u) | (p->idx & 2u) << 5 | (two ? 0x80 : 0));
    if (two)
        ct_etm4_put_byte(d, more);
    return CT_OK;
}

static int encode_ete_exception(struct ct_etm4_draft *d, unsigned number)
{
    ct_etm4_put_byte(d, 0x06);
    ct_etm4_put_byte(d, number << 1);
    ct_etm4_put_byte(d, 0x70);
    ct_etm4_push_address(d, 0, CT_IS0);
    return CT_OK;
}

/* Puts a cancel of format 2 or 3, or a mispredict, with the two-bit code of its atoms (6.4.8). */
static int put_speculation(struct ct_etm4_draft *d, unsigned header)
{
    const struct ct_etm4_packet *p = d->packet;
    static const struct {
        uint8_t natoms, atoms;
    } codes[] = {{0, 0}, {1, 1}, {2, 3}, {1, 0}};
    for (unsigned i = 0; i < 4; i++)
        if (codes[i].natoms == p->natoms && codes[i].atoms == p->atoms) {
            ct_etm4_put_byte(d, header | i);
            return CT_OK;
        }
    return ct_etm4_refuse(d, "its atoms are none, E, EE or N");
}

static int encode_cancel_f3(struct ct_etm4_draft *d)
{
    const struct ct_etm4_packet *p = d->packet;
    if (p->count2 < 2 || p->count2 > 5 || p->natoms > 1 || p->atoms != p->natoms)
        return ct_etm4_refuse(d, "it cancels 2 to 5 elements after at most one E atom");
    ct_etm4_put_byte(d, 0x38 | (p->count2 - 2) << 1 | p->natoms);
    return CT_OK;
}

/* Encodes atoms. Formats 4 and 5 have only these patterns, oldest atom in bit 0 (6.4.5). */
static int encode_atoms(struct ct_etm4_draft *d)
{
    static const uint8_t f4[] = {0xe, 0x0, 0xa, 0x5};
    static const struct {
        uint8_t atoms, header;
    } f5[] = {{0x00, 0xd5}, {0x0a, 0xd6}, {0x15, 0xd7}, {0x1e, 0xf5}};
    const struct ct_etm4_packet *p = d->packet;
    unsigned n = p->natoms;
    if (n > 24 || p->atoms >> n)
        return ct_etm4_refuse(d, "too many atoms");
    if (p->type == CT_ETM4_ATOM_F1 && n == 1)
        ct_etm4_put_byte(d, 0xf6 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F2 && n == 2)
        ct_etm4_put_byte(d, 0xd8 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F3 && n == 3)
        ct_etm4_put_byte(d, 0xf8 | p->atoms);
    else if (p->type == CT_ETM4_ATOM_F4 && n == 4)
        for (unsigned i = 0; i < 4 && !d->size; i++) {
            if (f4[i] == p->atoms)
                ct_etm4_put_byte(d, 0xdc | i);
        }
    else if (p->type == CT_ETM4_ATOM_F5 && n == 5)
        for (unsigned i = 0; i < 4 && !d->size; i++) {
            if (f5[i].atoms == p->atoms)
                ct_etm4_put_byte(d, f5[i].header);
        }
    else if (p->type == CT_ETM4_ATOM_F6 && n >= 4 && (~p->atoms & ct_mask64(n - 1)) == 0)
        ct_etm4_put_byte(d, (p->atoms >> (n - 1) ? 0xc0 : 0xe0) | (n - 4));
    return d->size ? CT_OK : ct_etm4_refuse(d, "this atom format cannot hold these atoms");
}

static int encode_header(struct ct_etm4_draft *d, unsigned byte)
{
    ct_etm4_put_byte(d, byte);
    return CT_OK;
}

/* Returns the header of the record when it belongs to the packet's type, else `first`: these types have
 * fields in it. */
static unsigned own_header(const struct ct_etm4_draft *d, unsigned first)
{
    unsigned header = d->packet->header;
    return d->encoder->headers[header].type == d->packet->type ? header : first;
}

/* Encodes a conditional packet. Its payload is stored as described in packet.h, a second key in the upper
 * half (6.4.19 to 6.4.26). */
static int encode_conditional(struct ct_etm4_draft *d, unsigned first)
{
    uint64_t payload = d->packet->value;
    unsigned header = own_header(d, first);
    ct_etm4_put_byte(d, header);
    switch (d->encoder->headers[header].form) {
    case CT_ETM4_FORM_COND_KEY:
        ct_etm4_put_continued(d, (uint32_t)payload);
        break;
    case CT_ETM4_FORM_COND_BYTE:
        ct_etm4_put_byte(d, payload & 0xff);
        break;
    case CT_ETM4_FORM_COND_RES1:
        ct_etm4_put_continued(d, (uint32_t)payload);
        if ((header & 0xfc) != 0x6c)
            ct_etm4_put_continued(d, payload >> 32);
        break;
    default: /* only the header */
        break;
    }
    return CT_OK;
}

/* Encodes zeros and the byte that ends them: an extension packet or, with eleven zeros and 0x80, an alignment
 * packet (6.4.1). */
static int encode_extension(struct ct_etm4_draft *d, unsigned zeros, unsigned last)
{
    for (unsigned i = 0; i < zeros; i++)
        ct_etm4_put_byte(d, 0);
    ct_etm4_put_byte(d, last);
    return CT_OK;
}

static int encode_counted(struct ct_etm4_draft *d, unsigned header)
{
    ct_etm4_put_byte(d, header);
    ct_etm4_put_continued(d, d->packet->count2);
    return CT_OK;
}

static int encode_ite(struct ct_etm4_draft *d)
{
    ct_etm4_put_byte(d, 0x09);
    ct_etm4_put_byte(d, d->packet->el_sec & 3);
    ct_etm4_put_le(d, d->packet->value, 8);
    return CT_OK;
}

static int encode_event(struct ct_etm4_draft *d)
{
    if (d->packet->info < 1 || d->packet->info > 15)
        return ct_etm4_refuse(d, "it has four event bits, not all 0");
    return encode_header(d, 0x70 | d->packet->info);
}

static int encode_cancel_f2(struct ct_etm4_draft *d)
{
    if (d->packet->count2 != 1)
        return ct_etm4_refuse(d, "it cancels one element");
    return put_speculation(d, 0x34);
}

static int encode(struct ct_etm4_draft *d)
{
    switch ((enum ct_etm4_type)d->packet->type) {
    case CT_ETM4_ASYNC:
        return encode_extension(d, 11, 0x80);
    case CT_ETM4_DISCARD:
        return encode_extension(d, 1, 0x03);
    case CT_ETM4_OVERFLOW:
        return encode_extension(d, 1, 0x05);
    case CT_ETM4_TRACE_INFO:
        return ct_etm4_put_trace_info(d);
    case CT_ETM4_TRACE_ON:
        return encode_header(d, 0x04);
    case CT_ETM4_TIMESTAMP:
        return ct_etm4_put_timestamp(d);
    case CT_ETM4_TS_MARKER:
        return encode_header(d, 0x88);
    case CT_ETM4_CTXT:
        return ct_etm4_put_context(d);
    case CT_ETM4_ADDR_S_IS0:
        return ct_etm4_put_short(d, 0x95, CT_IS0);
    case CT_ETM4_ADDR_S_IS1:
        return ct_etm4_put_short(d, 0x96, CT_IS1);
    case CT_ETM4_ADDR_L_32IS0:
        return ct_etm4_put_address(d, 0x9a, CT_IS0, 4, 0);
    case CT_ETM4_ADDR_L_32IS1:
        return ct_etm4_put_address(d, 0x9b, CT_IS1, 4, 0);
    case CT_ETM4_ADDR_L_64IS0:
        return ct_etm4_put_address(d, 0x9d, CT_IS0, 8, 0);
    case CT_ETM4_ADDR_L_64IS1:
        return ct_etm4_put_address(d, 0x9e, CT_IS1, 8, 0);
    case CT_ETM4_ADDR_CTXT_L_32IS0:
        return ct_etm4_put_address(d, 0x82, CT_IS0, 4, 1);
    case CT_ETM4_ADDR_CTXT_L_32IS1:
        return ct_etm4_put_address(d, 0x83, CT_IS1, 4, 1);
    case CT_ETM4_ADDR_CTXT_L_64IS0:
        return ct_etm4_put_address(d, 0x85, CT_IS0, 8, 1);
    case CT_ETM4_ADDR_CTXT_L_64IS1:
        return ct_etm4_put_address(d, 0x86, CT_IS1, 8, 1);
    case CT_ETM4_ADDR_MATCH:
        return ct_etm4_put_match(d, 0x90);
    case CT_ETM4_SRC_ADDR_S_IS0:
        return ct_etm4_put_short(d, 0xb4, CT_IS0);
    case CT_ETM4_SRC_ADDR_S_IS1:
        return ct_etm4_put_short(d, 0xb5, CT_IS1);
    case CT_ETM4_SRC_ADDR_L_32IS0:
        return ct_etm4_put_address(d, 0xb6, CT_IS0, 4, 0);
    case CT_ETM4_SRC_ADDR_L_32IS1:
        return ct_etm4_put_address(d, 0xb7, CT_IS1, 4, 0);
    case CT_ETM4_SRC_ADDR_L_64IS0:
        return ct_etm4_put_address(d, 0xb8, CT_IS0, 8, 0);
    case CT_ETM4_SRC_ADDR_L_64IS1:
        return ct_etm4_put_address(d, 0xb9, CT_IS1, 8, 0);
    case CT_ETM4_SRC_ADDR_MATCH:
        return ct_etm4_put_match(d, 0xb0);
    case CT_ETM4_ATOM_F1 ... CT_ETM4_ATOM_F6:
        return encode_atoms(d);
    case CT_ETM4_Q:
        return ct_etm4_put_q(d);
    case CT_ETM4_CCNT_F1:
        return ct_etm4_put_ccnt_f1(d);
    case CT_ETM4_CCNT_F2:
        return ct_etm4_put_ccnt_f2(d);
    case CT_ETM4_CCNT_F3:
        return ct_etm4_put_ccnt_f3(d);
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
    return ct_etm4_refuse(d, "it stands for damage or for nothing");
}

/* Returns whether a source with these registers has the packet, by the decoder's table of headers. */
static int is_configured(const struct ct_etm4_draft *d)
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
    CT_REQUIRE_OF(encoder, packet, out, len);
    struct ct_etm4_draft d = {.encoder = encoder, .packet = packet, .next = encoder->now};
    *len = 0;
    int err = encode(&d);
    if (err)
        return err;
    if (!is_configured(&d))
        return ct_etm4_refuse(&d, "the source's registers rule it out");
    if (d.size > cap)
        return ct_fail(encoder->ctx, CT_ERR_LIMIT,
                       "ETMv4 packet of type %u: it has %u bytes, but there is room for %zu; it was not "
                       "encoded; give it more room",
                       packet->type, d.size, cap);
    memcpy(out, d.bytes, d.size);
    *len = d.size;
    encoder->now = d.next;
    return CT_OK;
}

int ct_etm4_encoder_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_encoder **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_etm4_config config;
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

const struct ct_etm4_state *ct_etm4_encoder_state(const struct ct_etm4_encoder *encoder)
{
    return &encoder->now;
}
