/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of emitted code: values, cells and blocks, in terms of libgccjit. Cells are in memory, or
 * local variables of the function. */
#pragma once

#include <stddef.h>
#include <string.h>

#include "monitor/native_emit.h"
#include "monitor/native_kinds.h"
#include "monitor/run.h"

typedef gcc_jit_rvalue *value;

/* A cell as local variables. */
struct ct_mon_held {
    enum ct_mon_kind kind;
    gcc_jit_lvalue *value, *meta;
    gcc_jit_lvalue *now;  /* the stream has an event at this instant */
    gcc_jit_lvalue *ever; /* word with the bit that says that the stream has had an event; NULL: not used */
    uint8_t ever_bit;
};

struct ct_mon_build {
    const struct ct_mon_jit_api *jit;
    gcc_jit_context *ctx;
    const struct ct_mon_program *p;
    gcc_jit_type *i64, *u64, *u32, *u8, *truth, *f64, *bytes, *cell, *result, *payload;
    gcc_jit_type *signed_long; /* type `long` of the compiler's builtins */
    gcc_jit_field *of_value, *of_int, *of_float, *of_meta, *of_stamp;
    gcc_jit_field *of_time, *of_payload, *of_output, *of_form;
    gcc_jit_function *expect;
    gcc_jit_function *fn;
    value m, cells;
    value stamp;                   /* stamp of this instant, for cells in memory */
    struct ct_mon_held *held;      /* by cell; NULL: cells are in memory */
    gcc_jit_lvalue *clock, *count; /* time and number of results, if cells are variables */
    gcc_jit_lvalue *results;       /* the results, if cells are variables */
    gcc_jit_lvalue *at;            /* instruction at which the bytecode continues */
    gcc_jit_block *exit, *now;
    gcc_jit_block **targets; /* jump targets, by instruction from `first` on */
    uint32_t first, i;
};

/* Makes the types that all functions of a context need. */
void ct_mon_native_types(struct ct_mon_build *b);

/* Emits the instructions from b->first to `end`, starting in block b->now. Calls `other` for those without
 * machine code. */
void ct_mon_native_insns(struct ct_mon_build *b, uint32_t end, void (*other)(struct ct_mon_build *b));

static inline value number(struct ct_mon_build *b, gcc_jit_type *type, int64_t n)
{
    return b->jit->context_new_rvalue_from_long(b->ctx, type, (long)n);
}

static inline value binary(struct ct_mon_build *b, enum gcc_jit_binary_op op, gcc_jit_type *type, value x,
                           value y)
{
    return b->jit->context_new_binary_op(b->ctx, NULL, op, type, x, y);
}

static inline value compare(struct ct_mon_build *b, enum gcc_jit_comparison op, value x, value y)
{
    return b->jit->context_new_comparison(b->ctx, NULL, op, x, y);
}

static inline value cast(struct ct_mon_build *b, value x, gcc_jit_type *type)
{
    return b->jit->context_new_cast(b->ctx, NULL, x, type);
}

static inline value read(struct ct_mon_build *b, gcc_jit_lvalue *x)
{
    return b->jit->lvalue_as_rvalue(x);
}

static inline void assign(struct ct_mon_build *b, gcc_jit_lvalue *x, value y)
{
    b->jit->block_add_assignment(b->now, NULL, x, y);
}

static inline value is_zero(struct ct_mon_build *b, value x, gcc_jit_type *type)
{
    return compare(b, GCC_JIT_COMPARISON_EQ, x, number(b, type, 0));
}

static inline value is_set(struct ct_mon_build *b, value x, gcc_jit_type *type)
{
    return compare(b, GCC_JIT_COMPARISON_NE, x, number(b, type, 0));
}

static inline value bits(struct ct_mon_build *b, value x, uint32_t mask)
{
    return binary(b, GCC_JIT_BINARY_OP_BITWISE_AND, b->u32, x, number(b, b->u32, mask));
}

static inline gcc_jit_lvalue *local(struct ct_mon_build *b, gcc_jit_type *type, const char *name)
{
    return b->jit->function_new_local(b->fn, NULL, type, name);
}

/* ---- cells ---- */

static inline gcc_jit_lvalue *element(struct ct_mon_build *b, value array, value index)
{
    return b->jit->context_new_array_access(b->ctx, NULL, array, index);
}

static inline gcc_jit_lvalue *cell_at(struct ct_mon_build *b, uint32_t k)
{
    return element(b, b->cells, number(b, b->u64, k));
}

static inline gcc_jit_lvalue *field(struct ct_mon_build *b, gcc_jit_lvalue *of, gcc_jit_field *f)
{
    return b->jit->lvalue_access_field(of, NULL, f);
}

/* Returns a member of the run by its offset. */
static inline gcc_jit_lvalue *member(struct ct_mon_build *b, size_t offset, gcc_jit_type *type)
{
    value place = b->jit->lvalue_get_address(element(b, b->m, number(b, b->u64, (int64_t)offset)), NULL);
    return b->jit->rvalue_dereference(cast(b, place, b->jit->type_get_pointer(type)), NULL);
}

#define MEMBER(b, name, type) member(b, offsetof(struct ct_monitor, name), type)

static inline bool is_constant(const struct ct_mon_build *b, uint32_t k)
{
    return k < b->p->nconstants;
}

static inline bool is_held(const struct ct_mon_build *b, uint32_t k)
{
    return b->held && !is_constant(b, k);
}

static inline gcc_jit_lvalue *int_of(struct ct_mon_build *b, uint32_t k)
{
    return is_held(b, k) ? b->held[k].value : field(b, field(b, cell_at(b, k), b->of_value), b->of_int);
}

static inline gcc_jit_lvalue *float_of(struct ct_mon_build *b, uint32_t k)
{
    return is_held(b, k) ? b->held[k].value : field(b, field(b, cell_at(b, k), b->of_value), b->of_float);
}

static inline value int_in(struct ct_mon_build *b, uint32_t k)
{
    return is_constant(b, k) ? number(b, b->i64, b->p->constants[k].v.i) : read(b, int_of(b, k));
}

/* Returns whether the kind of a cell's value is known at compile time, and gets its meta. */
static inline bool meta_known(const struct ct_mon_build *b, uint32_t k, uint32_t *meta)
{
    if (is_constant(b, k))
        *meta = b->p->constants[k].meta;
    else if (b->held && b->held[k].kind != KIND_MIXED)
        *meta = b->held[k].kind == KIND_FLOAT ? META_FLOAT : 0;
    else
        return false;
    return true;
}

static inline value meta_in(struct ct_mon_build *b, uint32_t k)
{
    uint32_t meta;
    if (meta_known(b, k, &meta))
        return number(b, b->u32, meta);
    return read(b, b->held ? b->held[k].meta : field(b, cell_at(b, k), b->of_meta));
}

static inline value stamp_in(struct ct_mon_build *b, uint32_t k)
{
    return read(b, field(b, cell_at(b, k), b->of_stamp));
}

static inline value is_present(struct ct_mon_build *b, uint32_t k)
{
    if (is_constant(b, k))
        return number(b, b->truth, 0);
    return b->held ? read(b, b->held[k].now) : compare(b, GCC_JIT_COMPARISON_EQ, stamp_in(b, k), b->stamp);
}

static inline value is_absent(struct ct_mon_build *b, uint32_t k)
{
    return b->jit->context_new_unary_op(b->ctx, NULL, GCC_JIT_UNARY_OP_LOGICAL_NEGATE, b->truth,
                                        is_present(b, k));
}

/* Returns a value that is true if the stream ever had an event. */
static inline value was_ever(struct ct_mon_build *b, uint32_t k)
{
    if (is_constant(b, k))
        return number(b, b->truth, 0);
    if (!b->held)
        return is_set(b, stamp_in(b, k), b->u32);
    const struct ct_mon_held *h = &b->held[k];
    if (!h->ever)
        return read(b, h->now);
    return is_set(b,
                  binary(b, GCC_JIT_BINARY_OP_BITWISE_AND, b->u64, read(b, h->ever),
                         number(b, b->u64, (int64_t)(UINT64_C(1) << h->ever_bit))),
                  b->u64);
}

/* Emits noting, for a cell in variables, that it has had an event, when x holds. */
static inline void set_ever(struct ct_mon_build *b, uint32_t d, value x)
{
    const struct ct_mon_held *h = &b->held[d];
    if (!h->ever)
        return;
    value bit = binary(b, GCC_JIT_BINARY_OP_LSHIFT, b->u64, cast(b, cast(b, x, b->u8), b->u64),
                       number(b, b->u64, h->ever_bit));
    assign(b, h->ever, binary(b, GCC_JIT_BINARY_OP_BITWISE_OR, b->u64, read(b, h->ever), bit));
}

static inline value was_never(struct ct_mon_build *b, uint32_t k)
{
    return b->jit->context_new_unary_op(b->ctx, NULL, GCC_JIT_UNARY_OP_LOGICAL_NEGATE, b->truth,
                                        was_ever(b, k));
}

static inline void set_kind(struct ct_mon_build *b, uint32_t d, value meta)
{
    if (!b->held) {
        assign(b, field(b, cell_at(b, d), b->of_meta), meta);
        assign(b, field(b, cell_at(b, d), b->of_stamp), b->stamp);
        return;
    }
    if (b->held[d].kind == KIND_MIXED)
        assign(b, b->held[d].meta, meta);
    set_ever(b, d, number(b, b->truth, 1));
    assign(b, b->held[d].now, number(b, b->truth, 1));
}

/* Emits copying the payload of a cell, without its kind. */
static inline void copy_payload(struct ct_mon_build *b, uint32_t d, uint32_t a)
{
    if (b->held && b->held[d].kind == KIND_FLOAT)
        assign(b, float_of(b, d), read(b, float_of(b, a)));
    else
        assign(b, int_of(b, d), int_in(b, a));
}

/* ---- control flow ---- */

static inline gcc_jit_block *block(struct ct_mon_build *b)
{
    return b->jit->function_new_block(b->fn, NULL);
}

static inline void branch(struct ct_mon_build *b, value x, gcc_jit_block *yes, gcc_jit_block *no)
{
    b->jit->block_end_with_conditional(b->now, NULL, x, yes, no);
}

static inline void go(struct ct_mon_build *b, gcc_jit_block *to)
{
    b->jit->block_end_with_jump(b->now, NULL, to);
    b->now = NULL;
}

/* Marks x as unlikely for the compiler. */
static inline value rarely(struct ct_mon_build *b, value x)
{
    value args[] = {cast(b, cast(b, x, b->u8), b->signed_long), number(b, b->signed_long, 0)};
    return is_set(b, b->jit->context_new_call(b->ctx, NULL, b->expect, 2, args), b->signed_long);
}

static inline gcc_jit_block *target(struct ct_mon_build *b, uint32_t insn)
{
    gcc_jit_block **t = &b->targets[insn - b->first];
    if (!*t)
        *t = block(b);
    return *t;
}

/* Emits leaving the rest, from this instruction on, to the bytecode when x holds. */
static inline void leave_if(struct ct_mon_build *b, value x)
{
    gcc_jit_block *out = block(b), *on = block(b);
    branch(b, rarely(b, x), out, on);
    b->now = out;
    assign(b, b->at, number(b, b->u32, b->i));
    go(b, b->exit);
    b->now = on;
}

static inline void jump_if(struct ct_mon_build *b, value x, uint32_t to)
{
    gcc_jit_block *on = block(b);
    branch(b, x, target(b, to), on);
    b->now = on;
}
