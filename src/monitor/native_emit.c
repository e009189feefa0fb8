/* SPDX-License-Identifier: Apache-2.0 */
/* A bytecode program as a function that executes one instant, with cells in memory. */
#include "monitor/native_emit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/native_words.h"

_Static_assert(sizeof(struct ct_mon_cell) == 16 && offsetof(struct ct_mon_cell, meta) == 8 &&
                   offsetof(struct ct_mon_cell, stamp) == 12,
               "a cell is told to the compiler as it is");
_Static_assert(sizeof(struct ct_monitor_result) == 24 && offsetof(struct ct_monitor_result, v) == 8 &&
                   offsetof(struct ct_monitor_result, output) == 16 &&
                   offsetof(struct ct_monitor_result, form) == 20,
               "a result is told to the compiler as it is");

/* Results of the functions that a program is divided into. Divisions are between two streams, where no jump
 * crosses. Long functions are divided because compile time grows faster than their length. */
enum {
    PART_FAILED,
    PART_WENT_ON, /* continue with the next part */
    PART_LEFT,    /* the bytecode did the rest of the program */
    PART_INSNS = 150,
};

static value call(struct ct_mon_build *b, bool (*fn)(struct ct_monitor *, uint32_t), value insn)
{
    value args[] = {b->m, insn};
    gcc_jit_type *types[] = {b->bytes, b->u32};
    gcc_jit_type *type = b->jit->context_new_function_ptr_type(b->ctx, NULL, b->truth, 2, types, 0);
    void *place;
    memcpy(&place, &fn, sizeof place);
    return b->jit->context_new_call_through_ptr(
        b->ctx, NULL, b->jit->context_new_rvalue_from_ptr(b->ctx, type, place), 2, args);
}

/* Emits a call that lets the bytecode execute this one instruction, which has no machine code. */
static void by_bytecode(struct ct_mon_build *b)
{
    value done = call(b, ct_mon_vm_one, number(b, b->u32, b->i));
    gcc_jit_block *failed = block(b), *on = block(b);
    branch(b, done, on, failed);
    b->jit->block_end_with_return(failed, NULL, number(b, b->u32, PART_FAILED));
    b->now = on;
}

static gcc_jit_type *basic(struct ct_mon_build *b, enum gcc_jit_types type)
{
    return b->jit->context_get_type(b->ctx, type);
}

static gcc_jit_field *new_field(struct ct_mon_build *b, gcc_jit_type *type, const char *name)
{
    return b->jit->context_new_field(b->ctx, NULL, type, name);
}

void ct_mon_native_types(struct ct_mon_build *b)
{
    b->i64 = basic(b, GCC_JIT_TYPE_INT64_T);
    b->u64 = basic(b, GCC_JIT_TYPE_UINT64_T);
    b->u32 = basic(b, GCC_JIT_TYPE_UINT32_T);
    b->u8 = basic(b, GCC_JIT_TYPE_UINT8_T);
    b->truth = basic(b, GCC_JIT_TYPE_BOOL);
    b->signed_long = basic(b, GCC_JIT_TYPE_LONG);
    b->expect = b->jit->context_get_builtin_function(b->ctx, "__builtin_expect");
    b->f64 = basic(b, GCC_JIT_TYPE_DOUBLE);
    b->bytes = b->jit->type_get_pointer(b->u8);
    gcc_jit_field *payload[] = {b->of_int = new_field(b, b->i64, "i"),
                                b->of_float = new_field(b, b->f64, "f")};
    b->payload = b->jit->context_new_union_type(b->ctx, NULL, "payload", 2, payload);
    gcc_jit_field *cell[] = {b->of_value = new_field(b, b->payload, "v"),
                             b->of_meta = new_field(b, b->u32, "meta"),
                             b->of_stamp = new_field(b, b->u32, "stamp")};
    b->cell = b->jit->struct_as_type(b->jit->context_new_struct_type(b->ctx, NULL, "cell", 3, cell));
    gcc_jit_field *result[] = {
        b->of_time = new_field(b, b->i64, "time"), b->of_payload = new_field(b, b->payload, "v"),
        b->of_output = new_field(b, b->u32, "output"), b->of_form = new_field(b, b->u32, "form")};
    b->result = b->jit->struct_as_type(b->jit->context_new_struct_type(b->ctx, NULL, "result", 4, result));
}

static gcc_jit_function *new_function(struct ct_mon_build *b, enum gcc_jit_function_kind kind,
                                      gcc_jit_type *type, const char *name)
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

/* Returns the end of the part that begins at `from`: at most PART_INSNS instructions, or one longer
 * stream. */
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

/* Emits the instructions from b->first to `end` as a function. `only`: the program has no other part, so the
 * function is internal and the compiler inlines it. */
static gcc_jit_function *emit_part(struct ct_mon_build *b, uint32_t end, bool only, const char *name)
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
    ct_mon_native_insns(b, end, by_bytecode);
    b->jit->block_end_with_return(b->now, NULL, number(b, b->u32, PART_WENT_ON));
    return fn;
}

/* Emits calls of the parts in order, as long as each went on, and of the bytecode for the rest. */
static void emit_whole(struct ct_mon_build *b, gcc_jit_function **parts, size_t count, uint32_t end,
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

/* Emits the parts that fit. Sets b->first to the first instruction after them. */
static size_t emit_parts(struct ct_mon_build *b, uint32_t end, size_t *room, gcc_jit_function **parts,
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
    struct ct_mon_build b = {.jit = jit, .ctx = ctx, .p = p, .first = code};
    const uint32_t end = code + (uint32_t)count - 1; /* without I_END */
    gcc_jit_function **parts = calloc(count, sizeof *parts);
    b.targets = calloc(count, sizeof *b.targets);
    enum ct_mon_emitted emitted = EMIT_FAILED;
    if (b.targets && parts) {
        ct_mon_native_types(&b);
        const size_t n = emit_parts(&b, end, room, parts, name);
        emitted = n ? EMIT_SOME : EMIT_NOTHING;
        if (n)
            emit_whole(&b, parts, n, b.first, name);
    }
    free(parts);
    free(b.targets);
    return emitted;
}
