/* SPDX-License-Identifier: Apache-2.0 */
/* A32 and T32: the instructions of which compilers make jump tables. Arm ARM DDI 0487, F4 and F3. */
#include "base/bytes.h"
#include "program/cfg_lift.h"

#define X(r)      (UINT64_C(1) << (r))
#define CALL_MASK (X(0) | X(1) | X(2) | X(3) | X(12) | X(14)) /* AAPCS32: what a call may change */
#define PC        15

/* Returns what a condition says about the compare before it when execution reaches the table. A branch that
 * skips the table has HI or CS; a jump that is conditional itself has LS or CC. */
static uint8_t skip_above(uint32_t cond)
{
    return cond == 8 ? 1 : cond == 2 ? 2 : 0;
}

static uint8_t jump_above(uint32_t cond)
{
    return cond == 9 ? 1 : cond == 3 ? 2 : 0;
}

static void set(struct ct_lift *out, enum ct_lift_kind kind, uint32_t rd, uint32_t rn)
{
    out->kind = (uint8_t)kind;
    out->rd = (uint8_t)rd;
    out->rn = (uint8_t)rn;
    out->writes = X(rd);
}

/* Lifts rd = rn + imm, where rn may be the PC, which reads as `pc`. */
static void add_immediate(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm, uint64_t pc)
{
    set(out, rn == PC ? CT_LIFT_CONST : CT_LIFT_ADDI, rd, rn);
    out->imm = rn == PC ? (int64_t)pc + imm : imm;
}

static void add_register(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm, uint32_t shift)
{
    set(out, CT_LIFT_ADD, rd, rn);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
}

static void steps(struct ct_lift *out, uint32_t rm)
{
    set(out, CT_LIFT_STEPS, PC, PC);
    out->rm = (uint8_t)rm;
}

static void skip(struct ct_lift *out, uint32_t cond)
{
    set(out, CT_LIFT_SKIP, 0, 0);
    out->above = skip_above(cond);
    out->taken = jump_above(cond);
    out->writes = 0;
}

static void mask(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t imm)
{
    set(out, (imm & (imm + 1)) == 0 ? CT_LIFT_MASK : CT_LIFT_OTHER, rd, rn);
    out->imm = imm;
}

static void memory(struct ct_lift *out, bool load, uint32_t rt, uint32_t rn, int64_t imm)
{
    set(out, load ? CT_LIFT_FETCH : CT_LIFT_STORE, rt, rn);
    out->imm = imm;
    if (!load)
        out->writes = 0;
}

static void table_load(struct ct_lift *out, uint32_t rt, uint32_t rn, uint32_t rm, uint32_t shift,
                       uint32_t size)
{
    set(out, CT_LIFT_LOAD, rt, rn);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
    out->size = (uint8_t)size;
}

static void compare(struct ct_lift *out, uint32_t rn, uint32_t imm)
{
    set(out, CT_LIFT_CMP, 0, rn);
    out->writes = 0;
    out->imm = imm;
    out->flags = true;
}

static uint32_t a32_constant(uint32_t op)
{
    unsigned turn = ct_bits(op, 11, 8) * 2;
    uint32_t value = op & 0xff;
    return turn ? value >> turn | value << (32 - turn) : value;
}

static void a32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 15, 12);
    uint32_t rn = ct_bits(op, 19, 16);
    uint32_t value = a32_constant(op);
    out->writes = X(rd);
    switch (ct_bits(op, 24, 20)) {
    case 0x00:
        mask(out, rd, rn, value);
        break;
    case 0x04:
        add_immediate(out, rd, rn, -(int64_t)value, addr + 8);
        break;
    case 0x08:
        add_immediate(out, rd, rn, value, addr + 8);
        break;
    case 0x15:
        compare(out, rn, value);
        break;
    default:
        out->flags = op & 0x00100000;
        break;
    }
}

static void a32_register(uint32_t op, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 15, 12);
    uint32_t rm = op & 15;
    out->flags = op & 0x00100000;
    if ((op & 0x0ff000f0) == 0x01200010 && rm != 14)
        set(out, CT_LIFT_JUMP, 0, rm);
    else if ((op & 0x0fef0ff0) == 0x01a00000)
        set(out, rd == PC ? CT_LIFT_JUMP : CT_LIFT_COPY, rd, rm);
    else if ((op & 0x0ffffff0) == 0x008ff100)
        steps(out, rm);
    else if ((op & 0x0fe00070) == 0x00800000)
        add_register(out, rd, ct_bits(op, 19, 16), rm, ct_bits(op, 11, 7));
    else if ((op & 0x90) == 0x90)
        out->writes |= X((rd + 1) & 15); /* LDRD; multiplies also write the register in bits 19:16 */
    else
        out->writes = X(rd);
}

static void a32_memory(uint32_t op, struct ct_lift *out)
{
    uint32_t rt = ct_bits(op, 15, 12);
    uint32_t rn = ct_bits(op, 19, 16);
    bool load = op & 0x00100000;
    bool byte = op & 0x00400000;
    bool plain = (op & 0x01200000) == 0x01000000; /* offset, not indexed */
    if (plain && !(op & 0x02000000))
        memory(out, load, rt, rn, op & 0x00800000 ? (int64_t)(op & 0xfff) : -(int64_t)(op & 0xfff));
    else if (plain && load && (op & 0x00800070) == 0x00800000)
        table_load(out, rt, rn, op & 15, ct_bits(op, 11, 7), byte ? 1 : 4);
    else if ((op & 0x0fff03f0) == 0x06ef0070)
        mask(out, rt, op & 15, 0xff); /* UXTB */
}

void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    uint32_t cond = op >> 28;
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG, .writes = X(ct_bits(op, 15, 12)) | X(ct_bits(op, 19, 16))};
    switch (ct_bits(op, 27, 25)) {
    case 0:
        a32_register(op, out);
        break;
    case 1:
        a32_immediate(op, addr, out);
        break;
    case 2:
    case 3:
        a32_memory(op, out);
        break;
    case 4:
        out->writes = X(ct_bits(op, 19, 16)) | (op & 0x00100000 ? op & 0xffff : 0);
        break;
    case 5:
        skip(out, cond);
        if (op & 0x01000000) {
            out->kind = CT_LIFT_OTHER;
            out->writes = CALL_MASK;
        }
        return;
    default:
        break;
    }
    bool jumps = (out->writes & X(PC)) || out->kind == CT_LIFT_STEPS;
    if (jumps)
        out->above = jump_above(cond);
    else if (cond != 14 && out->kind != CT_LIFT_JUMP)
        out->kind = CT_LIFT_OTHER; /* it may or may not be executed */
}

/* ---- T32 ---- */

static void t16_data(uint32_t op, struct ct_lift *out)
{
    uint32_t low = op & 7;
    uint32_t high = ct_bits(op, 10, 8);
    out->flags = true;
    if ((op & 0xf800) == 0x2800)
        compare(out, high, op & 0xff);
    else if ((op & 0xf800) == 0x2000)
        out->writes = X(high);
    else if ((op & 0xf000) == 0x3000)
        add_immediate(out, high, high, op & 0x800 ? -(int64_t)(op & 0xff) : (int64_t)(op & 0xff), 0);
    else if ((op & 0xfc00) == 0x1c00)
        add_immediate(out, low, ct_bits(op, 5, 3),
                      op & 0x200 ? -(int64_t)(op >> 6 & 7) : (int64_t)(op >> 6 & 7), 0);
    else if ((op & 0xfe00) == 0x1800)
        add_register(out, low, ct_bits(op, 5, 3), ct_bits(op, 8, 6), 0);
    else if ((op & 0xffc0) == 0)
        set(out, CT_LIFT_COPY, low, ct_bits(op, 5, 3));
    else
        out->writes = X(low) | X(high);
}

static void t16_high(uint32_t op, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 7, 7) << 3 | (op & 7);
    uint32_t rm = ct_bits(op, 6, 3);
    switch (ct_bits(op, 9, 8)) {
    case 0:
        add_register(out, rd, rd, rm, 0);
        break;
    case 2:
        set(out, rd == PC ? CT_LIFT_JUMP : CT_LIFT_COPY, rd, rm);
        break;
    case 3:
        set(out, op & 0x80 ? CT_LIFT_OTHER : CT_LIFT_JUMP, 0, rm);
        out->writes = op & 0x80 ? CALL_MASK : 0;
        break;
    default:
        out->flags = true; /* CMP of registers */
        break;
    }
}

static void t16(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    uint32_t low = op & 7;
    uint32_t high = ct_bits(op, 10, 8);
    out->flags = (op & 0xfc00) == 0x4000;
    if (op < 0x4000)
        t16_data(op, out);
    else if ((op & 0xfc00) == 0x4400)
        t16_high(op, out);
    else if ((op & 0xf800) == 0xa000)
        add_immediate(out, high, PC, (op & 0xff) * 4, (addr + 4) & ~UINT64_C(3));
    else if ((op & 0xf000) == 0x9000)
        memory(out, op & 0x800, high, 13, (op & 0xff) * 4);
    else if ((op & 0xf000) == 0x6000 || (op & 0xf000) == 0x7000)
        memory(out, op & 0x800, low, ct_bits(op, 5, 3), ct_bits(op, 10, 6) * (op & 0x1000 ? 1 : 4));
    else if ((op & 0xfe00) == 0x5800 || (op & 0xfe00) == 0x5c00)
        table_load(out, low, ct_bits(op, 5, 3), ct_bits(op, 8, 6), 0, op & 0x400 ? 1 : 4);
    else if ((op & 0xffc0) == 0xb2c0)
        mask(out, low, ct_bits(op, 5, 3), 0xff);
    else if ((op & 0xf000) == 0xd000)
        skip(out, ct_bits(op, 11, 8));
    else if ((op & 0xf600) == 0xb400)
        out->writes = op & 0x800 ? op & 0xff : 0; /* PUSH, POP */
    else
        out->writes = X(low) | X(high);
}

/* Lifts instructions with an immediate i:imm3:imm8. Only plain numbers matter for bounds; others are not
 * lifted. */
static void t32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    uint32_t rd = ct_bits(op, 11, 8);
    uint32_t rn = ct_bits(op, 19, 16);
    uint32_t wide = ct_bits(op, 26, 26) << 11 | ct_bits(op, 14, 12) << 8;
    uint32_t imm = wide | (op & 0xff);
    out->writes = X(rd);
    out->flags = !(op & 0x02000000) && (op & 0x00100000);
    switch (op >> 20 & 0x3f) {
    case 0x20: /* ADDW */
        add_immediate(out, rd, rn, imm, (addr + 4) & ~UINT64_C(3));
        break;
    case 0x2a: /* SUBW */
        add_immediate(out, rd, rn, -(int64_t)imm, (addr + 4) & ~UINT64_C(3));
        break;
    case 0x10:
    case 0x1a:
        if (wide == 0 && rn != PC)
            add_immediate(out, rd, rn, op & 0x00800000 ? -(int64_t)imm : (int64_t)imm, 0);
        break;
    case 0x1b:
        if (wide == 0 && rd == PC)
            compare(out, rn, imm);
        break;
    case 0x00:
        if (wide == 0)
            mask(out, rd, rn, imm);
        break;
    default:
        break;
    }
}

static void t32_memory(uint32_t op, struct ct_lift *out)
{
    uint32_t rt = ct_bits(op, 15, 12);
    uint32_t rn = ct_bits(op, 19, 16);
    bool load = op & 0x00100000;
    uint32_t width = ct_bits(op, 22, 21);
    if (op & 0x00800000)
        memory(out, load, rt, rn, op & 0xfff);
    else if ((op & 0xf00) == 0xc00)
        memory(out, load, rt, rn, -(int64_t)(op & 0xff));
    else if (load && (op & 0xfc0) == 0 && width != 3)
        table_load(out, rt, rn, op & 15, ct_bits(op, 5, 4), 1u << width);
}

void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG};
    if (op >> 27 < 29) {
        t16(op >> 16, addr, out);
        return;
    }
    out->writes = X(ct_bits(op, 19, 16)) | X(ct_bits(op, 15, 12)) | X(ct_bits(op, 11, 8));
    if ((op & 0xffffffe0) == 0xe8dff000) {
        set(out, CT_LIFT_TABLE, PC, PC);
        out->rm = op & 15;
        out->size = op & 0x10 ? 2 : 1;
    } else if ((op & 0xfe000000) == 0xf8000000 && !(op & 0x01000000)) {
        t32_memory(op, out);
    } else if ((op & 0xf8008000) == 0xf0000000) {
        t32_immediate(op, addr, out);
    } else if ((op & 0xfff0f030) == 0xeb000000) {
        add_register(out, ct_bits(op, 11, 8), ct_bits(op, 19, 16), op & 15,
                     ct_bits(op, 14, 12) << 2 | ct_bits(op, 7, 6));
    } else if ((op & 0xf800d000) == 0xf0008000) {
        skip(out, ct_bits(op, 25, 22));
    } else if ((op & 0xf800c000) == 0xf000c000) {
        out->writes = CALL_MASK;
    } else if ((op & 0xfe500000) == 0xe8100000) {
        out->writes = X(ct_bits(op, 19, 16)) | (op & 0xffff);
    }
}
