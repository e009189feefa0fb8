/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/op.h"

#include <math.h>
#include <string.h>

#include "monitor/big.h"
#include "monitor/collection.h"
#include "monitor/print.h"

/* units of work of slow operations, besides what they charge themselves */
enum {
    FORMAT_WORK = 100, /* printf of the C library */
    FLOAT_WORK = 20,   /* functions of the math library */
    TREE_LEVEL_WORK = 12,
};

const char *ct_mon_op_name(enum ct_mon_op op)
{
    static const char *const names[] = {
#define OP_ROW(name, arity) #name,
        OPS(OP_ROW)
#undef OP_ROW
    };
    return names[op];
}

static struct ct_mon_cell comparison(enum ct_mon_op op, struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                     const struct ct_mon_cell *b)
{
    const int c = ct_mon_value_compare(h, a, b);
    switch (op) {
    case OP_LT:
        return cell_int(c < 0);
    case OP_GT:
        return cell_int(c > 0);
    case OP_LE:
        return cell_int(c <= 0);
    default: /* OP_GE */
        return cell_int(c >= 0);
    }
}

static struct ct_mon_cell int_op(enum ct_mon_op op, struct ct_mon_heap *h, const struct ct_mon_cell *a,
                                 const struct ct_mon_cell *b)
{
    int64_t r;
    if (op >= OP_LT)
        return comparison(op, h, a, b);
    if (!cell_is_big(a) && !cell_is_big(b) && ct_mon_op_small(op, a->v.i, b->v.i, &r))
        return cell_int(r);
    return ct_mon_big_op(op, h, a, b);
}

static struct ct_mon_cell float_op(enum ct_mon_op op, struct ct_mon_heap *h, double a, double b)
{
    heap_spend(h, op >= OP_POW && op <= OP_ATAN ? FLOAT_WORK : 0);
    switch (op) {
    case OP_FADD:
        return cell_float(a + b);
    case OP_FSUB:
        return cell_float(a - b);
    case OP_FMUL:
        return cell_float(a * b);
    case OP_FDIV:
        return cell_float(a / b);
    case OP_FLT:
        return cell_int(a < b);
    case OP_FGT:
        return cell_int(a > b);
    case OP_FLE:
        return cell_int(a <= b);
    case OP_FGE:
        return cell_int(a >= b);
    case OP_FNEG:
        return cell_float(-a);
    case OP_POW:
        return cell_float(pow(a, b));
    case OP_LOG:
        return cell_float(log(a) / log(b));
    case OP_SIN:
        return cell_float(sin(a));
    case OP_COS:
        return cell_float(cos(a));
    case OP_TAN:
        return cell_float(tan(a));
    case OP_ATAN:
        return cell_float(atan(a));
    default: /* FLOAT_TO_INT */
        if (!isfinite(a))
            return cell_error(E_NAN);
        if (a >= 9223372036854775808.0 || a < -9223372036854775808.0)
            return ct_mon_big_from_float(h, a);
        return cell_int((int64_t)a);
    }
}

/* Makes a String of the text, and frees the text. */
static struct ct_mon_cell text_value(struct ct_mon_heap *h, struct ct_mon_text *t)
{
    const struct ct_mon_cell r =
        t->failed ? cell_error(E_MEMORY) : ct_mon_value_string(h, t->p ? t->p : "", t->n);
    if (t->failed)
        heap_exhaust(h, E_MEMORY);
    ct_mon_text_free(t);
    return r;
}

static struct ct_mon_cell to_string(struct ct_mon_heap *h, const struct ct_mon_cell *c,
                                    const struct ct_mon_type *type)
{
    struct ct_mon_text t = {.limit = h->limit, .payer = h};
    heap_spend(h, FORMAT_WORK);
    ct_mon_print_value(&t, c, type, true);
    return text_value(h, &t);
}

static struct ct_mon_cell format(struct ct_mon_heap *h, const struct ct_mon_cell *c,
                                 const struct ct_mon_cell *x, const struct ct_mon_type *type)
{
    const struct ct_mon_obj_string *f = cell_string(c);
    enum ct_mon_format_need need = ct_mon_format_check(f->text, f->o.size);
    if (need == FORMAT_BAD || (need == FORMAT_INT && type->kind != TY_INT) ||
        (need == FORMAT_FLOAT && type->kind != TY_FLOAT))
        return cell_error(E_FORMAT);
    struct ct_mon_text t = {.limit = h->limit, .payer = h};
    heap_spend(h, FORMAT_WORK);
    ct_mon_format_value(&t, f->text, f->o.size, x, type);
    return text_value(h, &t);
}

static struct ct_mon_cell record(struct ct_mon_heap *h, const struct ct_mon_cell *args, unsigned n)
{
    struct ct_mon_obj_cells *r = (struct ct_mon_obj_cells *)ct_mon_heap_alloc(h, OBJ_RECORD, n);
    if (!r)
        return cell_error(E_MEMORY);
    if (n)
        memcpy(r->cells, args, n * sizeof *args);
    return (struct ct_mon_cell){.v.o = &r->o, .meta = META_PTR};
}

static struct ct_mon_cell option_op(enum ct_mon_op op, const struct ct_mon_cell *a)
{
    struct ct_mon_cell r = *a;
    enum ct_mon_value_error e = cell_err(a);
    switch (op) {
    case OP_SOME:
        r.meta += META_SOME_ONE;
        return r;
    case OP_GET_SOME:
        if (r.meta & META_SOME)
            r.meta -= META_SOME_ONE;
        else
            r = cell_error(e ? e : E_OPTION);
        return r;
    default:
        return e ? cell_error(e) : cell_int(!(a->meta & META_SOME) == (op == OP_IS_NONE));
    }
}

static struct ct_mon_cell collection_op(enum ct_mon_op op, struct ct_mon_heap *h, const struct ct_mon_cell *a)
{
    struct ct_mon_cell r;
    uint64_t n = ct_mon_collection_size(a[0].v.o);
    heap_spend(h, TREE_LEVEL_WORK * (64 - (unsigned)__builtin_clzll(n | 1)));
    switch (op) {
    case OP_SIZE:
        return cell_int((int64_t)n);
    case OP_LIST_APPEND:
        return ct_mon_list_append(h, &a[0], &a[1]);
    case OP_LIST_PREPEND:
        return ct_mon_list_prepend(h, &a[0], &a[1]);
    case OP_LIST_HEAD:
    case OP_LIST_LAST:
        return n ? ct_mon_list_get(&a[0], op == OP_LIST_HEAD ? 0 : (int64_t)n - 1) : cell_error(E_EMPTY);
    case OP_LIST_TAIL:
    case OP_LIST_INIT:
        return ct_mon_list_drop(h, &a[0], op == OP_LIST_INIT);
    case OP_LIST_GET:
        return cell_is_big(&a[1]) ? cell_error(E_INDEX) : ct_mon_list_get(&a[0], a[1].v.i);
    case OP_LIST_SET:
        return cell_is_big(&a[1]) ? cell_error(E_INDEX) : ct_mon_list_set(h, &a[0], a[1].v.i, &a[2]);
    case OP_SET_ADD:
        return ct_mon_map_add(h, &a[0], &a[1], &(struct ct_mon_cell){0});
    case OP_MAP_ADD:
        return ct_mon_map_add(h, &a[0], &a[1], &a[2]);
    case OP_MAP_CONTAINS:
        return cell_int(ct_mon_map_find(h, &a[0], &a[1], NULL));
    case OP_MAP_GET:
        return ct_mon_map_find(h, &a[0], &a[1], &r) ? r : cell_error(E_KEY);
    case OP_MAP_REMOVE:
        return ct_mon_map_remove(h, &a[0], &a[1]);
    default: /* KEY_AT */
        if (cell_is_big(&a[1]) || a[1].v.i < 0 || (uint64_t)a[1].v.i >= n)
            return cell_error(E_INDEX);
        ct_mon_collection_at(a[0].v.o, (uint64_t)a[1].v.i, &r, NULL);
        return r;
    }
}

static struct ct_mon_cell eval(enum ct_mon_op op, const struct ct_mon_op_extra *extra, struct ct_mon_heap *h,
                               const struct ct_mon_cell *args, unsigned n)
{
    switch (op) {
    case OP_EQ:
        return cell_int(ct_mon_value_equal(h, &args[0], &args[1]));
    case OP_NE:
        return cell_int(!ct_mon_value_equal(h, &args[0], &args[1]));
    case OP_NOT:
        return cell_int(!args[0].v.i);
    case OP_NEG:
        return int_op(OP_SUB, h, &(struct ct_mon_cell){0}, &args[0]);
    case OP_BITNOT:
        return cell_is_big(&args[0]) ? ct_mon_big_op(op, h, &args[0], NULL) : cell_int(~args[0].v.i);
    case OP_INT_TO_FLOAT:
        return cell_float(cell_is_big(&args[0]) ? ct_mon_big_to_float(&args[0]) : (double)args[0].v.i);
    case OP_TO_STRING:
        return to_string(h, &args[0], extra->type);
    case OP_CONCAT:
        return ct_mon_value_concat(h, &args[0], &args[1]);
    case OP_FORMAT:
        return format(h, &args[0], &args[1], extra->type);
    case OP_RECORD:
        return record(h, args, n);
    case OP_FIELD:
        return ((const struct ct_mon_obj_cells *)args[0].v.o)->cells[extra->index];
    case OP_LIST_EMPTY:
        return ct_mon_list_empty(h);
    case OP_MAP_EMPTY:
        return ct_mon_map_empty(h);
    default:
        if (op <= OP_GE)
            return int_op(op, h, &args[0], &args[1]);
        if (op < OP_TO_STRING)
            return float_op(op, h, args[0].v.f, n > 1 ? args[1].v.f : 0);
        return collection_op(op, h, args);
    }
}

void ct_mon_op_eval(enum ct_mon_op op, const struct ct_mon_op_extra *extra, struct ct_mon_heap *h,
                    const struct ct_mon_cell *args, unsigned n, struct ct_mon_cell *out)
{
    struct ct_mon_cell r;
    enum ct_mon_value_error e = E_NONE;
    if (op >= OP_IS_NONE && op <= OP_GET_SOME) {
        r = option_op(op, args);
    } else {
        for (unsigned i = 0; i < n && !e; i++)
            e = cell_err(&args[i]);
        r = e ? cell_error(e) : eval(op, extra, h, args, n);
    }
    out->v = r.v;
    out->meta = r.meta;
}
