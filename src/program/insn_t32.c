/* SPDX-License-Identifier: Apache-2.0 */
/* T32 waypoints. Arm ARM DDI 0487, F3.1; Armv8-M ARM DDI 0553, C2.3 for the M profile. Fields that should be
 * one or zero are ignored in branches, but checked in TBB, TBH, barriers and hints, where other instructions
 * may be added. An encoding that is UNPREDICTABLE when its destination is the PC is not counted as writing
 * the PC. SVC, HVC and SMC are no branches. */
#include "base/bytes.h"
#include "program/insn_arm.h"

/* ---- offsets of direct branches ---- */

static uint64_t offset_t1(uint32_t op)
{
    return (uint64_t)ct_sext(ct_bits(op, 23, 16), 8) << 1;
}

static uint64_t offset_t2(uint32_t op)
{
    return (uint64_t)ct_sext(ct_bits(op, 26, 16), 11) << 1;
}

/* Returns the offset of CBZ and CBNZ, which is never negative. */
static uint64_t offset_cbz(uint32_t op)
{
    return ct_bits(op, 25, 25) << 6 | ct_bits(op, 23, 19) << 1;
}

/* Returns the offset of B<cond>.W. */
static uint64_t offset_t3(uint32_t op)
{
    uint32_t imm = ct_bits(op, 26, 26) << 20 | ct_bits(op, 11, 11) << 19 | ct_bits(op, 13, 13) << 18 |
                   ct_bits(op, 21, 16) << 12 | ct_bits(op, 10, 0) << 1;
    return (uint64_t)ct_sext(imm, 21);
}

/* Returns the offset of B.W, BL and BLX: S, J1, J2 and two immediates, in halfwords for the first two. */
static uint64_t offset_t4(uint32_t op)
{
    uint32_t s = ct_bits(op, 26, 26);
    uint32_t i1 = ~(ct_bits(op, 13, 13) ^ s) & 1;
    uint32_t i2 = ~(ct_bits(op, 11, 11) ^ s) & 1;
    uint32_t imm = s << 24 | i1 << 23 | i2 << 22 | ct_bits(op, 25, 16) << 12 | ct_bits(op, 10, 0) << 1;
    return (uint64_t)ct_sext(imm, 25);
}

/* Returns the offset of a low-overhead loop of Armv8.1-M: of its start, which may skip the loop, or its end,
 * which may jump back. */
static uint64_t offset_wls(uint32_t op)
{
    return ct_bits(op, 10, 1) << 2 | ct_bits(op, 11, 11) << 1;
}

static uint64_t offset_le(uint32_t op)
{
    return 0 - offset_wls(op);
}

/* ---- the tables ---- */

#define ROW(mask, value, cores, type, sub, name, extension)                                                  \
    {                                                                                                        \
        mask, value, CT_ARM_##cores, CT_INSN_##type, CT_INSN_SUB_##sub, 0, NULL, name, extension             \
    }
#define BRANCH(mask, value, cores, sub, cond, offset, name, extension)                                       \
    {                                                                                                        \
        mask, value, CT_ARM_##cores, CT_INSN_BR, CT_INSN_SUB_##sub, cond, offset, name, extension            \
    }

/* A branch of a low-overhead loop, which depends on LR or on Rn. */
#define LOOP(mask, value, offset, name, extension)                                                           \
    {                                                                                                        \
        mask, value, CT_ARM_V8M, CT_INSN_BR, CT_INSN_SUB_NONE, CT_ARM_LOOP, offset, name, extension          \
    }

/* clang-format off */
/* 16-bit instructions, in the upper half of the word. */
static const struct ct_arm_rule narrow[] = {
    ROW(0xfe000000, 0xde000000, ALL, OTHER, NONE, "UDF, SVC", "base"),
    BRANCH(0xf0000000, 0xd0000000, ALL, NONE, 1, offset_t1, "B<cond>", "base"),
    BRANCH(0xf8000000, 0xe0000000, ALL, NONE, 0, offset_t2, "B", "base"),
    BRANCH(0xf5000000, 0xb1000000, ALL, NONE, 1, offset_cbz, "CBZ, CBNZ", "ARMv6T2"),
    ROW(0xfff80000, 0x47700000, ALL, IBR, V7_RET, "BX LR, BXNS LR", "base"),
    ROW(0xff800000, 0x47000000, ALL, IBR, NONE, "BX, BXNS", "base"),
    ROW(0xff800000, 0x47800000, ALL, IBR, LINK, "BLX, BLXNS", "ARMv5T"),
    ROW(0xffff0000, 0x46f70000, ALL, IBR, V7_RET, "MOV PC, LR", "base"),
    ROW(0xfd870000, 0x44870000, ALL, IBR, NONE, "ADD and MOV to the PC", "base"),
    ROW(0xff000000, 0xbd000000, ALL, IBR, V7_RET, "POP with the PC", "base"),
    ROW(0xffef0000, 0xbf200000, ALL, WFI_WFE, NONE, "WFE, WFI", "ARMv7"),
};

/* "Branches and miscellaneous control": 11110 in bits 31:27 and bit 15 set. DLS, DLSTP, LCTP and the branch
 * future instructions do not branch by themselves. */
static const struct ct_arm_rule control[] = {
    BRANCH(0xf800d000, 0xf0009000, ALL, NONE, 0, offset_t4, "B.W", "ARMv6T2"),
    BRANCH(0xf800d000, 0xf000d000, ALL, LINK, 0, offset_t4, "BL", "base"),
    BRANCH(0xf800d001, 0xf000c000, ALL, LINK, 0, offset_t4, "BLX (immediate)", "ARMv5T"),
    LOOP(0xfffff001, 0xf00fc001, offset_le, "LE, for LR iterations", "Armv8.1-M LOB"),
    LOOP(0xfffff001, 0xf01fc001, offset_le, "LETP", "Armv8.1-M MVE"),
    BRANCH(0xfffff001, 0xf02fc001, V8M, NONE, 0, offset_le, "LE, for ever", "Armv8.1-M LOB"),
    ROW(0xfffff001, 0xf03fc001, V8M, OTHER, NONE, "WLSTP of the PC", "Armv8.1-M MVE"),
    ROW(0xfffff001, 0xf04fc001, V8M, OTHER, NONE, "WLS of the PC", "Armv8.1-M LOB"),
    LOOP(0xfff0f001, 0xf040c001, offset_wls, "WLS", "Armv8.1-M LOB"),
    LOOP(0xffc0f001, 0xf000c001, offset_wls, "WLSTP", "Armv8.1-M MVE"),
    ROW(0xfff0d000, 0xf3c08000, ALL, IBR, NONE, "BXJ", "ARMv6T2"),
    ROW(0xfff0d000, 0xf3d08000, ALL, IBR, NONE, "SUBS PC, LR, #imm, ERET", "ARMv6T2"),
    ROW(0xfffffff0, 0xf3bf8f40, ALL, DSB_DMB, NONE, "DSB", "ARMv7"),
    ROW(0xfffffff0, 0xf3bf8f50, ALL, DSB_DMB, NONE, "DMB", "ARMv7"),
    ROW(0xfffffff0, 0xf3bf8f60, ALL, ISB, NONE, "ISB", "ARMv7"),
    ROW(0xfffffffe, 0xf3af8002, ALL, WFI_WFE, NONE, "WFE.W, WFI.W", "ARMv7"),
    ROW(0xfb80d000, 0xf3808000, ALL, OTHER, NONE, "MSR, MRS, hints, HVC, SMC, UDF", "base"),
    BRANCH(0xf800d000, 0xf0008000, ALL, NONE, 1, offset_t3, "B<cond>.W", "ARMv6T2"),
};

/* Loads, table branches, exception returns, BXAUT and the CP15 barriers. LDRT cannot load the PC. */
static const struct ct_arm_rule wide[] = {
    ROW(0xffff8000, 0xe8bd8000, ALL, IBR, V7_RET, "POP.W with the PC", "ARMv6T2"),
    ROW(0xffff0000, 0xe89f0000, V8M, OTHER, NONE, "CLRM", "Armv8.1-M"),
    ROW(0xffd08000, 0xe8908000, ALL, IBR, NONE, "LDM with the PC", "ARMv6T2"),
    ROW(0xffd08000, 0xe9108000, ALL, IBR, NONE, "LDMDB with the PC", "ARMv6T2"),
    ROW(0xffd00000, 0xe8100000, NOT_M, IBR, NONE, "RFEDB", "ARMv6T2"),
    ROW(0xffd00000, 0xe9900000, NOT_M, IBR, NONE, "RFEIA", "ARMv6T2"),
    ROW(0xfff0ffe0, 0xe8d0f000, ALL, IBR, NONE, "TBB, TBH", "ARMv6T2"),
    ROW(0xffffff00, 0xf85dfb00, ALL, IBR, V7_RET, "LDR.W PC, [SP], #imm", "ARMv6T2"),
    ROW(0xfff0f000, 0xf8d0f000, ALL, IBR, NONE, "LDR.W PC, [Rn, #imm12]", "ARMv6T2"),
    ROW(0xff7ff000, 0xf85ff000, ALL, IBR, NONE, "LDR.W PC, literal", "ARMv6T2"),
    ROW(0xfff0f900, 0xf850f900, ALL, IBR, NONE, "LDR.W PC with write-back", "ARMv6T2"),
    ROW(0xfff0ff00, 0xf850fc00, ALL, IBR, NONE, "LDR.W PC, [Rn, #-imm8]", "ARMv6T2"),
    ROW(0xfff0ffc0, 0xf850f000, ALL, IBR, NONE, "LDR.W PC, [Rn, Rm]", "ARMv6T2"),
    ROW(0xfff00ff0, 0xfb500f10, V8M, IBR, NONE, "BXAUT", "Armv8.1-M PACBTI"),
    ROW(0xffff0fff, 0xee070f95, NOT_M, ISB, NONE, "CP15ISB", "ARMv6"),
    ROW(0xffff0fff, 0xee070f9a, NOT_M, DSB_DMB, NONE, "CP15DSB", "ARMv6"),
    ROW(0xffff0fff, 0xee070fba, NOT_M, DSB_DMB, NONE, "CP15DMB", "ARMv6"),
};
/* clang-format on */

/* ---- the look-up ---- */

#define FIND(rows, op, arch) ct_arm_find(rows, sizeof(rows) / sizeof(rows)[0], op, arch)

/* Returns how many instructions follow an IT<x><y><z>, from the lowest set bit of its mask. */
static uint8_t it_length(uint32_t op)
{
    uint32_t mask = ct_bits(op, 19, 16);
    return (op & 0xff000000) == 0xbf000000 && mask ? (uint8_t)(4 - __builtin_ctz(mask)) : 0;
}

void ct_insn_decode_t32(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    if (!arch || !out)
        return;
    bool is_wide = op >> 27 >= 29;
    const struct ct_arm_rule *r = !is_wide                          ? FIND(narrow, op, arch)
                                  : (op & 0xf8008000) == 0xf0008000 ? FIND(control, op, arch)
                                                                    : FIND(wide, op, arch);
    *out = (struct ct_insn){.size = is_wide ? 4 : 2, .isa = CT_ISA_T32};
    if (!is_wide)
        out->it = it_length(op);
    if (!r)
        return;
    ct_insn_set(out, (enum ct_insn_type)r->type, (enum ct_insn_sub)r->sub);
    out->cond = r->cond != 0;
    out->loop = r->cond == CT_ARM_LOOP;
    if (!r->offset)
        return;
    bool to_a32 = is_wide && (op & 0xf800d001) == 0xf000c000; /* BLX: the PC is aligned to a word */
    out->isa = to_a32 ? CT_ISA_A32 : CT_ISA_T32;
    out->target = (uint32_t)((to_a32 ? addr & ~UINT64_C(3) : addr) + 4 + r->offset(op));
}
