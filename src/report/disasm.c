#include "report/disasm.h"
#include "coretap/program.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CT_HAVE_CAPSTONE
#include <capstone/capstone.h>

#define KINDS 3 /* A64, A32, T32, as in enum ct_isa */

struct ct_disasm {
    csh handles[KINDS];
    bool open[KINDS];
};

struct ct_disasm *ct_disasm_new(void)
{
    struct ct_disasm *disasm = calloc(1, sizeof *disasm);
    if (!disasm)
        return NULL;
    disasm->open[CT_ISA_A64] = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &disasm->handles[CT_ISA_A64]) == CS_ERR_OK;
    disasm->open[CT_ISA_A32] = cs_open(CS_ARCH_ARM, CS_MODE_ARM, &disasm->handles[CT_ISA_A32]) == CS_ERR_OK;
    disasm->open[CT_ISA_T32] = cs_open(CS_ARCH_ARM, CS_MODE_THUMB, &disasm->handles[CT_ISA_T32]) == CS_ERR_OK;
    return disasm;
}

void ct_disasm_free(struct ct_disasm *disasm)
{
    for (size_t i = 0; disasm && i < KINDS; i++)
        if (disasm->open[i])
            cs_close(&disasm->handles[i]);
    free(disasm);
}

static bool in_words(struct ct_disasm *disasm, uint8_t isa, uint64_t addr, const uint8_t *bytes, size_t size,
                     char text[192])
{
    cs_insn *insn;
    if (isa >= KINDS || !disasm->open[isa] ||
        cs_disasm(disasm->handles[isa], bytes, size, addr, 1, &insn) != 1)
        return false;
    snprintf(text, 192, "%-7s %s", insn->mnemonic, insn->op_str);
    cs_free(insn, 1);
    return true;
}
#else
struct ct_disasm {
    bool unused;
};

struct ct_disasm *ct_disasm_new(void)
{
    return calloc(1, sizeof(struct ct_disasm));
}

void ct_disasm_free(struct ct_disasm *disasm)
{
    free(disasm);
}

static bool in_words(struct ct_disasm *disasm, uint8_t isa, uint64_t addr, const uint8_t *bytes, size_t size,
                     char text[192])
{
    (void)disasm, (void)isa, (void)addr, (void)bytes, (void)size, (void)text;
    return false;
}
#endif

void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint64_t addr, const uint8_t *bytes, size_t size,
                    char text[192])
{
    if (in_words(disasm, isa, addr, bytes, size, text))
        return;
    uint32_t opcode = 0;
    for (size_t i = 0; i < size && i < 4; i++)
        opcode |= (uint32_t)bytes[i] << (8 * i);
    snprintf(text, 192, ".inst   0x%0*" PRIx32, (int)(2 * size), opcode);
}
