/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of single instructions, as far as jump tables and counted loops need it: constants, sums, loads
 * and stores, compares; of all others, the registers and the memory that they may change. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CT_LIFT_NO_REG 63

/* Register numbers: those of the instruction set; 31 of A64 is always zero. */
#define CT_LIFT_A64_SP 32

enum ct_lift_kind {
    CT_LIFT_OTHER, /* anything else; writes the registers in `writes` */
    CT_LIFT_CONST, /* rd = imm */
    CT_LIFT_COPY,  /* rd = rn */
    CT_LIFT_ADDI,  /* rd = rn + imm */
    CT_LIFT_MASK,  /* rd = rn & imm, where imm + 1 is a power of two; a test when it does not write rd */
    CT_LIFT_ADD,   /* rd = rn + (extend(rm) << shift) */
    CT_LIFT_LOAD,  /* rd = extend(memory[rn + (rm << shift)]), rm may be CT_LIFT_NO_REG */
    CT_LIFT_FETCH, /* rd = memory[rn + imm] */
    CT_LIFT_STORE, /* memory[rn + imm] = rd */
    CT_LIFT_SHIFT, /* rd = rn << shift */
    CT_LIFT_RIGHT, /* rd = extend(the low `bits` of rn) >> shift */
    CT_LIFT_MUL,   /* rd = rn * rm */
    CT_LIFT_RSB,   /* rd = imm - rn */
    CT_LIFT_PART,  /* rd = rn with the 16 bits from `shift` on replaced by imm */
    CT_LIFT_SIGN,  /* rd = the low `bits` of rn, sign-extended */
    CT_LIFT_CMP,   /* compares rn with imm; when it writes rd, rd = rn - imm */
    CT_LIFT_CMPR,  /* compares rn with rm; when it writes rd, rd = rn - rm */
    CT_LIFT_SAME,  /* tells only whether rn is imm */
    CT_LIFT_SKIP,  /* a conditional branch; see `above` and `cond` */
    CT_LIFT_ZERO,  /* a branch that is taken when rn is zero (`cond` EQ), is not (NE), or by the sign of its
                      low `bits` */
    CT_LIFT_LEAVE, /* the end of a low-overhead loop: jumps back while rn > 1; rd = rn + imm when it does */
    CT_LIFT_JUMP,  /* continues at rn */
    CT_LIFT_TABLE, /* T32 TBB, TBH: continues at addr + 4 + 2 * memory[addr + 4 + rm * size] */
    CT_LIFT_STEPS, /* A32 ADD PC, PC, rm LSL #2: continues in a row of branches after it */
};

/* Conditions of branches. */
enum ct_lift_cond {
    CT_COND_EQ,
    CT_COND_NE,
    CT_COND_CS,
    CT_COND_CC,
    CT_COND_MI,
    CT_COND_PL,
    CT_COND_VS,
    CT_COND_VC,
    CT_COND_HI,
    CT_COND_LS,
    CT_COND_GE,
    CT_COND_LT,
    CT_COND_GT,
    CT_COND_LE,
    CT_COND_ALWAYS,
};

enum ct_lift_stores {
    CT_LIFT_STORES_NOTHING,
    CT_LIFT_STORES_HERE,     /* `size` bytes at rn + imm */
    CT_LIFT_STORES_ANYWHERE, /* also a call */
};

struct ct_lift {
    uint64_t writes; /* mask of registers; for a call, those that it may write */
    int64_t imm;
    uint64_t gives; /* mask of registers whose values it may store or compute with. Not the base of a load or
                       store, unless it stores anywhere */
    int64_t moves;  /* added to rn, which is written back; 0 when it is not or by an unknown amount */
    uint8_t kind;   /* enum ct_lift_kind */
    uint8_t rd, rn, rm;
    uint8_t shift;
    uint8_t size;   /* bytes that are loaded or stored */
    uint8_t bits;   /* width from which the value is extended; 0: not extended */
    uint8_t stores; /* enum ct_lift_stores */
    uint8_t cond;   /* of a conditional branch, and of all A32 instructions: enum ct_lift_cond */
    bool is_signed; /* sign-extends */
    bool is_maybe;  /* it is conditional; nothing tells whether it was executed */
    bool is_narrow; /* A64: the result and the compared numbers have 32 bits */
    bool calls;     /* a call: it may change what is on the stack below its frame */
    uint8_t above;  /* of SKIP, or of a conditional jump: the result of the compare before it that leads to
                       the jump; 1: at most imm, 2: less than imm, 0: something else */
    uint8_t taken;  /* of SKIP: the same for its taken path */
    bool flags;     /* the instruction may set the flags; of ADDI, by comparing rn with -imm */
};

void ct_lift_a64(uint32_t op, uint64_t addr, struct ct_lift *out);
void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out);

/* Lifts a T32 instruction; `op` has the first halfword in the upper half, as for ct_insn_decode_t32. */
void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out);
