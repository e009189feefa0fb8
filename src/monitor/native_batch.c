/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of all inputs as one function that takes a batch of events. Cells are local variables, which
 * the compiler keeps in registers or eliminates; whether a stream has an event, above all, is known in most
 * places. Kinds of values are known in advance (native_kinds.h) and not tested. */
#include "monitor/native_batch.h"

#include <stdlib.h>

#include "monitor/native_words.h"

_Static_assert(sizeof(struct ct_monitor_event) == 24 && offsetof(struct ct_monitor_event, input) == 8 &&
                   offsetof(struct ct_monitor_event, v) == 16,
               "an event is told to the compiler as it is");

enum {
    BATCH_ROOTS = 1024, /* most streams and former values */
    BATCH_INSNS = 500,  /* most instructions, over all programs: the compiler takes 0.3 s for so many */
};

struct batch {
    struct ct_mon_build b;
    const uint8_t *kinds;
    const bool *written;
    gcc_jit_type *event;
    gcc_jit_field *of_event_time, *of_input, *of_event_value;
    value events, limit, taken;
    gcc_jit_lvalue *i;           /* index of the next event */
    gcc_jit_lvalue *time, *next; /* time and input of the next event */
    gcc_jit_lvalue *only;        /* input of the open instant */
    gcc_jit_lvalue *first;       /* first result of the instant */
    gcc_jit_block *done;         /* block where no instant is in progress */
    gcc_jit_block **run;         /* by input: block of its event's instant */
    gcc_jit_block **accept;      /* by input: block that accepts its event */
    gcc_jit_lvalue *ever[BATCH_ROOTS / 64];
};

static size_t insn_count(const struct ct_mon_program *p)
{
    size_t n = 0;
    for (size_t k = 0; k < p->ninputs; k++)
        for (uint32_t i = p->inputs[k].code; i != NO_CODE && p->code[i].op != I_END; i++)
            n++;
    return n;
}

static void make_event_type(struct batch *s)
{
    struct ct_mon_build *b = &s->b;
    gcc_jit_field *fields[] = {
        s->of_event_time = b->jit->context_new_field(b->ctx, NULL, b->i64, "time"),
        s->of_input = b->jit->context_new_field(b->ctx, NULL, b->u32, "input"),
        b->jit->context_new_field(b->ctx, NULL, b->u32, "size"),
        s->of_event_value = b->jit->context_new_field(b->ctx, NULL, b->payload, "v"),
    };
    s->event = b->jit->struct_as_type(b->jit->context_new_struct_type(b->ctx, NULL, "event", 4, fields));
}

static void make_function(struct batch *s, const char *name)
{
    struct ct_mon_build *b = &s->b;
    gcc_jit_param *params[] = {
        b->jit->context_new_param(b->ctx, NULL, b->bytes, "m"),
        b->jit->context_new_param(b->ctx, NULL, b->jit->type_get_pointer(b->cell), "cells"),
        b->jit->context_new_param(b->ctx, NULL, b->jit->type_get_pointer(s->event), "events"),
        b->jit->context_new_param(b->ctx, NULL, b->u64, "limit"),
        b->jit->context_new_param(b->ctx, NULL, b->jit->type_get_pointer(b->u64), "taken"),
    };
    b->fn = b->jit->context_new_function(b->ctx, NULL, GCC_JIT_FUNCTION_EXPORTED, b->u32, name, 5, params, 0);
    b->m = b->jit->param_as_rvalue(params[0]);
    b->cells = b->jit->param_as_rvalue(params[1]);
    s->events = b->jit->param_as_rvalue(params[2]);
    s->limit = b->jit->param_as_rvalue(params[3]);
    s->taken = b->jit->param_as_rvalue(params[4]);
    b->now = block(b);
    b->exit = block(b);
    s->done = block(b);
}

/* ---- entry and exit ---- */

static void load_cell(struct batch *s, uint32_t k)
{
    struct ct_mon_build *b = &s->b;
    struct ct_mon_held *h = &b->held[k];
    struct ct_mon_held *const all = b->held;
    const bool is_float = s->kinds[k] == KIND_FLOAT;
    *h = (struct ct_mon_held){
        .kind = (enum ct_mon_kind)s->kinds[k],
        .value = local(b, is_float ? b->f64 : b->i64, "value"),
        .meta = s->kinds[k] == KIND_MIXED ? local(b, b->u32, "meta") : NULL,
        .now = local(b, b->truth, "now"),
    };
    b->held = NULL; /* from here on, cells are in memory */
    value held = is_float ? read(b, float_of(b, k)) : read(b, int_of(b, k));
    value meta = meta_in(b, k);
    value ever = was_ever(b, k);
    b->held = all;
    assign(b, h->value, held);
    if (h->meta)
        assign(b, h->meta, meta);
    assign(b, h->now, number(b, b->truth, 0));
    if (k >= b->p->roots_to)
        return;
    const uint32_t root = k - b->p->roots_from;
    if (!s->ever[root / 64]) {
        s->ever[root / 64] = local(b, b->u64, "ever");
        assign(b, s->ever[root / 64], number(b, b->u64, 0));
    }
    h->ever = s->ever[root / 64];
    h->ever_bit = root % 64;
    set_ever(b, k, ever);
}

/* Emits writing a cell back. Its stamp becomes that of the instant, the one before, or 0. */
static void store_cell(struct batch *s, uint32_t k, value stamp)
{
    struct ct_mon_build *b = &s->b;
    const struct ct_mon_held *h = &b->held[k];
    value before = binary(b, GCC_JIT_BINARY_OP_MINUS, b->u32, stamp, number(b, b->u32, 1));
    value ever =
        binary(b, GCC_JIT_BINARY_OP_MULT, b->u32, cast(b, cast(b, was_ever(b, k), b->u8), b->u32), before);
    value now = cast(b, cast(b, read(b, h->now), b->u8), b->u32);
    gcc_jit_lvalue *cell = cell_at(b, k);
    gcc_jit_field *payload = h->kind == KIND_FLOAT ? b->of_float : b->of_int;
    assign(b, field(b, field(b, cell, b->of_value), payload), read(b, h->value));
    assign(b, field(b, cell, b->of_meta), meta_in(b, k));
    assign(b, field(b, cell, b->of_stamp), binary(b, GCC_JIT_BINARY_OP_PLUS, b->u32, ever, now));
}

static void switch_on(struct batch *s, gcc_jit_lvalue *input, gcc_jit_block **to)
{
    struct ct_mon_build *b = &s->b;
    const size_t n = b->p->ninputs;
    gcc_jit_case *cases[BATCH_INPUTS];
    for (size_t k = 0; k + 1 < n; k++)
        cases[k] = b->jit->context_new_case(b->ctx, number(b, b->u32, (int64_t)k),
                                            number(b, b->u32, (int64_t)k), to[k]);
    if (n == 1)
        go(b, to[0]);
    else
        b->jit->block_end_with_switch(b->now, NULL, read(b, input), to[n - 1], (int)n - 1, cases);
}

static void emit_entry(struct batch *s)
{
    struct ct_mon_build *b = &s->b;
    s->i = local(b, b->u64, "i");
    s->time = local(b, b->i64, "time");
    s->next = local(b, b->u32, "next");
    s->only = local(b, b->u32, "only");
    s->first = local(b, b->u64, "first");
    b->at = local(b, b->u32, "at");
    b->clock = local(b, b->i64, "clock");
    b->count = local(b, b->u64, "count");
    b->results = local(b, b->jit->type_get_pointer(b->result), "results");
    assign(b, s->i, number(b, b->u64, 0));
    assign(b, b->clock, read(b, MEMBER(b, now, b->i64)));
    assign(b, b->count, read(b, MEMBER(b, nresults, b->u64)));
    assign(b, b->results, read(b, MEMBER(b, results, b->jit->type_get_pointer(b->result))));
    assign(b, s->only, read(b, MEMBER(b, only, b->u32)));
    for (uint32_t k = (uint32_t)b->p->nconstants; k < b->p->ncells; k++)
        if (s->kinds[k])
            load_cell(s, k);
    switch_on(s, s->only, s->run);
}

static void emit_exit(struct batch *s)
{
    struct ct_mon_build *b = &s->b;
    b->now = s->done;
    assign(b, b->at, number(b, b->u32, NO_CODE));
    go(b, b->exit);
    b->now = b->exit;
    gcc_jit_lvalue *stamp = MEMBER(b, stamp, b->u32);
    assign(b, stamp,
           binary(b, GCC_JIT_BINARY_OP_PLUS, b->u32, read(b, stamp), cast(b, read(b, s->i), b->u32)));
    for (uint32_t k = (uint32_t)b->p->nconstants; k < b->p->ncells; k++)
        if (s->written[k])
            store_cell(s, k, read(b, stamp));
    assign(b, MEMBER(b, now, b->i64), read(b, b->clock));
    assign(b, MEMBER(b, only, b->u32), read(b, s->only));
    assign(b, MEMBER(b, nresults, b->u64), read(b, b->count));
    assign(b, MEMBER(b, instant_first, b->u64), read(b, s->first));
    assign(b, b->jit->rvalue_dereference(s->taken, NULL), read(b, s->i));
    b->jit->block_end_with_return(b->now, NULL, read(b, b->at));
}

/* ---- an instant ---- */

static void done_if(struct batch *s, value x)
{
    gcc_jit_block *on = block(&s->b);
    branch(&s->b, rarely(&s->b, x), s->done, on);
    s->b.now = on;
}

/* Emits a stop unless the next event is of a later instant, which closes this one. */
static void look_ahead(struct batch *s)
{
    struct ct_mon_build *b = &s->b;
    done_if(s, compare(b, GCC_JIT_COMPARISON_EQ, read(b, s->i), s->limit));
    gcc_jit_lvalue *event = element(b, s->events, read(b, s->i));
    assign(b, s->time, read(b, field(b, event, s->of_event_time)));
    done_if(s, compare(b, GCC_JIT_COMPARISON_LE, read(b, s->time), read(b, b->clock)));
    assign(b, s->next, read(b, field(b, event, s->of_input)));
    done_if(s,
            compare(b, GCC_JIT_COMPARISON_GE, read(b, s->next), number(b, b->u32, (int64_t)b->p->ninputs)));
}

/* Emits the reset of a cell for a new instant. Cells after the roots live no longer than a program, so their
 * values need not be kept. */
static void begin_cell(struct batch *s, uint32_t k, bool now)
{
    struct ct_mon_build *b = &s->b;
    const struct ct_mon_held *h = &b->held[k];
    assign(b, h->now, number(b, b->truth, now));
    if (k < b->p->roots_to)
        return;
    assign(b, h->value, number(b, h->kind == KIND_FLOAT ? b->f64 : b->i64, 0));
    if (h->meta)
        assign(b, h->meta, number(b, b->u32, 0));
}

/* Emits the instant of an event of the input, and the code that opens the next event's instant. */
static void emit_run(struct batch *s, uint32_t input)
{
    struct ct_mon_build *b = &s->b;
    const struct ct_mon_input_info *in = &b->p->inputs[input];
    b->now = s->run[input];
    for (uint32_t k = (uint32_t)b->p->nconstants; k < b->p->ncells; k++)
        if (s->kinds[k])
            begin_cell(s, k, in->cell == k);
    assign(b, s->only, number(b, b->u32, input));
    assign(b, s->first, read(b, b->count));
    look_ahead(s);
    if (in->code != NO_CODE) {
        uint32_t end = in->code;
        while (b->p->code[end].op != I_END)
            end++;
        memset(b->targets, 0, (end - in->code + 1) * sizeof *b->targets);
        b->first = in->code;
        ct_mon_native_insns(b, end, NULL);
    }
    assign(b, b->clock, read(b, s->time));
    assign(b, s->i, binary(b, GCC_JIT_BINARY_OP_PLUS, b->u64, read(b, s->i), number(b, b->u64, 1)));
    switch_on(s, s->next, s->accept);
}

/* Emits what an event changes before its instant: the cell of the input, and the cell of its former value. */
static void emit_accept(struct batch *s, uint32_t input)
{
    struct ct_mon_build *b = &s->b;
    const struct ct_mon_input_info *in = &b->p->inputs[input];
    b->now = s->accept[input];
    if (in->prev != NO_CELL) {
        copy_payload(b, in->prev, in->cell);
        set_ever(b, in->prev, was_ever(b, in->cell));
        if (b->held[in->prev].kind == KIND_MIXED)
            assign(b, b->held[in->prev].meta, meta_in(b, in->cell));
    }
    if (in->cell != NO_CELL) {
        value before = binary(b, GCC_JIT_BINARY_OP_MINUS, b->u64, read(b, s->i), number(b, b->u64, 1));
        gcc_jit_lvalue *v = field(b, element(b, s->events, before), s->of_event_value);
        value x = read(b, field(b, v, b->of_int));
        if (in->type->kind == TY_FLOAT)
            x = read(b, field(b, v, b->of_float));
        else if (in->type->kind == TY_BOOL)
            x = cast(b, is_set(b, x, b->i64), b->i64);
        else if (in->type->kind != TY_INT)
            x = number(b, b->i64, 0);
        assign(b, b->held[in->cell].value, x);
        if (b->held[in->cell].kind == KIND_MIXED)
            assign(b, b->held[in->cell].meta, number(b, b->u32, 0));
        set_ever(b, in->cell, number(b, b->truth, 1));
    }
    go(b, s->run[input]);
}

static void emit_batch(struct batch *s, const char *name)
{
    struct ct_mon_build *b = &s->b;
    ct_mon_native_types(b);
    make_event_type(s);
    make_function(s, name);
    for (size_t k = 0; k < b->p->ninputs; k++) {
        s->run[k] = block(b);
        s->accept[k] = block(b);
    }
    emit_entry(s);
    for (uint32_t k = 0; k < b->p->ninputs; k++) {
        emit_run(s, k);
        emit_accept(s, k);
    }
    emit_exit(s);
}

static bool fits(const struct ct_mon_program *p, uint8_t *kinds, bool *written)
{
    const size_t n = insn_count(p);
    return p->ninputs && p->ninputs <= BATCH_INPUTS && n && n <= BATCH_INSNS &&
           p->roots_to - p->roots_from <= BATCH_ROOTS && ct_mon_native_kinds(p, kinds, written);
}

bool ct_mon_native_batch(const struct ct_mon_jit_api *jit, gcc_jit_context *ctx,
                         const struct ct_mon_program *p, const char *name)
{
    uint8_t *kinds = calloc(p->ncells + 1, sizeof *kinds);
    bool *written = calloc(p->ncells + 1, sizeof *written);
    gcc_jit_block *run[BATCH_INPUTS];
    gcc_jit_block *accept[BATCH_INPUTS];
    struct batch s = {.b = {.jit = jit, .ctx = ctx, .p = p},
                      .kinds = kinds,
                      .written = written,
                      .run = run,
                      .accept = accept};
    s.b.held = calloc(p->ncells + 1, sizeof *s.b.held);
    s.b.targets = calloc(BATCH_INSNS + 1, sizeof *s.b.targets);
    const bool memory = kinds && written && s.b.held && s.b.targets;
    if (memory && fits(p, kinds, written))
        emit_batch(&s, name);
    free(kinds);
    free(written);
    free(s.b.held);
    free(s.b.targets);
    return memory;
}
