/* SPDX-License-Identifier: Apache-2.0 */
/* A32 waypoints. Arm ARM DDI 0487, F4.1: every instruction that writes the PC, and the barriers and hints
 * that a source may count. Fields that should be one or zero are ignored; an encoding that is UNPREDICTABLE
 * when its destination is the PC is not counted as writing the PC. SVC, HVC and SMC are no branches. No A32
 * waypoint was added after ARMv8.0. */
#include "base/bytes.h"
#include "program/insn_arm.h"

static uint64_t offset24(uint32_t op)
{
    return (uint64_t)ct_sext(ct_bits(op, 23, 0), 24) << 2;
}

/* Returns the offset of a BLX, whose bit H is bit 1 of the target. */
static uint64_t offset_blx(uint32_t op)
{
    return offset24(op) | ct_bits(op, 24, 24) << 1;
}

#define ROW(mask, value, type, sub, offset, name, extension)                                                 \
    {                                                                                                        \
        mask, value, CT_ARM_ALL, CT_INSN_##type, CT_INSN_SUB_##sub, 0, offset, name, extension               \
    }

/* clang-format off */
/* Condition 15. */
static const struct ct_arm_rule unconditional[] = {
    ROW(0xfe000000, 0xfa000000, BR, LINK, offset_blx, "BLX (immediate)", "ARMv5T"),
    ROW(0xfe500000, 0xf8100000, IBR, NONE, NULL, "RFE", "ARMv6"),
    ROW(0xfff000f0, 0xf5700040, DSB_DMB, NONE, NULL, "DSB", "ARMv7"),
    ROW(0xfff000f0, 0xf5700050, DSB_DMB, NONE, NULL, "DMB", "ARMv7"),
    ROW(0xfff000f0, 0xf5700060, ISB, NONE, NULL, "ISB", "ARMv7"),
};

/* The other conditions, which the masks ignore. */
static const struct ct_arm_rule conditional[] = {
    ROW(0x0ffffffe, 0x0320f002, WFI_WFE, NONE, NULL, "WFE, WFI", "ARMv6K"),
    ROW(0x0ff000ff, 0x0120001e, IBR, V7_RET, NULL, "BX LR", "ARMv4T"),
    ROW(0x0ff000f0, 0x01200010, IBR, NONE, NULL, "BX", "ARMv4T"),
    ROW(0x0ff000f0, 0x01200030, IBR, LINK, NULL, "BLX (register)", "ARMv5T"),
    ROW(0x0ff000f0, 0x01200020, IBR, NONE, NULL, "BXJ", "ARMv5TEJ"),
    ROW(0x0ff000f0, 0x01600060, IBR, NONE, NULL, "ERET", "Virtualization Extensions"),
    ROW(0x0d800000, 0x01000000, OTHER, NONE, NULL, "TST, TEQ, CMP, CMN, miscellaneous", "base"),
    ROW(0x0e000010, 0x00000010, OTHER, NONE, NULL, "shifts by a register, multiplies, extra loads", "base"),
    ROW(0x0ff0ffff, 0x01a0f00e, IBR, V7_RET, NULL, "MOV PC, LR", "base"),
    ROW(0x0c00f000, 0x0000f000, IBR, NONE, NULL, "data processing to the PC", "base"),
    ROW(0x0d200000, 0x04200000, OTHER, NONE, NULL, "LDRT, LDRBT, STRT, STRBT", "base"),
    ROW(0x0e000010, 0x06000010, OTHER, NONE, NULL, "media instructions", "ARMv6"),
    ROW(0x0ffff000, 0x049df000, IBR, V7_RET, NULL, "LDR PC, [SP], #imm", "base"),
    ROW(0x0c50f000, 0x0410f000, IBR, NONE, NULL, "LDR to the PC", "base"),
    /* a POP that also loads SP is UNPREDICTABLE and no return */
    ROW(0x0fffa000, 0x08bd8000, IBR, V7_RET, NULL, "POP with the PC", "base"),
    ROW(0x0e108000, 0x08108000, IBR, NONE, NULL, "LDM with the PC", "base"),
    ROW(0x0f000000, 0x0a000000, BR, NONE, offset24, "B", "base"),
    ROW(0x0f000000, 0x0b000000, BR, LINK, offset24, "BL", "base"),
    /* the barriers of ARMv6, still valid in ARMv7 and AArch32: MCR p15, 0, Rt, c7, … */
    ROW(0x0fff0fff, 0x0e070f95, ISB, NONE, NULL, "CP15ISB", "ARMv6"),
    ROW(0x0fff0fff, 0x0e070f9a, DSB_DMB, NONE, NULL, "CP15DSB", "ARMv6"),
    ROW(0x0fff0fff, 0x0e070fba, DSB_DMB, NONE, NULL, "CP15DMB", "ARMv6"),
};
/* clang-format on */

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

void ct_insn_decode_a32(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    if (!arch || !out)
        return;
    bool always = op >> 28 == 15;
    const struct ct_arm_rule *r = always ? ct_arm_find(unconditional, COUNT(unconditional), op, arch)
                                         : ct_arm_find(conditional, COUNT(conditional), op, arch);
    *out = (struct ct_insn){.size = 4, .isa = CT_ISA_A32, .cond = !always && op >> 28 != 14};
    if (!r)
        return;
    ct_insn_set(out, (enum ct_insn_type)r->type, (enum ct_insn_sub)r->sub);
    if (!r->offset)
        return;
    out->target = (uint32_t)(addr + 8 + r->offset(op));
    out->isa = always ? CT_ISA_T32 : CT_ISA_A32;
}
