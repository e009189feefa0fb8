/* Operations on values: the one definition that constant folding, the bytecode and the tests share. */
#ifndef CT_MONITOR_OP_H
#define CT_MONITOR_OP_H

#include "monitor/type.h"
#include "monitor/value.h"

/* name, number of operands, name as builtin. The first group has instructions of its own in the bytecode. */
#define OPS(X)                                                                                               \
    X(ADD, 2, "add")                                                                                         \
    X(SUB, 2, "sub")                                                                                         \
    X(MUL, 2, "mul")                                                                                         \
    X(DIV, 2, "div")                                                                                         \
    X(MOD, 2, "mod")                                                                                         \
    X(BITAND, 2, "bitand")                                                                                   \
    X(BITOR, 2, "bitor")                                                                                     \
    X(BITXOR, 2, "bitxor")                                                                                   \
    X(SHL, 2, "leftshift")                                                                                   \
    X(SHR, 2, "rightshift")                                                                                  \
    X(LT, 2, "lt")                                                                                           \
    X(GT, 2, "gt")                                                                                           \
    X(LE, 2, "leq")                                                                                          \
    X(GE, 2, "geq")                                                                                          \
    X(EQ, 2, "eq")                                                                                           \
    X(NE, 2, "neq")                                                                                          \
    X(FADD, 2, "fadd")                                                                                       \
    X(FSUB, 2, "fsub")                                                                                       \
    X(FMUL, 2, "fmul")                                                                                       \
    X(FDIV, 2, "fdiv")                                                                                       \
    X(FLT, 2, "flt")                                                                                         \
    X(FGT, 2, "fgt")                                                                                         \
    X(FLE, 2, "fleq")                                                                                        \
    X(FGE, 2, "fgeq")                                                                                        \
    X(NOT, 1, "not")                                                                                         \
    X(NEG, 1, "negate")                                                                                      \
    X(BITNOT, 1, "bitflip")                                                                                  \
    X(FNEG, 1, "fnegate")                                                                                    \
    X(IS_NONE, 1, "isNone")                                                                                  \
    X(IS_SOME, 1, "isSome")                                                                                  \
    X(SOME, 1, "some")                                                                                       \
    X(GET_SOME, 1, "getSome")                                                                                \
    /* from here on: one instruction that calls op_eval */                                                   \
    X(POW, 2, "pow")                                                                                         \
    X(LOG, 2, "log")                                                                                         \
    X(SIN, 1, "sin")                                                                                         \
    X(COS, 1, "cos")                                                                                         \
    X(TAN, 1, "tan")                                                                                         \
    X(ATAN, 1, "atan")                                                                                       \
    X(INT_TO_FLOAT, 1, "intToFloat")                                                                         \
    X(FLOAT_TO_INT, 1, "floatToInt")                                                                         \
    X(TO_STRING, 1, "toString")                                                                              \
    X(CONCAT, 2, "concat")                                                                                   \
    X(FORMAT, 2, "format")                                                                                   \
    X(RECORD, 0, "record")                                                                                   \
    X(FIELD, 1, "field")                                                                                     \
    X(LIST_EMPTY, 0, "listEmpty")                                                                            \
    X(MAP_EMPTY, 0, "mapEmpty")                                                                              \
    X(SIZE, 1, "size")                                                                                       \
    X(LIST_APPEND, 2, "listAppend")                                                                          \
    X(LIST_PREPEND, 2, "listPrepend")                                                                        \
    X(LIST_HEAD, 1, "listHead")                                                                              \
    X(LIST_LAST, 1, "listLast")                                                                              \
    X(LIST_TAIL, 1, "listTail")                                                                              \
    X(LIST_INIT, 1, "listInit")                                                                              \
    X(LIST_GET, 2, "listGet")                                                                                \
    X(LIST_SET, 3, "listSet")                                                                                \
    X(SET_ADD, 2, "setAdd")                                                                                  \
    X(MAP_ADD, 3, "mapAdd")                                                                                  \
    X(MAP_CONTAINS, 2, "mapContains")                                                                        \
    X(MAP_GET, 2, "mapGet")                                                                                  \
    X(MAP_REMOVE, 2, "mapRemove")                                                                            \
    X(KEY_AT, 2, "keyAt")                                                                                    \
    X(FIELD_COUNT_, 0, "")

enum op {
#define OP_ENUM(name, arity, builtin) OP_##name,
    OPS(OP_ENUM)
#undef OP_ENUM
    OP_COUNT = OP_FIELD_COUNT_,
};

enum {
    OP_FIRST_SLOW = OP_POW
};

const char *op_name(enum op op);
int op_find(const char *builtin); /* -1 */

/* What an operation needs besides its operands. */
struct op_extra {
    const struct type *type; /* of the (last) operand, for TO_STRING and FORMAT */
    uint32_t index;          /* FIELD */
};

/* out may be one of the operands. Strict: an error operand is the result, but for IS_NONE, IS_SOME, SOME and
 * GET_SOME, which look below their option level only. Check heap->exhausted afterwards. Without a heap, operations up to
 * GET_SOME whose result is an Int of more than 64 bits give E_MEMORY. */
void op_eval(enum op op, const struct op_extra *extra, struct heap *h, const struct cell *args, unsigned n,
             struct cell *out);

#endif
