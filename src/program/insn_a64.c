/* SPDX-License-Identifier: Apache-2.0 */
/* A64 waypoints. Arm ARM DDI 0487, C4.1.65 "Branches, Exception Generating and System instructions", which
 * have 101 in bits 28 to 26; no other instruction changes control flow. This includes the memory copies of
 * FEAT_MOPS, which an exception may interrupt in the middle like any load or store. In the group, the
 * instructions of FEAT_GCS (GCSPUSHM, GCSPOPCX, GCSB …), FEAT_BRBE (BRB IALL, BRB INJ) and FEAT_S1POE2
 * (TCHANGEF, TCHANGEB) are system instructions: they change no flow and are no waypoints. */
#include "program/insn_a64.h"

#include "base/bytes.h"

#define ROWS(rows)                                                                                           \
    {                                                                                                        \
        (rows), sizeof(rows) / sizeof(rows)[0]                                                               \
    }

#define BRANCH(mask, value, minor, sub, cond, lowest, width, name, extension)                                \
    {                                                                                                        \
        mask, value, minor, CT_INSN_BR, sub, cond, lowest, width, name, extension                            \
    }
#define INDIRECT(mask, value, minor, sub, name, extension)                                                   \
    {                                                                                                        \
        mask, value, minor, CT_INSN_IBR, sub, 0, 0, 0, name, extension                                       \
    }
#define EVENT(mask, value, minor, type, name, extension)                                                     \
    {                                                                                                        \
        mask, value, minor, type, CT_INSN_SUB_NONE, 0, 0, 0, name, extension                                 \
    }

/* clang-format off */
static const struct ct_a64_rule b[] = {
    BRANCH(0xfc000000, 0x14000000, 0, CT_INSN_SUB_NONE, 0, 0, 26, "B", "base"),
};

static const struct ct_a64_rule bl[] = {
    BRANCH(0xfc000000, 0x94000000, 0, CT_INSN_SUB_LINK, 0, 0, 26, "BL", "base"),
};

static const struct ct_a64_rule test_and_branch[] = {
    BRANCH(0x7e000000, 0x34000000, 0, CT_INSN_SUB_NONE, 1, 5, 19, "CBZ, CBNZ", "base"),
    BRANCH(0x7e000000, 0x36000000, 0, CT_INSN_SUB_NONE, 1, 5, 14, "TBZ, TBNZ", "base"),
};

/* Conditions 14 and 15 of B.cond mean always, but the trace protocols and this classification treat the
 * encoding as conditional. RETAASPPC checks the return address against a PC-relative one: it does not branch
 * to it. */
static const struct ct_a64_rule conditional[] = {
    BRANCH(0xff000010, 0x54000000, 0, CT_INSN_SUB_NONE, 1, 5, 19, "B.cond", "base"),
    BRANCH(0xff000010, 0x54000010, 7, CT_INSN_SUB_NONE, 1, 5, 19, "BC.cond", "FEAT_HBC"),
    INDIRECT(0xffc0001f, 0x5500001f, 9, CT_INSN_SUB_RET, "RETAASPPC, RETABSPPC", "FEAT_PAuth_LR"),
};

/* Conditions 4 and 5 are unallocated, so each form has one row for 0 to 3 and one for 6 and 7. */
static const struct ct_a64_rule compare_and_branch[] = {
    BRANCH(0x7f80c000, 0x74000000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CB<cc> (register)", "FEAT_CMPBR"),
    BRANCH(0x7fc0c000, 0x74c00000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CB<cc> (register)", "FEAT_CMPBR"),
    BRANCH(0xff80c000, 0x74008000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CBB<cc>", "FEAT_CMPBR"),
    BRANCH(0xffc0c000, 0x74c08000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CBB<cc>", "FEAT_CMPBR"),
    BRANCH(0xff80c000, 0x7400c000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CBH<cc>", "FEAT_CMPBR"),
    BRANCH(0xffc0c000, 0x74c0c000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CBH<cc>", "FEAT_CMPBR"),
    BRANCH(0x7f804000, 0x75000000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CB<cc> (immediate)", "FEAT_CMPBR"),
    BRANCH(0x7fc04000, 0x75c00000, 10, CT_INSN_SUB_NONE, 1, 5, 9, "CB<cc> (immediate)", "FEAT_CMPBR"),
};

/* Hints, barriers, TSTART, exceptions and branches to a register. SSBB and PSSBB are encodings of DSB and
 * count as such. Instructions that cause an exception are no branches: the trace has a packet for the
 * exception. TENTER goes to the vector from which TEXIT returns; TEXIT is an exception return like ERET, as
 * in OpenCSD since 1.8. DRPS runs only in debug state. */
static const struct ct_a64_rule others[] = {
    EVENT(0xfffff0ff, 0xd50330df, 0, CT_INSN_ISB, "ISB", "base"),
    EVENT(0xfffff0df, 0xd503309f, 0, CT_INSN_DSB_DMB, "DSB, DMB", "base"),
    EVENT(0xfffff3ff, 0xd503323f, 6, CT_INSN_DSB_DMB, "DSB nXS", "FEAT_XS"),
    EVENT(0xffffffdf, 0xd503205f, 0, CT_INSN_WFI_WFE, "WFE, WFI", "base"),
    EVENT(0xffffffc0, 0xd5031000, 6, CT_INSN_WFI_WFE, "WFET, WFIT", "FEAT_WFxT"),
    EVENT(0xffffffe0, 0xd5233060, 4, CT_INSN_TSTART, "TSTART", "FEAT_TME"),
    EVENT(0xfffdf01f, 0xd4e00000, 11, CT_INSN_OTHER, "TENTER", "FEAT_TEV"),
    EVENT(0xff000000, 0xd4000000, 0, CT_INSN_OTHER, "SVC, HVC, SMC, BRK, HLT, DCPS1 to DCPS3", "base"),
    INDIRECT(0xfffffc1f, 0xd61f0000, 0, CT_INSN_SUB_NONE, "BR", "base"),
    INDIRECT(0xfffffc1f, 0xd63f0000, 0, CT_INSN_SUB_LINK, "BLR", "base"),
    INDIRECT(0xfffffc1f, 0xd65f0000, 0, CT_INSN_SUB_RET, "RET", "base"),
    INDIRECT(0xffffffff, 0xd69f03e0, 0, CT_INSN_SUB_ERET, "ERET", "base"),
    EVENT(0xffffffff, 0xd6bf03e0, 0, CT_INSN_OTHER, "DRPS", "base"),
    INDIRECT(0xfffff81f, 0xd61f081f, 3, CT_INSN_SUB_NONE, "BRAAZ, BRABZ", "FEAT_PAuth"),
    INDIRECT(0xfffff81f, 0xd63f081f, 3, CT_INSN_SUB_LINK, "BLRAAZ, BLRABZ", "FEAT_PAuth"),
    INDIRECT(0xfffff800, 0xd71f0800, 3, CT_INSN_SUB_NONE, "BRAA, BRAB", "FEAT_PAuth"),
    INDIRECT(0xfffff800, 0xd73f0800, 3, CT_INSN_SUB_LINK, "BLRAA, BLRAB", "FEAT_PAuth"),
    INDIRECT(0xfffffbff, 0xd65f0bff, 3, CT_INSN_SUB_RET, "RETAA, RETAB", "FEAT_PAuth"),
    INDIRECT(0xfffffbff, 0xd69f0bff, 3, CT_INSN_SUB_ERET, "ERETAA, ERETAB", "FEAT_PAuth"),
    INDIRECT(0xfffffbe0, 0xd65f0be0, 9, CT_INSN_SUB_RET, "RETAASPPCR, RETABSPPCR", "FEAT_PAuth_LR"),
    INDIRECT(0xfffffbff, 0xd6ff03e0, 11, CT_INSN_SUB_ERET, "TEXIT", "FEAT_TEV"),
};
/* clang-format on */

/* Indexed by bits 31 to 29, see group_of. */
const struct ct_a64_group ct_a64_groups[CT_A64_GROUPS] = {
    ROWS(b), ROWS(bl), ROWS(test_and_branch), ROWS(conditional), ROWS(compare_and_branch), ROWS(others),
};

/* Finds the first row of a group that matches the word and whose extension the core may have, or NULL. */
static const struct ct_a64_rule *find(const struct ct_a64_group *group, uint32_t op,
                                      const struct ct_arch *arch)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct ct_a64_rule *r = &group->rules[i];
        if ((op & r->mask) == r->value && (r->minor == 0 || ct_arch_has_v8(arch, r->minor)))
            return r;
    }
    return NULL;
}

static void set(const struct ct_a64_rule *r, uint32_t op, uint64_t addr, struct ct_insn *out)
{
    *out = (struct ct_insn){.size = 4, .isa = CT_ISA_A64};
    if (!r)
        return;
    ct_insn_set(out, (enum ct_insn_type)r->type, (enum ct_insn_sub)r->sub);
    out->cond = r->cond;
    if (r->width) {
        uint32_t offset = ct_bits(op, r->lowest + r->width - 1u, r->lowest);
        out->target = addr + ((uint64_t)ct_sext(offset, r->width) << 2);
    }
}

void ct_insn_decode_a64_plain(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    const struct ct_a64_rule *r = NULL;
    for (unsigned i = 0; i < CT_A64_GROUPS && !r; i++)
        r = find(&ct_a64_groups[i], op, arch);
    set(r, op, addr, out);
}

void ct_insn_decode_a64(uint32_t op, uint64_t addr, const struct ct_arch *arch, struct ct_insn *out)
{
    if (!arch || !out)
        return;
    static const uint8_t group_of[8] = {0, 2, 3, 4, 1, 2, 5, 4};
    set(ct_a64_may_branch(op) ? find(&ct_a64_groups[group_of[op >> 29]], op, arch) : NULL, op, addr, out);
}
