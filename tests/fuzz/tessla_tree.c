/* SPDX-License-Identifier: Apache-2.0 */
/* Random syntax trees as text. Types are mostly right, so that specifications compile and run. */
#include "tessla_text.h"

enum kind {
    INT,
    BOOL,
    FLOAT,
    STRING,
    KINDS
};

static const char *const TYPE_NAMES[] = {"Int", "Bool", "Float", "String"};

enum {
    STREAM_FORMS = 16,
    VALUE_FORMS = 7, /* forms that need no stream */
};

/* Adds an expression of the kind, of streams or of constants alone. */
static void add_expr(struct tessla_text *t, enum kind kind, unsigned depth, bool streams);

static void add_input(struct tessla_text *t, enum kind kind)
{
    static const char *const names[KINDS][2] = {{"x", "y"}, {"b", "c"}, {"f", "f"}, {"s", "s"}};
    tessla_add(t, names[kind][tessla_below(t, 2)]);
}

static void add_constant(struct tessla_text *t, enum kind kind, bool streams)
{
    switch (kind) {
    case INT:
        TESSLA_PICK(t, "0", "1", "2", "7", "(-3)", "63", "64", "9223372036854775807",
                    "(-9223372036854775808)", "170141183460469231731687303715884105727",
                    "1000000000000000000000000");
        break;
    case BOOL:
        TESSLA_PICK(t, "true", "false");
        break;
    case FLOAT:
        TESSLA_PICK(t, "0.0", "1.5", "1e30", "(-.2.5)");
        break;
    default:
        if (streams)
            TESSLA_PICK(t, "\"\"", "\"a\"", "\"$x b\"", "\"${x + 1}\"");
        else
            TESSLA_PICK(t, "\"\"", "\"a\"", "\"$ %d\"");
        break;
    }
}

static void add_leaf(struct tessla_text *t, enum kind kind, bool streams)
{
    if (streams && tessla_below(t, 3))
        add_input(t, kind);
    else
        add_constant(t, kind, streams);
}

static void add_two(struct tessla_text *t, enum kind a, enum kind b, unsigned depth, bool streams)
{
    add_expr(t, a, depth, streams);
    tessla_add(t, ", ");
    add_expr(t, b, depth, streams);
}

static void add_operator(struct tessla_text *t, enum kind kind)
{
    switch (kind) {
    case INT:
        TESSLA_PICK(t, " + ", " - ", " * ", " + ", " - ", " * ", " / ", " % ", " & ", " | ", " ^ ", " << ",
                    " >> ");
        break;
    case BOOL:
        TESSLA_PICK(t, " && ", " || ");
        break;
    default:
        TESSLA_PICK(t, " +. ", " -. ", " *. ", " /. ");
        break;
    }
}

static void add_binary(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    const enum kind any = (enum kind)tessla_below(t, KINDS);
    tessla_add(t, "(");
    if (kind == STRING) {
        tessla_add(t, "String.concat(");
        add_expr(t, STRING, depth, streams);
        tessla_add(t, ", toString(");
        add_expr(t, any, depth, streams);
        tessla_add(t, "))");
    } else if (kind == BOOL && tessla_below(t, 2)) {
        const enum kind of = tessla_below(t, 2) ? INT : FLOAT;
        add_expr(t, of, depth, streams);
        if (of == INT)
            TESSLA_PICK(t, " < ", " > ", " <= ", " >= ", " == ", " != ");
        else
            TESSLA_PICK(t, " <. ", " >. ", " <=. ", " >=. ", " == ", " != ");
        add_expr(t, of, depth, streams);
    } else {
        add_expr(t, kind, depth, streams);
        add_operator(t, kind);
        add_expr(t, kind, depth, streams);
    }
    tessla_add(t, ")");
}

static void add_unary(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    if (kind == INT)
        TESSLA_PICK(t, "(-", "(~", "floatToInt(");
    else
        tessla_add(t, kind == BOOL ? "!(" : kind == FLOAT ? "intToFloat(" : "String.format(\"%5d\", ");
    const bool float_argument = kind == INT && t->p[t->n - 2] == 't';
    add_expr(t, kind == BOOL ? BOOL : float_argument ? FLOAT : INT, depth, streams);
    tessla_add(t, ")");
}

static void add_conditional(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    tessla_add(t, "(if ");
    add_expr(t, BOOL, depth, streams);
    tessla_add(t, " then ");
    add_expr(t, kind, depth, streams);
    tessla_add(t, " else ");
    add_expr(t, kind, depth, streams);
    tessla_add(t, ")");
}

static void add_option(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    const bool sometimes = tessla_below(t, 2);
    tessla_add(t, "getSomeOrElse(");
    if (sometimes) {
        tessla_add(t, "if ");
        add_expr(t, BOOL, depth, streams);
        tessla_add_format(t, " then None[%s] else ", TYPE_NAMES[kind]);
    }
    tessla_add(t, "Some(");
    add_expr(t, kind, depth, streams);
    tessla_add(t, "), ");
    add_expr(t, kind, depth, streams);
    tessla_add(t, ")");
}

/* Adds an element of a list or a map, which may not exist. */
static void add_collection(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    if (tessla_below(t, 2)) {
        TESSLA_PICK(t, "List.head(", "List.last(", "List.head(List.tail(");
        const bool twice = t->n > 10 && t->p[t->n - 2] == 'l';
        tessla_add_format(t, "List.append(List.append(List.empty[%s], ", TYPE_NAMES[kind]);
        add_expr(t, kind, depth, streams);
        tessla_add(t, "), ");
        add_expr(t, kind, depth, streams);
        tessla_add(t, twice ? ")))" : "))");
    } else {
        const bool surely = tessla_below(t, 4);
        tessla_add_format(t, "Map.get%s(Map.add(Map.empty[Int, %s], ", surely ? "OrElse" : "",
                          TYPE_NAMES[kind]);
        add_two(t, INT, kind, depth, streams);
        tessla_add(t, "), ");
        if (surely)
            add_two(t, INT, kind, depth, streams);
        else
            add_expr(t, INT, depth, streams);
        tessla_add(t, ")");
    }
}

static void add_count(struct tessla_text *t, enum kind kind, unsigned depth)
{
    if (kind != INT) {
        add_leaf(t, kind, true);
        return;
    }
    if (tessla_below(t, 2)) {
        TESSLA_PICK(t, "time(", "count(");
        add_expr(t, (enum kind)tessla_below(t, KINDS), depth, true);
    } else {
        TESSLA_PICK(t, "sum(", "maximum(", "minimum(", "average(");
        add_expr(t, INT, depth, true);
    }
    tessla_add(t, ")");
}

static void add_lift(struct tessla_text *t, enum kind kind, unsigned depth)
{
    const char *type = TYPE_NAMES[kind];
    const bool option = tessla_below(t, 2);
    tessla_add(t, option ? "lift(" : "slift(");
    add_two(t, kind, kind, depth, true);
    if (option)
        tessla_add_format(t, ", (p: Option[%s], q: Option[%s]) => ", type, type);
    else
        tessla_add_format(t, ", (p: %s, q: %s) => ", type, type);
    if (option && tessla_below(t, 2))
        TESSLA_PICK(t, "if isNone(p) then q else p", "p", "if p == q then p else Some(getSome(q))");
    else if (tessla_below(t, 2))
        TESSLA_PICK(t, "p", "q", "if p == q then p else q");
    else {
        tessla_add(t, option ? "Some(" : "(");
        add_expr(t, kind, depth, false);
        tessla_add(t, ")");
    }
    tessla_add(t, ")");
}

static void add_fold(struct tessla_text *t, enum kind kind, unsigned depth)
{
    const enum kind of = (enum kind)tessla_below(t, KINDS);
    tessla_add(t, "fold(");
    add_expr(t, of, depth, true);
    tessla_add(t, ", ");
    add_constant(t, kind, false);
    tessla_add_format(t, ", (p: %s, q: %s) => if ", TYPE_NAMES[kind], TYPE_NAMES[of]);
    add_expr(t, BOOL, depth, false);
    tessla_add(t, " then p else ");
    add_expr(t, kind, depth, false);
    tessla_add(t, ")");
}

/* Adds a stream that depends on its own past, or a recursive function on values. */
static void add_recursion(struct tessla_text *t, enum kind kind, unsigned depth)
{
    const char *type = TYPE_NAMES[kind];
    if (tessla_below(t, 2)) {
        tessla_add_format(t, "{ def r: Events[%s] = default(last(", type);
        tessla_add(t, "merge(r, ");
        add_expr(t, kind, depth, true);
        tessla_add(t, "), ");
        add_input(t, (enum kind)tessla_below(t, KINDS));
        tessla_add(t, "), ");
        add_constant(t, kind, false);
        tessla_add(t, ")\n r }");
    } else {
        tessla_add_format(t, "{ def g(n: Int, v: %s): %s = if n <= 0 then v else g(n - 1, ", type, type);
        add_expr(t, kind, depth, false);
        tessla_add_format(t, ")\n slift(x, default(");
        add_expr(t, kind, depth, true);
        tessla_add(t, ", ");
        add_constant(t, kind, false);
        tessla_add(t, "), g) }");
    }
}

static void add_stream(struct tessla_text *t, unsigned form, enum kind kind, unsigned depth)
{
    const enum kind any = (enum kind)tessla_below(t, KINDS);
    switch (form) {
    case 0:
        tessla_add(t, "default(");
        add_expr(t, kind, depth, true);
        tessla_add(t, ", ");
        add_constant(t, kind, false);
        break;
    case 1:
        tessla_add(t, "last(");
        add_two(t, kind, any, depth, true);
        break;
    case 2:
        tessla_add(t, "filter(");
        add_two(t, kind, BOOL, depth, true);
        break;
    case 3:
        tessla_add(t, "on(");
        add_two(t, any, kind, depth, true);
        break;
    case 4:
        tessla_add(t, "merge(");
        add_two(t, kind, kind, depth, true);
        break;
    case 5:
        TESSLA_PICK(t, "prev(", "pure(");
        add_expr(t, kind, depth, true);
        break;
    default:
        tessla_add(t, "on(delay(");
        add_two(t, INT, any, depth, true);
        tessla_add(t, "), ");
        add_expr(t, kind, depth, true);
        break;
    }
    tessla_add(t, ")");
}

static void add_expr(struct tessla_text *t, enum kind kind, unsigned depth, bool streams)
{
    if (!depth || !tessla_below(t, 8)) {
        add_leaf(t, kind, streams);
        return;
    }
    const unsigned form = tessla_below(t, streams ? STREAM_FORMS + 2 : VALUE_FORMS);
    depth--;
    if (form < 3)
        add_binary(t, kind, depth, streams);
    else if (form == 3)
        add_conditional(t, kind, depth, streams);
    else if (form == 4)
        add_unary(t, kind, depth, streams);
    else if (form == 5)
        add_option(t, kind, depth, streams);
    else if (form == 6)
        add_collection(t, kind, depth, streams);
    else if (form == 7)
        add_count(t, kind, depth);
    else if (form == 8)
        add_lift(t, kind, depth);
    else if (form == 9)
        add_fold(t, kind, depth);
    else if (form == 10)
        add_recursion(t, kind, depth);
    else
        add_stream(t, form - 11, kind, depth);
}

/* Redefines a name that the library's own definitions use. */
static void add_bend(struct tessla_text *t)
{
    TESSLA_PICK(t, "type Int = String\n", "type Int = Float\n", "type String = Int\n", "type Bool = Int\n",
                "type Float = String\n", "type List[T] = Int\n", "type Option[T] = T\n",
                "type Map[K, V] = K\n", "type Events[T] = T\n", "def merge(x: Int, y: Int): Int = x\n",
                "def List: Int = 3\n", "module Operators {\n def add(a: String, b: String): String = a\n}\n");
}

void tessla_add_tree(struct tessla_text *t)
{
    if (!tessla_below(t, 32))
        add_bend(t);
    tessla_add(t, "in x: Events[Int]\nin y: Events[Int]\nin b: Events[Bool]\nin c: Events[Bool]\n"
                  "in f: Events[Float]\nin s: Events[String]\n");
    const unsigned n = 1 + tessla_below(t, 4);
    for (unsigned i = 0; i < n; i++) {
        const enum kind kind = (enum kind)tessla_below(t, KINDS);
        tessla_add_format(t, "def d%u: Events[%s] = ", i, TYPE_NAMES[kind]);
        add_expr(t, kind, 1 + tessla_below(t, 5), true);
        tessla_add_format(t, "\nout d%u\n", i);
    }
}
