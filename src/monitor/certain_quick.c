/* SPDX-License-Identifier: Apache-2.0 */
/* Fast evaluation, after a loss, of common operators on numbers and truth values. Leaves everything else (an
 * Int of more than 64 bits, an error value, an option) to certain.c, which handles all values. */
#include "monitor/certain.h"

#include <stdlib.h>

#include "monitor/range.h"

enum {
    ARGS_MOST = 3,
    OPS_MOST = 16,
    OP_WORK = 4, /* units of work */
};

enum quick_op_kind {
    QUICK_CONST,
    QUICK_PARAM,
    QUICK_UNARY,
    QUICK_BINARY,
    QUICK_IF,
    QUICK_AND,
    QUICK_OR,
};

/* The values that an operand may have. */
struct value {
    struct ct_mon_range range;
    bool known; /* the interval has one value, which is that of the run */
};

/* How a function is evaluated. Special forms avoid the operand stack, which is slow. */
enum quick_form {
    FORM_OPS,    /* any function */
    FORM_BINARY, /* left op right */
    FORM_CHOICE, /* if left op right then left else right: the maximum or the minimum */
};

struct quick_op {
    uint8_t kind; /* enum quick_op_kind */
    uint8_t op;   /* enum ct_mon_op */
    uint32_t index;
    int64_t value;
};

struct ct_mon_quick {
    bool usable;  /* this file can evaluate the stream */
    bool as_run;  /* the stream takes over the run's value */
    uint8_t kind; /* enum ct_mon_node_kind */
    uint32_t n, args[ARGS_MOST];
    uint8_t form, op;     /* enum quick_form; `op` is the operation of the last two forms */
    uint32_t left, right; /* parameter numbers; ARGS_MOST stands for `constant` */
    struct value constant;
    uint32_t op_count;
    struct quick_op ops[OPS_MOST]; /* the function in postfix order */
};

/* ---- construction ---- */

static bool add_op(struct ct_mon_quick *q, struct quick_op op)
{
    if (q->op_count == OPS_MOST)
        return false;
    q->ops[q->op_count++] = op;
    return true;
}

static bool add_function(struct ct_mon_quick *q, const struct ct_mon_ir *x)
{
    struct ct_mon_range ignored;
    if (!ct_mon_guess_is_plain(x->type) || q->op_count == OPS_MOST)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!add_function(q, x->args[i]))
            return false;
    switch (x->kind) {
    case IR_CONST:
        return !x->value.meta && add_op(q, (struct quick_op){.kind = QUICK_CONST, .value = x->value.v.i});
    case IR_PARAM:
        return add_op(q, (struct quick_op){.kind = QUICK_PARAM, .index = x->index});
    case IR_IF:
        return add_op(q, (struct quick_op){.kind = QUICK_IF});
    case IR_AND:
        return add_op(q, (struct quick_op){.kind = QUICK_AND});
    case IR_OR:
        return add_op(q, (struct quick_op){.kind = QUICK_OR});
    case IR_OP:
        return x->n && range_apply(x->op, range_any_int(), range_any_int(), &ignored) &&
               add_op(q, (struct quick_op){.kind = x->n == 1 ? QUICK_UNARY : QUICK_BINARY,
                                           .op = (uint8_t)x->op});
    default:
        return false;
    }
}

/* Returns whether an instruction is a parameter or the one constant, and sets *operand to it. */
static bool is_operand(struct ct_mon_quick *q, const struct quick_op *op, uint32_t *operand)
{
    *operand = op->kind == QUICK_PARAM ? op->index : ARGS_MOST;
    if (op->kind == QUICK_CONST)
        q->constant = (struct value){{op->value, op->value, false}, true};
    return op->kind == QUICK_PARAM || op->kind == QUICK_CONST;
}

static void find_form(struct ct_mon_quick *q)
{
    const struct quick_op *ops = q->ops;
    const bool two = q->op_count >= 3 && ops[2].kind == QUICK_BINARY &&
                     !(ops[0].kind == QUICK_CONST && ops[1].kind == QUICK_CONST) &&
                     is_operand(q, &ops[0], &q->left) && is_operand(q, &ops[1], &q->right);
    if (!two)
        return;
    q->op = ops[2].op;
    if (q->op_count == 3)
        q->form = FORM_BINARY;
    else if (q->op_count == 6 && ops[5].kind == QUICK_IF && ops[3].kind == ops[0].kind &&
             ops[3].index == ops[0].index && ops[3].value == ops[0].value && ops[4].kind == ops[1].kind &&
             ops[4].index == ops[1].index && ops[4].value == ops[1].value)
        q->form = FORM_CHOICE;
}

static void make(struct ct_mon_quick *q, const struct ct_mon_node *s)
{
    bool usable = ct_mon_guess_is_plain(s->type) && s->n <= ARGS_MOST && s->n > 0;
    q->as_run = ct_mon_guess_is_plain(s->type) && s->kind != N_MONITOR;
    q->kind = (uint8_t)s->kind;
    q->n = s->n;
    for (uint32_t i = 0; usable && i < s->n; i++) {
        usable = ct_mon_guess_is_plain(s->args[i]->type);
        q->args[i] = s->args[i]->order;
    }
    switch (s->kind) {
    case N_FOLD:
        usable &= !s->value.meta;
        /* fall through */
    case N_SLIFT:
    case N_REDUCE:
        q->usable = usable && add_function(q, s->kernel);
        break;
    case N_PURE:
    case N_ON:
    case N_FILTER:
        q->usable = usable;
        break;
    default:
        break;
    }
    find_form(q);
}

struct ct_mon_quick *ct_mon_quick_new(const struct ct_mon_order *order)
{
    struct ct_mon_quick *all = calloc(order->n + 1, sizeof *all);
    for (size_t i = 0; all && i < order->n; i++)
        make(&all[i], order->nodes[i]);
    return all;
}

/* ---- functions ---- */

/* Applies an operation to two known values. Returns false when the result needs certain.c. */
static inline bool apply_known(enum ct_mon_op op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return ct_mon_op_small(op, a, b, r);
    case OP_NEG:
        return !__builtin_sub_overflow(0, a, r);
    case OP_LT:
        *r = a < b;
        return true;
    case OP_GT:
        *r = a > b;
        return true;
    case OP_LE:
        *r = a <= b;
        return true;
    case OP_GE:
        *r = a >= b;
        return true;
    case OP_EQ:
        *r = a == b;
        return true;
    case OP_NE:
        *r = a != b;
        return true;
    case OP_NOT:
        *r = !a;
        return true;
    default:
        return false;
    }
}

static inline struct value known_value(int64_t v)
{
    return (struct value){{v, v, false}, true};
}

static inline bool apply(enum ct_mon_op op, struct value a, struct value b, struct value *r)
{
    int64_t v;
    if (!a.known || !b.known) {
        r->range = range_any_int();
        range_apply(op, a.range, b.range, &r->range);
        r->range.error |= a.range.error || b.range.error;
        r->known = false;
        return true;
    }
    if (!apply_known(op, a.range.lo, b.range.lo, &v))
        return false;
    *r = known_value(v);
    return true;
}

static inline struct value choose(struct value c, struct value yes, struct value no)
{
    struct value chosen = {range_join(yes.range, no.range), false};
    if (c.range.lo == c.range.hi)
        chosen = c.range.lo ? yes : no;
    chosen.known &= !c.range.error;
    chosen.range.error |= c.range.error;
    return chosen;
}

static inline struct value connect(struct value a, struct value b, bool stop)
{
    if (a.range.lo == a.range.hi && (a.range.lo != 0) == stop)
        return a;
    if (a.range.lo != a.range.hi)
        b.range = range_join((struct ct_mon_range){stop, stop, false}, b.range);
    b.known = false;
    b.range.error |= a.range.error;
    return b;
}

/* Evaluates a function of any form. Returns false when a value in it needs certain.c. */
static bool any_function(const struct ct_mon_quick *q, const struct value *params, struct value *result)
{
    struct value stack[OPS_MOST + 1];
    struct value *top = stack; /* behind the top of the stack */
    for (uint32_t i = 0; i < q->op_count; i++) {
        const struct quick_op *op = &q->ops[i];
        switch (op->kind) {
        case QUICK_CONST:
            *top++ = known_value(op->value);
            break;
        case QUICK_PARAM:
            *top++ = params[op->index];
            break;
        case QUICK_UNARY:
            if (!apply((enum ct_mon_op)op->op, top[-1], known_value(0), &top[-1]))
                return false;
            break;
        case QUICK_BINARY:
            top--;
            if (!apply((enum ct_mon_op)op->op, top[-1], top[0], &top[-1]))
                return false;
            break;
        case QUICK_IF:
            top -= 2;
            top[-1] = choose(top[-1], top[0], top[1]);
            break;
        default:
            top--;
            top[-1] = connect(top[-1], top[0], op->kind == QUICK_OR);
            break;
        }
    }
    *result = stack[0];
    return true;
}

static inline bool function(const struct ct_mon_quick *q, const struct value *params, struct value *result)
{
    const struct value *left = q->left == ARGS_MOST ? &q->constant : &params[q->left];
    const struct value *right = q->right == ARGS_MOST ? &q->constant : &params[q->right];
    if (q->form == FORM_OPS)
        return any_function(q, params, result);
    if (!apply((enum ct_mon_op)q->op, *left, *right, result))
        return false;
    if (q->form == FORM_CHOICE)
        *result = choose(*result, *left, *right);
    return true;
}

/* ---- streams ---- */

static inline bool is_single(const struct value *v)
{
    return !v->range.error && v->range.lo == v->range.hi && !range_is_open(v->range);
}

/* Reads a guess. Returns false when its known value needs certain.c. */
static inline bool read_guess(const struct ct_mon_guess *g, struct value *v)
{
    *v = (struct value){{g->lo, g->hi, g->error}, g->known};
    return !g->known || !g->cell.meta;
}

/* Writes what a stream may hold. Always leaves `known` false. */
static inline void write_held(struct ct_mon_guess *g, const struct value *v)
{
    g->known = false;
    g->error = v->range.error;
    g->none = g->some = false;
    g->lo = v->range.lo;
    g->hi = v->range.hi;
}

static inline void write_event(struct ct_mon_guess *g, const struct value *v)
{
    write_held(g, v);
    g->known = v->known;
    g->cell.v.i = v->range.lo;
    g->cell.meta = g->cell.stamp = 0;
}

static inline const struct ct_mon_cell *cell_of(const struct ct_mon_certain *c, uint32_t stream)
{
    return &c->m->cells[c->m->p->node_cells[stream]];
}

/* Reads what a stream holds. At an unseen instant that is the interval, not the run's value. Returns false
 * when the value needs certain.c. */
static inline bool read_held(const struct ct_mon_certain *c, uint32_t stream, struct value *v)
{
    const struct ct_mon_shade *h = &c->held[stream];
    if (c->unseen || !h->sure || !h->ever)
        return read_guess(&h->value, v);
    const struct ct_mon_cell *cell = cell_of(c, stream);
    *v = known_value(cell->v.i);
    return !cell->meta;
}

/* Stores the stream's event and what it holds afterwards. An unseen instant may not have happened, so the
 * former value stays possible. */
static inline void put(struct ct_mon_certain *c, uint32_t stream, enum ct_mon_occurs occurs, bool sure,
                       const struct value *v)
{
    struct ct_mon_shade_event *e = &c->now[stream];
    struct ct_mon_shade *h = &c->held[stream];
    e->occurs = (uint8_t)occurs;
    e->sure = sure;
    if (occurs == OCCURS_NOT)
        return;
    write_event(&e->value, v);
    if (occurs == OCCURS && !c->unseen) {
        c->track.settled |= (sure || is_single(v)) && !h->sure;
        h->sure = sure || is_single(v);
        h->never = false;
        write_held(&h->value, v);
    } else {
        const struct ct_mon_range before = {h->value.lo, h->value.hi, h->value.error};
        const struct value joined = {h->ever ? range_join(before, v->range) : v->range, false};
        const bool is_sure = !h->never && is_single(&joined);
        c->track.settled |= is_sure && !h->sure;
        h->sure = is_sure;
        write_held(&h->value, &joined);
    }
    h->ever = true;
}

/* Stores the run's value. Returns false when it needs certain.c. */
static inline bool put_run(struct ct_mon_certain *c, uint32_t stream)
{
    const struct ct_mon_cell *cell = cell_of(c, stream);
    const struct value v = known_value(cell->v.i);
    if (cell->stamp != c->m->stamp)
        put(c, stream, OCCURS_NOT, true, &v);
    else if (cell->meta)
        return false;
    else
        put(c, stream, OCCURS, true, &v);
    return true;
}

static inline void put_event(struct ct_mon_certain *c, uint32_t stream, enum ct_mon_occurs occurs,
                             const struct value *v)
{
    put(c, stream, occurs, occurs == OCCURS_NOT || (!c->unseen && occurs == OCCURS && is_single(v)), v);
}

static bool signal_lift(struct ct_mon_certain *c, const struct ct_mon_quick *q, uint32_t stream)
{
    enum ct_mon_occurs occurs = OCCURS_NOT;
    bool sure = true;
    struct value params[ARGS_MOST];
    struct value result;
    for (uint32_t i = 0; i < q->n; i++) {
        const struct ct_mon_shade_event *e = &c->now[q->args[i]];
        occurs = e->occurs > occurs ? e->occurs : occurs;
        sure &= e->sure && c->held[q->args[i]].sure;
    }
    if (sure && !c->unseen)
        return put_run(c, stream);
    for (uint32_t i = 0; i < q->n; i++) {
        occurs = certain_both(occurs, certain_exists(&c->held[q->args[i]]));
        if (!read_held(c, q->args[i], &params[i]))
            return false;
    }
    if (occurs == OCCURS_NOT) {
        put(c, stream, OCCURS_NOT, true, &params[0]);
        return true;
    }
    if (!function(q, params, &result))
        return false;
    put_event(c, stream, occurs, &result);
    return true;
}

static bool folded(struct ct_mon_certain *c, const struct ct_mon_quick *q, uint32_t stream,
                   const struct ct_mon_node *s)
{
    const struct ct_mon_shade_event *x = &c->now[q->args[0]];
    const struct ct_mon_shade *before = &c->held[stream];
    struct value params[2];
    struct value result;
    if (x->sure && before->sure && !c->unseen)
        return put_run(c, stream);
    if (x->occurs == OCCURS_NOT) {
        put(c, stream, OCCURS_NOT, true, params);
        return true;
    }
    if (!read_guess(&before->value, &params[0]) || !read_guess(&x->value, &params[1]))
        return false;
    const struct value init = q->kind == N_FOLD ? known_value(s->value.v.i) : params[1];
    result = init;
    if (before->ever && !function(q, params, &result))
        return false;
    if (q->kind == N_REDUCE && before->ever && before->never)
        result = (struct value){range_join(result.range, init.range), false};
    put_event(c, stream, x->occurs, &result);
    return true;
}

static bool passed(struct ct_mon_certain *c, const struct ct_mon_quick *q, uint32_t stream)
{
    const struct ct_mon_shade_event *x = &c->now[q->args[0]];
    const struct ct_mon_shade *h = &c->held[q->args[1]];
    struct value v;
    if (x->sure && c->now[q->args[1]].sure && h->sure && !c->unseen)
        return put_run(c, stream);
    enum ct_mon_occurs occurs = certain_both(x->occurs, certain_exists(h));
    if (q->kind == N_ON) {
        if (!read_guess(&h->value, &v))
            return false;
        put_event(c, stream, occurs, &v);
        return true;
    }
    if (occurs != OCCURS_NOT && h->value.lo == 0)
        occurs = h->value.hi == 0 ? OCCURS_NOT : certain_both(occurs, OCCURS_MAYBE);
    if (!read_guess(&x->value, &v))
        return false;
    put_event(c, stream, occurs, &v);
    return true;
}

/* Evaluates a change operator. When nothing changed there is no event, and the stream holds what its argument
 * holds. At an unseen instant it holds the value of the event. */
static bool change(struct ct_mon_certain *c, const struct ct_mon_quick *q, uint32_t stream)
{
    const struct ct_mon_shade_event *x = &c->now[q->args[0]];
    struct ct_mon_shade *h = &c->held[stream];
    struct value v;
    struct value before;
    if (x->sure && h->sure && !c->unseen)
        return false;
    if (!read_guess(&x->value, &v) || !read_guess(&h->value, &before))
        return false;
    enum ct_mon_occurs occurs = !h->ever ? OCCURS : OCCURS_MAYBE;
    if (!h->never && is_single(&v) && is_single(&before))
        occurs = v.range.lo == before.range.lo ? OCCURS_NOT : OCCURS;
    occurs = certain_both(x->occurs, occurs);
    if (x->occurs == OCCURS_NOT) {
        put(c, stream, OCCURS_NOT, true, &v);
        return true;
    }
    if (c->unseen) {
        put_event(c, stream, occurs, &v);
        return true;
    }
    put(c, stream, x->occurs, x->sure, &v);
    struct ct_mon_shade_event *e = &c->now[stream];
    e->occurs = (uint8_t)occurs;
    e->sure = occurs == OCCURS_NOT || (occurs == OCCURS && is_single(&v));
    return true;
}

bool ct_mon_quick_step(struct ct_mon_certain *c, uint32_t stream)
{
    const struct ct_mon_quick *q = &c->quick[stream];
    if (c->to == 0 || c->m->plain_losses)
        return false;
    if (c->track.roles[stream] == TRACK_RUN && !c->unseen)
        return q->as_run && put_run(c, stream);
    if (!q->usable)
        return false;
    heap_spend(&c->m->heap, (uint64_t)q->op_count * OP_WORK);
    switch (q->kind) {
    case N_SLIFT:
        return signal_lift(c, q, stream);
    case N_FOLD:
    case N_REDUCE:
        return folded(c, q, stream, c->order->nodes[stream]);
    case N_PURE:
        return change(c, q, stream);
    default:
        return passed(c, q, stream);
    }
}
