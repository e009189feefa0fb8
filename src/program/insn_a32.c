/* A32 waypoints. Arm ARM DDI 0487, F4.1: every instruction that writes the PC, and the barriers and
 * hints a source may count. Fields that should be one or zero are not looked at; an encoding that is
 * UNPREDICTABLE when its destination is the PC writes no PC here. SVC, HVC and SMC are no branches. */
#include "base/bytes.h"
#include "program/insn.h"

static void direct(struct ct_insn *out, uint64_t addr, uint32_t offset, enum ct_isa isa, enum ct_insn_sub sub)
{
    ct_insn_set(out, CT_INSN_BR, sub);
    out->target = (uint32_t)addr + 8 + offset;
    out->isa = (uint8_t)isa;
}

/* cond 1111: BLX to T32, RFE and the barriers. */
static void unconditional(uint32_t op, uint64_t addr, struct ct_insn *out)
{
    uint32_t offset = (uint32_t)ct_sext(ct_bits(op, 23, 0), 24) << 2;
    if ((op & 0xfe000000) == 0xfa000000) /* BLX (immediate): H is bit 1 of the target */
        direct(out, addr, offset | ct_bits(op, 24, 24) << 1, CT_ISA_T32, CT_INSN_SUB_LINK);
    else if ((op & 0xfe500000) == 0xf8100000) /* RFE */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_NONE);
    else if ((op & 0xfff000f0) == 0xf5700040 || (op & 0xfff000f0) == 0xf5700050) /* DSB, DMB */
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
    else if ((op & 0xfff000f0) == 0xf5700060)
        ct_insn_set(out, CT_INSN_ISB, CT_INSN_SUB_NONE);
}

/* Data processing with a shifted register or an immediate, bits 27:26 00: a branch when Rd is the PC
 * and the instruction has an Rd. Opcodes 8 to 11 compare, or are something else without S. */
static void data_processing(uint32_t op, struct ct_insn *out)
{
    bool immediate = op & 0x02000000;
    if (ct_bits(op, 15, 12) != 15 || ct_bits(op, 24, 23) == 2)
        return;
    if (!immediate && (op & 0x10)) /* shifted by a register: UNPREDICTABLE; multiplies, extra loads */
        return;
    bool mov_pc_lr = (op & 0x0ff00fff) == 0x01a0000e;
    ct_insn_set(out, CT_INSN_IBR, mov_pc_lr ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
}

/* BX, BXJ, BLX and ERET: F4.1.5 "Miscellaneous". */
static bool miscellaneous(uint32_t op, struct ct_insn *out)
{
    switch (op & 0x0ff000f0) {
    case 0x01200010: /* BX */
        ct_insn_set(out, CT_INSN_IBR, (op & 15) == 14 ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
        return true;
    case 0x01200030: /* BLX (register) */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_LINK);
        return true;
    case 0x01200020: /* BXJ */
    case 0x01600060: /* ERET */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_NONE);
        return true;
    default:
        return false;
    }
}

/* LDR to the PC; LDRB, LDRT and the media instructions have no PC. */
static void load(uint32_t op, struct ct_insn *out)
{
    bool is_register = op & 0x02000000;
    bool unprivileged = (op & 0x01200000) == 0x00200000;
    if ((op & 0x0c50f000) != 0x0410f000 || unprivileged || (is_register && (op & 0x10)))
        return;
    bool pop = (op & 0x0fff0000) == 0x049d0000; /* LDR PC, [SP], #imm */
    ct_insn_set(out, CT_INSN_IBR, pop ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
}

/* The barriers of ARMv6, still there in ARMv7 and AArch32: MCR p15, 0, Rt, c7, … */
static void cp15_barrier(uint32_t op, struct ct_insn *out)
{
    switch (op & 0x0fff0fff) {
    case 0x0e070f95: /* c5, 4 */
        ct_insn_set(out, CT_INSN_ISB, CT_INSN_SUB_NONE);
        break;
    case 0x0e070f9a: /* c10, 4 */
    case 0x0e070fba: /* c10, 5 */
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
        break;
    default:
        break;
    }
}

void ct_insn_decode_a32(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    (void)arch; /* nothing after ARMv7 brought a new A32 waypoint */
    *out = (struct ct_insn){.size = 4, .isa = CT_ISA_A32};
    if (op >> 28 == 15) {
        unconditional(op, addr, out);
        return;
    }
    out->cond = op >> 28 != 14;
    switch (ct_bits(op, 27, 25)) {
    case 0:
    case 1:
        if ((op & 0x0ffffffe) == 0x0320f002) /* WFE, WFI */
            ct_insn_set(out, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE);
        else if (!miscellaneous(op, out))
            data_processing(op, out);
        break;
    case 2:
    case 3:
        load(op, out);
        break;
    case 4: /* LDM and POP with the PC; a POP that also loads SP is UNPREDICTABLE and no return */
        if ((op & 0x00108000) == 0x00108000)
            ct_insn_set(out, CT_INSN_IBR,
                        (op & 0x0fff2000) == 0x08bd0000 ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
        break;
    case 5: /* B, BL */
        direct(out, addr, (uint32_t)ct_sext(ct_bits(op, 23, 0), 24) << 2, CT_ISA_A32,
               op & 0x01000000 ? CT_INSN_SUB_LINK : CT_INSN_SUB_NONE);
        break;
    default:
        cp15_barrier(op, out);
        break;
    }
}
