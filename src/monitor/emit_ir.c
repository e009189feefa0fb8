/* SPDX-License-Identifier: Apache-2.0 */
/* Emits functions on values. A value is computed where it is first needed; values computed in a branch are
 * forgotten after it. */
#include "monitor/emit.h"

enum {
    CODE_MOST = 4 << 20,
    STATIC_DEPTH = 12
};

uint32_t ct_mon_emit_insn(struct ct_mon_emit *m, uint32_t op, uint32_t d, uint32_t a, uint32_t b)
{
    const struct ct_mon_insn i = {op, d, a, b};
    if (m->p->ncode >= CODE_MOST)
        ct_mon_arena_leave(m->e->arena, ARENA_LIMIT);
    ARENA_PUSH(m->e->arena, m->p->code, m->p->ncode, m->p->code_cap, i);
    return (uint32_t)m->p->ncode - 1;
}

void ct_mon_emit_jump(struct ct_mon_emit *m, struct ct_mon_label *l, uint32_t op, uint32_t a)
{
    uint32_t at = ct_mon_emit_insn(m, op, 0, a, 0);
    ARENA_PUSH(m->e->arena, l->at, l->n, l->cap, at);
}

void ct_mon_emit_land(struct ct_mon_emit *m, struct ct_mon_label *l)
{
    for (size_t i = 0; i < l->n; i++)
        m->p->code[l->at[i]].d = emit_here(m);
    l->n = 0;
}

uint32_t ct_mon_emit_constant(struct ct_mon_emit *m, struct ct_mon_cell value)
{
    value.stamp = 0;
    ARENA_PUSH(m->e->arena, m->p->constants, m->p->nconstants, m->p->constants_cap, value);
    return (uint32_t)m->p->nconstants - 1;
}

static uint32_t new_temp(struct ct_mon_emit *m)
{
    uint32_t t = m->temp++;
    if (m->temp > m->temp_max)
        m->temp_max = m->temp;
    return t;
}

static void remember(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t cell)
{
    const struct ct_mon_memo memo = {x, cell};
    ARENA_PUSH(m->e->arena, m->memos, m->nmemos, m->memos_cap, memo);
    m->memo_of[x->id] = (uint32_t)m->nmemos;
}

static void forget(struct ct_mon_emit *m, size_t n)
{
    while (m->nmemos > n)
        m->memo_of[m->memos[--m->nmemos].ir->id] = 0;
}

void ct_mon_emit_begin_kernel(struct ct_mon_emit *m, const struct ct_mon_param *params)
{
    forget(m, 0);
    m->params = params;
}

static uint32_t constant_cell(struct ct_mon_emit *m, const struct ct_mon_ir *x)
{
    if (!m->const_cell[x->id])
        m->const_cell[x->id] = ct_mon_emit_constant(m, x->value) + 1;
    return m->const_cell[x->id] - 1;
}

static bool is_option_test(const struct ct_mon_emit *m, const struct ct_mon_ir *x, enum ct_mon_op op)
{
    return x->kind == IR_OP && x->op == op && x->args[0]->kind == IR_PARAM && !m->fn &&
           m->params[x->args[0]->index].option;
}

static bool is_test(const struct ct_mon_emit *m, const struct ct_mon_ir *x)
{
    return is_option_test(m, x, OP_IS_SOME) || is_option_test(m, x, OP_IS_NONE);
}

/* Returns the value of a condition in this program: 1, 0, or -1 when unknown. */
static int known(const struct ct_mon_emit *m, const struct ct_mon_ir *x, int depth)
{
    if (depth > STATIC_DEPTH)
        return -1;
    if (x->kind == IR_CONST)
        return cell_err(&x->value) ? -1 : x->value.v.i != 0;
    if (is_test(m, x)) {
        enum ct_mon_presence p = m->params[x->args[0]->index].presence;
        return p == MAYBE ? -1 : (p == ALWAYS) == (x->op == OP_IS_SOME);
    }
    if (x->kind == IR_OP && x->op == OP_NOT) {
        int a = known(m, x->args[0], depth + 1);
        return a < 0 ? a : !a;
    }
    if (x->kind == IR_AND || x->kind == IR_OR) {
        int stop = x->kind == IR_OR;
        int a = known(m, x->args[0], depth + 1);
        if (a < 0 || a == stop)
            return a;
        return known(m, x->args[1], depth + 1);
    }
    return -1;
}

/* Emits a jump on the value of the cell. `error`: operand b of I_JFALSE. */
static void jump_on(struct ct_mon_emit *m, struct ct_mon_label *l, uint32_t op, uint32_t cell, uint32_t error)
{
    ct_mon_emit_jump(m, l, op, cell);
    m->p->code[m->p->ncode - 1].b = error;
}

/* Emits a jump to `no` when x is false. `error`: operand b of I_JFALSE, for when x is an error. */
static void branch(struct ct_mon_emit *m, const struct ct_mon_ir *x, struct ct_mon_label *no, uint32_t error)
{
    if (is_test(m, x)) {
        ct_mon_emit_jump(m, no, x->op == OP_IS_SOME ? I_JABSENT : I_JPRESENT,
                         m->params[x->args[0]->index].cell);
    } else if (x->kind == IR_OP && x->op == OP_NOT) {
        if (is_test(m, x->args[0]))
            ct_mon_emit_jump(m, no, x->args[0]->op == OP_IS_SOME ? I_JPRESENT : I_JABSENT,
                             m->params[x->args[0]->args[0]->index].cell);
        else
            jump_on(m, no, I_JTRUE, ct_mon_emit_value(m, x->args[0], NO_CELL), error);
    } else if (x->kind == IR_AND && known(m, x->args[1], 0) < 0) {
        /* the second operand lies in a branch: values computed in it may be missing at `no` */
        if (known(m, x->args[0], 0) < 0)
            branch(m, x->args[0], no, error);
        branch(m, x->args[1], no, error);
    } else {
        jump_on(m, no, I_JFALSE, ct_mon_emit_value(m, x, NO_CELL), error);
    }
}

/* Returns `cell`, or emits a copy when the value is wanted in another cell. */
static uint32_t taken(struct ct_mon_emit *m, uint32_t cell, uint32_t want)
{
    if (want == NO_CELL)
        return cell;
    /* keeps a copy onto itself, because an unchanged value is an event, too */
    ct_mon_emit_insn(m, I_COPY, want, cell, 0);
    return want;
}

static uint32_t emit_param(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want)
{
    if (m->fn)
        return taken(m, x->index, want);
    const struct ct_mon_param *p = &m->params[x->index];
    if (p->option) {
        uint32_t d = want == NO_CELL ? new_temp(m) : want;
        ct_mon_emit_insn(m, I_OPTION, d, p->cell, 0);
        return d;
    }
    return taken(m, p->cell, want);
}

static uint32_t emit_if(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want)
{
    int k = known(m, x->args[0], 0);
    if (k >= 0)
        return ct_mon_emit_value(m, x->args[k ? 1 : 2], want);
    uint32_t d = want == NO_CELL ? new_temp(m) : want;
    struct ct_mon_label no = {0}, end = {0};
    size_t before = m->nmemos;
    branch(m, x->args[0], &no, d + 1);
    ct_mon_emit_value(m, x->args[1], d);
    forget(m, before);
    ct_mon_emit_jump(m, &end, I_JUMP, 0);
    ct_mon_emit_land(m, &no);
    ct_mon_emit_value(m, x->args[2], d);
    forget(m, before);
    ct_mon_emit_land(m, &end);
    return d;
}

static uint32_t emit_and_or(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want)
{
    int stop = x->kind == IR_OR, k = known(m, x->args[0], 0);
    if (k >= 0)
        return ct_mon_emit_value(m, x->args[k == stop ? 0 : 1], want);
    uint32_t d = want == NO_CELL ? new_temp(m) : want;
    uint32_t a = ct_mon_emit_value(m, x->args[0], NO_CELL);
    uint32_t at = ct_mon_emit_insn(m, x->kind == IR_AND ? I_AND : I_OR, d, a, 0);
    size_t before = m->nmemos;
    ct_mon_emit_value(m, x->args[1], d);
    forget(m, before);
    m->p->code[at].b = emit_here(m);
    return d;
}

/* Emits the values into n consecutive cells. Returns the first of them. */
static uint32_t emit_args(struct ct_mon_emit *m, struct ct_mon_ir *const *args, uint32_t n)
{
    uint32_t *cells = ARENA_ARRAY(m->e->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        cells[i] = ct_mon_emit_value(m, args[i], NO_CELL);
    uint32_t base = m->temp;
    for (uint32_t i = 0; i < n; i++)
        new_temp(m);
    for (uint32_t i = 0; i < n; i++)
        ct_mon_emit_insn(m, I_COPY, base + i, cells[i], 0);
    return base;
}

static uint32_t emit_call(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want, bool tail)
{
    const struct ct_mon_fn *callee = x->fn;
    uint32_t n = x->n + (uint32_t)callee->ncaptures;
    struct ct_mon_ir **args = ARENA_ARRAY(m->e->arena, struct ct_mon_ir *, n + 1);
    for (uint32_t i = 0; i < x->n; i++)
        args[i] = x->args[i];
    for (size_t i = 0; i < callee->ncaptures; i++)
        args[x->n + i] = ct_mon_ir_import(&m->e->pool, (struct ct_mon_fn *)m->fn, callee->captures[i]);
    uint32_t base = emit_args(m, args, n);
    if (tail) {
        ct_mon_emit_insn(m, I_TAIL, 0, base, callee->id);
        return NO_CELL;
    }
    uint32_t d = want == NO_CELL ? new_temp(m) : want;
    ct_mon_emit_insn(m, I_CALL, d, base, callee->id);
    return d;
}

static uint32_t emit_op(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want)
{
    if (!m->fn && x->op == OP_GET_SOME && x->args[0]->kind == IR_PARAM) {
        const struct ct_mon_param *p = &m->params[x->args[0]->index];
        if (p->option && p->presence == ALWAYS)
            return taken(m, p->cell, want);
    }
    int k = is_test(m, x) ? known(m, x, 0) : -1;
    if (k >= 0)
        return taken(m, ct_mon_emit_constant(m, cell_int(k)), want);
    if (is_option_test(m, x, OP_IS_SOME)) {
        uint32_t t = want == NO_CELL ? new_temp(m) : want;
        ct_mon_emit_insn(m, I_PRESENT, t, m->params[x->args[0]->index].cell, 0);
        return t;
    }
    if ((int)x->op >= (int)OP_FIRST_SLOW) {
        const struct ct_mon_slow slow = {x->op, x->n, x->extra};
        uint32_t base = emit_args(m, x->args, x->n);
        uint32_t t = want == NO_CELL ? new_temp(m) : want;
        ARENA_PUSH(m->e->arena, m->p->slow, m->p->nslow, m->p->slow_cap, slow);
        ct_mon_emit_insn(m, I_SLOW, t, base, (uint32_t)m->p->nslow - 1);
        return t;
    }
    uint32_t a = ct_mon_emit_value(m, x->args[0], NO_CELL);
    uint32_t b = x->n > 1 ? ct_mon_emit_value(m, x->args[1], NO_CELL) : 0;
    uint32_t d = want == NO_CELL ? new_temp(m) : want;
    ct_mon_emit_insn(m, (uint32_t)x->op, d, a, b);
    return d;
}

uint32_t ct_mon_emit_value(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t want)
{
    uint32_t cell = NO_CELL;
    if (x->kind == IR_CONST) {
        cell = constant_cell(m, x);
        if (m->fn) { /* a frame sees only its own cells */
            uint32_t d = want == NO_CELL ? new_temp(m) : want;
            ct_mon_emit_insn(m, I_CONST, d, 0, cell);
            return d;
        }
    } else if (x->id < m->nids && m->memo_of[x->id]) {
        cell = m->memos[m->memo_of[x->id] - 1].cell;
    }
    if (cell != NO_CELL)
        return taken(m, cell, want);
    switch (x->kind) {
    case IR_PARAM:
        cell = emit_param(m, x, want);
        break;
    case IR_IF:
        cell = emit_if(m, x, want);
        break;
    case IR_AND:
    case IR_OR:
        cell = emit_and_or(m, x, want);
        break;
    case IR_CALL:
        cell = emit_call(m, x, want, false);
        break;
    default:
        cell = emit_op(m, x, want);
        break;
    }
    /* captures made after the tables were sized are not remembered: they are parameters */
    if (x->id < m->nids)
        remember(m, x, cell);
    return cell;
}

enum ct_mon_presence ct_mon_emit_event(struct ct_mon_emit *m, const struct ct_mon_ir *x, uint32_t d,
                                       struct ct_mon_label *skip)
{
    if (x->kind == IR_CONST && !cell_err(&x->value) && !(x->value.meta & META_SOME)) {
        ct_mon_emit_jump(m, skip, I_JUMP, 0);
        return NEVER;
    }
    if (x->kind == IR_OP && x->op == OP_SOME) {
        ct_mon_emit_value(m, x->args[0], d);
        return ALWAYS;
    }
    if (x->kind == IR_PARAM && m->params[x->index].option) {
        const struct ct_mon_param *p = &m->params[x->index];
        if (p->presence == NEVER) {
            ct_mon_emit_jump(m, skip, I_JUMP, 0);
            return NEVER;
        }
        if (p->presence == MAYBE)
            ct_mon_emit_jump(m, skip, I_JABSENT, p->cell);
        ct_mon_emit_insn(m, I_COPY, d, p->cell, 0);
        return p->presence;
    }
    if (x->kind == IR_IF) {
        int k = known(m, x->args[0], 0);
        if (k >= 0)
            return ct_mon_emit_event(m, x->args[k ? 1 : 2], d, skip);
        struct ct_mon_label no = {0}, end = {0};
        size_t before = m->nmemos;
        branch(m, x->args[0], &no, 0);
        enum ct_mon_presence a = ct_mon_emit_event(m, x->args[1], d, skip);
        forget(m, before);
        ct_mon_emit_jump(m, &end, I_JUMP, 0);
        ct_mon_emit_land(m, &no);
        enum ct_mon_presence b = ct_mon_emit_event(m, x->args[2], d, skip);
        forget(m, before);
        ct_mon_emit_land(m, &end);
        return a == b ? a : MAYBE;
    }
    ct_mon_emit_insn(m, I_UNOPTION, d, ct_mon_emit_value(m, x, NO_CELL), 0);
    return MAYBE;
}

/* Emits the body as the function's result. A tail call reuses the frame. */
static void emit_result(struct ct_mon_emit *m, const struct ct_mon_ir *x)
{
    if (x->kind == IR_CALL) {
        emit_call(m, x, NO_CELL, true);
    } else if (x->kind == IR_IF && known(m, x->args[0], 0) < 0) {
        struct ct_mon_label no = {0};
        size_t before = m->nmemos;
        branch(m, x->args[0], &no, 1);
        emit_result(m, x->args[1]);
        ct_mon_emit_insn(m, I_RETURN, 0, 0, 0); /* an error in the condition is in cell 0 and becomes the
                                                 * result */
        forget(m, before);
        ct_mon_emit_land(m, &no);
        emit_result(m, x->args[2]);
        forget(m, before);
    } else {
        ct_mon_emit_insn(m, I_RETURN, 0, ct_mon_emit_value(m, x, NO_CELL), 0);
    }
}

void ct_mon_emit_functions(struct ct_mon_emit *m)
{
    m->p->nfns = m->e->nfns;
    m->p->fns = ARENA_ARRAY(m->e->arena, struct ct_mon_fn_info, m->p->nfns + 1);
    for (const struct ct_mon_fn *fn = m->e->fns; fn; fn = fn->next) {
        struct ct_mon_fn_info *info = &m->p->fns[fn->id];
        forget(m, 0);
        m->fn = fn;
        info->nargs = fn->nparams + (uint32_t)fn->ncaptures;
        m->temp = m->temp_max = info->nargs;
        info->code = emit_here(m);
        emit_result(m, fn->body);
        info->frame = m->temp_max;
    }
    forget(m, 0);
    m->fn = NULL;
}
