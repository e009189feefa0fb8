/* SPDX-License-Identifier: Apache-2.0 */
/* A64: the instructions of which compilers make jump tables and counted loops. For all others, the registers
 * that they may write and whether they may set the flags. Arm ARM DDI 0487, C4.1. */
#include "base/bytes.h"
#include "program/cfg_lift.h"

#define X(r)      (UINT64_C(1) << (r))
#define ZERO      31
#define SP        CT_LIFT_A64_SP
#define CALL_MASK (X(19) - 1) /* AAPCS64: registers that a call may change, besides the link register */
#define LINK      30

static uint8_t field(uint32_t op, unsigned low)
{
    return (uint8_t)ct_bits(op, low + 4, low);
}

/* Returns a field in which 31 is the stack pointer. */
static uint8_t base_field(uint32_t op, unsigned low)
{
    const uint8_t reg = field(op, low);
    return reg == ZERO ? SP : reg;
}

/* Notes that an instruction uses and, without flags, writes the stack pointer where others use zero. */
static void with_stack_pointer(uint32_t op, struct ct_lift *out)
{
    out->rn = base_field(op, 5);
    out->gives |= X(out->rn);
    if (!out->flags)
        out->writes = X(base_field(op, 0));
}

/* Lifts ADR and ADRP, which make constants. */
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
    out->rn = base_field(op, 5);
    if (!out->flags)
        out->rd = base_field(op, 0);
    out->kind = out->flags && subtract ? CT_LIFT_CMP : CT_LIFT_ADDI;
    out->imm = subtract && !out->flags ? -imm : imm;
    out->writes = X(out->rd);
    out->gives = X(out->rn);
}

/* Lifts an AND with a mask of low bits: N:immr:imms of 32-bit (N=0, imms<32) and 64-bit masks. */
static void and_immediate(uint32_t op, struct ct_lift *out)
{
    uint32_t imms = ct_bits(op, 15, 10);
    bool plain = ct_bits(op, 21, 16) == 0 && (op & 0x400000 ? imms < 32 : imms < 31);
    out->kind = plain ? CT_LIFT_MASK : CT_LIFT_OTHER;
    out->imm = plain ? (int64_t)((UINT64_C(2) << imms) - 1) : 0;
}

/* Lifts a UBFM that starts at bit 0, which is a mask: UXTB, UXTH, UBFX #0; or LSL, LSR, UBFX. Of an SBFM:
 * SXTB, SXTH, SXTW, ASR, SBFX. */
static void bit_field(uint32_t op, struct ct_lift *out)
{
    const uint32_t imms = ct_bits(op, 15, 10), immr = ct_bits(op, 21, 16), width = op >> 31 ? 64 : 32;
    if ((op & 0x60000000) == 0x40000000 && immr == 0 && imms < 32) {
        out->kind = CT_LIFT_MASK;
        out->imm = (int64_t)((UINT64_C(2) << imms) - 1);
    } else if ((op & 0x60000000) == 0x40000000 && immr == imms + 1 && immr < width) {
        out->kind = CT_LIFT_SHIFT;
        out->shift = (uint8_t)(width - immr);
    } else if ((op & 0x20000000) == 0 && immr > 0 && immr <= imms && imms < width) {
        out->kind = CT_LIFT_RIGHT;
        out->shift = (uint8_t)immr;
        out->bits = (uint8_t)(imms + 1);
        out->is_signed = !(op & 0x40000000);
    } else if ((op & 0xfffffc00) == 0x93407c00) { /* SXTW: a copy to jump tables, whose values are small */
        out->kind = CT_LIFT_COPY;
        out->bits = 32;
        out->is_signed = true;
    } else if ((op & 0x7fbf8000) == 0x13000000 && (imms == 7 || imms == 15)) { /* SXTB, SXTH */
        out->kind = CT_LIFT_SIGN;
        out->bits = (uint8_t)(imms + 1);
    }
}

/* Lifts MOVN, MOVZ and MOVK. */
static void move_wide(uint32_t op, struct ct_lift *out)
{
    const uint32_t shift = 16 * ct_bits(op, 22, 21);
    const uint64_t value = (uint64_t)ct_bits(op, 20, 5) << shift;
    const uint32_t kind = ct_bits(op, 30, 29);
    out->kind = kind == 3 ? CT_LIFT_PART : CT_LIFT_CONST;
    out->imm = (int64_t)(kind == 0 ? ~value : value);
    out->gives = kind == 3 ? X(out->rd) : 0;
    if (kind != 3)
        return;
    out->imm = ct_bits(op, 20, 5);
    out->shift = (uint8_t)shift;
    out->rn = out->rd;
}

static void immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    out->writes = X(field(op, 0));
    out->is_narrow = !(op >> 31);
    out->gives = X(out->rn);
    switch (ct_bits(op, 25, 23)) {
    case 0:
    case 1:
        out->is_narrow = false;
        out->gives = 0;
        constant(op, addr, out);
        break;
    case 2:
        add_immediate(op, out);
        break;
    case 3: /* ADDG, SUBG */
        with_stack_pointer(op, out);
        break;
    case 4:
        out->flags = (op & 0x60000000) == 0x60000000;
        if ((op & 0x60000000) == 0 || out->flags)
            and_immediate(op, out);
        if (!out->flags)
            out->writes = X(base_field(op, 0));
        break;
    case 5:
        move_wide(op, out);
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
    out->is_narrow = !(op >> 31);
    out->rm = field(op, 16);
    out->flags =
        (op & 0x3f000000) == 0x2b000000 || (op & 0x7f000000) == 0x6a000000 || (op & 0x3fa00000) == 0x3a000000;
    if ((op & 0x7fe0ffe0) == 0x2a0003e0) { /* MOV */
        out->kind = CT_LIFT_COPY;
        out->rn = out->rm;
    } else if ((op & 0x7fe0fc00) == 0x1b007c00) { /* MUL */
        out->kind = CT_LIFT_MUL;
    } else if ((op & 0x7fe00000) == 0x0b200000) { /* ADD, extended */
        out->kind = CT_LIFT_ADD;
        out->shift = (uint8_t)ct_bits(op, 12, 10);
        extend(out, ct_bits(op, 15, 13));
        with_stack_pointer(op, out);
    } else if ((op & 0x5fe00000) == 0x4b200000) { /* SUB, SUBS, extended */
        with_stack_pointer(op, out);
    } else if ((op & 0x5fe0fc00) == 0x4b000000) { /* SUB, SUBS */
        out->kind = CT_LIFT_CMPR;
    } else if ((op & 0x7fe00000) == 0x0b000000) { /* ADD, LSL */
        out->kind = CT_LIFT_ADD;
        out->shift = (uint8_t)ct_bits(op, 15, 10);
    } else if ((op & 0x7fe00000) == 0x0b800000 || (op & 0x7fe00000) == 0x0b400000) {
        out->kind = CT_LIFT_OTHER;                                        /* ADD, ASR and LSR */
    } else if ((op & 0x1f200000) == 0x1a000000 && field(op, 5) == ZERO) { /* ADDPT, IRG and others */
        with_stack_pointer(op, out);
    }
}

/* Lifts a load or store of a pair. */
static void pair(uint32_t op, struct ct_lift *out)
{
    const bool loads = op & 0x00400000;
    const bool vector = op & 0x04000000;
    const uint32_t form = ct_bits(op, 24, 23); /* 1: after, 3: before the base moves */
    const unsigned scale = vector ? 2 + (op >> 30) : 2 + (op >> 31);
    const int64_t offset = ct_sext(ct_bits(op, 21, 15), 7) * (INT64_C(1) << scale);
    out->writes = form & 1 ? X(out->rn) : 0;
    out->gives = 0;
    if (loads && !vector)
        out->writes |= X(out->rd) | X(field(op, 10));
    else if (!vector)
        out->gives = X(out->rd) | X(field(op, 10));
    out->moves = form & 1 ? offset : 0;
    out->imm = form == 1 ? 0 : offset;
    out->size = (uint8_t)(2u << scale);
    out->stores = loads ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_HERE;
    if (!loads && !vector && (op >> 30) == 1) /* STGP, with other offsets */
        out->stores = CT_LIFT_STORES_ANYWHERE;
}

/* Lifts a load or store of one register. A store only writes its base register, with write-back. */
static void single(uint32_t op, struct ct_lift *out)
{
    const uint32_t size = op >> 30;
    const uint32_t opc = ct_bits(op, 23, 22);
    const bool vector = op & 0x04000000;
    const bool store = vector ? !(opc & 1) : opc == 0;
    const bool scaled = op & 0x01000000;
    const uint32_t form = ct_bits(op, 11, 10);
    const bool by_register = !scaled && (op & 0x00200000) && form == 2;
    const bool indexed = !scaled && (form & 1);
    const bool is_plain = scaled || !(op & 0x00200000);
    const unsigned scale = vector && opc > 1 ? 4 : size;
    out->writes = indexed ? X(out->rn) : 0;
    out->gives = store && !vector ? X(out->rd) : 0;
    out->stores = store ? CT_LIFT_STORES_ANYWHERE : CT_LIFT_STORES_NOTHING;
    out->size = (uint8_t)(1u << scale);
    if (is_plain) {
        const int64_t offset =
            scaled ? (int64_t)ct_bits(op, 21, 10) << scale : ct_sext(ct_bits(op, 20, 12), 9);
        out->imm = indexed && form == 1 ? 0 : offset;
        out->moves = indexed ? offset : 0;
        out->stores = store ? CT_LIFT_STORES_HERE : CT_LIFT_STORES_NOTHING;
    }
    if (vector)
        return;
    if (!scaled && (op & 0x00200000) && form != 2) { /* atomics; loads with an authenticated address */
        out->writes |= X(out->rd);
        out->gives = X(out->rd) | X(field(op, 16));
        out->stores = CT_LIFT_STORES_ANYWHERE;
        return;
    }
    out->bits = opc > 1 ? (uint8_t)(8u << size) : 0;
    out->is_signed = opc > 1;
    out->is_narrow = opc == 3;
    out->writes |= store ? 0 : X(out->rd);
    if (by_register && !store) {
        out->kind = CT_LIFT_LOAD;
        out->rm = field(op, 16);
        out->shift = op & 0x1000 ? (uint8_t)size : 0;
    } else if (is_plain && !indexed && (scaled || form == 0)) {
        out->kind = store ? CT_LIFT_STORE : CT_LIFT_FETCH;
    }
}

static void load_store(uint32_t op, struct ct_lift *out)
{
    out->rn = base_field(op, 5);
    if ((op & 0x3a000000) == 0x28000000) {
        pair(op, out);
    } else if ((op & 0x3a000000) == 0x38000000) {
        single(op, out);
    } else { /* exclusives and compare-and-swap, copies of memory, literals, structures of vectors */
        const uint32_t group = op & 0x3f000000;
        out->writes = X(out->rd) | X(out->rn);
        out->stores = (op & 0x3b000000) == 0x18000000 ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
        if (group == 0x08000000 || group == 0x19000000) /* status or compared pair; source; second register */
            out->writes |= X(field(op, 16)) | X(field(op, 16) | 1) | X(field(op, 10));
    }
}

static void call(struct ct_lift *out)
{
    out->writes = CALL_MASK | X(LINK);
    out->flags = true;
    out->calls = true;
    out->stores = CT_LIFT_STORES_ANYWHERE;
}

static void branch(uint32_t op, struct ct_lift *out)
{
    out->writes = out->gives = 0;
    if ((op & 0xff000010) ==
        0x54000000) { /* B.cond: HI and CS skip the table, LS and CC lead to it when taken */
        uint32_t cond = op & 15;
        out->kind = CT_LIFT_SKIP;
        out->cond = (uint8_t)cond;
        out->above = cond == CT_COND_HI ? 1 : cond == CT_COND_CS ? 2 : 0;
        out->taken = cond == CT_COND_LS ? 1 : cond == CT_COND_CC ? 2 : 0;
    } else if ((op & 0x7e000000) == 0x34000000) { /* CBZ, CBNZ */
        out->kind = CT_LIFT_ZERO;
        out->rn = field(op, 0);
        out->cond = op & 0x01000000 ? CT_COND_NE : CT_COND_EQ;
        out->is_narrow = !(op >> 31);
    } else if ((op & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        out->kind = CT_LIFT_ZERO;
        out->rn = field(op, 0);
        out->cond = op & 0x01000000 ? CT_COND_MI : CT_COND_PL;
        out->bits = (uint8_t)((op >> 31) * 32 + ct_bits(op, 23, 19) + 1);
        out->is_narrow = !(op >> 31);
    } else if ((op & 0xfffffc1f) == 0xd61f0000) {
        out->kind = CT_LIFT_JUMP;
        out->rn = field(op, 5);
    } else if ((op & 0xfc000000) == 0x94000000 || (op & 0xfefff000) == 0xd63f0000) {
        call(out);
    } else if ((op & 0xff000000) == 0xd4000000) { /* SVC, HVC, SMC */
        call(out);
    } else if ((op & 0xffc00000) == 0xd5000000) { /* MRS and SYSL; MSR, which may set the flags */
        out->writes = op & 0x200000 ? X(out->rd) : 0;
        out->stores = (op & 0xfff80000) == 0xd5080000 ? CT_LIFT_STORES_ANYWHERE : CT_LIFT_STORES_NOTHING;
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
    *out = (struct ct_lift){
        .rd = field(op, 0), .rn = field(op, 5), .rm = CT_LIFT_NO_REG, .cond = CT_COND_ALWAYS};
    out->gives = X(out->rd) | X(out->rn) | X(field(op, 10)) | X(field(op, 16));
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
        out->gives |= X(SP); /* ADDVL, ADDPL, and stores from it on */
        out->stores = CT_LIFT_STORES_ANYWHERE;
        break;
    }
}
