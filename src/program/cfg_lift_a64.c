/* SPDX-License-Identifier: Apache-2.0 */
/* A64: the instructions of which compilers make jump tables and counted loops. For all others, the registers
 * that they may write and whether they may set the flags. Arm ARM DDI 0487, C4.1. */
#include "base/bytes.h"
#include "program/cfg_lift.h"

#define X(r)      (UINT64_C(1) << (r))
#define CALL_MASK (X(19) - 1) /* AAPCS64: registers that a call may change, besides the link register */
#define LINK      30

static uint8_t field(uint32_t op, unsigned low)
{
    return (uint8_t)ct_bits(op, low + 4, low);
}

/* Lifts ADR and ADRP, which make constants. An ADD that writes register 31 needs no special case, because
 * that register is never searched. */
static void constant(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    int64_t imm = ct_sext(ct_bits(op, 23, 5) << 2 | ct_bits(op, 30, 29), 21);
    out->kind = CT_LIFT_CONST;
    out->imm = op >> 31 ? (int64_t)((addr & ~UINT64_C(4095)) + ((uint64_t)imm << 12))
                        : (int64_t)(addr + (uint64_t)imm);
}

static void add_immediate(uint32_t op, struct ct_lift *out)
{
    int64_t imm = (int64_t)ct_bits(op, 21, 10) << (op & 0x400000 ? 12 : 0);
    bool subtract = op & 0x40000000;
    out->flags = op & 0x20000000;
    if (out->flags) {
        out->kind = subtract ? CT_LIFT_CMP : CT_LIFT_OTHER;
        out->imm = imm;
        return;
    }
    out->kind = CT_LIFT_ADDI;
    out->imm = subtract ? -imm : imm;
}

/* Lifts an AND with a mask of low bits: N:immr:imms of 32-bit (N=0, imms<32) and 64-bit masks. */
static void and_immediate(uint32_t op, struct ct_lift *out)
{
    uint32_t imms = ct_bits(op, 15, 10);
    bool plain = ct_bits(op, 21, 16) == 0 && (op & 0x400000 ? imms < 32 : imms < 31);
    out->kind = plain ? CT_LIFT_MASK : CT_LIFT_OTHER;
    out->imm = plain ? (int64_t)((UINT64_C(2) << imms) - 1) : 0;
}

/* Lifts a UBFM that starts at bit 0, which is a mask: UXTB, UXTH, UBFX #0. */
static void bit_field(uint32_t op, struct ct_lift *out)
{
    uint32_t imms = ct_bits(op, 15, 10);
    if ((op & 0x60000000) == 0x40000000 && ct_bits(op, 21, 16) == 0 && imms < 32) {
        out->kind = CT_LIFT_MASK;
        out->imm = (int64_t)((UINT64_C(2) << imms) - 1);
    } else if ((op & 0xfffffc00) == 0x93407c00) { /* SXTW: a copy, because compared values are small */
        out->kind = CT_LIFT_COPY;
    }
}

static void immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    out->writes = X(field(op, 0));
    switch (ct_bits(op, 25, 23)) {
    case 0:
    case 1:
        constant(op, addr, out);
        break;
    case 2:
        add_immediate(op, out);
        break;
    case 4:
        if ((op & 0x60000000) == 0)
            and_immediate(op, out);
        out->flags = (op & 0x60000000) == 0x60000000;
        break;
    case 5:
        if ((op & 0x60000000) == 0x40000000) { /* MOVZ */
            out->kind = CT_LIFT_CONST;
            out->imm = (int64_t)((uint64_t)ct_bits(op, 20, 5) << (16 * ct_bits(op, 22, 21)));
        }
        break;
    case 6:
        bit_field(op, out);
        break;
    default:
        break;
    }
}

static void extend(struct ct_lift *out, uint32_t option)
{
    out->bits = (uint8_t)(8u << (option & 3));
    out->is_signed = option & 4;
    if (out->bits == 64)
        out->bits = 0;
}

static void data_register(uint32_t op, struct ct_lift *out)
{
    out->writes = X(field(op, 0));
    out->rm = field(op, 16);
    out->flags =
        (op & 0x3f000000) == 0x2b000000 || (op & 0x7f000000) == 0x6a000000 || (op & 0x3fa00000) == 0x3a000000;
    if ((op & 0x7fe0ffe0) == 0x2a0003e0) { /* MOV */
        out->kind = CT_LIFT_COPY;
        out->rn = out->rm;
    } else if ((op & 0x7fe00000) == 0x0b200000) { /* ADD, extended */
        out->kind = CT_LIFT_ADD;
        out->shift = (uint8_t)ct_bits(op, 12, 10);
        extend(out, ct_bits(op, 15, 13));
    } else if ((op & 0x7fe00000) == 0x0b000000) { /* ADD, LSL */
        out->kind = CT_LIFT_ADD;
        out->shift = (uint8_t)ct_bits(op, 15, 10);
    } else if ((op & 0x7fe00000) == 0x0b800000 || (op & 0x7fe00000) == 0x0b400000) {
        out->kind = CT_LIFT_OTHER; /* ADD, ASR and LSR */
    }
}

/* Lifts a load or store of a pair. */
static void pair(uint32_t op, struct ct_lift *out)
{
    const bool loads = op & 0x00400000;
    const bool vector = op & 0x04000000;
    out->writes = op & 0x00800000 ? X(out->rn) : 0; /* indexed */
    if (loads && !vector)
        out->writes |= X(out->rd) | X(field(op, 10));
}

/* Lifts a load or store of one register. A store only writes its base register, with write-back. */
static void single(uint32_t op, struct ct_lift *out)
{
    const uint32_t size = op >> 30;
    const uint32_t opc = ct_bits(op, 23, 22);
    const bool store = opc == 0;
    const bool scaled = op & 0x01000000;
    const uint32_t form = ct_bits(op, 11, 10);
    const bool by_register = !scaled && (op & 0x00200000) && form == 2;
    out->writes = !scaled && (form & 1) ? X(out->rn) : 0; /* indexed */
    if (op & 0x04000000)                                  /* vectors */
        return;
    if (!scaled && (op & 0x00200000) && form != 2) { /* atomics; loads with an authenticated address */
        out->writes |= X(out->rd);
        return;
    }
    out->bits = opc > 1 ? (uint8_t)(8u << size) : 0;
    out->is_signed = opc > 1;
    out->size = (uint8_t)(1u << size);
    out->writes |= store ? 0 : X(out->rd);
    if (by_register && !store) {
        out->kind = CT_LIFT_LOAD;
        out->rm = field(op, 16);
        out->shift = op & 0x1000 ? (uint8_t)size : 0;
    } else if (scaled || (!(op & 0x00200000) && form == 0)) {
        out->kind = store ? CT_LIFT_STORE : CT_LIFT_FETCH;
        out->imm = scaled ? (int64_t)ct_bits(op, 21, 10) << size : ct_sext(ct_bits(op, 20, 12), 9);
    }
}

static void load_store(uint32_t op, struct ct_lift *out)
{
    if ((op & 0x3a000000) == 0x28000000) {
        pair(op, out);
    } else if ((op & 0x3a000000) == 0x38000000) {
        single(op, out);
    } else { /* exclusives and compare-and-swap, copies of memory, literals, structures of vectors */
        const uint32_t group = op & 0x3f000000;
        out->writes = X(out->rd) | X(out->rn);
        if (group == 0x08000000 || group == 0x19000000) /* status or compared pair; source; second register */
            out->writes |= X(field(op, 16)) | X(field(op, 16) | 1) | X(field(op, 10));
    }
}

static void branch(uint32_t op, struct ct_lift *out)
{
    out->writes = 0;
    if ((op & 0xff000010) ==
        0x54000000) { /* B.cond: HI and CS skip the table, LS and CC lead to it when taken */
        uint32_t cond = op & 15;
        out->kind = CT_LIFT_SKIP;
        out->above = cond == 8 ? 1 : cond == 2 ? 2 : 0;
        out->taken = cond == 9 ? 1 : cond == 3 ? 2 : 0;
    } else if ((op & 0xfffffc1f) == 0xd61f0000) {
        out->kind = CT_LIFT_JUMP;
        out->rn = field(op, 5);
    } else if ((op & 0xfc000000) == 0x94000000 || (op & 0xfefff000) == 0xd63f0000) {
        out->writes = CALL_MASK | X(LINK);
        out->flags = true;
    } else if ((op & 0xff000000) == 0xd4000000) { /* SVC, HVC, SMC */
        out->writes = CALL_MASK;
    } else if ((op & 0xffc00000) == 0xd5000000) { /* MRS and SYSL; MSR, which may set the flags */
        out->writes = op & 0x200000 ? X(out->rd) : 0;
        out->flags = (op & 0xfff00000) == 0xd5100000 || (op & 0xfff8f000) == 0xd5004000;
    }
}

/* Lifts scalars and vectors of floating-point numbers: what they write to general registers, and compares. */
static void vector(uint32_t op, struct ct_lift *out)
{
    const bool scalar = (op & 0x5f000000) == 0x1e000000;
    const uint32_t form = ct_bits(op, 15, 10);
    const bool converts = scalar && (op & 0x200000 ? form == 0 : true); /* FMOV, FCVTZS, ... */
    const bool moves = (op & 0xbfe0ec00) == 0x0e002c00;                 /* SMOV, UMOV */
    out->writes = converts || moves ? X(out->rd) : 0;
    out->flags = scalar && (op & 0x200000) && (form == 8 || (form & 3) == 1); /* FCMP, FCCMP */
}

void ct_lift_a64(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    *out = (struct ct_lift){.rd = field(op, 0), .rn = field(op, 5), .rm = CT_LIFT_NO_REG};
    switch (ct_bits(op, 28, 25)) {
    case 8:
    case 9:
        immediate(op, addr, out);
        break;
    case 10:
    case 11:
        branch(op, out);
        break;
    case 5:
    case 13:
        data_register(op, out);
        break;
    case 4:
    case 6:
    case 12:
    case 14:
        load_store(op, out);
        break;
    case 7:
    case 15:
        vector(op, out);
        break;
    default: /* SVE and SME */
        out->writes = X(out->rd);
        out->flags = true;
        break;
    }
}
