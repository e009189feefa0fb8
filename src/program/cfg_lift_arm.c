/* SPDX-License-Identifier: Apache-2.0 */
/* A32 and T32: the instructions of which compilers make jump tables and counted loops. For all others, the
 * registers and the memory that they may write, and whether they may set the flags. An encoding that is not
 * listed may change everything. */
#include "program/cfg_lift_arm.h"

#include "base/bytes.h"

/* Returns what a condition says about the compare before it when execution reaches the table. A branch that
 * skips the table has HI or CS; a jump that is conditional itself has LS or CC. */
static uint8_t skip_above(uint32_t cond)
{
    return cond == CT_COND_HI ? 1 : cond == CT_COND_CS ? 2 : 0;
}

uint8_t ct_arm_jump_above(uint32_t cond)
{
    return cond == CT_COND_LS ? 1 : cond == CT_COND_CC ? 2 : 0;
}

uint64_t ct_arm_fields(uint32_t op)
{
    return X(ct_bits(op, 19, 16)) | X(ct_bits(op, 15, 12)) | X(ct_bits(op, 11, 8)) | X(ct_bits(op, 3, 0));
}

void ct_arm_set(struct ct_lift *out, enum ct_lift_kind kind, uint32_t rd, uint32_t rn)
{
    out->kind = (uint8_t)kind;
    out->rd = (uint8_t)rd;
    out->rn = (uint8_t)rn;
    out->writes = X(rd);
    out->gives = X(rn);
}

void ct_arm_only_writes(struct ct_lift *out, uint64_t writes)
{
    out->kind = CT_LIFT_OTHER;
    out->writes = writes;
    out->flags = false;
    out->stores = CT_LIFT_STORES_NOTHING;
}

void ct_arm_nothing(struct ct_lift *out)
{
    ct_arm_only_writes(out, 0);
    out->gives = 0;
}

void ct_arm_unknown(struct ct_lift *out)
{
    ct_arm_only_writes(out, ALL);
    out->gives = ALL;
    out->flags = true;
    out->stores = CT_LIFT_STORES_ANYWHERE;
}

void ct_arm_call(struct ct_lift *out)
{
    ct_arm_unknown(out);
    out->writes = CALL_MASK;
    out->gives = 0;
    out->calls = true;
}

void ct_arm_add_immediate(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm, uint64_t pc)
{
    ct_arm_set(out, rn == PC ? CT_LIFT_CONST : CT_LIFT_ADDI, rd, rn);
    out->imm = rn == PC ? (int64_t)pc + imm : imm;
}

void ct_arm_constant(struct ct_lift *out, uint32_t rd, uint32_t value)
{
    ct_arm_set(out, CT_LIFT_CONST, rd, 0);
    out->gives = 0;
    out->imm = value;
}

void ct_arm_add_register(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm, uint32_t shift)
{
    ct_arm_set(out, CT_LIFT_ADD, rd, rn);
    out->gives |= X(rm);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
}

void ct_arm_reverse(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm)
{
    ct_arm_set(out, CT_LIFT_RSB, rd, rn);
    out->imm = imm;
}

void ct_arm_steps(struct ct_lift *out, uint32_t rm)
{
    ct_arm_set(out, CT_LIFT_STEPS, PC, PC);
    out->rm = (uint8_t)rm;
}

void ct_arm_jump(struct ct_lift *out, uint32_t rm)
{
    ct_arm_set(out, CT_LIFT_JUMP, 0, rm);
    out->writes = out->gives = 0;
}

void ct_arm_skip(struct ct_lift *out, uint32_t cond)
{
    ct_arm_set(out, CT_LIFT_SKIP, 0, 0);
    out->above = skip_above(cond);
    out->taken = ct_arm_jump_above(cond);
    out->cond = (uint8_t)cond;
    out->writes = out->gives = 0;
}

void ct_arm_mask(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t imm)
{
    ct_arm_set(out, (imm & (imm + 1)) == 0 ? CT_LIFT_MASK : CT_LIFT_OTHER, rd, rn);
    out->imm = imm;
}

void ct_arm_extend(struct ct_lift *out, uint32_t rd, uint32_t rm, uint32_t bits, bool is_signed)
{
    if (!is_signed) {
        ct_arm_mask(out, rd, rm, (uint32_t)ct_mask64(bits));
        return;
    }
    ct_arm_set(out, CT_LIFT_SIGN, rd, rm);
    out->bits = (uint8_t)bits;
}

void ct_arm_multiply(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm)
{
    ct_arm_set(out, CT_LIFT_MUL, rd, rn);
    out->gives |= X(rm);
    out->rm = (uint8_t)rm;
}

void ct_arm_right(struct ct_lift *out, uint32_t rd, uint32_t rm, uint32_t shift, uint32_t bits,
                  bool is_signed)
{
    ct_arm_set(out, CT_LIFT_RIGHT, rd, rm);
    out->shift = (uint8_t)shift;
    out->bits = (uint8_t)bits;
    out->is_signed = is_signed;
}

void ct_arm_memory(struct ct_lift *out, const struct ct_arm_transfer *t)
{
    const bool back = t->writes_back || !t->before;
    ct_arm_set(out, t->load ? CT_LIFT_FETCH : CT_LIFT_STORE, t->rt, t->rn);
    out->imm = t->before ? t->offset : 0;
    out->size = (uint8_t)t->size;
    out->stores = t->load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_HERE;
    out->writes = t->load ? X(t->rt) : 0;
    out->gives = t->load ? 0 : X(t->rt);
    if (t->load && t->size < 4) {
        out->bits = (uint8_t)(8 * t->size);
        out->is_signed = t->is_signed;
    }
    if (!back)
        return;
    out->kind = CT_LIFT_OTHER;
    out->writes |= X(t->rn);
    out->moves = t->load && t->rt == t->rn ? 0 : t->offset;
}

void ct_arm_memory_by_register(struct ct_lift *out, const struct ct_arm_transfer *t, uint32_t rm,
                               uint32_t shift)
{
    ct_arm_set(out, t->load && t->before && !t->writes_back ? CT_LIFT_LOAD : CT_LIFT_OTHER, t->rt, t->rn);
    out->writes = (t->load ? X(t->rt) : 0) | (t->writes_back || !t->before ? X(t->rn) : 0);
    out->stores = t->load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
    out->gives = t->load ? 0 : X(t->rt);
    out->rm = (uint8_t)rm;
    out->shift = (uint8_t)shift;
    out->size = (uint8_t)t->size;
    if (t->load && t->size < 4 && t->is_signed) {
        out->bits = (uint8_t)(8 * t->size);
        out->is_signed = true;
    }
}

void ct_arm_multiple(struct ct_lift *out, bool load, uint32_t rn, uint64_t list, int64_t first, int64_t moves)
{
    const uint64_t registers = list & 0xffff;
    out->kind = CT_LIFT_OTHER;
    out->rn = (uint8_t)rn;
    out->imm = first;
    out->size = (uint8_t)(4 * __builtin_popcountll(registers));
    out->writes = (load ? registers : 0) | (moves ? X(rn) : 0);
    out->moves = load && registers >> rn & 1 ? 0 : moves;
    out->flags = false;
    out->stores = load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_HERE;
    out->gives = load ? 0 : registers;
}

void ct_arm_compare(struct ct_lift *out, uint32_t rn, int64_t imm)
{
    ct_arm_set(out, CT_LIFT_CMP, 0, rn);
    out->writes = 0;
    out->imm = imm;
    out->flags = true;
}

void ct_arm_compare_registers(struct ct_lift *out, uint32_t rn, uint32_t rm)
{
    ct_arm_set(out, CT_LIFT_CMPR, 0, rn);
    out->gives |= X(rm);
    out->writes = 0;
    out->rm = (uint8_t)rm;
    out->flags = true;
}

/* ---- data processing ---- */

void ct_arm_data_immediate(struct ct_lift *out, enum ct_arm_operation operation, uint32_t rd, uint32_t rn,
                           uint32_t value, uint64_t pc)
{
    out->writes = X(rd);
    out->gives = X(rn);
    switch (operation) {
    case AND:
        ct_arm_mask(out, rd, rn, value);
        break;
    case SUB:
        ct_arm_add_immediate(out, rd, rn, -(int64_t)value, pc);
        break;
    case ADD:
        ct_arm_add_immediate(out, rd, rn, value, pc);
        break;
    case RSB:
        ct_arm_reverse(out, rd, rn, value);
        break;
    case MOV:
        ct_arm_constant(out, rd, value);
        break;
    case MVN:
        ct_arm_constant(out, rd, ~value);
        break;
    case CMP:
        ct_arm_compare(out, rn, value);
        break;
    case CMN: /* the same flags as a compare with -value, except that of 0 */
        out->writes = 0;
        if (value)
            ct_arm_compare(out, rn, -(int64_t)value);
        break;
    case TST:
        ct_arm_mask(out, 0, rn, value);
        out->writes = 0;
        break;
    case TEQ:
        ct_arm_set(out, CT_LIFT_SAME, 0, rn);
        out->imm = value;
        out->writes = 0;
        break;
    default:
        break;
    }
}

void ct_arm_data_register(struct ct_lift *out, enum ct_arm_operation operation, uint32_t rd, uint32_t rn,
                          uint32_t rm, uint32_t type, uint32_t amount)
{
    const bool plain = type == 0 && amount == 0;
    out->writes = operation >= TST && operation <= CMN ? 0 : X(rd);
    out->gives = X(rn) | X(rm);
    if (operation == MOV && type == 0 && rd != PC) {
        ct_arm_set(out, plain ? CT_LIFT_COPY : CT_LIFT_SHIFT, rd, rm);
        out->shift = (uint8_t)amount;
    } else if (operation == MOV && (type == 1 || type == 2) && amount && rd != PC) { /* LSR, ASR */
        ct_arm_right(out, rd, rm, amount, 32, type == 2);
    } else if (operation == MOV && plain) {
        ct_arm_set(out, CT_LIFT_JUMP, rd, rm);
    } else if (operation == ADD && type == 0) {
        ct_arm_add_register(out, rd, rn, rm, amount);
    } else if (operation == MVN && plain) {
        ct_arm_reverse(out, rd, rm, -1);
    } else if (operation == CMP && plain) {
        ct_arm_compare_registers(out, rn, rm);
    } else if (operation == SUB && plain) {
        const bool flags = out->flags;
        ct_arm_compare_registers(out, rn, rm);
        out->flags = flags;
        out->rd = (uint8_t)rd;
        out->writes = X(rd);
    }
}

/* ---- coprocessors, floating-point numbers and vectors: the same in A32 and T32 ---- */

void ct_arm_coprocessor_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t rn = ct_bits(op, 19, 16);
    const bool load = op & 0x00100000, back = op & 0x00200000;
    const bool floats = ct_bits(op, 11, 9) == 5;
    const uint32_t bytes = ct_bits(op, 7, 0) * 4;
    const int64_t offset = op & 0x00800000 ? bytes : -(int64_t)bytes;
    if ((op & 0x0fe00000) == 0x0c000000) { /* vectors of the M profile: VMOV of two registers */
        ct_arm_unknown(out);
        return;
    }
    if ((op & 0x0fe00000) == 0x0c400000) { /* MCRR, MRRC, VMOV of two registers */
        ct_arm_only_writes(out, load ? X(ct_bits(op, 15, 12)) | X(rn) : 0);
        return;
    }
    ct_arm_only_writes(out, back ? X(rn) : 0);
    out->gives = 0;
    out->rn = (uint8_t)rn;
    out->stores = load ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
    if (!floats)
        return;
    const bool single = (op & 0x01200000) == 0x01000000; /* VLDR, VSTR */
    out->moves = back ? offset : 0;
    out->imm = op & 0x00800000 && !single ? 0 : offset;
    out->size = (uint8_t)(single ? ct_bits(op, 8, 8) * 4 + 4 : bytes > 128 ? 0 : bytes);
    out->stores = load ? CT_LIFT_STORES_NOTHING : out->size ? CT_LIFT_STORES_HERE : CT_LIFT_STORES_ANYWHERE;
}

void ct_arm_coprocessor_data(uint32_t op, bool is_t32, struct ct_lift *out)
{
    const bool transfers = op & 0x10, reads = op & 0x00100000;
    const uint32_t rt = ct_bits(op, 15, 12);
    if (ct_bits(op, 11, 9) != 5 && is_t32) {
        ct_arm_unknown(out);
        return;
    }
    ct_arm_only_writes(out, transfers && reads && rt != PC ? X(rt) : 0);
    out->gives = transfers && !reads ? X(rt) : 0;
    out->flags = transfers && reads && rt == PC;
}

void ct_arm_elements(uint32_t op, struct ct_lift *out)
{
    static const uint8_t registers[16] = {4, 4, 4, 2, 3, 3, 3, 1, 2, 2, 2};
    const uint32_t rn = ct_bits(op, 19, 16), rm = ct_bits(op, 3, 0);
    ct_arm_only_writes(out, rm == PC ? 0 : X(rn));
    out->gives = 0;
    out->rn = (uint8_t)rn;
    out->moves = rm == SP && !(op & 0x00800000) ? registers[ct_bits(op, 11, 8)] * 8 : 0;
    out->stores = op & 0x00200000 ? CT_LIFT_STORES_NOTHING : CT_LIFT_STORES_ANYWHERE;
}
