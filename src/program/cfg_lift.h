/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of single instructions, as far as jump tables need it: constants, sums, loads from tables,
 * bounds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CT_LIFT_NO_REG 63

enum ct_lift_kind {
    CT_LIFT_OTHER, /* anything else; writes the registers in `writes` */
    CT_LIFT_CONST, /* rd = imm */
    CT_LIFT_COPY,  /* rd = rn */
    CT_LIFT_ADDI,  /* rd = rn + imm */
    CT_LIFT_MASK,  /* rd = rn & imm, where imm + 1 is a power of two */
    CT_LIFT_ADD,   /* rd = rn + (extend(rm) << shift) */
    CT_LIFT_LOAD,  /* rd = extend(memory[rn + (rm << shift)]), rm may be CT_LIFT_NO_REG */
    CT_LIFT_FETCH, /* rd = memory[rn + imm] */
    CT_LIFT_STORE, /* memory[rn + imm] = rd */
    CT_LIFT_CMP,   /* compares rn with imm */
    CT_LIFT_SKIP,  /* a conditional branch; see `above` */
    CT_LIFT_JUMP,  /* continues at rn */
    CT_LIFT_TABLE, /* T32 TBB, TBH: continues at addr + 4 + 2 * memory[addr + 4 + rm * size] */
    CT_LIFT_STEPS, /* A32 ADD PC, PC, rm LSL #2: continues in a row of branches after it */
};

struct ct_lift {
    uint64_t writes; /* mask of registers; for a call, those that it may write */
    int64_t imm;
    uint8_t kind; /* enum ct_lift_kind */
    uint8_t rd, rn, rm;
    uint8_t shift;
    uint8_t size;   /* of LOAD and TABLE: bytes */
    uint8_t bits;   /* width from which the value is extended; 0: not extended */
    bool is_signed; /* sign-extends */
    uint8_t above;  /* of SKIP, or of a conditional jump: the result of the compare before it that leads to
                       the jump; 1: at most imm, 2: less than imm, 0: something else */
    uint8_t taken;  /* of SKIP: the same for its taken path */
    bool flags;     /* the instruction sets the flags */
};

void ct_lift_a64(uint32_t op, uint64_t addr, struct ct_lift *out);
void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out);

/* Lifts a T32 instruction; `op` has the first halfword in the upper half, as for ct_insn_decode_t32. */
void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out);
