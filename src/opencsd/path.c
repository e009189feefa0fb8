/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/path.h"

const ocsd_isa ct_ocsd_isas[] = {
    [CT_ISA_A64] = ocsd_isa_aarch64, [CT_ISA_A32] = ocsd_isa_arm,     [CT_ISA_T32] = ocsd_isa_thumb2,
    [CT_ISA_TEE] = ocsd_isa_tee,     [CT_ISA_JAZ] = ocsd_isa_jazelle, [CT_ISA_UNKNOWN] = ocsd_isa_unknown,
};

const ocsd_instr_type ct_ocsd_types[] = {
    [CT_INSN_OTHER] = OCSD_INSTR_OTHER,     [CT_INSN_BR] = OCSD_INSTR_BR,
    [CT_INSN_IBR] = OCSD_INSTR_BR_INDIRECT, [CT_INSN_ISB] = OCSD_INSTR_ISB,
    [CT_INSN_DSB_DMB] = OCSD_INSTR_DSB_DMB, [CT_INSN_WFI_WFE] = OCSD_INSTR_WFI_WFE,
    [CT_INSN_TSTART] = OCSD_INSTR_TSTART,
};

const ocsd_instr_subtype ct_ocsd_subtypes[] = {
    [CT_INSN_SUB_NONE] = OCSD_S_INSTR_NONE,
    [CT_INSN_SUB_LINK] = OCSD_S_INSTR_BR_LINK,
    [CT_INSN_SUB_RET] = OCSD_S_INSTR_V8_RET,
    [CT_INSN_SUB_ERET] = OCSD_S_INSTR_V8_ERET,
    [CT_INSN_SUB_V7_RET] = OCSD_S_INSTR_V7_IMPLIED_RET,
};

bool ct_ocsd_path_walk(struct ct_ocsd_path *path, ocsd_trc_index_t index, uint64_t end, bool inclusive,
                       struct ct_insn *last)
{
    const uint64_t start = path->addr;
    uint32_t n = 0;
    bool done = false;
    *last = (struct ct_insn){0};
    while (!done && n < CT_OCSD_MOST_INSTRUCTIONS &&
           ct_ocsd_code_insn(path->code, path->addr, (enum ct_isa)path->isa, last)) {
        const uint64_t here = path->addr;
        path->addr += last->size;
        n++;
        done = inclusive ? here == end : path->addr == end;
    }
    path->excess = ct_ocsd_path_excess(path, n, !done && !path->code->bad_opcode);
    if (path->code->bad_opcode || path->excess)
        return false;
    if (n)
        ct_ocsd_path_add_range(path, index, start, n, last, true);
    if (!done)
        ct_ocsd_path_add_no_access(path, index, path->addr);
    return done;
}
