/* SPDX-License-Identifier: Apache-2.0 */
/* Emits bytecode instructions by libgccjit. Each does what vm.c does for plain operands; for others the
 * bytecode continues from that instruction (`leave_if`). So after an instruction its operands are known to be
 * plain, and most tests are omitted. */
#include "monitor/native_words.h"

static void set(struct ct_mon_build *b, uint32_t d, value x, value meta)
{
    assign(b, int_of(b, d), x);
    set_kind(b, d, meta);
}

static void set_int(struct ct_mon_build *b, uint32_t d, value x)
{
    set(b, d, x, number(b, b->u32, 0));
}

static void copy(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    copy_payload(b, d, a);
    set_kind(b, d, meta_in(b, a));
}

/* Bits of `meta` that an operand must not have. An Int must not have more than 64 bits either. */
enum {
    NOT_INT = -1,
    NOT_FLOAT = META_ERR | META_SOME,
};

/* Emits leaving to the bytecode when the meta of a cell has bits of the mask. */
static void leave_unless_plain(struct ct_mon_build *b, uint32_t k, uint32_t mask)
{
    uint32_t meta;
    if (!meta_known(b, k, &meta) || (meta & mask))
        leave_if(b, is_set(b, bits(b, meta_in(b, k), mask), b->u32));
}

static void need_plain(struct ct_mon_build *b, const struct ct_mon_insn *i, int mask)
{
    leave_unless_plain(b, i->a, (uint32_t)mask);
    leave_unless_plain(b, i->b, (uint32_t)mask);
}

/* Emits arithmetic by `checked`, such as __builtin_saddl_overflow. Leaves a result of more than 64 bits to
 * the bytecode. */
static void arithmetic(struct ct_mon_build *b, const struct ct_mon_insn *i, const char *checked)
{
    need_plain(b, i, NOT_INT);
    gcc_jit_lvalue *r = local(b, b->signed_long, "r");
    value args[] = {cast(b, int_in(b, i->a), b->signed_long), cast(b, int_in(b, i->b), b->signed_long),
                    b->jit->lvalue_get_address(r, NULL)};
    gcc_jit_function *fn = b->jit->context_get_builtin_function(b->ctx, checked);
    leave_if(b, b->jit->context_new_call(b->ctx, NULL, fn, 3, args));
    set_int(b, i->d, cast(b, read(b, r), b->i64));
}

static void divide(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_INT);
    leave_if(b, is_zero(b, int_in(b, i->b), b->i64));
    leave_if(b, compare(b, GCC_JIT_COMPARISON_EQ, int_in(b, i->b), number(b, b->i64, -1)));
    set_int(b, i->d, binary(b, op, b->i64, int_in(b, i->a), int_in(b, i->b)));
}

static void bitwise(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_INT);
    set_int(b, i->d, binary(b, op, b->i64, int_in(b, i->a), int_in(b, i->b)));
}

static void comparison(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_comparison op)
{
    need_plain(b, i, NOT_INT);
    set_int(b, i->d, cast(b, compare(b, op, int_in(b, i->a), int_in(b, i->b)), b->i64));
}

static void float_arithmetic(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op)
{
    need_plain(b, i, NOT_FLOAT);
    assign(b, float_of(b, i->d),
           binary(b, op, b->f64, read(b, float_of(b, i->a)), read(b, float_of(b, i->b))));
    set_kind(b, i->d, number(b, b->u32, META_FLOAT));
}

static void float_comparison(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_comparison op)
{
    need_plain(b, i, NOT_FLOAT);
    value x = compare(b, op, read(b, float_of(b, i->a)), read(b, float_of(b, i->b)));
    set_int(b, i->d, cast(b, x, b->i64));
}

/* Emits isSome and isNone, which ignore an error inside a Some. */
static void option_test(struct ct_mon_build *b, const struct ct_mon_insn *i, bool some)
{
    value meta = meta_in(b, i->a);
    value below =
        binary(b, GCC_JIT_BINARY_OP_MINUS, b->u32, bits(b, meta, META_SOME | META_ERR), number(b, b->u32, 1));
    leave_if(b, compare(b, GCC_JIT_COMPARISON_LT, below, number(b, b->u32, META_ERR)));
    value levels = bits(b, meta, META_SOME);
    value x = some ? is_set(b, levels, b->u32) : is_zero(b, levels, b->u32);
    set_int(b, i->d, cast(b, x, b->i64));
}

static void some(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    set(b, d, int_in(b, a),
        binary(b, GCC_JIT_BINARY_OP_PLUS, b->u32, meta_in(b, a), number(b, b->u32, META_SOME_ONE)));
}

static void unwrap(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    set(b, d, int_in(b, a),
        binary(b, GCC_JIT_BINARY_OP_MINUS, b->u32, meta_in(b, a), number(b, b->u32, META_SOME_ONE)));
}

/* Emits `yes` for when x holds, else `no`. */
#define EITHER(b, x, yes, no)                                                                                \
    do {                                                                                                     \
        gcc_jit_block *yes_ = block(b), *no_ = block(b), *end_ = block(b);                                   \
        branch(b, x, yes_, no_);                                                                             \
        (b)->now = yes_;                                                                                     \
        yes;                                                                                                 \
        go(b, end_);                                                                                         \
        (b)->now = no_;                                                                                      \
        no;                                                                                                  \
        go(b, end_);                                                                                         \
        (b)->now = end_;                                                                                     \
    } while (0)
#define WHEN(b, x, yes) EITHER(b, x, yes, (void)0)

static void copy_if_ever(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    WHEN(b, was_ever(b, a), copy(b, d, a));
}

static void last2(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    EITHER(b, is_present(b, i->a), copy_if_ever(b, i->d, i->b), copy_if_ever(b, i->d, i->a));
}

static void option(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    EITHER(b, is_present(b, i->a), some(b, i->d, i->a), set_int(b, i->d, number(b, b->i64, 0)));
}

static void condition(struct ct_mon_build *b, const struct ct_mon_insn *i, bool wanted)
{
    leave_unless_plain(b, i->a, META_ERR);
    value x = int_in(b, i->a);
    jump_if(b, wanted ? is_set(b, x, b->i64) : is_zero(b, x, b->i64), i->d);
}

static void and_or(struct ct_mon_build *b, const struct ct_mon_insn *i, bool stop)
{
    gcc_jit_block *taken = block(b), *on = block(b);
    leave_unless_plain(b, i->a, META_ERR);
    value x = int_in(b, i->a);
    branch(b, stop ? is_set(b, x, b->i64) : is_zero(b, x, b->i64), taken, on);
    b->now = taken;
    copy(b, i->d, i->a);
    go(b, target(b, i->b));
    b->now = on;
}

static void unoption(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    leave_unless_plain(b, i->a, META_ERR);
    WHEN(b, is_set(b, bits(b, meta_in(b, i->a), META_SOME), b->u32), unwrap(b, i->d, i->a));
}

/* Emits the event unless the value stays the same. Leaves values to the bytecode when comparing payloads is
 * not enough. */
static void pure(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    gcc_jit_block *known = block(b), *news = block(b), *behind = block(b);
    leave_unless_plain(b, i->a, UINT32_MAX);
    branch(b, was_ever(b, i->d), known, news);
    b->now = known;
    leave_unless_plain(b, i->d, UINT32_MAX);
    branch(b, compare(b, GCC_JIT_COMPARISON_EQ, int_in(b, i->a), int_in(b, i->d)), behind, news);
    b->now = news;
    copy(b, i->d, i->a);
    go(b, behind);
    b->now = behind;
}

static void copy_if_first(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    value first = was_never(b, d);
    WHEN(b, binary(b, GCC_JIT_BINARY_OP_LOGICAL_AND, b->truth, first, is_present(b, a)), copy(b, d, a));
}

static void default_from(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    EITHER(b, is_present(b, i->a), copy(b, i->d, i->a), copy_if_first(b, i->d, i->b));
}

static void check_delay(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    WHEN(b, is_present(b, i->a), {
        leave_unless_plain(b, i->a, UINT32_MAX);
        leave_if(b, compare(b, GCC_JIT_COMPARISON_LE, int_in(b, i->a), number(b, b->i64, 0)));
    });
}

/* ---- streams ---- */

static value clock_in(struct ct_mon_build *b)
{
    return read(b, b->held ? b->clock : MEMBER(b, now, b->i64));
}

static void put(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    leave_unless_plain(b, i->a, META_ERR);
    gcc_jit_lvalue *count = b->held ? b->count : MEMBER(b, nresults, b->u64);
    value results = read(b, b->held ? b->results : MEMBER(b, results, b->jit->type_get_pointer(b->result)));
    gcc_jit_lvalue *r = element(b, results, read(b, count));
    const bool is_float = is_held(b, i->a) && b->held[i->a].kind == KIND_FLOAT;
    assign(b, field(b, r, b->of_time), clock_in(b));
    if (is_float)
        assign(b, field(b, field(b, r, b->of_payload), b->of_float), read(b, float_of(b, i->a)));
    else
        assign(b, field(b, field(b, r, b->of_payload), b->of_int), int_in(b, i->a));
    assign(b, field(b, r, b->of_output), number(b, b->u32, i->b));
    assign(b, field(b, r, b->of_form), meta_in(b, i->a));
    assign(b, count, binary(b, GCC_JIT_BINARY_OP_PLUS, b->u64, read(b, count), number(b, b->u64, 1)));
}

/* Copies a cell including its stamp. */
static void save(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    copy_payload(b, i->d, i->a);
    if (b->held) {
        if (b->held[i->d].kind == KIND_MIXED)
            assign(b, b->held[i->d].meta, meta_in(b, i->a));
        set_ever(b, i->d, was_ever(b, i->a));
        assign(b, b->held[i->d].now, is_present(b, i->a));
        return;
    }
    assign(b, field(b, cell_at(b, i->d), b->of_meta), meta_in(b, i->a));
    assign(b, field(b, cell_at(b, i->d), b->of_stamp), stamp_in(b, i->a));
}

static bool emit_operation(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    static const struct {
        void (*emit)(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_binary_op op);
        enum gcc_jit_binary_op binary;
        uint8_t op;
    } operations[] = {
        {divide, GCC_JIT_BINARY_OP_DIVIDE, OP_DIV},
        {divide, GCC_JIT_BINARY_OP_MODULO, OP_MOD},
        {bitwise, GCC_JIT_BINARY_OP_BITWISE_AND, OP_BITAND},
        {bitwise, GCC_JIT_BINARY_OP_BITWISE_OR, OP_BITOR},
        {bitwise, GCC_JIT_BINARY_OP_BITWISE_XOR, OP_BITXOR},
        {float_arithmetic, GCC_JIT_BINARY_OP_PLUS, OP_FADD},
        {float_arithmetic, GCC_JIT_BINARY_OP_MINUS, OP_FSUB},
        {float_arithmetic, GCC_JIT_BINARY_OP_MULT, OP_FMUL},
        {float_arithmetic, GCC_JIT_BINARY_OP_DIVIDE, OP_FDIV},
    };
    const char *checked = i->op == OP_ADD   ? "__builtin_saddl_overflow"
                          : i->op == OP_SUB ? "__builtin_ssubl_overflow"
                          : i->op == OP_MUL ? "__builtin_smull_overflow"
                                            : NULL;
    if (checked)
        arithmetic(b, i, checked);
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (operations[k].op == i->op) {
            operations[k].emit(b, i, operations[k].binary);
            return true;
        }
    return checked != NULL;
}

static bool emit_test(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    static const struct {
        void (*emit)(struct ct_mon_build *b, const struct ct_mon_insn *i, enum gcc_jit_comparison op);
        enum gcc_jit_comparison comparison;
        uint8_t op;
    } tests[] = {
        {comparison, GCC_JIT_COMPARISON_LT, OP_LT},        {comparison, GCC_JIT_COMPARISON_GT, OP_GT},
        {comparison, GCC_JIT_COMPARISON_LE, OP_LE},        {comparison, GCC_JIT_COMPARISON_GE, OP_GE},
        {comparison, GCC_JIT_COMPARISON_EQ, OP_EQ},        {comparison, GCC_JIT_COMPARISON_NE, OP_NE},
        {float_comparison, GCC_JIT_COMPARISON_LT, OP_FLT}, {float_comparison, GCC_JIT_COMPARISON_GT, OP_FGT},
        {float_comparison, GCC_JIT_COMPARISON_LE, OP_FLE}, {float_comparison, GCC_JIT_COMPARISON_GE, OP_FGE},
    };
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++)
        if (tests[k].op == i->op) {
            tests[k].emit(b, i, tests[k].comparison);
            return true;
        }
    return false;
}

static bool emit_option(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case OP_NOT:
        leave_unless_plain(b, i->a, UINT32_MAX);
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

static bool emit_way(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_JUMP:
        go(b, target(b, i->d));
        b->now = block(b);
        return true;
    case I_JABSENT:
        jump_if(b, is_absent(b, i->a), i->d);
        return true;
    case I_JPRESENT:
        jump_if(b, is_present(b, i->a), i->d);
        return true;
    case I_JNEVER:
        jump_if(b, was_never(b, i->a), i->d);
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

static bool emit_stream(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    switch (i->op) {
    case I_COPY:
        copy(b, i->d, i->a);
        return true;
    case I_SAVE:
        save(b, i);
        return true;
    case I_TIME:
        set_int(b, i->d, clock_in(b));
        return true;
    case I_LAST:
        copy_if_ever(b, i->d, i->a);
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

/* Emits an instruction. Returns false when it has no machine code. */
static bool emit(struct ct_mon_build *b, const struct ct_mon_insn *i)
{
    return emit_operation(b, i) || emit_test(b, i) || emit_option(b, i) || emit_way(b, i) ||
           emit_stream(b, i);
}

void ct_mon_native_insns(struct ct_mon_build *b, uint32_t end, void (*other)(struct ct_mon_build *b))
{
    /* jumps go forward, so a target is known before its instruction */
    for (b->i = b->first; b->i <= end; b->i++) {
        gcc_jit_block *here = b->targets[b->i - b->first];
        if (here) {
            go(b, here);
            b->now = here;
        }
        if (b->i < end && !emit(b, &b->p->code[b->i]))
            other(b);
    }
}
