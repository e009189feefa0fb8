/* SPDX-License-Identifier: Apache-2.0 */
/* What A32 and T32 have in common when instructions are lifted (cfg_lift.h). Only files that lift
 * instructions include this one. */
#pragma once

#include "program/cfg_lift.h"

#define X(r)      (UINT64_C(1) << (r))
#define ALL       (X(15) - 1)
#define CALL_MASK (X(0) | X(1) | X(2) | X(3) | X(12) | X(14)) /* AAPCS32: what a call may change */
#define SP        13
#define LINK      14
#define PC        15

/* Operations of data processing, with the numbers of A32. */
enum ct_arm_operation {
    AND = 0,
    EOR = 1,
    SUB = 2,
    RSB = 3,
    ADD = 4,
    ADC = 5,
    SBC = 6,
    TST = 8,
    TEQ = 9,
    CMP = 10,
    CMN = 11,
    ORR = 12,
    MOV = 13,
    BIC = 14,
    MVN = 15,
    OTHER = 16,
};

/* A load or store of one register. */
struct ct_arm_transfer {
    bool load, before, writes_back; /* `before`: the address includes the offset */
    uint32_t rt, rn, size;
    int64_t offset;
    bool is_signed;
};

/* Returns what the condition of a jump says about the compare before it, as `above` of struct ct_lift. */
uint8_t ct_arm_jump_above(uint32_t cond);

/* Returns the registers that an instruction of 32 bits may use: all that its fields may name. */
uint64_t ct_arm_fields(uint32_t op);

/* ---- whole effects ---- */

/* Lifts an instruction of a kind that writes rd and reads rn. */
void ct_arm_set(struct ct_lift *out, enum ct_lift_kind kind, uint32_t rd, uint32_t rn);

/* Lift an instruction that only writes some registers, one without any effect on general registers, flags and
 * memory, one that may change everything, and a call. */
void ct_arm_only_writes(struct ct_lift *out, uint64_t writes);
void ct_arm_nothing(struct ct_lift *out);
void ct_arm_unknown(struct ct_lift *out);
void ct_arm_call(struct ct_lift *out);

/* Lift branches: to the address in rm, by a condition, and A32's into a row of branches. */
void ct_arm_jump(struct ct_lift *out, uint32_t rm);
void ct_arm_skip(struct ct_lift *out, uint32_t cond);
void ct_arm_steps(struct ct_lift *out, uint32_t rm);

/* ---- data processing ---- */

/* Lift rd = rn + imm, where rn may be the PC, which reads as `pc`; rd = value; rd = rn + (rm << shift);
 * rd = imm - rn; rd = rn & imm; and rd = the low `bits` of rm, extended. */
void ct_arm_add_immediate(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm, uint64_t pc);
void ct_arm_constant(struct ct_lift *out, uint32_t rd, uint32_t value);
void ct_arm_add_register(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm, uint32_t shift);
void ct_arm_reverse(struct ct_lift *out, uint32_t rd, uint32_t rn, int64_t imm);
void ct_arm_mask(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t imm);
void ct_arm_extend(struct ct_lift *out, uint32_t rd, uint32_t rm, uint32_t bits, bool is_signed);

/* Lift rd = rn * rm, and rd = the low `bits` of rm, extended and shifted right. */
void ct_arm_multiply(struct ct_lift *out, uint32_t rd, uint32_t rn, uint32_t rm);
void ct_arm_right(struct ct_lift *out, uint32_t rd, uint32_t rm, uint32_t shift, uint32_t bits,
                  bool is_signed);

/* Lift a compare of rn with a constant, and with rm. */
void ct_arm_compare(struct ct_lift *out, uint32_t rn, int64_t imm);
void ct_arm_compare_registers(struct ct_lift *out, uint32_t rn, uint32_t rm);

/* Lift an operation with a constant, and one with a register that is shifted by a constant; `type` 0 is LSL.
 */
void ct_arm_data_immediate(struct ct_lift *out, enum ct_arm_operation operation, uint32_t rd, uint32_t rn,
                           uint32_t value, uint64_t pc);
void ct_arm_data_register(struct ct_lift *out, enum ct_arm_operation operation, uint32_t rd, uint32_t rn,
                          uint32_t rm, uint32_t type, uint32_t amount);

/* ---- memory ---- */

/* Lift a transfer with a constant offset, and one whose offset is a register, or that changes rn by one. */
void ct_arm_memory(struct ct_lift *out, const struct ct_arm_transfer *t);
void ct_arm_memory_by_register(struct ct_lift *out, const struct ct_arm_transfer *t, uint32_t rm,
                               uint32_t shift);

/* Lifts LDM and STM of the registers in `list`, from rn + first on. */
void ct_arm_multiple(struct ct_lift *out, bool load, uint32_t rn, uint64_t list, int64_t first,
                     int64_t moves);

/* ---- coprocessors, floating-point numbers and vectors ---- */

void ct_arm_coprocessor_memory(uint32_t op, struct ct_lift *out);

/* Lifts register transfers and operations. */
void ct_arm_coprocessor_data(uint32_t op, bool is_t32, struct ct_lift *out);

/* Lifts loads and stores of elements and structures of vectors; `rm` 13: rn moves by their size. */
void ct_arm_elements(uint32_t op, struct ct_lift *out);
