/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/dvm.h"

enum {
    GUEST_OS = 2,
    HYPERVISOR = 3,
    NON_SECURE = 3,
    STAGE_1 = 1,
};

/* Returns an operation on the guest's own translations or caches. Without virtual machines the VMID is 0: the
 * table has no Non-secure guest invalidation without a VMID. */
static struct ct_dvm of_guest(uint8_t type)
{
    return (struct ct_dvm){.type = type, .exception = GUEST_OS, .security = NON_SECURE, .has_vmid = true};
}

/* Adds an address and an ASID to an operation. */
static struct ct_dvm by_asid_and_va(struct ct_dvm dvm, uint64_t asid, uint64_t va)
{
    dvm.has_asid = dvm.has_address = true;
    dvm.asid = (uint16_t)asid;
    dvm.address = va;
    return dvm;
}

int ct_dvm_of_message(const struct ct_fractal_message *m, struct ct_dvm *out)
{
    *out = of_guest(CT_DVM_TLBI);
    switch (m->op) {
    case CT_FRACTAL_TLBI_VA:
    case CT_FRACTAL_TLBI_VA_LAST:
        *out = by_asid_and_va(*out, m->value, m->addr);
        out->leaf = m->op == CT_FRACTAL_TLBI_VA_LAST;
        return 1;
    case CT_FRACTAL_TLBI_VA_ALL:
    case CT_FRACTAL_TLBI_VA_ALL_LAST:
        out->has_address = true;
        out->address = m->addr;
        out->leaf = m->op == CT_FRACTAL_TLBI_VA_ALL_LAST;
        return 1;
    case CT_FRACTAL_TLBI_ASID:
        out->has_asid = true;
        out->asid = (uint16_t)m->value;
        return 1;
    case CT_FRACTAL_TLBI_ALL:
        out->stage = STAGE_1;
        return 1;
    case CT_FRACTAL_ICI_VA:
        *out = by_asid_and_va(of_guest(CT_DVM_VICI), m->value, m->addr);
        return 1;
    default:
        return 0;
    }
}

int ct_dvm_of_command(const struct ct_fractal_command *c, struct ct_dvm *out)
{
    *out = of_guest(CT_DVM_TLBI);
    switch (c->kind) {
    case CT_FRACTAL_CMD_ICI:
        /* a core with a virtually indexed, physically tagged instruction cache needs both */
        *out = (struct ct_dvm){.type = CT_DVM_PICI,
                               .security = NON_SECURE,
                               .has_address = true,
                               .address = c->pa,
                               .has_vi = true,
                               .vi = (uint16_t)(c->va >> 12)};
        return 1;
    case CT_FRACTAL_CMD_TLBI_VA:
        *out = by_asid_and_va(*out, c->asid, c->va);
        out->leaf = true;
        return 1;
    case CT_FRACTAL_CMD_TLBI_ASID:
        out->has_asid = true;
        out->asid = c->asid;
        return 1;
    default:
        return 0;
    }
}

/* Returns whether an operation affects translations of processes as FRACTAL defines them: Non-secure, of a
 * guest or of a host at EL2, whose processes have ASIDs, too. Stage 2 alone belongs to the hypervisor. */
static bool concerns_processes(const struct ct_dvm *dvm)
{
    return dvm->security == NON_SECURE && (dvm->exception == GUEST_OS || dvm->exception == HYPERVISOR) &&
           dvm->stage <= STAGE_1;
}

int ct_dvm_to_message(const struct ct_dvm *dvm, struct ct_fractal_message *m)
{
    m->addr = dvm->has_address ? dvm->address : 0;
    m->value = dvm->has_asid ? dvm->asid : 0;
    if (dvm->type == CT_DVM_VICI && dvm->has_address) {
        m->op = CT_FRACTAL_ICI_VA;
        return concerns_processes(dvm);
    }
    if (dvm->type != CT_DVM_TLBI || !concerns_processes(dvm))
        return 0;
    if (dvm->has_asid && dvm->has_address)
        m->op = dvm->leaf ? CT_FRACTAL_TLBI_VA_LAST : CT_FRACTAL_TLBI_VA;
    else if (dvm->has_address)
        m->op = dvm->leaf ? CT_FRACTAL_TLBI_VA_ALL_LAST : CT_FRACTAL_TLBI_VA_ALL;
    else
        m->op = dvm->has_asid ? CT_FRACTAL_TLBI_ASID : CT_FRACTAL_TLBI_ALL;
    return 1;
}

int ct_dvm_to_command(const struct ct_dvm *dvm, struct ct_fractal_command *c)
{
    *c = (struct ct_fractal_command){.asid = dvm->asid};
    if (dvm->type == CT_DVM_PICI && dvm->has_address) {
        c->kind = CT_FRACTAL_CMD_ICI;
        c->pa = dvm->address;
        c->va = (uint64_t)dvm->vi << 12;
        return 1;
    }
    if (dvm->type != CT_DVM_TLBI || !concerns_processes(dvm) || !dvm->has_asid || dvm->range)
        return 0;
    c->kind = dvm->has_address ? CT_FRACTAL_CMD_TLBI_VA : CT_FRACTAL_CMD_TLBI_ASID;
    c->va = dvm->has_address ? dvm->address : 0;
    return dvm->leaf == dvm->has_address;
}

uint64_t ct_dvm_pages(const struct ct_dvm *dvm, uint64_t *page)
{
    static const uint8_t shift[4] = {0, 12, 14, 16}; /* table B8.13 */
    *page = UINT64_C(1) << shift[dvm->tg];
    return shift[dvm->tg] ? ((uint64_t)dvm->num + 1) << (5 * dvm->scale + 1) : 0;
}
