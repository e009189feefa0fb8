/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the core as a graphviz graph. Dashed edges read earlier values. */
#include "monitor/print.h"
#include "monitor/program.h"

static const char *const NAMES[] = {
    [N_NIL] = "nil",   [N_INPUT] = "in",        [N_TICK] = "*",        [N_DEFAULT] = "default",
    [N_TIME] = "time", [N_LAST] = "last",       [N_DELAY] = "delay",   [N_DEFAULT_FROM] = "defaultFrom",
    [N_LIFT] = "lift", [N_SLIFT] = "slift",     [N_MERGE] = "merge",   [N_FILTER] = "filter",
    [N_ON] = "on",     [N_FOLD] = "fold",       [N_REDUCE] = "reduce", [N_PURE] = "pure",
    [N_REF] = "ref",   [N_MONITOR] = "monitor", [N_OPAQUE] = "?",
};

enum {
    DEPTH_MOST = 6
};

/* Writes a function's body as an expression. Writes ".." for parts that are nested too deeply. */
static void expression(struct ct_mon_text *t, const struct ct_mon_ir *x, int depth)
{
    if (depth > DEPTH_MOST) {
        ct_mon_text_add_z(t, "..");
        return;
    }
    switch (x->kind) {
    case IR_CONST: {
        struct ct_mon_text value = {0}, line = {0};
        ct_mon_print_value(&value, &x->value, x->type, true);
        ct_mon_text_add_printable(&line, value.p, value.n, false);
        for (size_t i = 0; i < line.n; i++)
            ct_mon_text_printf(t, line.p[i] == '"' || line.p[i] == '\\' ? "\\%c" : "%c", line.p[i]);
        ct_mon_text_free(&value);
        ct_mon_text_free(&line);
        return;
    }
    case IR_PARAM:
        ct_mon_text_printf(t, "$%u", x->index + 1);
        return;
    case IR_OP:
        ct_mon_text_add_z(t, ct_mon_op_name(x->op));
        break;
    case IR_CALL:
        ct_mon_text_printf(t, "f%u", x->fn->id);
        break;
    default:
        ct_mon_text_add_z(t, x->kind == IR_IF ? "IF" : x->kind == IR_AND ? "AND" : "OR");
        break;
    }
    ct_mon_text_add(t, "(", 1);
    for (uint32_t i = 0; i < x->n; i++) {
        if (i)
            ct_mon_text_add(t, ", ", 2);
        expression(t, x->args[i], depth + 1);
    }
    ct_mon_text_add(t, ")", 1);
}

void ct_mon_dot_write(const struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_text *t)
{
    ct_mon_text_add_z(
        t, "digraph specification {\n    rankdir = LR;\n    node [shape = box, fontname = monospace];\n");
    for (size_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        ct_mon_text_printf(t, "    n%u [label = \"%s", s->id, NAMES[s->kind]);
        if (s->name)
            ct_mon_text_printf(t, " %s", s->name);
        if (s->kernel) {
            ct_mon_text_add_z(t, "\\n");
            expression(t, s->kernel, 0);
        }
        ct_mon_text_add_z(t, "\"];\n");
        for (uint32_t k = 0; k < s->n; k++)
            ct_mon_text_printf(t, "    n%u -> n%u%s;\n", s->args[k]->id, s->id,
                               k == 0 && (s->kind == N_LAST || s->kind == N_DELAY) ? " [style = dashed]"
                                                                                   : "");
    }
    for (size_t i = 0; i < e->noutputs; i++)
        ct_mon_text_printf(t, "    o%zu [shape = plain, label = \"out %zu\"];\n    n%u -> o%zu;\n", i, i + 1,
                           e->outputs[i].node->id, i);
    ct_mon_text_add_z(t, "}\n");
}
