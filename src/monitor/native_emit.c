/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the bytecode, instruction for instruction, in the words of libgccjit. Each does what vm.c says
 * where the operands are plain; where they are not, the bytecode goes on from it (`leave`). So behind an
 * instruction its operands are known to be plain, and most tests fall away. */
#include "monitor/native_emit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/run.h"

_Static_assert(sizeof(struct ct_mon_cell) == 16 && offsetof(struct ct_mon_cell, meta) == 8 &&
                   offsetof(struct ct_mon_cell, stamp) == 12,
               "a cell is told to the compiler as it is");
_Static_assert(sizeof(struct ct_monitor_result) == 24 && offsetof(struct ct_monitor_result, v) == 8 &&
                   offsetof(struct ct_monitor_result, output) == 16 &&
                   offsetof(struct ct_monitor_result, form) == 20,
               "a result is told to the compiler as it is");

typedef gcc_jit_rvalue *value;

/* What the functions return that a program is cut into. It is cut between two streams, where no jump crosses,
 * because the time to compile a function grows faster than its length. */
enum {
    PART_FAILED,
    PART_WENT_ON, /* the next one has its turn */
    PART_LEFT,    /* the bytecode did the rest of the program */
    PART_INSNS = 150,
};

struct build {
    const struct ct_mon_jit_api *jit;
    gcc_jit_context *ctx;
    const struct ct_mon_program *p;
    gcc_jit_type *i64, *u64, *u32, *u8, *truth, *f64, *wide, *bytes, *pointer, *cell, *result;
    gcc_jit_field *of_value, *of_int, *of_float, *of_meta, *of_stamp;
    gcc_jit_field *of_time, *of_payload, *of_output, *of_form;
    gcc_jit_function *fn;
    value m, cells, stamp;
    gcc_jit_lvalue *at; /* where the bytecode goes on */
    gcc_jit_block *exit, *now;
    gcc_jit_block **targets; /* by instruction from `first` on: what jumps go to */
    uint32_t first, i;
};

/* ---- words ---- */

static value number(struct build *b, gcc_jit_type *type, int64_t n)
{
    return b->jit->context_new_rvalue_from_long(b->ctx, type, (long)n);
}

static value binary(struct build *b, enum gcc_jit_binary_op op, gcc_jit_type *type, value x, value y)
{
    return b->jit->context_new_binary_op(b->ctx, NULL, op, type, x, y);
}

static value compare(struct build *b, enum gcc_jit_comparison op, value x, value y)
{
    return b->jit->context_new_comparison(b->ctx, NULL, op, x, y);
}

static value cast(struct build *b, value x, gcc_jit_type *type)
{
    return b->jit->context_new_cast(b->ctx, NULL, x, type);
}

static value read(struct build *b, gcc_jit_lvalue *x)
{
    return b->jit->lvalue_as_rvalue(x);
}

static void assign(struct build *b, gcc_jit_lvalue *x, value y)
{
    b->jit->block_add_assignment(b->now, NULL, x, y);
}

static gcc_jit_lvalue *cell_at(struct build *b, uint32_t k)
{
    return b->jit->context_new_array_access(b->ctx, NULL, b->cells, number(b, b->u64, k));
}

static gcc_jit_lvalue *field(struct build *b, gcc_jit_lvalue *of, gcc_jit_field *f)
{
    return b->jit->lvalue_access_field(of, NULL, f);
}

/* Gives a member of the run by its offset. */
static gcc_jit_lvalue *member(struct build *b, size_t offset, gcc_jit_type *type)
{
    value place = b->jit->lvalue_get_address(
        b->jit->context_new_array_access(b->ctx, NULL, b->m, number(b, b->u64, (int64_t)offset)), NULL);
    return b->jit->rvalue_dereference(cast(b, place, b->jit->type_get_pointer(type)), NULL);
}

#define MEMBER(b, name, type) member(b, offsetof(struct ct_monitor, name), type)

static bool is_constant(const struct build *b, uint32_t k)
{
    return k < b->p->nconstants;
}

static gcc_jit_lvalue *int_of(struct build *b, uint32_t k)
{
    return field(b, field(b, cell_at(b, k), b->of_value), b->of_int);
}

static value int_in(struct build *b, uint32_t k)
{
    return is_constant(b, k) ? number(b, b->i64, b->p->constants[k].v.i) : read(b, int_of(b, k));
}

static gcc_jit_lvalue *float_of(struct build *b, uint32_t k)
{
    return field(b, field(b, cell_at(b, k), b->of_value), b->of_float);
}

static value meta_in(struct build *b, uint32_t k)
{
    return is_constant(b, k) ? number(b, b->u32, b->p->constants[k].meta)
                             : read(b, field(b, cell_at(b, k), b->of_meta));
}

static value stamp_in(struct build *b, uint32_t k)
{
    return read(b, field(b, cell_at(b, k), b->of_stamp));
}

static value is_present(struct build *b, uint32_t k)
{
    return compare(b, GCC_JIT_COMPARISON_EQ, stamp_in(b, k), b->stamp);
}

static value bits(struct build *b, value x, uint32_t mask)
{
    return binary(b, GCC_JIT_BINARY_OP_BITWISE_AND, b->u32, x, number(b, b->u32, mask));
}

static value is_zero(struct build *b, value x, gcc_jit_type *type)
{
    return compare(b, GCC_JIT_COMPARISON_EQ, x, number(b, type, 0));
}

static value is_set(struct build *b, value x, gcc_jit_type *type)
{
    return compare(b, GCC_JIT_COMPARISON_NE, x, number(b, type, 0));
}

/* ---- ways ---- */

static gcc_jit_block *block(struct build *b)
{
    return b->jit->function_new_block(b->fn, NULL);
}

static void branch(struct build *b, value x, gcc_jit_block *yes, gcc_jit_block *no)
{
    b->jit->block_end_with_conditional(b->now, NULL, x, yes, no);
}

static void go(struct build *b, gcc_jit_block *to)
{
    b->jit->block_end_with_jump(b->now, NULL, to);
    b->now = NULL;
}

static gcc_jit_block *target(struct build *b, uint32_t insn)
{
    gcc_jit_block **t = &b->targets[insn - b->first];
    if (!*t)
        *t = block(b);
    return *t;
}

/* Leaves the rest, from this instruction on, to the bytecode when x holds. */
static void leave_if(struct build *b, value x)
{
    gcc_jit_block *out = block(b), *on = block(b);
    branch(b, x, out, on);
    b->now = out;
    assign(b, b->at, number(b, b->u32, b->i));
    go(b, b->exit);
    b->now = on;
}

static void jump_if(struct build *b, value x, uint32_t to)
{
    gcc_jit_block *on = block(b);
    branch(b, x, target(b, to), on);
    b->now = on;
}

static value call(struct build *b, bool (*fn)(struct ct_monitor *, uint32_t), value insn)
{
    value args[] = {b->m, insn};
    gcc_jit_type *types[] = {b->bytes, b->u32};
    gcc_jit_type *type = b->jit->context_new_function_ptr_type(b->ctx, NULL, b->truth, 2, types, 0);
    void *place;
    memcpy(&place, &fn, sizeof place);
    return b->jit->context_new_call_through_ptr(
        b->ctx, NULL, b->jit->context_new_rvalue_from_ptr(b->ctx, type, place), 2, args);
}

/* Has the bytecode execute this one instruction, which has no form of its own here. */
static void by_bytecode(struct build *b)
{
    value done = call(b, ct_mon_vm_one, number(b, b->u32, b->i));
    gcc_jit_block *failed = block(b), *on = block(b);
    branch(b, done, on, failed);
    b->jit->block_end_with_return(failed, NULL, number(b, b->u32, PART_FAILED));
    b->now = on;
}

/* ---- instructions ---- */

static void set_kind(struct build *b, uint32_t d, value meta)
{
    assign(b, field(b, cell_at(b, d), b->of_meta), meta);
    assign(b, field(b, cell_at(b, d), b->of_stamp), b->stamp);
}

static void set(struct build *b, uint32_t d, value x, value meta)
{
    assign(b, int_of(b, d), x);
    set_kind(b, d, meta);
}

static void set_int(struct build *b, uint32_t d, value x)
{
    set(b, d, x, number(b, b->u32, 0));
}

static void copy(struct build *b, uint32_t d, uint32_t a)
{
    set(b, d, int_in(b, a), meta_in(b, a));
}

/* Masks of what an operand must not be: where an Int is wanted, also none of more than 64 bits. */
enum {
    NOT_INT = -1,
    NOT_FLOAT = META_ERR | META_SOME,
};

static void need_plain(struct build *b, const struct ct_mon_insn *i, int mask)
{
    value metas = binary(b, GCC_JIT_BINARY_OP_BITWISE_OR, b->u32, meta_in(b, i->a), meta_in(b, i->b));
    leave_if(b, is_set(b, bits(b, metas, (uint32_t)mask), b->u32));
}

/* Calculates in 128 bits and leaves a result that does not fit in 64 to the bytecode. */
static void arithmetic(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_INT);
    gcc_jit_lvalue *r = b->jit->function_new_local(b->fn, NULL, b->wide, "r");
    assign(b, r,
           binary(b, op, b->wide, cast(b, int_in(b, i->a), b->wide), cast(b, int_in(b, i->b), b->wide)));
    value narrow = cast(b, read(b, r), b->i64);
    leave_if(b, compare(b, GCC_JIT_COMPARISON_NE, cast(b, narrow, b->wide), read(b, r)));
    set_int(b, i->d, narrow);
}

static void divide(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_INT);
    leave_if(b, is_zero(b, int_in(b, i->b), b->i64));
    leave_if(b, compare(b, GCC_JIT_COMPARISON_EQ, int_in(b, i->b), number(b, b->i64, -1)));
    set_int(b, i->d, binary(b, op, b->i64, int_in(b, i->a), int_in(b, i->b)));
}

static void bitwise(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_INT);
    set_int(b, i->d, binary(b, op, b->i64, int_in(b, i->a), int_in(b, i->b)));
}

static void comparison(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_comparison op)
{
    need_plain(b, i, NOT_INT);
    set_int(b, i->d, cast(b, compare(b, op, int_in(b, i->a), int_in(b, i->b)), b->i64));
}

static void float_arithmetic(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_FLOAT);
    assign(b, float_of(b, i->d),
           binary(b, op, b->f64, read(b, float_of(b, i->a)), read(b, float_of(b, i->b))));
    set_kind(b, i->d, number(b, b->u32, META_FLOAT));
}

static void float_comparison(struct build *b, const struct ct_mon_insn *i, enum gcc_jit_comparison op)
{
    need_plain(b, i, NOT_FLOAT);
    value x = compare(b, op, read(b, float_of(b, i->a)), read(b, float_of(b, i->b)));
    set_int(b, i->d, cast(b, x, b->i64));
}

/* Emits isSome and isNone. An error inside a Some does not matter to them. */
static void option_test(struct build *b, const struct ct_mon_insn *i, bool some)
{
    value meta = meta_in(b, i->a);
    value below =
        binary(b, GCC_JIT_BINARY_OP_MINUS, b->u32, bits(b, meta, META_SOME | META_ERR), number(b, b->u32, 1));
    leave_if(b, compare(b, GCC_JIT_COMPARISON_LT, below, number(b, b->u32, META_ERR)));
    value levels = bits(b, meta, META_SOME);
    value x = some ? is_set(b, levels, b->u32) : is_zero(b, levels, b->u32);
    set_int(b, i->d, cast(b, x, b->i64));
}

static void some(struct build *b, uint32_t d, uint32_t a)
{
    set(b, d, int_in(b, a),
        binary(b, GCC_JIT_BINARY_OP_PLUS, b->u32, meta_in(b, a), number(b, b->u32, META_SOME_ONE)));
}

static void unwrap(struct build *b, uint32_t d, uint32_t a)
{
    set(b, d, int_in(b, a),
        binary(b, GCC_JIT_BINARY_OP_MINUS, b->u32, meta_in(b, a), number(b, b->u32, META_SOME_ONE)));
}

/* Does `yes` when x holds. */
#define WHEN(b, x, yes)                                                                                      \
    do {                                                                                                     \
        gcc_jit_block *then_ = block(b), *behind_ = block(b);                                                \
        branch(b, x, then_, behind_);                                                                        \
        (b)->now = then_;                                                                                    \
        yes;                                                                                                 \
        go(b, behind_);                                                                                      \
        (b)->now = behind_;                                                                                  \
    } while (0)

static void last2(struct build *b, const struct ct_mon_insn *i)
{
    gcc_jit_block *before = block(b), *held = block(b), *behind = block(b);
    branch(b, is_present(b, i->a), before, held);
    b->now = before;
    WHEN(b, is_set(b, stamp_in(b, i->b), b->u32), copy(b, i->d, i->b));
    go(b, behind);
    b->now = held;
    WHEN(b, is_set(b, stamp_in(b, i->a), b->u32), copy(b, i->d, i->a));
    go(b, behind);
    b->now = behind;
}

static void option(struct build *b, const struct ct_mon_insn *i)
{
    gcc_jit_block *yes = block(b), *no = block(b), *behind = block(b);
    branch(b, is_present(b, i->a), yes, no);
    b->now = yes;
    some(b, i->d, i->a);
    go(b, behind);
    b->now = no;
    set_int(b, i->d, number(b, b->i64, 0));
    go(b, behind);
    b->now = behind;
}

static void condition(struct build *b, const struct ct_mon_insn *i, bool wanted)
{
    leave_if(b, is_set(b, bits(b, meta_in(b, i->a), META_ERR), b->u32));
    value x = int_in(b, i->a);
    jump_if(b, wanted ? is_set(b, x, b->i64) : is_zero(b, x, b->i64), i->d);
}

static void and_or(struct build *b, const struct ct_mon_insn *i, bool stop)
{
    gcc_jit_block *taken = block(b), *on = block(b);
    leave_if(b, is_set(b, bits(b, meta_in(b, i->a), META_ERR), b->u32));
    value x = int_in(b, i->a);
    branch(b, stop ? is_set(b, x, b->i64) : is_zero(b, x, b->i64), taken, on);
    b->now = taken;
    copy(b, i->d, i->a);
    go(b, target(b, i->b));
    b->now = on;
}

static void unoption(struct build *b, const struct ct_mon_insn *i)
{
    leave_if(b, is_set(b, bits(b, meta_in(b, i->a), META_ERR), b->u32));
    WHEN(b, is_set(b, bits(b, meta_in(b, i->a), META_SOME), b->u32), unwrap(b, i->d, i->a));
}

/* Emits the event unless the value stays the same. Values whose payload is not the whole value are left to
 * the bytecode. */
static void pure(struct build *b, const struct ct_mon_insn *i)
{
    gcc_jit_block *known = block(b), *news = block(b), *behind = block(b);
    leave_if(b, is_set(b, meta_in(b, i->a), b->u32));
    branch(b, is_set(b, stamp_in(b, i->d), b->u32), known, news);
    b->now = known;
    leave_if(b, is_set(b, meta_in(b, i->d), b->u32));
    branch(b, compare(b, GCC_JIT_COMPARISON_EQ, int_in(b, i->a), int_in(b, i->d)), behind, news);
    b->now = news;
    copy(b, i->d, i->a);
    go(b, behind);
    b->now = behind;
}

static void default_from(struct build *b, const struct ct_mon_insn *i)
{
    gcc_jit_block *yes = block(b), *no = block(b), *behind = block(b);
    branch(b, is_present(b, i->a), yes, no);
    b->now = yes;
    copy(b, i->d, i->a);
    go(b, behind);
    b->now = no;
    value first = is_zero(b, stamp_in(b, i->d), b->u32);
    WHEN(b, binary(b, GCC_JIT_BINARY_OP_LOGICAL_AND, b->truth, first, is_present(b, i->b)),
         copy(b, i->d, i->b));
    go(b, behind);
    b->now = behind;
}

static void check_delay(struct build *b, const struct ct_mon_insn *i)
{
    WHEN(b, is_present(b, i->a), {
        leave_if(b, is_set(b, meta_in(b, i->a), b->u32));
        leave_if(b, compare(b, GCC_JIT_COMPARISON_LE, int_in(b, i->a), number(b, b->i64, 0)));
    });
}

static void put(struct build *b, const struct ct_mon_insn *i)
{
    leave_if(b, is_set(b, bits(b, meta_in(b, i->a), META_ERR), b->u32));
    gcc_jit_lvalue *count = MEMBER(b, nresults, b->u64);
    value results = read(b, MEMBER(b, results, b->jit->type_get_pointer(b->result)));
    gcc_jit_lvalue *r = b->jit->context_new_array_access(b->ctx, NULL, results, read(b, count));
    assign(b, field(b, r, b->of_time), read(b, MEMBER(b, now, b->i64)));
    assign(b, field(b, r, b->of_payload), int_in(b, i->a));
    assign(b, field(b, r, b->of_output), number(b, b->u32, i->b));
    assign(b, field(b, r, b->of_form), meta_in(b, i->a));
    assign(b, count, binary(b, GCC_JIT_BINARY_OP_PLUS, b->u64, read(b, count), number(b, b->u64, 1)));
}

static void save(struct build *b, const struct ct_mon_insn *i)
{
    value stamp = stamp_in(b, i->a);
    assign(b, int_of(b, i->d), int_in(b, i->a));
    assign(b, field(b, cell_at(b, i->d), b->of_meta), meta_in(b, i->a));
    assign(b, field(b, cell_at(b, i->d), b->of_stamp), stamp);
}

static bool emit_operation(struct build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case OP_ADD:
        arithmetic(b, i, GCC_JIT_BINARY_OP_PLUS);
        return true;
    case OP_SUB:
        arithmetic(b, i, GCC_JIT_BINARY_OP_MINUS);
        return true;
    case OP_MUL:
        arithmetic(b, i, GCC_JIT_BINARY_OP_MULT);
        return true;
    case OP_DIV:
        divide(b, i, GCC_JIT_BINARY_OP_DIVIDE);
        return true;
    case OP_MOD:
        divide(b, i, GCC_JIT_BINARY_OP_MODULO);
        return true;
    case OP_BITAND:
        bitwise(b, i, GCC_JIT_BINARY_OP_BITWISE_AND);
        return true;
    case OP_BITOR:
        bitwise(b, i, GCC_JIT_BINARY_OP_BITWISE_OR);
        return true;
    case OP_BITXOR:
        bitwise(b, i, GCC_JIT_BINARY_OP_BITWISE_XOR);
        return true;
    case OP_FADD:
        float_arithmetic(b, i, GCC_JIT_BINARY_OP_PLUS);
        return true;
    case OP_FSUB:
        float_arithmetic(b, i, GCC_JIT_BINARY_OP_MINUS);
        return true;
    case OP_FMUL:
        float_arithmetic(b, i, GCC_JIT_BINARY_OP_MULT);
        return true;
    case OP_FDIV:
        float_arithmetic(b, i, GCC_JIT_BINARY_OP_DIVIDE);
        return true;
    default:
        return false;
    }
}

static bool emit_test(struct build *b, const struct ct_mon_insn *i)
{
    static const struct {
        uint8_t op;
        bool is_float;
        enum gcc_jit_comparison comparison;
    } tests[] = {
        {OP_LT, false, GCC_JIT_COMPARISON_LT}, {OP_GT, false, GCC_JIT_COMPARISON_GT},
        {OP_LE, false, GCC_JIT_COMPARISON_LE}, {OP_GE, false, GCC_JIT_COMPARISON_GE},
        {OP_EQ, false, GCC_JIT_COMPARISON_EQ}, {OP_NE, false, GCC_JIT_COMPARISON_NE},
        {OP_FLT, true, GCC_JIT_COMPARISON_LT}, {OP_FGT, true, GCC_JIT_COMPARISON_GT},
        {OP_FLE, true, GCC_JIT_COMPARISON_LE}, {OP_FGE, true, GCC_JIT_COMPARISON_GE},
    };
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++) {
        if (tests[k].op != i->op)
            continue;
        if (tests[k].is_float)
            float_comparison(b, i, tests[k].comparison);
        else
            comparison(b, i, tests[k].comparison);
        return true;
    }
    return false;
}

static bool emit_option(struct build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case OP_NOT:
        leave_if(b, is_set(b, meta_in(b, i->a), b->u32));
        set_int(b, i->d, cast(b, is_zero(b, int_in(b, i->a), b->i64), b->i64));
        return true;
    case OP_IS_NONE:
    case OP_IS_SOME:
        option_test(b, i, i->op == OP_IS_SOME);
        return true;
    case OP_SOME:
        some(b, i->d, i->a);
        return true;
    case OP_GET_SOME:
        leave_if(b, is_zero(b, bits(b, meta_in(b, i->a), META_SOME), b->u32));
        unwrap(b, i->d, i->a);
        return true;
    case I_OPTION:
        option(b, i);
        return true;
    case I_UNOPTION:
        unoption(b, i);
        return true;
    default:
        return false;
    }
}

static bool emit_way(struct build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_JUMP:
        go(b, target(b, i->d));
        b->now = block(b);
        return true;
    case I_JABSENT:
        jump_if(b, compare(b, GCC_JIT_COMPARISON_NE, stamp_in(b, i->a), b->stamp), i->d);
        return true;
    case I_JPRESENT:
        jump_if(b, is_present(b, i->a), i->d);
        return true;
    case I_JNEVER:
        jump_if(b, is_zero(b, stamp_in(b, i->a), b->u32), i->d);
        return true;
    case I_JFALSE:
        condition(b, i, false);
        return true;
    case I_JTRUE:
        condition(b, i, true);
        return true;
    case I_AND:
        and_or(b, i, false);
        return true;
    case I_OR:
        and_or(b, i, true);
        return true;
    default:
        return false;
    }
}

static bool emit_stream(struct build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_COPY:
        copy(b, i->d, i->a);
        return true;
    case I_SAVE:
        save(b, i);
        return true;
    case I_TIME:
        set_int(b, i->d, read(b, MEMBER(b, now, b->i64)));
        return true;
    case I_LAST:
        WHEN(b, is_set(b, stamp_in(b, i->a), b->u32), copy(b, i->d, i->a));
        return true;
    case I_LAST2:
        last2(b, i);
        return true;
    case I_PRESENT:
        set_int(b, i->d, cast(b, is_present(b, i->a), b->i64));
        return true;
    case I_PURE:
        pure(b, i);
        return true;
    case I_DEFAULT_FROM:
        default_from(b, i);
        return true;
    case I_CHECK_DELAY:
        check_delay(b, i);
        return true;
    case I_OUT:
        WHEN(b, is_present(b, i->a), put(b, i));
        return true;
    default:
        return false;
    }
}

static void emit_one(struct build *b, const struct ct_mon_insn *i)
{
    if (!emit_operation(b, i) && !emit_test(b, i) && !emit_option(b, i) && !emit_way(b, i) &&
        !emit_stream(b, i))
        by_bytecode(b);
}

/* ---- a program ---- */

static gcc_jit_type *basic(struct build *b, enum gcc_jit_types type)
{
    return b->jit->context_get_type(b->ctx, type);
}

static gcc_jit_field *new_field(struct build *b, gcc_jit_type *type, const char *name)
{
    return b->jit->context_new_field(b->ctx, NULL, type, name);
}

static void make_types(struct build *b)
{
    b->i64 = basic(b, GCC_JIT_TYPE_INT64_T);
    b->u64 = basic(b, GCC_JIT_TYPE_UINT64_T);
    b->u32 = basic(b, GCC_JIT_TYPE_UINT32_T);
    b->u8 = basic(b, GCC_JIT_TYPE_UINT8_T);
    b->truth = basic(b, GCC_JIT_TYPE_BOOL);
    b->wide = basic(b, GCC_JIT_TYPE_INT128_T);
    b->f64 = basic(b, GCC_JIT_TYPE_DOUBLE);
    b->bytes = b->jit->type_get_pointer(b->u8);
    gcc_jit_field *payload[] = {b->of_int = new_field(b, b->i64, "i"),
                                b->of_float = new_field(b, b->f64, "f")};
    gcc_jit_type *v = b->jit->context_new_union_type(b->ctx, NULL, "payload", 2, payload);
    gcc_jit_field *cell[] = {b->of_value = new_field(b, v, "v"), b->of_meta = new_field(b, b->u32, "meta"),
                             b->of_stamp = new_field(b, b->u32, "stamp")};
    b->cell = b->jit->struct_as_type(b->jit->context_new_struct_type(b->ctx, NULL, "cell", 3, cell));
    gcc_jit_field *result[] = {
        b->of_time = new_field(b, b->i64, "time"), b->of_payload = new_field(b, b->i64, "v"),
        b->of_output = new_field(b, b->u32, "output"), b->of_form = new_field(b, b->u32, "form")};
    b->result = b->jit->struct_as_type(b->jit->context_new_struct_type(b->ctx, NULL, "result", 4, result));
}

static gcc_jit_function *new_function(struct build *b, enum gcc_jit_function_kind kind, gcc_jit_type *type,
                                      const char *name)
{
    gcc_jit_param *params[] = {
        b->jit->context_new_param(b->ctx, NULL, b->bytes, "m"),
        b->jit->context_new_param(b->ctx, NULL, b->jit->type_get_pointer(b->cell), "cells"),
        b->jit->context_new_param(b->ctx, NULL, b->u32, "stamp")};
    b->fn = b->jit->context_new_function(b->ctx, NULL, kind, type, name, 3, params, 0);
    b->m = b->jit->param_as_rvalue(params[0]);
    b->cells = b->jit->param_as_rvalue(params[1]);
    b->stamp = b->jit->param_as_rvalue(params[2]);
    return b->fn;
}

/* Finds where the part that begins at `from` ends: it has PART_INSNS instructions at most, or one stream that
 * has more. */
static uint32_t part_end(const struct ct_mon_program *p, uint32_t from, uint32_t end)
{
    uint32_t cut = from;
    uint32_t reach = from;
    for (uint32_t i = from; i < end && (cut == from || i < from + PART_INSNS); i++) {
        const uint32_t to = insn_target(&p->code[i]);
        reach = to > reach ? to : reach;
        if (reach <= i + 1)
            cut = i + 1;
    }
    return cut == from ? end : cut;
}

/* Emits the instructions from b->first to `end` as a function. `only`: the program has no other part; the
 * function is internal then, and the compiler puts it into its caller. */
static gcc_jit_function *emit_part(struct build *b, uint32_t end, bool only, const char *name)
{
    gcc_jit_function *fn =
        new_function(b, only ? GCC_JIT_FUNCTION_INTERNAL : GCC_JIT_FUNCTION_EXPORTED, b->u32, name);
    const uint32_t count = end - b->first;
    memset(b->targets, 0, (count + 1) * sizeof *b->targets);
    b->at = b->jit->function_new_local(b->fn, NULL, b->u32, "at");
    b->now = block(b);
    b->exit = block(b);
    value rest = cast(b, call(b, ct_mon_vm_run, read(b, b->at)), b->u32);
    b->jit->block_end_with_return(
        b->exit, NULL, binary(b, GCC_JIT_BINARY_OP_MULT, b->u32, rest, number(b, b->u32, PART_LEFT)));
    /* Jumps go forward: a target is known before its instruction comes. */
    for (b->i = b->first; b->i <= end; b->i++) {
        gcc_jit_block *here = b->targets[b->i - b->first];
        if (here) {
            go(b, here);
            b->now = here;
        }
        if (b->i < end)
            emit_one(b, &b->p->code[b->i]);
    }
    b->jit->block_end_with_return(b->now, NULL, number(b, b->u32, PART_WENT_ON));
    return fn;
}

/* Calls the parts one after the other, as long as they go on, and the bytecode for what is behind them. */
static void emit_whole(struct build *b, gcc_jit_function **parts, size_t count, uint32_t end,
                       const char *name)
{
    new_function(b, GCC_JIT_FUNCTION_EXPORTED, b->truth, name);
    value args[] = {b->m, b->cells, b->stamp};
    gcc_jit_lvalue *how = b->jit->function_new_local(b->fn, NULL, b->u32, "how");
    b->now = block(b);
    gcc_jit_block *out = block(b);
    for (size_t i = 0; i < count; i++) {
        assign(b, how, b->jit->context_new_call(b->ctx, NULL, parts[i], 3, args));
        gcc_jit_block *on = block(b);
        branch(b, compare(b, GCC_JIT_COMPARISON_EQ, read(b, how), number(b, b->u32, PART_WENT_ON)), on, out);
        b->now = on;
    }
    const bool done = b->p->code[end].op == I_END;
    b->jit->block_end_with_return(
        b->now, NULL, done ? number(b, b->truth, 1) : call(b, ct_mon_vm_run, number(b, b->u32, end)));
    b->jit->block_end_with_return(
        out, NULL, compare(b, GCC_JIT_COMPARISON_EQ, read(b, how), number(b, b->u32, PART_LEFT)));
}

/* Emits the parts that there is room for. b->first is then the first instruction behind them. */
static size_t emit_parts(struct build *b, uint32_t end, size_t *room, gcc_jit_function **parts,
                         const char *name)
{
    char part[64];
    size_t n = 0;
    while (b->first < end) {
        const uint32_t cut = part_end(b->p, b->first, end);
        if (cut - b->first > *room)
            break;
        *room -= cut - b->first;
        snprintf(part, sizeof part, "%s_%zu", name, n);
        parts[n] = emit_part(b, cut, n == 0 && cut == end, part);
        n++;
        b->first = cut;
    }
    return n;
}

enum ct_mon_emitted ct_mon_native_emit(const struct ct_mon_jit_api *jit, gcc_jit_context *ctx,
                                       const struct ct_mon_program *p, uint32_t code, size_t count,
                                       size_t *room, const char *name)
{
    struct build b = {.jit = jit, .ctx = ctx, .p = p, .first = code};
    const uint32_t end = code + (uint32_t)count - 1; /* without I_END */
    gcc_jit_function **parts = calloc(count, sizeof *parts);
    b.targets = calloc(count, sizeof *b.targets);
    enum ct_mon_emitted emitted = EMIT_FAILED;
    if (b.targets && parts) {
        make_types(&b);
        const size_t n = emit_parts(&b, end, room, parts, name);
        emitted = n ? EMIT_SOME : EMIT_NOTHING;
        if (n)
            emit_whole(&b, parts, n, b.first, name);
    }
    free(parts);
    free(b.targets);
    return emitted;
}
