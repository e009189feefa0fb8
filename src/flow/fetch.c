/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fetch.h"

#include "base/bytes.h"
#include "program/insn_a64.h"

static const uint8_t *read4(struct ct_fetch *f, uint64_t addr, uint32_t space)
{
    uint64_t at = addr - f->start;
    if (f->bytes && space == f->space && at < f->size && f->size - at >= 4)
        return f->bytes + at;
    size_t size;
    const uint8_t *bytes = ct_memory_at(f->memory, addr, space, &size);
    if (!bytes || size < 4)
        return NULL;
    f->bytes = bytes;
    f->start = addr;
    f->size = size;
    f->space = space;
    return bytes;
}

bool ct_fetch_insn(struct ct_fetch *f, uint64_t addr, enum ct_isa isa, uint32_t space, struct ct_insn *insn)
{
    /* Bytecodes of Jazelle state are not decoded. */
    const uint8_t *p = isa == CT_ISA_JAZ || isa == CT_ISA_UNKNOWN ? NULL : read4(f, addr, space);
    if (!p)
        return false;
    switch (isa) {
    case CT_ISA_A64:
        ct_insn_decode_a64(ct_load32(p), addr, &f->arch, insn);
        break;
    case CT_ISA_A32:
        ct_insn_decode_a32(ct_load32(p), addr, &f->arch, insn);
        break;
    default:
        ct_insn_decode_t32((uint32_t)ct_load16(p) << 16 | ct_load16(p + 2), addr, &f->arch, insn);
        break;
    }
    if ((insn->type == CT_INSN_WFI_WFE && !f->wfi_waypoint) ||
        (insn->type == CT_INSN_DSB_DMB && !f->dsb_waypoint))
        insn->type = CT_INSN_OTHER;
    return true;
}

uint32_t ct_fetch_straight(struct ct_fetch *f, uint64_t addr, enum ct_isa isa, uint32_t space, uint32_t most)
{
    const uint8_t *p = isa == CT_ISA_A64 ? read4(f, addr, space) : NULL;
    if (!p)
        return 0;
    const uint64_t left = (f->size - (addr - f->start)) / 4;
    const uint32_t end = left < most ? (uint32_t)left : most;
    uint32_t n = 0;
    while (n < end && !ct_a64_may_branch(ct_load32(p + (size_t)n * 4)))
        n++;
    return n;
}
