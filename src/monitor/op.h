/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on values: the single definition that constant folding, bytecode and tests share. */
#pragma once

#include "monitor/type.h"
#include "monitor/value.h"

/* Name, number of operands. The first group has bytecode instructions of its own. */
#define OPS(X)                                                                                               \
    X(ADD, 2)                                                                                                \
    X(SUB, 2)                                                                                                \
    X(MUL, 2)                                                                                                \
    X(DIV, 2)                                                                                                \
    X(MOD, 2)                                                                                                \
    X(BITAND, 2)                                                                                             \
    X(BITOR, 2)                                                                                              \
    X(BITXOR, 2)                                                                                             \
    X(SHL, 2)                                                                                                \
    X(SHR, 2)                                                                                                \
    X(LT, 2)                                                                                                 \
    X(GT, 2)                                                                                                 \
    X(LE, 2)                                                                                                 \
    X(GE, 2)                                                                                                 \
    X(EQ, 2)                                                                                                 \
    X(NE, 2)                                                                                                 \
    X(FADD, 2)                                                                                               \
    X(FSUB, 2)                                                                                               \
    X(FMUL, 2)                                                                                               \
    X(FDIV, 2)                                                                                               \
    X(FLT, 2)                                                                                                \
    X(FGT, 2)                                                                                                \
    X(FLE, 2)                                                                                                \
    X(FGE, 2)                                                                                                \
    X(NOT, 1)                                                                                                \
    X(NEG, 1)                                                                                                \
    X(BITNOT, 1)                                                                                             \
    X(FNEG, 1)                                                                                               \
    X(IS_NONE, 1)                                                                                            \
    X(IS_SOME, 1)                                                                                            \
    X(SOME, 1)                                                                                               \
    X(GET_SOME, 1)                                                                                           \
    /* from here on: one instruction that calls ct_mon_op_eval */                                            \
    X(POW, 2)                                                                                                \
    X(LOG, 2)                                                                                                \
    X(SIN, 1)                                                                                                \
    X(COS, 1)                                                                                                \
    X(TAN, 1)                                                                                                \
    X(ATAN, 1)                                                                                               \
    X(INT_TO_FLOAT, 1)                                                                                       \
    X(FLOAT_TO_INT, 1)                                                                                       \
    X(TO_STRING, 1)                                                                                          \
    X(CONCAT, 2)                                                                                             \
    X(FORMAT, 2)                                                                                             \
    X(RECORD, 0)                                                                                             \
    X(FIELD, 1)                                                                                              \
    X(LIST_EMPTY, 0)                                                                                         \
    X(MAP_EMPTY, 0)                                                                                          \
    X(SIZE, 1)                                                                                               \
    X(LIST_APPEND, 2)                                                                                        \
    X(LIST_PREPEND, 2)                                                                                       \
    X(LIST_HEAD, 1)                                                                                          \
    X(LIST_LAST, 1)                                                                                          \
    X(LIST_TAIL, 1)                                                                                          \
    X(LIST_INIT, 1)                                                                                          \
    X(LIST_GET, 2)                                                                                           \
    X(LIST_SET, 3)                                                                                           \
    X(SET_ADD, 2)                                                                                            \
    X(MAP_ADD, 3)                                                                                            \
    X(MAP_CONTAINS, 2)                                                                                       \
    X(MAP_GET, 2)                                                                                            \
    X(MAP_REMOVE, 2)                                                                                         \
    X(KEY_AT, 2)                                                                                             \
    X(FIELD_COUNT_, 0)

enum ct_mon_op {
#define OP_ENUM(name, arity) OP_##name,
    OPS(OP_ENUM)
#undef OP_ENUM
    OP_COUNT = OP_FIELD_COUNT_,
};

enum {
    OP_FIRST_SLOW = OP_POW
};

const char *ct_mon_op_name(enum ct_mon_op op);

/* Parameters of an operation besides its operands. */
struct ct_mon_op_extra {
    const struct ct_mon_type *type; /* type of the (last) operand, for TO_STRING and FORMAT */
    uint32_t index;                 /* FIELD */
};

/* Applies an operation; `out` may be one of the operands. If an operand is an error, it is the result, except
 * that IS_NONE, IS_SOME, SOME and GET_SOME ignore errors below the option level they look at. Check
 * heap->exhausted afterwards. */
void ct_mon_op_eval(enum ct_mon_op op, const struct ct_mon_op_extra *extra, struct ct_mon_heap *h,
                    const struct ct_mon_cell *args, unsigned n, struct ct_mon_cell *out);

/* Computes sums, differences, products and quotients in 64 bits. Returns false when an operand or the result
 * does not fit. */
static inline bool ct_mon_op_small(enum ct_mon_op op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(a, b, r);
    case OP_SUB:
        return !__builtin_sub_overflow(a, b, r);
    case OP_MUL:
        return !__builtin_mul_overflow(a, b, r);
    case OP_DIV:
    case OP_MOD:
        if (b == 0 || b == -1)
            return false;
        *r = op == OP_DIV ? a / b : a % b;
        return true;
    case OP_BITAND:
        *r = a & b;
        return true;
    case OP_BITOR:
        *r = a | b;
        return true;
    case OP_BITXOR:
        *r = a ^ b;
        return true;
    default:
        return false;
    }
}
