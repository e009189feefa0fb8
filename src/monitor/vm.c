/* SPDX-License-Identifier: Apache-2.0 */
/* The bytecode engine: the reference for every faster way to run programs. */
#include "monitor/big.h"
#include "monitor/run.h"

#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 20000
};

struct call {
    const struct ct_mon_insn *back;
    struct ct_mon_cell *cells;
};

static void put(struct ct_monitor *m, uint32_t output, const struct ct_mon_cell *c)
{
    struct ct_monitor_result *r = &m->results[m->nresults++];
    r->time = (uint64_t)m->now;
    r->v.i = c->v.i;
    r->output = output;
    r->form = c->meta;
}

static uint32_t read_letter(const struct ct_mon_cell *cells, const struct ct_mon_step_atom *atoms, uint32_t n,
                            uint32_t stamp, enum ct_mon_value_error *error)
{
    uint32_t letter = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_mon_cell *c = &cells[atoms[i].cell];
        bool value = c->stamp == stamp;
        if (atoms[i].kind == ATOM_SIGNAL)
            value = c->stamp != 0;
        if (value && atoms[i].kind != ATOM_EVENT) {
            if (cell_err(c))
                *error = cell_err(c);
            value = c->v.i != 0;
        }
        letter |= (uint32_t)value << i;
    }
    return letter;
}

void ct_mon_vm_step_result(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_step *s,
                           uint32_t was, uint32_t is)
{
    if (s->changes_only && !((was ^ is) & 3))
        return;
    struct ct_mon_cell *d = &cells[s->cell];
    *d = (struct ct_mon_cell){.v.i = is & 3, .stamp = m->stamp};
    if (s->out != UINT32_MAX) {
        put(m, s->out, d);
        m->unsorted = true;
    }
}

static bool one_step(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_step *s)
{
    const struct ct_mon_step_atom *atoms =
        m->p->atoms ? m->p->atoms + s->atoms : NULL; /* NULL: no formula has atoms */
    uint32_t n = s->machine->natoms;
    bool clock = s->known;
    for (uint32_t i = 0; i < s->clocks && !clock; i++)
        clock |= cells[atoms[n + i].cell].stamp == m->stamp;
    if (!clock)
        return true;
    enum ct_mon_value_error error = E_NONE;
    uint32_t letter = s->known ? s->letter : read_letter(cells, atoms, n, m->stamp, &error);
    if (error) {
        m->error = error;
        return false;
    }
    ct_mon_bank_leave(m, s->state);
    uint16_t was = m->states[s->state];
    m->states[s->state] = (uint16_t)machine_next(s->machine, was, letter);
    ct_mon_vm_step_result(m, cells, s, was, m->states[s->state]);
    return true;
}

static void set_timer(struct ct_monitor *m, const struct ct_mon_insn *i, const struct ct_mon_cell *cells)
{
    const struct ct_mon_cell *amount = &cells[i->a], *reset = &cells[i->b];
    int64_t old = m->timers[i->d], at = -1;
    if (reset->stamp != m->stamp && cells[m->p->timers[i->d].cell].stamp != m->stamp)
        return;
    if (amount->stamp == m->stamp &&
        (cell_is_big(amount) || __builtin_add_overflow(m->now, amount->v.i, &at)))
        at = -1; /* beyond all timestamps: never expires */
    m->timers[i->d] = at;
    if (at >= 0 && at < m->timer_next) {
        m->timer_next = at;
    } else if (old == m->timer_next) {
        m->timer_next = INT64_MAX;
        heap_spend(&m->heap, m->p->ntimers);
        for (size_t k = 0; k < m->p->ntimers; k++)
            if (m->timers[k] >= 0 && m->timers[k] < m->timer_next)
                m->timer_next = m->timers[k];
    }
}

static void slow_op(struct ct_monitor *m, const struct ct_mon_slow *slow, struct ct_mon_cell *cells,
                    const struct ct_mon_insn *i)
{
    ct_mon_op_eval(slow->op, &slow->extra, &m->heap, &cells[i->a], slow->n, &cells[i->d]);
    if (m->heap.exhausted)
        m->error = m->heap.exhausted;
}

/* Applies an operation to operands of any kind. */
__attribute__((noinline)) static void generic(struct ct_monitor *m, enum ct_mon_op op, unsigned n,
                                              const struct ct_mon_cell *a, const struct ct_mon_cell *b,
                                              struct ct_mon_cell *d)
{
    struct ct_mon_cell args[2] = {*a};
    if (n > 1)
        args[1] = *b;
    ct_mon_op_eval(op, NULL, &m->heap, args, n, d);
    if (m->heap.exhausted)
        m->error = m->heap.exhausted;
}

/* Divides. Returns true, like the overflow builtins, when the plain result would be wrong: for 0, and for -1,
 * where the quotient may not fit. */
static inline bool divide(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0 || b == -1)
        return true;
    *r = a / b;
    return false;
}

static inline bool modulo(int64_t a, int64_t b, int64_t *r)
{
    if (b == 0 || b == -1)
        return true;
    *r = a % b;
    return false;
}

#define SET(cell, payload, value, kind)                                                                      \
    do {                                                                                                     \
        (cell).v.payload = (value);                                                                          \
        (cell).meta = (kind);                                                                                \
        (cell).stamp = stamp;                                                                                \
    } while (0)

/* Fast paths for plain operands; otherwise ct_mon_op_eval defines the result. */
#define INTS   (!(A.meta | B.meta))
#define FLOATS (!((A.meta | B.meta) & (META_ERR | META_SOME)))
#define GENERIC(op, n)                                                                                       \
    do {                                                                                                     \
        generic(m, (op), (n), &A, (n) > 1 ? &B : NULL, &D);                                                  \
        D.stamp = stamp;                                                                                     \
        if (m->error)                                                                                        \
            goto failed;                                                                                     \
    } while (0)
#define ARITHMETIC(name, builtin)                                                                            \
    L_##name:                                                                                                \
    {                                                                                                        \
        int64_t r_;                                                                                          \
        if (__builtin_expect(INTS && !builtin(A.v.i, B.v.i, &r_), 1))                                        \
            SET(D, i, r_, 0);                                                                                \
        else                                                                                                 \
            GENERIC(OP_##name, 2);                                                                           \
        NEXT;                                                                                                \
    }
#define INFIX(name, plain, payload, to, op, kind)                                                            \
    L_##name : if (__builtin_expect(plain, 1)) SET(D, to, A.v.payload op B.v.payload, kind);                 \
    else GENERIC(OP_##name, 2);                                                                              \
    NEXT;
#define GENERIC_OP(name, n)                                                                                  \
    L_##name : GENERIC(OP_##name, n);                                                                        \
    NEXT;
#define NEXT                                                                                                 \
    do {                                                                                                     \
        i++;                                                                                                 \
        goto *labels[i->op];                                                                                 \
    } while (0)
#define GOTO(target)                                                                                         \
    do {                                                                                                     \
        i = code + (target);                                                                                 \
        goto *labels[i->op];                                                                                 \
    } while (0)
#define JUMP_IF(c)                                                                                           \
    do {                                                                                                     \
        if (c)                                                                                               \
            GOTO(i->d);                                                                                      \
        NEXT;                                                                                                \
    } while (0)
#define FAIL(e)                                                                                              \
    do {                                                                                                     \
        m->error = (e);                                                                                      \
        goto failed;                                                                                         \
    } while (0)
#define A (R[i->a])
#define B (R[i->b])
#define D (R[i->d])

static bool execute(struct ct_monitor *m, const struct ct_mon_insn *i)
{
    static const void *const labels[] = {
#define OWN(name) [OP_##name] = &&L_##name
        /* cppcheck-suppress assignBoolToPointer ; addresses of labels */
        OWN(ADD),   OWN(SUB),          OWN(MUL),     OWN(DIV),      OWN(MOD),     OWN(BITAND),
        OWN(BITOR), OWN(BITXOR),       OWN(SHL),     OWN(SHR),      OWN(LT),      OWN(GT),
        OWN(LE),    OWN(GE),           OWN(EQ),      OWN(NE),       OWN(FADD),    OWN(FSUB),
        OWN(FMUL),  OWN(FDIV),         OWN(FLT),     OWN(FGT),      OWN(FLE),     OWN(FGE),
        OWN(NOT),   OWN(NEG),          OWN(BITNOT),  OWN(FNEG),     OWN(IS_NONE), OWN(IS_SOME),
        OWN(SOME),  OWN(GET_SOME),
#undef OWN
#define OWN(name) [I_##name] = &&L_I_##name
        OWN(SLOW),  OWN(COPY),         OWN(CONST),   OWN(SAVE),     OWN(TIME),    OWN(LAST),
        OWN(LAST2), OWN(JUMP),         OWN(JABSENT), OWN(JPRESENT), OWN(JNEVER),  OWN(JFALSE),
        OWN(JTRUE), OWN(AND),          OWN(OR),      OWN(OPTION),   OWN(PRESENT), OWN(UNOPTION),
        OWN(PURE),  OWN(DEFAULT_FROM), OWN(CALL),    OWN(TAIL),     OWN(RETURN),  OWN(CHECK_DELAY),
        OWN(TIMER), OWN(STEP),         OWN(STEPS),   OWN(OUT),      OWN(OUTS),    OWN(END),
#undef OWN
    };
    const struct ct_mon_program *p = m->p;
    const struct ct_mon_insn *code = p->code;
    struct ct_mon_cell *R = m->cells;
    const uint32_t stamp = m->stamp;
    struct call *calls = NULL;
    uint32_t depth = 0, calls_cap = 0;
    struct ct_mon_cell *top = m->stack;
    goto *labels[i->op];

    ARITHMETIC(ADD, __builtin_add_overflow)
    ARITHMETIC(SUB, __builtin_sub_overflow)
    ARITHMETIC(MUL, __builtin_mul_overflow)
    ARITHMETIC(DIV, divide)
    ARITHMETIC(MOD, modulo)
    INFIX(BITAND, INTS, i, i, &, 0)
    INFIX(BITOR, INTS, i, i, |, 0)
    INFIX(BITXOR, INTS, i, i, ^, 0)
    GENERIC_OP(SHL, 2)
    GENERIC_OP(SHR, 2)
    INFIX(LT, INTS, i, i, <, 0)
    INFIX(GT, INTS, i, i, >, 0)
    INFIX(LE, INTS, i, i, <=, 0)
    INFIX(GE, INTS, i, i, >=, 0)
    INFIX(FADD, FLOATS, f, f, +, META_FLOAT)
    INFIX(FSUB, FLOATS, f, f, -, META_FLOAT)
    INFIX(FMUL, FLOATS, f, f, *, META_FLOAT)
    INFIX(FDIV, FLOATS, f, f, /, META_FLOAT)
    INFIX(FLT, FLOATS, f, i, <, 0)
    INFIX(FGT, FLOATS, f, i, >, 0)
    INFIX(FLE, FLOATS, f, i, <=, 0)
    INFIX(FGE, FLOATS, f, i, >=, 0)
L_EQ:
    if (__builtin_expect(!(A.meta | B.meta), 1))
        SET(D, i, A.v.i == B.v.i, 0);
    else
        GENERIC(OP_EQ, 2);
    NEXT;
L_NE:
    if (__builtin_expect(!(A.meta | B.meta), 1))
        SET(D, i, A.v.i != B.v.i, 0);
    else
        GENERIC(OP_NE, 2);
    NEXT;
L_NOT:
    if (__builtin_expect(!A.meta, 1))
        SET(D, i, !A.v.i, 0);
    else
        GENERIC(OP_NOT, 1);
    NEXT;
    GENERIC_OP(NEG, 1)
    GENERIC_OP(BITNOT, 1)
    GENERIC_OP(FNEG, 1)
    GENERIC_OP(IS_NONE, 1)
    GENERIC_OP(IS_SOME, 1)
L_SOME:
    SET(D, i, A.v.i, A.meta + META_SOME_ONE);
    NEXT;
    GENERIC_OP(GET_SOME, 1)

L_I_SLOW:
    slow_op(m, &p->slow[i->b], R, i);
    D.stamp = stamp;
    if (m->error)
        goto failed;
    NEXT;
L_I_COPY:
    SET(D, i, A.v.i, A.meta);
    NEXT;
L_I_CONST:
    D = p->constants[i->b];
    NEXT;
L_I_SAVE:
    D = A;
    NEXT;
L_I_TIME:
    SET(D, i, m->now, 0);
    NEXT;
L_I_LAST:
    if (A.stamp)
        SET(D, i, A.v.i, A.meta);
    NEXT;
L_I_LAST2 : {
    const struct ct_mon_cell *c = A.stamp == stamp ? &B : &A;
    if (c->stamp)
        SET(D, i, c->v.i, c->meta);
    NEXT;
}
L_I_JUMP:
    GOTO(i->d);
L_I_JABSENT:
    JUMP_IF(A.stamp != stamp);
L_I_JPRESENT:
    JUMP_IF(A.stamp == stamp);
L_I_JNEVER:
    JUMP_IF(!A.stamp);
L_I_JFALSE:
    if (__builtin_expect(A.meta & META_ERR, 0))
        goto condition_error;
    JUMP_IF(!A.v.i);
L_I_JTRUE:
    if (__builtin_expect(A.meta & META_ERR, 0))
        goto condition_error;
    JUMP_IF(A.v.i);
condition_error:
    if (!i->b)
        FAIL(cell_err(&A));
    SET(R[i->b - 1], i, A.v.i, A.meta);
    GOTO(i->d - 1);
L_I_AND:
    if ((A.meta & META_ERR) || !A.v.i) {
        SET(D, i, A.v.i, A.meta);
        GOTO(i->b);
    }
    NEXT;
L_I_OR:
    if ((A.meta & META_ERR) || A.v.i) {
        SET(D, i, A.v.i, A.meta);
        GOTO(i->b);
    }
    NEXT;
L_I_OPTION:
    if (A.stamp == stamp)
        SET(D, i, A.v.i, A.meta + META_SOME_ONE);
    else
        SET(D, i, 0, 0);
    NEXT;
L_I_PRESENT:
    SET(D, i, A.stamp == stamp, 0);
    NEXT;
L_I_UNOPTION:
    if (A.meta & META_SOME)
        SET(D, i, A.v.i, A.meta - META_SOME_ONE);
    else if (A.meta & META_ERR)
        SET(D, i, 0, A.meta);
    NEXT;
L_I_PURE:
    if (!D.stamp || cell_err(&A) || cell_err(&D) || !ct_mon_value_equal(&m->heap, &A, &D))
        SET(D, i, A.v.i, A.meta);
    NEXT;
L_I_DEFAULT_FROM:
    if (A.stamp == stamp)
        SET(D, i, A.v.i, A.meta);
    else if (!D.stamp && B.stamp == stamp)
        SET(D, i, B.v.i, B.meta);
    NEXT;
L_I_CALL : {
    const struct ct_mon_fn_info *fn = &p->fns[i->b];
    if (!m->stack && !(top = m->stack = malloc(STACK_CELLS * sizeof *m->stack)))
        FAIL(E_MEMORY);
    if (depth == calls_cap) {
        uint32_t cap = calls_cap ? calls_cap * 2 : 64;
        struct call *more = depth < FRAMES ? realloc(calls, cap * sizeof *calls) : NULL;
        if (!more)
            FAIL(depth < FRAMES ? E_MEMORY : E_STACK);
        calls = more;
        calls_cap = cap;
    }
    if (fn->frame > (size_t)(m->stack + STACK_CELLS - top))
        FAIL(E_STACK);
    if (!heap_spend(&m->heap, p->costs[fn->code]))
        FAIL(m->heap.exhausted);
    memcpy(top, &A, fn->nargs * sizeof *top);
    calls[depth++] = (struct call){i, R};
    R = top;
    top += fn->frame;
    GOTO(fn->code);
}
L_I_TAIL : {
    const struct ct_mon_fn_info *fn = &p->fns[i->b];
    if (!heap_spend(&m->heap, p->costs[fn->code]))
        FAIL(m->heap.exhausted);
    if (fn->frame > (size_t)(m->stack + STACK_CELLS - R))
        FAIL(E_STACK);
    memmove(R, &A, fn->nargs * sizeof *R);
    top = R + fn->frame;
    GOTO(fn->code);
}
L_I_RETURN : {
    const struct call *call = &calls[--depth];
    const struct ct_mon_cell result = A;
    top = R;
    R = call->cells;
    i = call->back;
    SET(D, i, result.v.i, result.meta);
    NEXT;
}
L_I_CHECK_DELAY:
    if (A.stamp == stamp && (A.meta || A.v.i <= 0) &&
        (cell_err(&A) || !cell_is_big(&A) || int_is_negative(&A)))
        FAIL(cell_err(&A) ? cell_err(&A) : E_DELAY);
    NEXT;
L_I_TIMER:
    set_timer(m, i, R);
    NEXT;
L_I_STEP:
    if (!one_step(m, R, &p->steps[i->a]))
        goto failed;
    NEXT;
L_I_STEPS:
    ct_mon_bank_steps(m, R, i);
    NEXT;
L_I_OUT:
    if (A.stamp == stamp) {
        if (A.meta & META_ERR)
            FAIL((enum ct_mon_value_error)(A.meta & META_ERR));
        put(m, i->b, &A);
    }
    NEXT;
L_I_OUTS:
    if (A.stamp == stamp) {
        if (A.meta & META_ERR)
            FAIL((enum ct_mon_value_error)(A.meta & META_ERR));
        for (uint32_t output = i->b; output != NO_OUTPUT; output = p->outputs[output].next)
            put(m, output, &A);
        m->unsorted = true;
    }
    NEXT;
L_I_END:
    free(calls);
    return true;
failed:
    free(calls);
    return false;
}

bool ct_mon_vm_run(struct ct_monitor *m, uint32_t code)
{
    return execute(m, m->p->code + code);
}

bool ct_mon_vm_one(struct ct_monitor *m, uint32_t insn)
{
    const struct ct_mon_insn alone[] = {m->p->code[insn], {.op = I_END}};
    return execute(m, alone);
}
