/* What __builtin__(name) in the library means. */
#include <string.h>

#include "monitor/elab.h"

struct builtin {
    struct elab *e;
    struct cv *args;
    size_t n;
    const struct type *result;
    struct span at;
};

typedef struct cv builtin_fn(struct builtin *b);

/* The argument as a constant; false after reporting. */
static bool constant(struct builtin *b, size_t i, struct cell *out)
{
    struct ir *ir = elab_materialise(b->e, b->args[i], b->at);
    if (!ir)
        return false;
    if (!ir_is_const(ir)) {
        diag_error(b->e->diags, b->at, "A value that is only known at run time cannot become a stream");
        return false;
    }
    *out = ir->value;
    return true;
}

static struct cv stream(struct builtin *b, struct node *node)
{
    return cv_stream(b->e, node);
}

static struct cv bi_nil(struct builtin *b)
{
    return stream(b, node_nil(&b->e->graph, b->result->args[0]));
}

static struct cv bi_default(struct builtin *b)
{
    struct cell c;
    if (!constant(b, 1, &c))
        return cv_error(b->e);
    return stream(b, node_default(&b->e->graph, b->args[0].node, c));
}

static struct cv plain(struct builtin *b, enum node_kind kind)
{
    struct node *args[2] = {b->args[0].node, b->n > 1 ? b->args[1].node : NULL};
    return stream(b, node_plain(&b->e->graph, kind, b->result->args[0], args, (uint32_t)b->n));
}

static struct cv bi_default_from(struct builtin *b)
{
    return plain(b, N_DEFAULT_FROM);
}

static struct cv bi_time(struct builtin *b)
{
    return plain(b, N_TIME);
}

static struct cv bi_last(struct builtin *b)
{
    return plain(b, N_LAST);
}

static struct cv bi_delay(struct builtin *b)
{
    return plain(b, N_DELAY);
}

static struct cv bi_merge(struct builtin *b)
{
    return plain(b, N_MERGE);
}

static struct cv bi_filter(struct builtin *b)
{
    return plain(b, N_FILTER);
}

static struct cv bi_pure(struct builtin *b)
{
    return plain(b, N_PURE);
}

static struct cv bi_on(struct builtin *b)
{
    struct node *trigger = b->args[0].node, *s = b->args[1].node;
    if (node_is_const(s)) /* const(c, trigger) */
        return stream(b, node_kernel(&b->e->graph, N_SLIFT, &trigger, 1,
                                     ir_const(&b->e->pool, s->type, s->value), s->type));
    return plain(b, N_ON);
}

static struct cv bi_lift(struct builtin *b)
{
    struct elab *e = b->e;
    struct node *streams[LIFT_MOST];
    const struct type *types[LIFT_MOST];
    size_t n = b->n - 1;
    for (size_t i = 0; i < n; i++) {
        streams[i] = b->args[i].node;
        types[i] = type_of1(&e->types, TY_OPTION, streams[i]->type);
    }
    struct ir *kernel = elab_kernel(e, b->args[n], types, NULL, n, b->at);
    if (!kernel)
        return cv_error(e);
    return stream(b, node_kernel(&e->graph, N_LIFT, streams, (uint32_t)n, kernel, b->result->args[0]));
}

struct cv elab_slift(struct elab *e, struct cv f, struct node **streams, size_t n, struct span at)
{
    struct node *consts[LIFT_MOST] = {0}, *kept[LIFT_MOST];
    const struct type *types[LIFT_MOST];
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        types[i] = streams[i]->type;
        /* a constant stream is held from 0 on: it is part of the function, not of the question when */
        if (node_is_const(streams[i]))
            consts[i] = streams[i];
        else
            kept[k++] = streams[i];
    }
    struct ir *kernel = elab_kernel(e, f, types, consts, n, at);
    if (!kernel)
        return cv_error(e);
    if (k == 0 && !ir_is_const(kernel)) { /* a recursion too deep to be done now */
        diag_error(e->diags, at, "Stack overflow");
        return cv_error(e);
    }
    return cv_stream(e, node_kernel(&e->graph, N_SLIFT, kept, k, kernel, kernel->type));
}

static struct cv bi_slift(struct builtin *b)
{
    struct node *streams[LIFT_MOST];
    for (size_t i = 0; i + 1 < b->n; i++)
        streams[i] = b->args[i].node;
    return elab_slift(b->e, b->args[b->n - 1], streams, b->n - 1, b->at);
}

static struct cv bi_fold(struct builtin *b)
{
    struct elab *e = b->e;
    struct node *x = b->args[0].node;
    const struct type *types[2] = {b->result->args[0], x->type};
    struct cell init;
    if (!constant(b, 1, &init))
        return cv_error(e);
    struct ir *kernel = elab_kernel(e, b->args[2], types, NULL, 2, b->at);
    return kernel ? stream(b, node_fold(&e->graph, x, init, kernel)) : cv_error(e);
}

static struct cv bi_reduce(struct builtin *b)
{
    struct elab *e = b->e;
    struct node *x = b->args[0].node;
    const struct type *types[2] = {x->type, x->type};
    struct ir *kernel = elab_kernel(e, b->args[1], types, NULL, 2, b->at);
    return kernel ? stream(b, node_kernel(&e->graph, N_REDUCE, &x, 1, kernel, x->type)) : cv_error(e);
}

static struct cv bi_and(struct builtin *b)
{
    return cv_value(ir_and(&b->e->pool, b->args[0].ir, b->args[1].ir));
}

static struct cv bi_or(struct builtin *b)
{
    return cv_value(ir_or(&b->e->pool, b->args[0].ir, b->args[1].ir));
}

static struct cv bi_ite(struct builtin *b)
{
    struct ir *x = elab_materialise(b->e, b->args[1], b->at), *y = elab_materialise(b->e, b->args[2], b->at);
    return x && y ? cv_value(ir_if(&b->e->pool, b->args[0].ir, x, y)) : cv_error(b->e);
}

static struct cv bi_none(struct builtin *b)
{
    return cv_cell(b->e, b->result, cell_int(0));
}

static const struct {
    const char *name;
    builtin_fn *fn;
} STREAMS[] = {
    {"nil", bi_nil},     {"default", bi_default}, {"defaultFrom", bi_default_from},
    {"time", bi_time},   {"last", bi_last},       {"delay", bi_delay},
    {"merge", bi_merge}, {"filter", bi_filter},   {"pure", bi_pure},
    {"on", bi_on},       {"lift", bi_lift},       {"slift", bi_slift},
    {"fold", bi_fold},   {"reduce", bi_reduce},   {"and", bi_and},
    {"or", bi_or},       {"ite", bi_ite},         {"none", bi_none},
};

static struct cv value_op(struct builtin *b, enum op op)
{
    struct elab *e = b->e;
    struct ir **args = ARENA_ARRAY(e->arena, struct ir *, b->n);
    struct op_extra extra = {0};
    for (size_t i = 0; i < b->n; i++)
        if (!(args[i] = elab_materialise(e, b->args[i], b->at)))
            return cv_error(e);
    if (op == OP_TO_STRING || op == OP_FORMAT)
        extra.type = args[b->n - 1]->type;
    return cv_value(ir_op(&e->pool, b->result, op, &extra, args, (uint32_t)b->n));
}

struct cv elab_builtin(struct elab *e, const char *name, struct cv *args, size_t n, const struct type *result,
                       struct span at)
{
    struct builtin b = {e, args, n, result, at};
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == CV_ERROR)
            return cv_error(e);
    for (size_t i = 0; i < sizeof STREAMS / sizeof *STREAMS; i++)
        if (!strcmp(STREAMS[i].name, name))
            /* cppcheck-suppress returnDanglingLifetime ; it keeps no pointer to b */
            return STREAMS[i].fn(
                &b); /* cppcheck-suppress returnDanglingLifetime ; it keeps no pointer to b */
    int op = op_find(name);
    if (op >= 0)
        return value_op(&b, (enum op)op);
    diag_error(e->diags, at, "Undefined builtin %s", name);
    return cv_error(e);
}
