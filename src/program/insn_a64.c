/* A64 waypoints. Arm ARM DDI 0487, C4.1.65 "Branches, Exception Generating and System instructions". */
#include "base/bytes.h"
#include "program/insn.h"

static void direct(struct ct_insn *out, uint64_t addr, uint32_t imm, unsigned width, bool cond)
{
    ct_insn_set(out, CT_INSN_BR, CT_INSN_SUB_NONE);
    out->target = addr + ((uint64_t)ct_sext(imm, width) << 2);
    out->cond = cond;
}

/* RET of FEAT_PAuth_LR that checks the return address against a PC-relative one: not a jump to it. */
static bool is_ret_sppc(uint32_t op, const struct ct_arch *arch)
{
    return (op & 0xffc0001f) == 0x5500001f && ct_arch_has_v8(arch, 9);
}

/* 0x54 and 0x55: B.cond, BC.cond (FEAT_HBC), RETAASPPC and RETABSPPC. The conditions 14 and 15 of
 * B.cond mean always, but the trace protocols and this classification take the encoding as conditional. */
static void conditional(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    if ((op & 0xff000010) == 0x54000000 || ((op & 0xff000010) == 0x54000010 && ct_arch_has_v8(arch, 7)))
        direct(out, addr, ct_bits(op, 23, 5), 19, true);
    else if (is_ret_sppc(op, arch))
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_RET);
}

/* CB<cc>, CBB<cc> and CBH<cc> of FEAT_CMPBR. Conditions 4 and 5 are not allocated. */
static void compare_and_branch(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    uint32_t cc = ct_bits(op, 23, 21);
    if (cc == 4 || cc == 5 || !ct_arch_has_v8(arch, 10))
        return;
    uint32_t width = ct_bits(op, 15, 14); /* of the registers: 0 as sf says, 2 byte, 3 halfword */
    bool sf = op >> 31;
    bool immediate = op & 0x01000000;
    if (immediate ? (op & 0x4000) != 0 : width == 1 || (width > 1 && sf))
        return;
    if (op & 0x02000000)
        return;
    direct(out, addr, ct_bits(op, 13, 5), 9, true);
}

/* C4.1.65 "Unconditional branch (register)". */
static void branch_register(uint32_t op, const struct ct_arch *arch, struct ct_insn *out)
{
    bool link = op & 0x00200000;
    if ((op & 0xffdffc1f) == 0xd61f0000) { /* BR, BLR */
        ct_insn_set(out, CT_INSN_IBR, link ? CT_INSN_SUB_LINK : CT_INSN_SUB_NONE);
    } else if ((op & 0xfffffc1f) == 0xd65f0000) { /* RET */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_RET);
    } else if (op == 0xd69f03e0) { /* ERET */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_ERET);
    } else if (!ct_arch_has_v8(arch, 3)) {
        return;
    } else if ((op & 0xffdff81f) == 0xd61f081f || (op & 0xffdff800) == 0xd71f0800) { /* BRAAZ … BLRAB */
        ct_insn_set(out, CT_INSN_IBR, link ? CT_INSN_SUB_LINK : CT_INSN_SUB_NONE);
    } else if ((op & 0xfffffbff) == 0xd65f0bff) { /* RETAA, RETAB */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_RET);
    } else if ((op & 0xfffffbff) == 0xd69f0bff) { /* ERETAA, ERETAB */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_ERET);
    } else if ((op & 0xfffffbe0) == 0xd65f0be0 && ct_arch_has_v8(arch, 9)) { /* RETAASPPCR, RETABSPPCR */
        ct_insn_set(out, CT_INSN_IBR, CT_INSN_SUB_RET);
    }
}

/* Hints, barriers and TSTART. SSBB and PSSBB are encodings of DSB and count as such. */
static void system_insn(uint32_t op, const struct ct_arch *arch, struct ct_insn *out)
{
    if ((op & 0xfffff0ff) == 0xd50330df)
        ct_insn_set(out, CT_INSN_ISB, CT_INSN_SUB_NONE);
    else if ((op & 0xfffff0df) == 0xd503309f) /* DSB, DMB */
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
    else if ((op & 0xfffff3ff) == 0xd503323f && ct_arch_has_v8(arch, 6)) /* DSB nXS */
        ct_insn_set(out, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE);
    else if ((op & 0xffffffdf) == 0xd503205f) /* WFE, WFI */
        ct_insn_set(out, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE);
    else if ((op & 0xffffffc0) == 0xd5031000 && ct_arch_has_v8(arch, 6)) /* WFET, WFIT */
        ct_insn_set(out, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE);
    else if ((op & 0xffffffe0) == 0xd5233060 && ct_arch_has_v8(arch, 4)) /* TSTART */
        ct_insn_set(out, CT_INSN_TSTART, CT_INSN_SUB_NONE);
}

void ct_insn_decode_a64(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    *out = (struct ct_insn){.size = 4, .isa = CT_ISA_A64};
    if ((op & 0x1c000000) != 0x14000000)
        return;
    switch (op >> 29) {
    case 0: /* B */
        direct(out, addr, ct_bits(op, 25, 0), 26, false);
        break;
    case 4: /* BL */
        direct(out, addr, ct_bits(op, 25, 0), 26, false);
        out->sub = CT_INSN_SUB_LINK;
        break;
    case 1:
    case 5:
        if (op & 0x02000000) /* TBZ, TBNZ */
            direct(out, addr, ct_bits(op, 18, 5), 14, true);
        else /* CBZ, CBNZ */
            direct(out, addr, ct_bits(op, 23, 5), 19, true);
        break;
    case 2:
        conditional(op, addr, arch, out);
        break;
    case 3:
    case 7:
        compare_and_branch(op, addr, arch, out);
        break;
    default:
        if ((op & 0x02000000) != 0) /* branches to a register */
            branch_register(op, arch, out);
        else if ((op & 0x01000000) != 0) /* 0xd4 generates exceptions: no waypoint */
            system_insn(op, arch, out);
        break;
    }
}
