/* SPDX-License-Identifier: Apache-2.0 */
/* Lifts instructions of T32. Arm ARM DDI 0487, F3; Armv8-M ARM DDI 0553, C2. */
#include "program/cfg_lift_arm.h"

#include "base/bytes.h"

/* ---- T32, 16 bits ---- */

static void t16_immediate(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, high = ct_bits(op, 10, 8), rn = ct_bits(op, 5, 3);
    out->flags = true;
    switch (ct_bits(op, 13, 11)) {
    case 0: /* LSL, LSR, ASR */
    case 1:
    case 2:
        ct_arm_data_register(out, MOV, low, 0, rn, ct_bits(op, 12, 11), ct_bits(op, 10, 6));
        break;
    case 3:
        if (op & 0x400)
            ct_arm_add_immediate(out, low, rn, op & 0x200 ? -(int64_t)(op >> 6 & 7) : (int64_t)(op >> 6 & 7),
                                 0);
        else
            ct_arm_data_register(out, op & 0x200 ? SUB : ADD, low, rn, ct_bits(op, 8, 6), 0, 0);
        break;
    case 4:
        ct_arm_constant(out, high, op & 0xff);
        break;
    case 5:
        ct_arm_compare(out, high, op & 0xff);
        break;
    case 6:
    case 7:
        ct_arm_add_immediate(out, high, high, op & 0x800 ? -(int64_t)(op & 0xff) : (int64_t)(op & 0xff), 0);
        break;
    default:
        break;
    }
}

static void t16_register(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, rm = ct_bits(op, 5, 3);
    out->flags = true;
    out->writes = X(low);
    out->gives = X(low) | X(rm);
    switch (ct_bits(op, 9, 6)) {
    case 8:
    case 11: /* TST, CMN */
        out->writes = 0;
        break;
    case 9: /* RSB #0 */
        ct_arm_reverse(out, low, rm, 0);
        break;
    case 10:
        ct_arm_compare_registers(out, low, rm);
        break;
    case 13:
        ct_arm_multiply(out, low, low, rm);
        break;
    case 15:
        ct_arm_reverse(out, low, rm, -1);
        break;
    default:
        break;
    }
}

static void t16_high(uint32_t op, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 7, 7) << 3 | (op & 7);
    uint32_t rm = ct_bits(op, 6, 3);
    switch (ct_bits(op, 9, 8)) {
    case 0:
        ct_arm_add_register(out, rd, rd, rm, 0);
        break;
    case 1:
        ct_arm_compare_registers(out, rd, rm);
        break;
    case 2:
        ct_arm_set(out, rd == PC ? CT_LIFT_JUMP : CT_LIFT_COPY, rd, rm);
        break;
    default:
        if (op & 0x80)
            ct_arm_call(out);
        else
            ct_arm_jump(out, rm);
        break;
    }
}

/* Lifts loads and stores of one register. */
static void t16_memory(uint32_t op, struct ct_lift *out)
{
    static const uint8_t sizes[8] = {4, 2, 1, 1, 4, 2, 1, 2};
    const uint32_t low = op & 7, rn = ct_bits(op, 5, 3), kind = ct_bits(op, 11, 9);
    const uint32_t imm = ct_bits(op, 10, 6);
    struct ct_arm_transfer t = {.load = op & 0x800, .before = true, .rt = low, .rn = rn, .size = 4};
    switch (op >> 12) {
    case 5:
        t.load = kind >= 3;
        t.size = sizes[kind];
        t.is_signed = kind == 3 || kind == 7;
        ct_arm_memory_by_register(out, &t, ct_bits(op, 8, 6), 0);
        return;
    case 6:
        t.offset = imm * 4;
        break;
    case 7:
        t.size = 1;
        t.offset = imm;
        break;
    case 8:
        t.size = 2;
        t.offset = imm * 2;
        break;
    default: /* 4: a constant beside the code; 9: on the stack */
        t.load = t.load || op >> 12 == 4;
        t.rt = ct_bits(op, 10, 8);
        t.rn = op >> 12 == 4 ? PC : SP;
        t.offset = (op & 0xff) * 4;
        break;
    }
    ct_arm_memory(out, &t);
}

static void t16_miscellaneous(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = op & 7, rm = ct_bits(op, 5, 3);
    const uint32_t list = (op & 0xff) | (op & 0x100 ? (uint32_t)X(op & 0x800 ? PC : LINK) : 0);
    const int64_t bytes = 4 * __builtin_popcount(list);
    if ((op & 0xff00) == 0xb000) {
        ct_arm_add_immediate(out, SP, SP, op & 0x80 ? -(int64_t)(op & 0x7f) * 4 : (int64_t)(op & 0x7f) * 4,
                             0);
    } else if ((op & 0xf500) == 0xb100) { /* CBZ, CBNZ */
        ct_arm_set(out, CT_LIFT_ZERO, 0, low);
        out->cond = op & 0x800 ? CT_COND_NE : CT_COND_EQ;
        out->writes = 0;
    } else if ((op & 0xff00) == 0xb200) {
        ct_arm_extend(out, low, rm, op & 0x40 ? 8 : 16, !(op & 0x80));
    } else if ((op & 0xfe00) == 0xb400) {
        ct_arm_multiple(out, false, SP, list, -bytes, -bytes);
    } else if ((op & 0xfe00) == 0xbc00) {
        ct_arm_multiple(out, true, SP, list, 0, bytes);
    } else if ((op & 0xff00) == 0xba00) { /* REV */
        ct_arm_only_writes(out, X(low));
        out->gives = X(rm);
    } else if ((op & 0xff00) == 0xbe00) { /* BKPT: perhaps semihosting */
        ct_arm_call(out);
    } else { /* SETEND, CPS, IT, hints */
        ct_arm_nothing(out);
    }
}

static void t16(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t high = ct_bits(op, 10, 8);
    const int64_t bytes = 4 * __builtin_popcount(op & 0xff);
    switch (op >> 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        t16_immediate(op, out);
        break;
    case 4:
        if (op & 0x800)
            t16_memory(op, out);
        else if (op & 0x400)
            t16_high(op, out);
        else
            t16_register(op, out);
        break;
    case 10:
        ct_arm_add_immediate(out, high, op & 0x800 ? SP : PC, (op & 0xff) * 4, (addr + 4) & ~UINT64_C(3));
        break;
    case 11:
        t16_miscellaneous(op, out);
        break;
    case 12: /* LDM does not write a base back that it loads */
        ct_arm_multiple(out, op & 0x800, high, op & 0xff, 0, op & 0x800 && op >> high & 1 ? 0 : bytes);
        break;
    case 13:
        if ((op & 0xfe00) == 0xde00)
            ct_arm_call(out); /* UDF, SVC */
        else
            ct_arm_skip(out, ct_bits(op, 11, 8));
        break;
    case 14:
        ct_arm_nothing(out);
        break;
    default:
        t16_memory(op, out);
        break;
    }
}

/* ---- T32, 32 bits ---- */

/* Returns the operation of an encoding of data processing, in T32's numbers. */
static enum ct_arm_operation t32_operation(uint32_t op)
{
    static const uint8_t plain[16] = {AND, BIC,   ORR, OTHER, EOR,   OTHER, OTHER, OTHER,
                                      ADD, OTHER, ADC, SBC,   OTHER, SUB,   RSB,   OTHER};
    const uint32_t number = ct_bits(op, 24, 21), rn = ct_bits(op, 19, 16);
    const bool tests = ct_bits(op, 11, 8) == PC && op & 0x00100000;
    if (rn == PC && (number == 2 || number == 3))
        return number == 2 ? MOV : MVN;
    if (tests)
        return number == 0 ? TST : number == 4 ? TEQ : number == 8 ? CMN : number == 13 ? CMP : OTHER;
    return (enum ct_arm_operation)plain[number];
}

/* Returns the number that the 12 bits i:imm3:imm8 stand for. */
static uint32_t t32_constant(uint32_t op)
{
    const uint32_t imm = ct_bits(op, 26, 26) << 11 | ct_bits(op, 14, 12) << 8 | (op & 0xff);
    const uint32_t byte = imm & 0xff, turn = imm >> 7;
    if (imm >> 10)
        return (0x80 | (imm & 0x7f)) >> turn | (0x80 | (imm & 0x7f)) << (32 - turn);
    return imm >> 8 == 0   ? byte
           : imm >> 8 == 1 ? byte << 16 | byte
           : imm >> 8 == 2 ? byte << 24 | byte << 8
                           : byte << 24 | byte << 16 | byte << 8 | byte;
}

static void t32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 11, 8), rn = ct_bits(op, 19, 16);
    const uint32_t imm = ct_bits(op, 26, 26) << 11 | ct_bits(op, 14, 12) << 8 | (op & 0xff);
    const uint32_t last = (ct_bits(op, 14, 12) << 2 | ct_bits(op, 7, 6)) + (op & 31); /* bit of a UBFX */
    const uint64_t pc = (addr + 4) & ~UINT64_C(3);
    if (!(op & 0x02000000)) {
        out->flags = op & 0x00100000;
        ct_arm_data_immediate(out, t32_operation(op), rd, rn, t32_constant(op), pc);
        return;
    }
    out->writes = X(rd);
    switch (ct_bits(op, 24, 20)) {
    case 0x00: /* ADDW */
        ct_arm_add_immediate(out, rd, rn, imm, pc);
        break;
    case 0x04: /* MOVW */
        ct_arm_constant(out, rd, rn << 12 | imm);
        break;
    case 0x0a: /* SUBW */
        ct_arm_add_immediate(out, rd, rn, -(int64_t)imm, pc);
        break;
    case 0x0c: /* MOVT */
        ct_arm_set(out, CT_LIFT_PART, rd, rd);
        out->shift = 16;
        out->imm = rn << 12 | imm;
        break;
    case 0x1c: /* UBFX */
        if ((op & 0x70c0) == 0)
            ct_arm_mask(out, rd, rn, (uint32_t)ct_mask64((op & 31) + 1));
        else if (last < 32)
            ct_arm_right(out, rd, rn, last - (op & 31), last + 1, false);
        break;
    default:
        break;
    }
}

/* Lifts branches, low-overhead loops and instructions that control the core. */
static void t32_control(uint32_t op, struct ct_lift *out)
{
    const uint32_t rn = ct_bits(op, 19, 16);
    if ((op & 0xfffff001) == 0xf00fc001 || (op & 0xfffff001) == 0xf01fc001) { /* LE, LETP */
        ct_arm_set(out, CT_LIFT_LEAVE, LINK, LINK);
        out->imm = -1;
    } else if ((op & 0xfffff001) == 0xf02fc001 || op == 0xf00fe001) { /* LE for ever, LCTP */
        ct_arm_nothing(out);
    } else if ((op & 0xff80d001) == 0xf000c001) { /* WLS, DLS */
        ct_arm_set(out, CT_LIFT_COPY, LINK, rn);
    } else if ((op & 0xd001) == 0xc001 || (op & 0xd000) == 0xd000 || (op & 0xd001) == 0xc000) {
        ct_arm_call(out); /* BL, BLX; branch future */
    } else if ((op & 0xd000) == 0x9000) {
        ct_arm_nothing(out);
    } else if ((op & 0x03800000) != 0x03800000) {
        ct_arm_skip(out, ct_bits(op, 25, 22));
    } else if ((op & 0xfff00000) == 0xf3a00000 || (op & 0xfff00000) == 0xf3b00000) { /* hints, barriers */
        ct_arm_nothing(out);
    } else if ((op & 0xffe00000) == 0xf3e00000) { /* MRS */
        ct_arm_only_writes(out, X(ct_bits(op, 11, 8)));
    } else if ((op & 0xffe00000) == 0xf3800000) { /* MSR */
        ct_arm_only_writes(out, X(SP));
        out->flags = true;
    } else {
        ct_arm_call(out); /* HVC, SMC, UDF */
    }
}

/* Lifts loads and stores of one register. */
static void t32_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t imm8 = op & 0xff, rn = ct_bits(op, 19, 16);
    const bool up = op & 0x00800000, is_long = rn == PC || up;
    struct ct_arm_transfer t = {.load = op & 0x00100000,
                                .before = true,
                                .rt = ct_bits(op, 15, 12),
                                .rn = rn,
                                .size = 1u << ct_bits(op, 22, 21),
                                .is_signed = op & 0x01000000};
    if ((op & 0xff100000) == 0xf9000000) {
        ct_arm_elements(op, out);
    } else if (t.size == 8) {
        ct_arm_unknown(out);
    } else if (is_long) {
        t.offset = up ? (int64_t)(op & 0xfff) : -(int64_t)(op & 0xfff);
        ct_arm_memory(out, &t);
    } else if (op & 0x800) {
        t.before = op & 0x400;
        t.writes_back = op & 0x100;
        t.offset = op & 0x200 ? (int64_t)imm8 : -(int64_t)imm8;
        ct_arm_memory(out, &t);
    } else {
        ct_arm_memory_by_register(out, &t, op & 15, ct_bits(op, 5, 4));
    }
}

/* Lifts loads and stores of pairs, of synchronisation, and table branches. */
static void t32_dual(uint32_t op, struct ct_lift *out)
{
    const uint32_t rt = ct_bits(op, 15, 12), other = ct_bits(op, 11, 8), rn = ct_bits(op, 19, 16);
    const bool load = op & 0x00100000;
    const int64_t offset = op & 0x00800000 ? (int64_t)(op & 0xff) * 4 : -(int64_t)(op & 0xff) * 4;
    if ((op & 0xffffffe0) == 0xe8dff000) {
        ct_arm_set(out, CT_LIFT_TABLE, PC, PC);
        out->rm = op & 15;
        out->size = op & 0x10 ? 2 : 1;
    } else if (op & 0x01200000) { /* LDRD, STRD */
        const bool back = op & 0x00200000;
        ct_arm_multiple(out, load, rn, X(rt) | X(other), op & 0x01000000 ? offset : 0, back ? offset : 0);
        out->size = 8;
        out->writes |= back ? X(rn) : 0;
    } else { /* the loaded registers, or the status in 11:8 or 3:0 */
        ct_arm_only_writes(out, X(rt) | X(other) | X(op & 15));
        out->stores = CT_LIFT_STORES_ANYWHERE;
    }
}

static void t32_multiple(uint32_t op, struct ct_lift *out)
{
    const int64_t bytes = 4 * __builtin_popcount(op & 0xffff);
    const uint32_t way = ct_bits(op, 24, 23);
    const int64_t moves = way == 1 ? bytes : -bytes;
    if (way == 1 || way == 2)
        ct_arm_multiple(out, op & 0x00100000, ct_bits(op, 19, 16), op & 0xffff, way == 1 ? 0 : moves,
                        op & 0x00200000 ? moves : 0);
    else
        ct_arm_unknown(out); /* SRS, RFE */
}

static void t32_shifted(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 11, 8), rm = op & 15;
    out->flags = op & 0x00100000;
    if ((op & 0xfff00000) == 0xea500000 && (op & 0x8000 || (rd & 1 && rm >= SP)))
        ct_arm_unknown(out); /* CSEL, and shifts of two registers */
    else
        ct_arm_data_register(out, t32_operation(op), rd, ct_bits(op, 19, 16), rm, ct_bits(op, 5, 4),
                             ct_bits(op, 14, 12) << 2 | ct_bits(op, 7, 6));
}

static void t32_register(uint32_t op, struct ct_lift *out)
{
    out->writes = X(ct_bits(op, 11, 8));
    out->flags = (op & 0xff9000f0) == 0xfa100000; /* shifts */
    if ((op & 0xff8ff0f0) == 0xfa0ff080 && !(op & 0x00200000) && !(op & 0x30))
        ct_arm_extend(out, ct_bits(op, 11, 8), op & 15, op & 0x00400000 ? 8 : 16, !(op & 0x00100000));
}

static void t32_coprocessor(uint32_t op, struct ct_lift *out)
{
    if ((op & 0xef000000) == 0xef000000)
        ct_arm_nothing(out); /* vectors */
    else if ((op & 0x0e000000) == 0x0c000000)
        ct_arm_coprocessor_memory(op, out);
    else if (op >> 28 == 15 && (op & 0xe10) != 0xa00)
        ct_arm_unknown(out);
    else
        ct_arm_coprocessor_data(op, true, out);
}

void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG, .gives = ct_arm_fields(op)};
    if (op >> 27 < 29)
        t16(op >> 16, addr, out);
    else if ((op & 0xf8008000) == 0xf0000000)
        t32_immediate(op, addr, out);
    else if ((op & 0xf8008000) == 0xf0008000)
        t32_control(op, out);
    else if ((op & 0xec000000) == 0xec000000)
        t32_coprocessor(op, out);
    else if ((op & 0xfe400000) == 0xe8000000)
        t32_multiple(op, out);
    else if ((op & 0xfe400000) == 0xe8400000)
        t32_dual(op, out);
    else if ((op & 0xfe000000) == 0xea000000)
        t32_shifted(op, out);
    else if ((op & 0xfe000000) == 0xf8000000)
        t32_memory(op, out);
    else if ((op & 0xff000000) == 0xfa000000)
        t32_register(op, out);
    else if ((op & 0xfff0f0f0) == 0xfb00f000)
        ct_arm_multiply(out, ct_bits(op, 11, 8), ct_bits(op, 19, 16), op & 15);
    else if ((op & 0xff800000) == 0xfb000000) /* other multiplies */
        out->writes = X(ct_bits(op, 11, 8));
    else if ((op & 0xff800000) == 0xfb800000) /* long multiplies, divides */
        out->writes = X(ct_bits(op, 11, 8)) | X(ct_bits(op, 15, 12));
    else
        ct_arm_unknown(out);
}
