/* SPDX-License-Identifier: Apache-2.0 */
/* What single instructions compute, as far as jump tables need it: constants, sums, loads from tables,
 * bounds. */
#ifndef CT_PROGRAM_CFG_LIFT_H
#define CT_PROGRAM_CFG_LIFT_H

#include <stdbool.h>
#include <stdint.h>

#define CT_LIFT_NO_REG 63

enum ct_lift_kind {
    CT_LIFT_OTHER, /* anything else; it writes the registers of `writes` */
    CT_LIFT_CONST, /* rd = imm */
    CT_LIFT_COPY,  /* rd = rn */
    CT_LIFT_ADDI,  /* rd = rn + imm */
    CT_LIFT_MASK,  /* rd = rn & imm, and imm is one less than a power of two */
    CT_LIFT_ADD,   /* rd = rn + (extend(rm) << shift) */
    CT_LIFT_LOAD,  /* rd = extend(memory[rn + (rm << shift)]), rm may be CT_LIFT_NO_REG */
    CT_LIFT_FETCH, /* rd = memory[rn + imm] */
    CT_LIFT_STORE, /* memory[rn + imm] = rd */
    CT_LIFT_CMP,   /* compares rn with imm */
    CT_LIFT_SKIP,  /* a conditional branch; see `above` */
    CT_LIFT_JUMP,  /* execution goes on at rn */
    CT_LIFT_TABLE, /* T32 TBB, TBH: goes on at addr + 4 + 2 * memory[addr + 4 + rm * size] */
    CT_LIFT_STEPS, /* A32 ADD PC, PC, rm LSL #2: goes into a row of branches behind it */
};

struct ct_lift {
    uint64_t writes; /* mask of registers; for a call, those that it may write */
    int64_t imm;
    uint8_t kind; /* enum ct_lift_kind */
    uint8_t rd, rn, rm;
    uint8_t shift;
    uint8_t size;   /* of LOAD and TABLE: bytes */
    uint8_t bits;   /* extends from so many bits; 0: does not extend */
    bool is_signed; /* extends with the sign */
    uint8_t above;  /* of SKIP, or of a jump with a condition: what the compare before it must have told for
                       the way to the jump; 1: at most imm, 2: less than imm, 0: something else */
    uint8_t taken;  /* of SKIP: the same for the way to its target */
    bool flags;     /* the instruction sets the flags */
};

void ct_lift_a64(uint32_t op, uint64_t addr, struct ct_lift *out);
void ct_lift_a32(uint32_t op, uint64_t addr, struct ct_lift *out);

/* Lifts a T32 instruction; `op` has the first halfword above the second, as ct_insn_decode_t32 takes it. */
void ct_lift_t32(uint32_t op, uint64_t addr, struct ct_lift *out);

#endif
