/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions load and store (Arm ARM DDI 0406, A5 and A6). */
#include "coretap/program.h"

#include <stddef.h>

/* What says whether an instruction loads or stores. */
enum direction {
    STORES,
    LOADS,
    SWAPS,
    BY_BIT_20,
    BY_BIT_21,
};

/* An encoding: the words with `value` in the bits of `mask`, unless an earlier row matches. */
struct rule {
    uint32_t mask, value;
    uint8_t bytes; /* 0: no access */
    uint8_t direction;
};

/* clang-format off */
static const struct rule a32[] = {
    {0xff100000, 0xf4000000, 4, BY_BIT_21}, /* VLD1 to VST4 */
    {0xf4000000, 0xf4000000, 0, STORES},    /* PLD and other hints */
    {0xfe100000, 0xf8000000, 4, STORES},    /* SRS */
    {0xfe100000, 0xf8100000, 4, LOADS},     /* RFE */
    {0xfe000000, 0xfc000000, 4, BY_BIT_20}, /* LDC2, STC2 */
    {0xf0000000, 0xf0000000, 0, STORES},
    {0x0ff000f0, 0x01000090, 4, SWAPS},     /* SWP */
    {0x0ff000f0, 0x01400090, 1, SWAPS},     /* SWPB */
    {0x0fe000f0, 0x01800090, 4, BY_BIT_20}, /* LDREX, LDA */
    {0x0fe000f0, 0x01a00090, 4, BY_BIT_20}, /* LDREXD */
    {0x0fe000f0, 0x01c00090, 1, BY_BIT_20}, /* LDREXB */
    {0x0fe000f0, 0x01e00090, 2, BY_BIT_20}, /* LDREXH */
    {0x0e1000f0, 0x000000b0, 2, STORES},    /* STRH */
    {0x0e1000f0, 0x000000d0, 4, LOADS},     /* LDRD */
    {0x0e1000f0, 0x000000f0, 4, STORES},    /* STRD */
    {0x0e1000f0, 0x001000b0, 2, LOADS},     /* LDRH */
    {0x0e1000f0, 0x001000d0, 1, LOADS},     /* LDRSB */
    {0x0e1000f0, 0x001000f0, 2, LOADS},     /* LDRSH */
    {0x0e000010, 0x06000010, 0, STORES},    /* media */
    {0x0c400000, 0x04000000, 4, BY_BIT_20}, /* LDR */
    {0x0c400000, 0x04400000, 1, BY_BIT_20}, /* LDRB */
    {0x0e000000, 0x08000000, 4, BY_BIT_20}, /* LDM */
    {0x0fe00000, 0x0c400000, 0, STORES},    /* MCRR, VMOV of two registers */
    {0x0e000000, 0x0c000000, 4, BY_BIT_20}, /* LDC, VLDR, VLDM */
};

/* 16-bit instructions, in the upper half of the word. */
static const struct rule narrow[] = {
    {0xf8000000, 0x48000000, 4, LOADS},  /* LDR literal */
    {0xfe000000, 0x50000000, 4, STORES}, /* with a register */
    {0xfe000000, 0x52000000, 2, STORES},
    {0xfe000000, 0x54000000, 1, STORES},
    {0xfe000000, 0x56000000, 1, LOADS},
    {0xfe000000, 0x58000000, 4, LOADS},
    {0xfe000000, 0x5a000000, 2, LOADS},
    {0xfe000000, 0x5c000000, 1, LOADS},
    {0xfe000000, 0x5e000000, 2, LOADS},
    {0xf8000000, 0x60000000, 4, STORES}, /* with an immediate */
    {0xf8000000, 0x68000000, 4, LOADS},
    {0xf8000000, 0x70000000, 1, STORES},
    {0xf8000000, 0x78000000, 1, LOADS},
    {0xf8000000, 0x80000000, 2, STORES},
    {0xf8000000, 0x88000000, 2, LOADS},
    {0xf8000000, 0x90000000, 4, STORES}, /* relative to SP */
    {0xf8000000, 0x98000000, 4, LOADS},
    {0xfe000000, 0xb4000000, 4, STORES}, /* PUSH */
    {0xfe000000, 0xbc000000, 4, LOADS},  /* POP */
    {0xf8000000, 0xc0000000, 4, STORES}, /* STM */
    {0xf8000000, 0xc8000000, 4, LOADS},  /* LDM */
};

static const struct rule wide[] = {
    {0xfe400000, 0xe8000000, 4, BY_BIT_20}, /* LDM, SRS, RFE */
    {0xffe00000, 0xe8400000, 4, BY_BIT_20}, /* LDREX */
    {0xffe000f0, 0xe8c00040, 1, BY_BIT_20}, /* LDREXB */
    {0xffe000f0, 0xe8c00050, 2, BY_BIT_20},
    {0xffe000f0, 0xe8c00070, 4, BY_BIT_20},
    {0xffe000f0, 0xe8c00000, 1, LOADS},     /* TBB */
    {0xffe000f0, 0xe8c00010, 2, LOADS},     /* TBH */
    {0xffe000b0, 0xe8c00080, 1, BY_BIT_20}, /* LDAB, LDAEXB */
    {0xffe000b0, 0xe8c00090, 2, BY_BIT_20},
    {0xffe000a0, 0xe8c000a0, 4, BY_BIT_20},
    {0xfe400000, 0xe8400000, 4, BY_BIT_20}, /* LDRD */
    {0xff100000, 0xf9000000, 4, BY_BIT_21}, /* VLD1 to VST4 */
    {0xfe50f000, 0xf810f000, 0, STORES},    /* PLD and other hints */
    {0xfe600000, 0xf8000000, 1, BY_BIT_20},
    {0xfe600000, 0xf8200000, 2, BY_BIT_20},
    {0xfe600000, 0xf8400000, 4, BY_BIT_20},
    {0xefe00000, 0xec400000, 0, STORES},    /* MCRR, VMOV of two registers */
    {0xee000000, 0xec000000, 4, BY_BIT_20}, /* LDC, VLDR, VLDM */
};
/* clang-format on */

static void find(const struct rule *rules, size_t count, uint32_t op, struct ct_insn_access *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct rule *r = &rules[i];
        if ((op & r->mask) != r->value)
            continue;
        const unsigned bit = r->direction == BY_BIT_20   ? op >> 20 & 1
                             : r->direction == BY_BIT_21 ? op >> 21 & 1
                                                         : r->direction == LOADS;
        if (r->bytes)
            *out = (struct ct_insn_access){
                .loads = bit || r->direction == SWAPS, .stores = !bit, .bytes = r->bytes};
        return;
    }
}

void ct_insn_access_of(uint32_t opcode, enum ct_isa isa, struct ct_insn_access *out)
{
    if (!out)
        return;
    *out = (struct ct_insn_access){0};
    if (isa == CT_ISA_A32)
        find(a32, sizeof a32 / sizeof *a32, opcode, out);
    else if (isa == CT_ISA_T32 && opcode >> 27 < 0x1d)
        find(narrow, sizeof narrow / sizeof *narrow, opcode, out);
    else if (isa == CT_ISA_T32)
        find(wide, sizeof wide / sizeof *wide, opcode, out);
}
