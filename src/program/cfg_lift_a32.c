/* SPDX-License-Identifier: Apache-2.0 */
/* Lifts instructions of A32. Arm ARM DDI 0487, F4. */
#include "program/cfg_lift_arm.h"

#include "base/bytes.h"

static uint32_t a32_constant(uint32_t op)
{
    unsigned turn = ct_bits(op, 11, 8) * 2;
    uint32_t value = op & 0xff;
    return turn ? value >> turn | value << (32 - turn) : value;
}

static void a32_immediate(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    const uint32_t wide = ct_bits(op, 19, 16) << 12 | (op & 0xfff);
    switch (ct_bits(op, 24, 20)) {
    case 0x10: /* MOVW */
        ct_arm_constant(out, rd, wide);
        break;
    case 0x14: /* MOVT */
        ct_arm_set(out, CT_LIFT_PART, rd, rd);
        out->shift = 16;
        out->imm = wide;
        break;
    case 0x12:
    case 0x16: /* MSR, hints */
        ct_arm_only_writes(out, 0);
        out->flags = true;
        break;
    default:
        out->flags = op & 0x00100000;
        ct_arm_data_immediate(out, (enum ct_arm_operation)ct_bits(op, 24, 21), rd, ct_bits(op, 19, 16),
                              a32_constant(op), addr + 8);
        break;
    }
}

/* Lifts TST, TEQ, CMP and CMN without flags, which are other instructions. */
static void a32_miscellaneous(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    if (op & 0x80) { /* multiplies of halfwords */
        ct_arm_only_writes(out, X(ct_bits(op, 19, 16)) | ((op & 0x00600000) == 0x00400000 ? X(rd) : 0));
    } else if ((op & 0x0ff000f0) == 0x01200010 || (op & 0x0ff000f0) == 0x01200020) { /* BX, BXJ */
        if ((op & 15) == LINK)
            ct_arm_only_writes(out, 0);
        else
            ct_arm_jump(out, op & 15);
    } else if ((op & 0x0ff000f0) == 0x01200030 || (op & 0x0f9000f0) == 0x01000070) { /* BLX, SMC, HVC */
        ct_arm_call(out);
    } else if ((op & 0x0fb000f0) == 0x01200000) { /* MSR */
        ct_arm_only_writes(out, 0);
        out->flags = true;
    } else { /* MRS, CLZ, saturating sums, CRC32 */
        ct_arm_only_writes(out, X(rd));
    }
}

/* Lifts multiplies, and loads and stores of halfwords, pairs and of synchronisation. */
static void a32_extra(uint32_t op, struct ct_lift *out)
{
    const uint32_t rt = ct_bits(op, 15, 12), rn = ct_bits(op, 19, 16);
    const uint32_t kind = ct_bits(op, 6, 5);
    const bool load = op & 0x00100000;
    const uint32_t value = op & 0x00400000 ? ct_bits(op, 11, 8) << 4 | (op & 15) : 0;
    struct ct_arm_transfer t = {.load = load || kind == 2,
                                .before = op & 0x01000000,
                                .writes_back = op & 0x00200000,
                                .rt = rt,
                                .rn = rn,
                                .size = load && kind == 2   ? 1
                                        : kind == 1 || load ? 2
                                                            : 8,
                                .offset = op & 0x00800000 ? value : -(int64_t)value,
                                .is_signed = load && kind != 1};
    out->flags = false;
    if (kind == 0) {
        const bool synchronises = op & 0x01000000;
        const bool is_long = op & 0x00800000 || (op & 0x00e00000) == 0x00400000; /* a result of 64 bits */
        ct_arm_only_writes(out, synchronises ? X(rt) | X((rt + 1) & 15) : X(rn) | (is_long ? X(rt) : 0));
        if ((op & 0x01e00000) == 0) /* MUL */
            ct_arm_multiply(out, rn, op & 15, ct_bits(op, 11, 8));
        out->flags = !synchronises && load;
        out->stores = synchronises ? CT_LIFT_STORES_ANYWHERE : CT_LIFT_STORES_NOTHING;
        return;
    }
    if (op & 0x00400000)
        ct_arm_memory(out, &t);
    else
        ct_arm_memory_by_register(out, &t, op & 15, 0);
    if (t.size == 8) {
        out->kind = CT_LIFT_OTHER;
        out->writes |= t.load ? X((rt + 1) & 15) : 0;
        out->moves = out->writes >> rn & 1 && t.load && (rt | 1) == (rn | 1) ? 0 : out->moves;
    }
}

static void a32_register(uint32_t op, struct ct_lift *out)
{
    const uint32_t rd = ct_bits(op, 15, 12);
    out->flags = op & 0x00100000;
    if ((op & 0x90) == 0x90)
        a32_extra(op, out);
    else if ((op & 0x01900000) == 0x01000000)
        a32_miscellaneous(op, out);
    else if ((op & 0x0ffffff0) == 0x008ff100)
        ct_arm_steps(out, op & 15);
    else if (op & 0x10) /* shifted by a register */
        out->writes = (op & 0x01800000) == 0x01000000 ? 0 : X(rd);
    else
        ct_arm_data_register(out, (enum ct_arm_operation)ct_bits(op, 24, 21), rd, ct_bits(op, 19, 16),
                             op & 15, ct_bits(op, 6, 5), ct_bits(op, 11, 7));
}

static void a32_memory(uint32_t op, struct ct_lift *out)
{
    const uint32_t offset = op & 0xfff;
    const bool up = op & 0x00800000;
    const struct ct_arm_transfer t = {.load = op & 0x00100000,
                                      .before = op & 0x01000000,
                                      .writes_back = op & 0x00200000,
                                      .rt = ct_bits(op, 15, 12),
                                      .rn = ct_bits(op, 19, 16),
                                      .size = op & 0x00400000 ? 1 : 4,
                                      .offset = up ? offset : -(int64_t)offset};
    if (!(op & 0x02000000))
        ct_arm_memory(out, &t);
    else
        ct_arm_memory_by_register(out, &t, op & 15, ct_bits(op, 11, 7));
    if (out->kind == CT_LIFT_LOAD && (!up || op & 0x60))
        out->kind = CT_LIFT_OTHER;
}

/* Lifts parallel sums, extensions and fields of bits, whose result is in 15:12, and multiplies and divides,
 * whose result is in 19:16 or, of 64 bits, in both. */
static void a32_media(uint32_t op, struct ct_lift *out)
{
    const uint32_t low = ct_bits(op, 15, 12), kind = ct_bits(op, 24, 20);
    if ((op & 0x0f8f0ff0) == 0x068f0070 && op & 0x00200000) /* SXTB, SXTH, UXTB, UXTH */
        ct_arm_extend(out, low, op & 15, op & 0x00100000 ? 16 : 8, !(op & 0x00400000));
    else if ((op & 0x0fe00ff0) == 0x07e00050) /* UBFX from bit 0 */
        ct_arm_mask(out, low, op & 15, (uint32_t)ct_mask64(ct_bits(op, 20, 16) + 1));
    else if ((op & 0x0fe00070) == 0x07e00050 && ct_bits(op, 20, 16) + ct_bits(op, 11, 7) < 32) /* UBFX */
        ct_arm_right(out, low, op & 15, ct_bits(op, 11, 7), ct_bits(op, 20, 16) + ct_bits(op, 11, 7) + 1,
                     false);
    else if (kind >= 0x10 && kind < 0x1a)
        ct_arm_only_writes(out, X(ct_bits(op, 19, 16)) | (kind == 0x14 ? X(low) : 0));
    else
        ct_arm_only_writes(out, X(low));
}

static void a32_multiple(uint32_t op, struct ct_lift *out)
{
    const int64_t bytes = 4 * __builtin_popcount(op & 0xffff);
    const bool up = op & 0x00800000, before = op & 0x01000000;
    const int64_t first = up ? (before ? 4 : 0) : before ? -bytes : 4 - bytes;
    ct_arm_multiple(out, op & 0x00100000, ct_bits(op, 19, 16), op & 0xffff, first,
                    op & 0x00200000 ? (up ? bytes : -bytes) : 0);
}

/* Lifts the instructions without a condition. */
static void a32_always(uint32_t op, struct ct_lift *out)
{
    if ((op & 0x0e000000) == 0x0a000000)
        ct_arm_call(out); /* BLX */
    else if ((op & 0x0f100000) == 0x04000000)
        ct_arm_elements(op, out);
    else if ((op & 0x0e000000) == 0x02000000 || (op & 0x0d70f000) == 0x0550f000 ||
             (op & 0x0ff000f0) == 0x05700040 || (op & 0x0ff000f0) == 0x05700050 ||
             (op & 0x0ff000f0) == 0x05700060 || ((op & 0x0f000010) == 0x0e000000 && (op & 0xe00) == 0xa00))
        ct_arm_nothing(out); /* operations of vectors; PLD; barriers; VSEL, VMAXNM, VRINT */
    else
        ct_arm_unknown(out);
}

void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out)
{
    const uint32_t cond = op >> 28;
    *out = (struct ct_lift){.rm = CT_LIFT_NO_REG, .cond = (uint8_t)cond, .gives = ct_arm_fields(op)};
    if (cond == 15) {
        a32_always(op, out);
        return;
    }
    switch (ct_bits(op, 27, 25)) {
    case 0:
        a32_register(op, out);
        break;
    case 1:
        a32_immediate(op, addr, out);
        break;
    case 2:
        a32_memory(op, out);
        break;
    case 3:
        if (op & 0x10)
            a32_media(op, out);
        else
            a32_memory(op, out);
        break;
    case 4:
        a32_multiple(op, out);
        break;
    case 5:
        if (op & 0x01000000)
            ct_arm_call(out);
        else
            ct_arm_skip(out, cond);
        return;
    case 6:
        ct_arm_coprocessor_memory(op, out);
        break;
    default:
        if (op & 0x01000000)
            ct_arm_call(out); /* SVC */
        else
            ct_arm_coprocessor_data(op, false, out);
        break;
    }
    out->is_maybe = cond != CT_COND_ALWAYS;
    const bool jumps = (out->writes & X(PC)) || out->kind == CT_LIFT_STEPS;
    if (jumps)
        out->above = ct_arm_jump_above(cond);
    else if (out->is_maybe && out->kind != CT_LIFT_JUMP)
        out->kind = CT_LIFT_OTHER;
}
