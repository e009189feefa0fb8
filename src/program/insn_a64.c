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
    if ((op & 0x02000000) || cc == 4 || cc == 5 || !ct_arch_has_v8(arch, 10))
        return;
    uint32_t width = ct_bits(op, 15, 14); /* of the registers: 0 as sf says, 2 byte, 3 halfword */
    bool sf = op >> 31;
    bool immediate = op & 0x01000000;
    if (immediate ? (op & 0x4000) != 0 : width == 1 || (width > 1 && sf))
        return;
    direct(out, addr, ct_bits(op, 13, 5), 9, true);
}

/* An encoding, the version 8.`minor` that brought it, and what it is. */
struct rule {
    uint32_t mask, value;
    uint8_t minor;
    uint8_t type, sub;
};

/* C4.1.65: hints, barriers, TSTART, and unconditional branches to a register. SSBB and PSSBB are encodings
 * of DSB and count as such. SVC, HVC, SMC, BRK, HLT and DRPS are no waypoints. */
static const struct rule rules[] = {
    {0xfffff0ff, 0xd50330df, 0, CT_INSN_ISB, CT_INSN_SUB_NONE},     /* ISB */
    {0xfffff0df, 0xd503309f, 0, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE}, /* DSB, DMB */
    {0xfffff3ff, 0xd503323f, 6, CT_INSN_DSB_DMB, CT_INSN_SUB_NONE}, /* DSB nXS */
    {0xffffffdf, 0xd503205f, 0, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE}, /* WFE, WFI */
    {0xffffffc0, 0xd5031000, 6, CT_INSN_WFI_WFE, CT_INSN_SUB_NONE}, /* WFET, WFIT */
    {0xffffffe0, 0xd5233060, 4, CT_INSN_TSTART, CT_INSN_SUB_NONE},  /* TSTART */
    {0xfffffc1f, 0xd61f0000, 0, CT_INSN_IBR, CT_INSN_SUB_NONE},     /* BR */
    {0xfffffc1f, 0xd63f0000, 0, CT_INSN_IBR, CT_INSN_SUB_LINK},     /* BLR */
    {0xfffffc1f, 0xd65f0000, 0, CT_INSN_IBR, CT_INSN_SUB_RET},      /* RET */
    {0xffffffff, 0xd69f03e0, 0, CT_INSN_IBR, CT_INSN_SUB_ERET},     /* ERET */
    {0xfffff81f, 0xd61f081f, 3, CT_INSN_IBR, CT_INSN_SUB_NONE},     /* BRAAZ, BRABZ */
    {0xfffff81f, 0xd63f081f, 3, CT_INSN_IBR, CT_INSN_SUB_LINK},     /* BLRAAZ, BLRABZ */
    {0xfffff800, 0xd71f0800, 3, CT_INSN_IBR, CT_INSN_SUB_NONE},     /* BRAA, BRAB */
    {0xfffff800, 0xd73f0800, 3, CT_INSN_IBR, CT_INSN_SUB_LINK},     /* BLRAA, BLRAB */
    {0xfffffbff, 0xd65f0bff, 3, CT_INSN_IBR, CT_INSN_SUB_RET},      /* RETAA, RETAB */
    {0xfffffbff, 0xd69f0bff, 3, CT_INSN_IBR, CT_INSN_SUB_ERET},     /* ERETAA, ERETAB */
    {0xfffffbe0, 0xd65f0be0, 9, CT_INSN_IBR, CT_INSN_SUB_RET},      /* RETAASPPCR, RETABSPPCR */
};

static void by_rule(uint32_t op, const struct ct_arch *arch, struct ct_insn *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if ((op & rules[i].mask) != rules[i].value)
            continue;
        if (rules[i].minor == 0 || ct_arch_has_v8(arch, rules[i].minor)) {
            out->type = rules[i].type;
            out->sub = rules[i].sub;
            return;
        }
    }
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
        by_rule(op, arch, out);
        break;
    }
}
