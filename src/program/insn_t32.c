/* T32 waypoints. Arm ARM DDI 0487, F3.1; Armv8-M ARM DDI 0553, C2.3 for the M profile. Fields that
 * should be one or zero are not looked at in branches, but have to be right in TBB, TBH, barriers and
 * hints, where other instructions may come to lie. An encoding that is UNPREDICTABLE when its
 * destination is the PC writes no PC here. SVC, HVC and SMC are no branches. */
#include "base/bytes.h"
#include "program/insn.h"

static void direct(struct ct_insn *out, uint64_t addr, uint64_t offset, bool cond)
{
    ct_insn_set(out, CT_INSN_BR, CT_INSN_SUB_NONE);
    out->target = (uint32_t)(addr + 4 + offset);
    out->cond = cond;
}

static void indirect(struct ct_insn *out, enum ct_insn_sub sub)
{
    ct_insn_set(out, CT_INSN_IBR, sub);
}

/* Armv8-M or a core of unknown architecture: the new M profile encodings are undefined elsewhere. */
static bool is_v8m(const struct ct_arch *arch)
{
    return arch->major == 0 || (arch->profile == CT_PROFILE_M && arch->major >= 8);
}

/* IT<x><y><z>: the mask's lowest set bit says how many instructions follow. */
static uint8_t it_length(uint32_t mask)
{
    return (uint8_t)(4 - __builtin_ctz(mask));
}

static void decode16(uint32_t op, uint64_t addr, struct ct_insn *out)
{
    if ((op & 0xf000) == 0xd000) { /* B<cond>; conditions 14 and 15 are UDF and SVC */
        if (ct_bits(op, 11, 8) < 14)
            direct(out, addr, (uint64_t)ct_sext(op & 0xff, 8) << 1, true);
    } else if ((op & 0xf800) == 0xe000) { /* B */
        direct(out, addr, (uint64_t)ct_sext(op & 0x7ff, 11) << 1, false);
    } else if ((op & 0xf500) == 0xb100) { /* CBZ, CBNZ */
        direct(out, addr, ct_bits(op, 9, 9) << 6 | ct_bits(op, 7, 3) << 1, true);
    } else if ((op & 0xff80) == 0x4700) { /* BX, BXNS */
        indirect(out, ct_bits(op, 6, 3) == 14 ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
    } else if ((op & 0xff80) == 0x4780) { /* BLX, BLXNS */
        indirect(out, CT_INSN_SUB_LINK);
    } else if ((op & 0xfd87) == 0x4487) { /* ADD and MOV to the PC */
        indirect(out, op == 0x46f7 ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
    } else if ((op & 0xff00) == 0xbd00) { /* POP {…, PC} */
        indirect(out, CT_INSN_SUB_V7_RET);
    } else if ((op & 0xff00) == 0xbf00) { /* IT and hints */
        if (op & 15)
            out->it = it_length(op & 15);
        else if (op == 0xbf20 || op == 0xbf30) /* WFE, WFI */
            ct_insn_set(out, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE);
    }
}

/* Offset of B (T4), BL and BLX: S, J1, J2 and two immediates, in halfwords for the first two. */
static uint64_t offset25(uint32_t op)
{
    uint32_t s = ct_bits(op, 26, 26);
    uint32_t i1 = ~(ct_bits(op, 13, 13) ^ s) & 1;
    uint32_t i2 = ~(ct_bits(op, 11, 11) ^ s) & 1;
    uint32_t imm = s << 24 | i1 << 23 | i2 << 22 | ct_bits(op, 25, 16) << 12 | ct_bits(op, 10, 0) << 1;
    return (uint64_t)ct_sext(imm, 25);
}

/* B<cond>.W (T3). */
static uint64_t offset21(uint32_t op)
{
    uint32_t imm = ct_bits(op, 26, 26) << 20 | ct_bits(op, 11, 11) << 19 | ct_bits(op, 13, 13) << 18 |
                   ct_bits(op, 21, 16) << 12 | ct_bits(op, 10, 0) << 1;
    return (uint64_t)ct_sext(imm, 21);
}

/* Low-overhead loops of Armv8.1-M: the start that may skip the loop and the end that may go back.
 * Whether they branch hangs on LR or Rn, but listings count them as not conditional. DLS, DLSTP, LCTP
 * and the branch future instructions go nowhere by themselves. */
static void low_overhead_loop(uint32_t op, uint64_t addr, struct ct_insn *out)
{
    if ((op & 0xf001) != 0xc001)
        return;
    uint64_t offset = ct_bits(op, 10, 1) << 2 | ct_bits(op, 11, 11) << 1;
    switch (op >> 16) {
    case 0xf00f: /* LE, for LR iterations */
    case 0xf01f: /* LETP */
    case 0xf02f: /* LE, for ever */
        direct(out, addr, 0 - offset, false);
        break;
    default:
        if ((op & 0xfff00000) == 0xf0400000 || (op & 0xffc00000) == 0xf0000000) /* WLS, WLSTP */
            if (ct_bits(op, 19, 16) != 15)
                direct(out, addr, offset, false);
        break;
    }
}

/* "Branches and miscellaneous control": 11110 in bits 31:27 and bit 15 set. */
static void branch_or_control(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    if ((op & 0x5000) == 0x1000) { /* B.W */
        direct(out, addr, offset25(op), false);
    } else if ((op & 0x5000) == 0x5000) { /* BL */
        direct(out, addr, offset25(op), false);
        out->sub = CT_INSN_SUB_LINK;
    } else if ((op & 0x5001) == 0x4000) { /* BLX to A32: the PC is aligned to a word */
        direct(out, addr & ~UINT64_C(3), offset25(op), false);
        out->sub = CT_INSN_SUB_LINK;
        out->isa = CT_ISA_A32;
    } else if ((op & 0x5001) == 0x4001) {
        if (is_v8m(arch))
            low_overhead_loop(op, addr, out);
    } else if (ct_bits(op, 25, 23) != 7) { /* B<cond>.W */
        direct(out, addr, offset21(op), true);
    } else if ((op & 0xfff0d000) == 0xf3c08000 || (op & 0xfff0d000) == 0xf3d08000) {
        indirect(out, CT_INSN_SUB_NONE); /* BXJ; SUBS PC, LR, #imm and ERET */
    } else if ((op & 0xfffffff0) == 0xf3bf8f40 || (op & 0xfffffff0) == 0xf3bf8f50) { /* DSB, DMB */
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
    } else if ((op & 0xfffffff0) == 0xf3bf8f60) {
        ct_insn_set(out, CT_INSN_ISB, CT_INSN_SUB_NONE);
    } else if ((op & 0xfffffffe) == 0xf3af8002) { /* WFE.W, WFI.W */
        ct_insn_set(out, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE);
    }
}

/* LDR.W to the PC with bits 31:20 f85 or f8d: literal, immediate, register. LDRT has no PC. */
static void load_word(uint32_t op, struct ct_insn *out)
{
    bool literal_or_imm12 = (op & 0x00800000) != 0 || ct_bits(op, 19, 16) == 15;
    uint32_t puw = ct_bits(op, 10, 8);
    bool imm8 = (op & 0x800) != 0 && puw != 6 && (puw & 5) != 0;
    bool reg = (op & 0xfc0) == 0;
    if (ct_bits(op, 15, 12) != 15 || !(literal_or_imm12 || imm8 || reg))
        return;
    bool pop = (op & 0xffff0f00) == 0xf85d0b00; /* LDR PC, [SP], #imm */
    indirect(out, pop ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
}

/* Loads, table branches, exception returns, BXAUT and the CP15 barriers. */
static void decode32(uint32_t op, const struct ct_arch *arch, struct ct_insn *out)
{
    bool m = arch->profile == CT_PROFILE_M;
    if ((op & 0xffd08000) == 0xe8908000 || (op & 0xffd08000) == 0xe9108000) { /* LDM, LDMDB, POP */
        indirect(out, (op & 0xffff0000) == 0xe8bd0000 ? CT_INSN_SUB_V7_RET : CT_INSN_SUB_NONE);
    } else if ((op & 0xffd00000) == 0xe8100000 || (op & 0xffd00000) == 0xe9900000) { /* RFE */
        if (!m)
            indirect(out, CT_INSN_SUB_NONE);
    } else if ((op & 0xfff0ffe0) == 0xe8d0f000) { /* TBB, TBH */
        indirect(out, CT_INSN_SUB_NONE);
    } else if ((op & 0xff700000) == 0xf8500000) {
        load_word(op, out);
    } else if ((op & 0xfff00ff0) == 0xfb500f10) { /* BXAUT, Armv8.1-M */
        if (is_v8m(arch))
            indirect(out, CT_INSN_SUB_NONE);
    } else if (!m && (op & 0xffff0fff) == 0xee070f95) { /* MCR p15, 0, Rt, c7, c5, 4 */
        ct_insn_set(out, CT_INSN_ISB, CT_INSN_SUB_NONE);
    } else if (!m && ((op & 0xffff0fff) == 0xee070f9a || (op & 0xffff0fff) == 0xee070fba)) {
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
    }
}

void ct_insn_decode_t32(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    bool wide = op >> 27 >= 29;
    *out = (struct ct_insn){.size = wide ? 4 : 2, .isa = CT_ISA_T32};
    if (!wide)
        decode16(op >> 16, addr, out);
    else if ((op & 0xf8008000) == 0xf0008000)
        branch_or_control(op, addr, arch, out);
    else
        decode32(op, arch, out);
}
