/* SPDX-License-Identifier: Apache-2.0 */
/* Implements __builtin__(name) of the library. */
#include <string.h>

#include "monitor/elab.h"

struct builtin {
    struct ct_mon_elab *e;
    struct ct_mon_cv *args;
    size_t n;
    const struct ct_mon_type *result;
    struct ct_mon_span at;
    unsigned what; /* parameter from the row */
};

typedef struct ct_mon_cv builtin_fn(struct builtin *b);

/* Gets an argument that must be constant. Returns false after reporting that it is not. */
static bool constant(struct builtin *b, size_t i, struct ct_mon_cell *out)
{
    struct ct_mon_ir *ir = ct_mon_elab_materialise(b->e, b->args[i], b->at);
    if (!ir)
        return false;
    if (!ir_is_const(ir)) {
        ct_mon_diag_error(b->e->diags, b->at,
                          "A value that is known only at run time cannot become a stream");
        return false;
    }
    *out = ir->value;
    return true;
}

static struct ct_mon_cv stream(struct builtin *b, struct ct_mon_node *node)
{
    return cv_stream(b->e, node);
}

static struct ct_mon_cv bi_nil(struct builtin *b)
{
    return stream(b, ct_mon_node_nil(&b->e->graph, b->result->args[0]));
}

static struct ct_mon_cv bi_default(struct builtin *b)
{
    struct ct_mon_cell c;
    if (!constant(b, 1, &c))
        return cv_error(b->e);
    return stream(b, ct_mon_node_default(&b->e->graph, b->args[0].node, c));
}

/* Makes a stream of the row's kind from unchanged arguments. */
static struct ct_mon_cv plain(struct builtin *b)
{
    struct ct_mon_node *args[2] = {b->args[0].node, b->n > 1 ? b->args[1].node : NULL};
    return stream(b, ct_mon_node_plain(&b->e->graph, (enum ct_mon_node_kind)b->what, b->result->args[0], args,
                                       (uint32_t)b->n));
}

static struct ct_mon_cv bi_on(struct builtin *b)
{
    struct ct_mon_node *trigger = b->args[0].node, *s = b->args[1].node;
    if (node_is_const(s)) /* const(c, trigger) */
        return stream(b, ct_mon_node_kernel(&b->e->graph, N_SLIFT, &trigger, 1,
                                            ct_mon_ir_const(&b->e->pool, s->type, s->value), s->type));
    return plain(b);
}

static struct ct_mon_cv bi_lift(struct builtin *b)
{
    struct ct_mon_elab *e = b->e;
    struct ct_mon_node *streams[LIFT_MOST];
    const struct ct_mon_type *types[LIFT_MOST];
    size_t n = b->n - 1;
    for (size_t i = 0; i < n; i++) {
        streams[i] = b->args[i].node;
        types[i] = ct_mon_type_of1(&e->types, TY_OPTION, streams[i]->type);
    }
    struct ct_mon_ir *kernel = ct_mon_elab_kernel(e, b->args[n], types, NULL, n, b->at);
    if (!kernel)
        return cv_error(e);
    return stream(b, ct_mon_node_kernel(&e->graph, N_LIFT, streams, (uint32_t)n, kernel, b->result->args[0]));
}

struct ct_mon_cv ct_mon_elab_slift(struct ct_mon_elab *e, struct ct_mon_cv f, const struct ct_mon_cv *args,
                                   size_t n, struct ct_mon_span at)
{
    struct ct_mon_cv fixed[LIFT_MOST] = {0};
    struct ct_mon_node *kept[LIFT_MOST];
    const struct ct_mon_type *types[LIFT_MOST];
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind != CV_STREAM) {
            fixed[i] = args[i];
            continue;
        }
        types[i] = args[i].node->type;
        /* a constant stream has its value from 0 on, so it becomes part of the function */
        if (node_is_const(args[i].node))
            fixed[i] = cv_cell(e, types[i], args[i].node->value);
        else
            kept[k++] = args[i].node;
    }
    struct ct_mon_ir *kernel = ct_mon_elab_kernel(e, f, types, fixed, n, at);
    if (!kernel)
        return cv_error(e);
    if (k == 0 && !ir_is_const(kernel)) { /* the recursion is too deep for constant folding */
        ct_mon_diag_error(e->diags, at, "Stack overflow");
        return cv_error(e);
    }
    return cv_stream(e, ct_mon_node_kernel(&e->graph, N_SLIFT, kept, k, kernel, kernel->type));
}

static struct ct_mon_cv bi_slift(struct builtin *b)
{
    return ct_mon_elab_slift(b->e, b->args[b->n - 1], b->args, b->n - 1, b->at);
}

static struct ct_mon_cv bi_fold(struct builtin *b)
{
    struct ct_mon_elab *e = b->e;
    struct ct_mon_node *x = b->args[0].node;
    const struct ct_mon_type *types[2] = {b->result->args[0], x->type};
    struct ct_mon_cell init;
    if (!constant(b, 1, &init))
        return cv_error(e);
    struct ct_mon_ir *kernel = ct_mon_elab_kernel(e, b->args[2], types, NULL, 2, b->at);
    return kernel ? stream(b, ct_mon_node_fold(&e->graph, x, init, kernel)) : cv_error(e);
}

static struct ct_mon_cv bi_reduce(struct builtin *b)
{
    struct ct_mon_elab *e = b->e;
    struct ct_mon_node *x = b->args[0].node;
    const struct ct_mon_type *types[2] = {x->type, x->type};
    struct ct_mon_ir *kernel = ct_mon_elab_kernel(e, b->args[1], types, NULL, 2, b->at);
    return kernel ? stream(b, ct_mon_node_kernel(&e->graph, N_REDUCE, &x, 1, kernel, x->type)) : cv_error(e);
}

static struct ct_mon_cv bi_and(struct builtin *b)
{
    return cv_value(ct_mon_ir_and(&b->e->pool, b->args[0].ir, b->args[1].ir));
}

static struct ct_mon_cv bi_or(struct builtin *b)
{
    return cv_value(ct_mon_ir_or(&b->e->pool, b->args[0].ir, b->args[1].ir));
}

static struct ct_mon_cv bi_ite(struct builtin *b)
{
    struct ct_mon_ir *x = ct_mon_elab_materialise(b->e, b->args[1], b->at),
                     *y = ct_mon_elab_materialise(b->e, b->args[2], b->at);
    return x && y ? cv_value(ct_mon_ir_if(&b->e->pool, b->args[0].ir, x, y)) : cv_error(b->e);
}

static struct ct_mon_cv bi_none(struct builtin *b)
{
    return cv_cell(b->e, b->result, cell_int(0));
}

static struct ct_mon_cv value_op(struct builtin *b)
{
    const enum ct_mon_op op = (enum ct_mon_op)b->what;
    struct ct_mon_elab *e = b->e;
    struct ct_mon_ir **args = ARENA_ARRAY(e->arena, struct ct_mon_ir *, b->n);
    struct ct_mon_op_extra extra = {0};
    for (size_t i = 0; i < b->n; i++)
        if (!(args[i] = ct_mon_elab_materialise(e, b->args[i], b->at)))
            return cv_error(e);
    if (op == OP_TO_STRING || op == OP_FORMAT)
        extra.type = args[b->n - 1]->type;
    return cv_value(ct_mon_ir_op(&e->pool, b->result, op, &extra, args, (uint32_t)b->n));
}

/* Each operation has one signature, with type parameters A, B, … in the order of the declaration. The
 * engine's operations and the functions above rely on it and check no types. */
static const struct {
    struct ct_mon_elab_signature is;
    builtin_fn *fn;
    unsigned what; /* enum ct_mon_op for value_op; enum ct_mon_node_kind for plain and other users */
} ROWS[] = {
    {{"nil", "Events[A]"}, bi_nil, 0},
    {{"default", "(Events[A], A) => Events[A]"}, bi_default, 0},
    {{"defaultFrom", "(Events[A], Events[A]) => Events[A]"}, plain, N_DEFAULT_FROM},
    {{"time", "(Events[A]) => Events[Int]"}, plain, N_TIME},
    {{"last", "(Events[A], Events[B]) => Events[A]"}, plain, N_LAST},
    {{"delay", "(Events[Int], Events[A]) => Events[Unit]"}, plain, N_DELAY},
    {{"lift1", "(Events[A], (Option[A]) => Option[B]) => Events[B]"}, bi_lift, 0},
    {{"slift1", "(Events[A], (A) => B) => Events[B]"}, bi_slift, 0},
    {{"lift2", "(Events[A], Events[B], (Option[A], Option[B]) => Option[C]) => Events[C]"}, bi_lift, 0},
    {{"slift2", "(Events[A], Events[B], (A, B) => C) => Events[C]"}, bi_slift, 0},
    {{"lift3",
      "(Events[A], Events[B], Events[C], (Option[A], Option[B], Option[C]) => Option[D]) => Events[D]"},
     bi_lift,
     0},
    {{"slift3", "(Events[A], Events[B], Events[C], (A, B, C) => D) => Events[D]"}, bi_slift, 0},
    {{"lift4", "(Events[A], Events[B], Events[C], Events[D], (Option[A], Option[B], Option[C], Option[D]) => "
               "Option[E]) => Events[E]"},
     bi_lift,
     0},
    {{"slift4", "(Events[A], Events[B], Events[C], Events[D], (A, B, C, D) => E) => Events[E]"}, bi_slift, 0},
    {{"lift5", "(Events[A], Events[B], Events[C], Events[D], Events[E], (Option[A], Option[B], Option[C], "
               "Option[D], Option[E]) => Option[F]) => Events[F]"},
     bi_lift,
     0},
    {{"slift5", "(Events[A], Events[B], Events[C], Events[D], Events[E], (A, B, C, D, E) => F) => Events[F]"},
     bi_slift,
     0},
    {{"merge", "(Events[A], Events[A]) => Events[A]"}, plain, N_MERGE},
    {{"filter", "(Events[A], Events[Bool]) => Events[A]"}, plain, N_FILTER},
    {{"on", "(Events[A], Events[B]) => Events[B]"}, bi_on, N_ON},
    {{"pure", "(Events[A]) => Events[A]"}, plain, N_PURE},
    {{"fold", "(Events[A], B, (B, A) => B) => Events[B]"}, bi_fold, 0},
    {{"reduce", "(Events[A], (A, A) => A) => Events[A]"}, bi_reduce, 0},
    {{"pow", "(Float, Float) => Float"}, value_op, OP_POW},
    {{"log", "(Float, Float) => Float"}, value_op, OP_LOG},
    {{"sin", "(Float) => Float"}, value_op, OP_SIN},
    {{"cos", "(Float) => Float"}, value_op, OP_COS},
    {{"tan", "(Float) => Float"}, value_op, OP_TAN},
    {{"atan", "(Float) => Float"}, value_op, OP_ATAN},
    {{"intToFloat", "(Int) => Float"}, value_op, OP_INT_TO_FLOAT},
    {{"floatToInt", "(Float) => Int"}, value_op, OP_FLOAT_TO_INT},
    {{"toString", "(A) => String"}, value_op, OP_TO_STRING},
    {{"none", "Option[A]"}, bi_none, 0},
    {{"some", "(A) => Option[A]"}, value_op, OP_SOME},
    {{"isNone", "(Option[A]) => Bool"}, value_op, OP_IS_NONE},
    {{"isSome", "(Option[A]) => Bool"}, value_op, OP_IS_SOME},
    {{"getSome", "(Option[A]) => A"}, value_op, OP_GET_SOME},
    {{"add", "(Int, Int) => Int"}, value_op, OP_ADD},
    {{"sub", "(Int, Int) => Int"}, value_op, OP_SUB},
    {{"mul", "(Int, Int) => Int"}, value_op, OP_MUL},
    {{"div", "(Int, Int) => Int"}, value_op, OP_DIV},
    {{"mod", "(Int, Int) => Int"}, value_op, OP_MOD},
    {{"bitand", "(Int, Int) => Int"}, value_op, OP_BITAND},
    {{"bitor", "(Int, Int) => Int"}, value_op, OP_BITOR},
    {{"bitxor", "(Int, Int) => Int"}, value_op, OP_BITXOR},
    {{"leftshift", "(Int, Int) => Int"}, value_op, OP_SHL},
    {{"rightshift", "(Int, Int) => Int"}, value_op, OP_SHR},
    {{"lt", "(Int, Int) => Bool"}, value_op, OP_LT},
    {{"gt", "(Int, Int) => Bool"}, value_op, OP_GT},
    {{"leq", "(Int, Int) => Bool"}, value_op, OP_LE},
    {{"geq", "(Int, Int) => Bool"}, value_op, OP_GE},
    {{"eq", "(A, A) => Bool"}, value_op, OP_EQ},
    {{"neq", "(A, A) => Bool"}, value_op, OP_NE},
    {{"fadd", "(Float, Float) => Float"}, value_op, OP_FADD},
    {{"fsub", "(Float, Float) => Float"}, value_op, OP_FSUB},
    {{"fmul", "(Float, Float) => Float"}, value_op, OP_FMUL},
    {{"fdiv", "(Float, Float) => Float"}, value_op, OP_FDIV},
    {{"flt", "(Float, Float) => Bool"}, value_op, OP_FLT},
    {{"fgt", "(Float, Float) => Bool"}, value_op, OP_FGT},
    {{"fleq", "(Float, Float) => Bool"}, value_op, OP_FLE},
    {{"fgeq", "(Float, Float) => Bool"}, value_op, OP_FGE},
    {{"and", "(Bool, Bool) => Bool"}, bi_and, 0},
    {{"or", "(Bool, Bool) => Bool"}, bi_or, 0},
    {{"not", "(Bool) => Bool"}, value_op, OP_NOT},
    {{"negate", "(Int) => Int"}, value_op, OP_NEG},
    {{"bitflip", "(Int) => Int"}, value_op, OP_BITNOT},
    {{"fnegate", "(Float) => Float"}, value_op, OP_FNEG},
    {{"ite", "(Bool, A, A) => A"}, bi_ite, 0},
    {{"concat", "(String, String) => String"}, value_op, OP_CONCAT},
    {{"format", "(String, A) => String"}, value_op, OP_FORMAT},
    {{"formatInt", "(String, Int) => String"}, value_op, OP_FORMAT},
    {{"formatFloat", "(String, Float) => String"}, value_op, OP_FORMAT},
    {{"listEmpty", "List[A]"}, value_op, OP_LIST_EMPTY},
    {{"listSize", "(List[A]) => Int"}, value_op, OP_SIZE},
    {{"listAppend", "(List[A], A) => List[A]"}, value_op, OP_LIST_APPEND},
    {{"listHead", "(List[A]) => A"}, value_op, OP_LIST_HEAD},
    {{"listTail", "(List[A]) => List[A]"}, value_op, OP_LIST_TAIL},
    {{"listInit", "(List[A]) => List[A]"}, value_op, OP_LIST_INIT},
    {{"listLast", "(List[A]) => A"}, value_op, OP_LIST_LAST},
    {{"listGet", "(List[A], Int) => A"}, value_op, OP_LIST_GET},
    {{"listSet", "(List[A], Int, A) => List[A]"}, value_op, OP_LIST_SET},
    {{"listPrepend", "(List[A], A) => List[A]"}, value_op, OP_LIST_PREPEND},
    {{"setEmpty", "Set[A]"}, value_op, OP_MAP_EMPTY},
    {{"setAdd", "(Set[A], A) => Set[A]"}, value_op, OP_SET_ADD},
    {{"setContains", "(Set[A], A) => Bool"}, value_op, OP_MAP_CONTAINS},
    {{"setRemove", "(Set[A], A) => Set[A]"}, value_op, OP_MAP_REMOVE},
    {{"setSize", "(Set[A]) => Int"}, value_op, OP_SIZE},
    {{"setAt", "(Set[A], Int) => A"}, value_op, OP_KEY_AT},
    {{"mapEmpty", "Map[A, B]"}, value_op, OP_MAP_EMPTY},
    {{"mapAdd", "(Map[A, B], A, B) => Map[A, B]"}, value_op, OP_MAP_ADD},
    {{"mapContains", "(Map[A, B], A) => Bool"}, value_op, OP_MAP_CONTAINS},
    {{"mapGet", "(Map[A, B], A) => B"}, value_op, OP_MAP_GET},
    {{"mapRemove", "(Map[A, B], A) => Map[A, B]"}, value_op, OP_MAP_REMOVE},
    {{"mapSize", "(Map[A, B]) => Int"}, value_op, OP_SIZE},
    {{"mapKeyAt", "(Map[A, B], Int) => A"}, value_op, OP_KEY_AT},
};

static size_t find_row(const char *name)
{
    size_t i = 0;
    while (i < sizeof ROWS / sizeof *ROWS && strcmp(ROWS[i].is.name, name) != 0)
        i++;
    return i;
}

const struct ct_mon_elab_signature *ct_mon_elab_signature(size_t i)
{
    return i < sizeof ROWS / sizeof *ROWS ? &ROWS[i].is : NULL;
}

static bool eat(const char **p, const char *text)
{
    const size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0)
        return false;
    *p += n;
    return true;
}

/* Returns whether the text begins with the type as ct_mon_type_text writes it, and advances past it. */
static bool eat_type(struct ct_mon_arena *a, const char **p, const struct ct_mon_type *t)
{
    const bool function = t->kind == TY_FUN;
    const uint32_t n = function ? t->n - 1 : t->n;
    if (!function && (!n || t->kind == TY_RECORD))
        return eat(p, ct_mon_type_text(a, t));
    if (!eat(p, function ? "" : ct_mon_type_kind_name(t->kind)) || !eat(p, function ? "(" : "["))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if ((i && !eat(p, ", ")) || !eat_type(a, p, t->args[i]))
            return false;
    return eat(p, function ? ") => " : "]") && (!function || eat_type(a, p, t->args[n]));
}

/* Returns the type of a declaration, with its type parameters renamed to A, B, … */
static const struct ct_mon_type *declared(struct ct_mon_elab *e, const struct ct_mon_ast_def *def,
                                          struct ct_mon_env *env)
{
    static const char names[26][2] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
                                      "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"};
    struct ct_mon_env *types = ct_mon_env_new(e, env);
    const struct ct_mon_type **list = ARENA_ARRAY(e->arena, const struct ct_mon_type *, def->nparams + 1);
    for (size_t i = 0; i < def->ntype_params; i++)
        ct_mon_env_bind_type(e, types, def->type_params[i], ct_mon_type_var(&e->types, names[i % 26], def));
    for (size_t i = 0; i < def->nparams; i++)
        list[i] = def->params[i].type ? ct_mon_elab_type(e, types, def->params[i].type) : e->types.error;
    list[def->nparams] = def->type ? ct_mon_elab_type(e, types, def->type) : e->types.error;
    return def->nparams ? ct_mon_type_fun(&e->types, list, def->nparams + 1) : list[0];
}

void ct_mon_elab_check_builtin(struct ct_mon_elab *e, struct ct_mon_ast_def *def, struct ct_mon_env *env)
{
    const char *name = def->body->name;
    const struct ct_mon_elab_signature *row = ct_mon_elab_signature(find_row(name));
    const struct ct_mon_type *type = declared(e, def, env);
    const char *p = row ? row->signature : "";
    if (row && eat_type(e->arena, &p, type) && !*p)
        return;
    if (row)
        ct_mon_diag_error(e->diags, def->name_span, "Builtin %s is %s and cannot be declared as %s", name,
                          row->signature, ct_mon_type_text(e->arena, type));
    else
        ct_mon_diag_error(e->diags, def->body->span, "Undefined builtin %s", name);
    def->body->kind = A_ERROR;
}

struct ct_mon_cv ct_mon_elab_builtin(struct ct_mon_elab *e, const char *name, struct ct_mon_cv *args,
                                     size_t n, const struct ct_mon_type *result, struct ct_mon_span at)
{
    const size_t i = find_row(name);
    struct builtin b = {e, args, n, result, at, ROWS[i].what};
    for (size_t k = 0; k < n; k++)
        if (args[k].kind == CV_ERROR)
            return cv_error(e);
    /* cppcheck-suppress returnDanglingLifetime ; it keeps no pointer to b */
    return ROWS[i].fn(&b);
}
