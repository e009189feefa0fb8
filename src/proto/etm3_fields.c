/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/etm3_fields.h"

#include "base/bytes.h"

static void set_isa(struct ct_etm3_state *s, struct ct_etm3_packet *packet, uint8_t isa)
{
    if (isa != s->isa)
        packet->flags |= CT_ETM3_ISA_CHANGED;
    s->isa = packet->isa = isa;
}

static void set_security(struct ct_etm3_state *s, struct ct_etm3_packet *packet, bool ns, bool hyp)
{
    s->ns = ns;
    s->hyp = hyp;
    packet->flags |= (uint16_t)(CT_ETM3_HAS_SEC | (ns ? CT_ETM3_NS : 0) | (hyp ? CT_ETM3_HYP : 0));
}

/* Reads a P-header without cycle counts, format 1 or 2 (IHI 0014Q 7.4). */
static void p_header_plain(uint8_t header, struct ct_etm3_packet *packet)
{
    if (header & 2) {
        packet->format = 2;
        packet->natoms = 2;
        packet->atoms = (header & 8 ? 0u : 1u) | (header & 4 ? 0u : 2u);
        return;
    }
    unsigned executed = header >> 2 & 15u;
    packet->format = 1;
    packet->atoms = (uint32_t)ct_mask64(executed);
    packet->natoms = (uint8_t)(executed + (header >> 6 & 1u));
}

/* Reads a P-header. Cycle-accurate ones have format 1 (W before each atom), 2 (W and two atoms), 3 (one to
 * eight W and perhaps an E) or 4 (an atom); IHI 0014Q 7.4. */
void ct_etm3_p_header(const struct ct_etm3_state *s, uint8_t header, struct ct_etm3_packet *packet)
{
    if (!s->config.cycle_accurate) {
        p_header_plain(header, packet);
        return;
    }
    switch (header & 0x22) {
    case 0x00: {
        unsigned executed = header >> 2 & 7u;
        packet->format = 1;
        packet->atoms = (uint32_t)ct_mask64(executed);
        packet->natoms = (uint8_t)(executed + (header >> 6 & 1u));
        packet->cc = packet->natoms;
        break;
    }
    case 0x02:
        packet->format = header & 0x10 ? 4 : 2;
        if (header & 0x10) {
            packet->natoms = 1;
            packet->atoms = !(header & 4);
        } else {
            p_header_plain(header, packet);
            packet->cc = 1;
        }
        break;
    case 0x20:
        packet->format = 3;
        packet->natoms = header >> 6 & 1;
        packet->atoms = packet->natoms;
        packet->cc = (header >> 2 & 7u) + 1;
        break;
    default: /* none of the four: no atom and no cycle */
        break;
    }
}

/* The address bytes of a branch packet. */
struct branch {
    uint32_t bits;  /* of the address, as transmitted, from bit 1 of the first byte on */
    unsigned count; /* number of bits */
    bool full;      /* five bytes, with the instruction set in the last */
    uint8_t last;   /* the fifth byte */
    bool has_info;  /* exception information bytes follow */
};

/* Reads the address bytes of a branch packet: six address bits, then seven a byte (IHI 0014Q 7.5). In the
 * alternative encoding bit 6 of the last of two to four bytes says that exception information follows; with
 * five bytes it is always bit 6 of the fifth. */
static struct branch branch_bytes(const struct ct_etm3_state *s, struct ct_cursor *c, uint8_t first)
{
    struct branch b = {.bits = first >> 1 & 0x3fu, .count = 6};
    uint8_t byte = first;
    for (unsigned i = 1; byte & 0x80 && i < 4; i++) {
        byte = ct_cursor_u8(c);
        bool alt_last = s->config.alt_branch && !(byte & 0x80);
        unsigned count = alt_last ? 6 : 7;
        b.bits |= (byte & ((1u << count) - 1)) << b.count;
        b.count += count;
        b.has_info = alt_last && byte & 0x40;
    }
    if (byte & 0x80) {
        b.full = true;
        b.last = ct_cursor_u8(c);
        b.has_info = !(b.last & 0x80) && b.last & 0x40;
    }
    return b;
}

/* Returns the instruction set in the fifth byte of a branch packet, or CT_V7_ISA_UNKNOWN. */
static uint8_t fifth_byte_isa(uint8_t last, bool alt_isa)
{
    if (last & 0x80)
        return CT_V7_A32;
    if (last & 0x20)
        return CT_V7_JAZ;
    if (last & 0x10)
        return alt_isa ? CT_V7_TEE : CT_V7_T32;
    return last & 0x08 ? CT_V7_A32 : CT_V7_ISA_UNKNOWN;
}

static void set_address(struct ct_etm3_state *s, struct ct_etm3_packet *packet, const struct branch *b)
{
    /* A32 is assumed until the trace contains an instruction set */
    unsigned shift = packet->isa == CT_V7_ISA_UNKNOWN ? 2 : ct_v7_address_shift(packet->isa);
    unsigned count = b->count;
    uint64_t bits = b->bits;
    if (b->full) {
        bits |= (uint64_t)(b->last & 0x1fu) << count;
        count = 32 - shift;
    }
    uint32_t mask = (uint32_t)ct_mask64(count + shift);
    s->addr = (s->addr & ~mask) | ((uint32_t)(bits << shift) & mask);
    if (count + shift > s->addr_valid)
        s->addr_valid = (uint8_t)(count + shift > 32 ? 32 : count + shift);
    packet->value = s->addr;
    packet->valid = s->addr_valid;
    packet->flags |= CT_ETM3_HAS_ADDR;
}

/* Exception information: up to three bytes, each but the last with bit 7 set. Bit 6 of a byte after the first
 * marks the one with the resume field. */
struct exception {
    bool alt_isa, cancel, ns, hyp;
    uint16_t number;
    uint8_t resume;
};

static struct exception exception_bytes(const struct ct_etm3_state *s, struct ct_cursor *c)
{
    uint8_t byte = ct_cursor_u8(c);
    struct exception e = {.alt_isa = byte & 0x40,
                          .cancel = byte & 0x20,
                          .number = byte >> 1 & 15u,
                          .ns = byte & 1,
                          .hyp = s->hyp};
    unsigned resume_at = 2;
    for (unsigned i = 1; byte & 0x80 && !c->cut; i++) {
        byte = ct_cursor_u8(c);
        if (i == 1 && byte & 0x40)
            resume_at = 1;
        if (i == 1 && resume_at != 1) {
            e.hyp = byte & 0x20;
            if (s->config.m_profile)
                e.number |= (uint16_t)((byte & 0x1fu) << 4);
        } else if (i == resume_at) {
            e.resume = byte & 15u;
        }
    }
    return e;
}

void ct_etm3_branch(struct ct_etm3_state *s, struct ct_cursor *c, uint8_t header,
                    struct ct_etm3_packet *packet)
{
    struct branch b = branch_bytes(s, c, header);
    struct exception e = {.alt_isa = s->alt_isa};
    if (b.has_info)
        e = exception_bytes(s, c);
    if (c->cut)
        return;
    uint8_t isa = b.full ? fifth_byte_isa(b.last, e.alt_isa) : s->isa;
    if (b.full && isa == CT_V7_ISA_UNKNOWN) {
        packet->err = packet->type;
        packet->type = CT_ETM3_BAD_SEQUENCE;
        return;
    }
    s->alt_isa = e.alt_isa;
    if (b.has_info) {
        set_security(s, packet, e.ns, e.hyp);
        packet->exc = e.number;
        packet->resume = e.resume;
        packet->flags |= (uint16_t)(CT_ETM3_HAS_EXC | (e.cancel ? CT_ETM3_CANCEL : 0));
    } else if (b.full && b.last & 0x80) { /* the encoding of exceptions in ETMv3.0, ARM state only */
        packet->exc = b.last >> 3 & 7u;
        packet->flags |= (uint16_t)(CT_ETM3_HAS_EXC | CT_ETM3_OLD_EXC | (b.last & 0x40 ? CT_ETM3_CANCEL : 0));
    }
    set_isa(s, packet, isa);
    set_address(s, packet, &b);
}

/* Reads an i-sync (IHI 0014Q 7.6): a cycle count if the header says so, the context ID, the information byte,
 * an address unless only data is traced and, with a load or store in progress, its address as in a branch
 * packet. */
void ct_etm3_i_sync(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    if (packet->type == CT_ETM3_I_SYNC_CYCLE)
        packet->cc = ct_v7_cont(c);
    uint32_t ctxt = ct_cursor_le32(c, s->config.ctxt_bytes);
    uint8_t info = ct_cursor_u8(c);
    bool in_progress = info & 0x80 && !s->config.data_only;
    uint32_t addr = s->config.data_only ? 0 : ct_cursor_le32(c, 4);
    struct branch b = {0};
    if (in_progress)
        b = branch_bytes(s, c, ct_cursor_u8(c));
    if (c->cut)
        return;
    s->reason = packet->reason = info >> 5 & 3;
    set_security(s, packet, info & 8, s->config.virtualization ? info & 2 : s->hyp);
    if (s->config.ctxt_bytes) {
        s->ctxt = packet->ctxt = ctxt;
        packet->flags |= CT_ETM3_HAS_CTXT;
    }
    if (s->config.data_only)
        return;
    s->alt_isa = info & 4;
    uint8_t isa = CT_V7_A32;
    if (info & 0x10)
        isa = CT_V7_JAZ;
    else if (addr & 1)
        isa = s->alt_isa ? CT_V7_TEE : CT_V7_T32;
    addr &= ~UINT32_C(1);
    set_isa(s, packet, isa);
    s->addr = addr;
    s->addr_valid = 32;
    packet->value = addr;
    packet->valid = 32;
    packet->flags |= CT_ETM3_HAS_ADDR;
    if (in_progress) {
        packet->curr = addr;
        packet->flags |= CT_ETM3_HAS_CURR;
        if (b.full)
            set_isa(s, packet, fifth_byte_isa(b.last, s->alt_isa));
        set_address(s, packet, &b);
    }
}

void ct_etm3_context_id(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    packet->ctxt = ct_cursor_le32(c, s->config.ctxt_bytes);
    if (!c->cut)
        s->ctxt = packet->ctxt;
}

void ct_etm3_vmid(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    packet->value = ct_cursor_u8(c);
    if (!c->cut)
        s->vmid = (uint8_t)packet->value;
}

void ct_etm3_timestamp(struct ct_etm3_state *s, struct ct_cursor *c, struct ct_etm3_packet *packet)
{
    unsigned bits;
    uint64_t value = ct_cursor_timestamp(c, s->config.ts_64bit, &bits);
    if (c->cut)
        return;
    s->timestamp = (s->timestamp & ~ct_mask64(bits)) | value;
    packet->value = s->timestamp;
}

/* Reads a data address: seven bits a byte; the fifth byte has four bits and the endianness (IHI 0014Q
 * 7.8). */
static uint32_t data_address(struct ct_cursor *c, unsigned *bits, uint8_t *fifth)
{
    uint32_t value = 0;
    *bits = 0;
    for (unsigned i = 0; i < 5; i++) {
        uint8_t byte = ct_cursor_u8(c);
        unsigned count = i < 4 ? 7 : 4;
        value |= (uint32_t)(byte & ((1u << count) - 1)) << *bits;
        *bits += count;
        if (i == 4)
            *fifth = byte;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

void ct_etm3_data(struct ct_etm3_state *s, struct ct_cursor *c, uint8_t header, struct ct_etm3_packet *packet)
{
    static const uint8_t sizes[4] = {0, 1, 2, 4};
    bool has_value = packet->type == CT_ETM3_NORM_DATA || packet->type == CT_ETM3_OOO_DATA;
    bool may_have_addr = packet->type != CT_ETM3_OOO_DATA && s->config.data_addresses;
    uint8_t addr_bit = packet->type == CT_ETM3_VAL_NOT_TRACED ? 0x10 : 0x20;
    bool has_addr = may_have_addr && header & addr_bit;
    unsigned bits = 0;
    uint8_t fifth = 0;
    uint32_t addr = has_addr ? data_address(c, &bits, &fifth) : 0;
    if (packet->type == CT_ETM3_OOO_DATA)
        packet->tag = header >> 5 & 3;
    else if (packet->type == CT_ETM3_OOO_ADDR_PLC)
        packet->tag = header >> 2 & 3;
    if (has_value) {
        packet->bytes = sizes[header >> 2 & 3];
        packet->data = ct_cursor_le32(c, packet->bytes);
        packet->flags |= CT_ETM3_HAS_DATA;
    }
    if (c->cut || !has_addr)
        return;
    uint32_t mask = (uint32_t)ct_mask64(bits);
    s->data_addr = (s->data_addr & ~mask) | addr;
    if (bits > s->data_addr_valid)
        s->data_addr_valid = (uint8_t)bits;
    if (bits == 32)
        s->big_endian = fifth & 0x10;
    packet->value = s->data_addr;
    packet->valid = s->data_addr_valid;
    packet->flags |= (uint16_t)(CT_ETM3_HAS_ADDR | (s->big_endian ? CT_ETM3_BIG_ENDIAN : 0));
}

void ct_etm3_cut(const struct ct_etm3_state *s, struct ct_etm3_packet *packet)
{
    packet->flags = CT_ETM3_CUT;
    switch (packet->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        packet->flags |= (uint16_t)(CT_ETM3_HAS_SEC | (s->ns ? CT_ETM3_NS : 0) | (s->hyp ? CT_ETM3_HYP : 0));
        packet->flags |= s->config.data_only ? 0 : CT_ETM3_HAS_ADDR;
        packet->reason = s->reason;
        packet->value = s->addr;
        packet->valid = s->addr_valid;
        packet->isa = s->isa;
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        packet->flags |= CT_ETM3_HAS_ADDR;
        packet->value = s->addr;
        packet->valid = s->addr_valid;
        packet->isa = s->isa;
        break;
    case CT_ETM3_CONTEXT_ID:
        packet->ctxt = s->ctxt;
        break;
    case CT_ETM3_VMID:
        packet->value = s->vmid;
        break;
    case CT_ETM3_TIMESTAMP:
        packet->value = s->timestamp;
        break;
    default:
        break;
    }
}

int ct_etm3_exception_reserved(const struct ct_source *source, const struct ct_etm3_packet *packet)
{
    if (!source || !packet)
        return 0;
    unsigned number = packet->exc;
    if (packet->flags & CT_ETM3_OLD_EXC)
        return number == 2 || number == 3;
    if (source->arch.profile != CT_PROFILE_M)
        return number == 6 || number == 7;
    return number == 0x10 || number == 0x12 || number == 0x14 || number == 0x16 || number == 0x17;
}
