/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a run that failed, and tells why: the error, the time, and the stream with its place. */
#include <stdio.h>

#include "monitor/run.h"

int ct_mon_run_fail(struct ct_monitor *m, int code, const char *text)
{
    m->over = true;
    ct_mon_run_deliver(m);
    return ct_fail(m->ctx, code, "%s", text);
}

/* Returns the stream whose event is the error: the first one in the order of evaluation, because the error is
 * then the value of the streams that read it, too. NULL when an error ended the run before it was an event,
 * as too much work does. */
static const struct ct_mon_node *find_stream(const struct ct_monitor *m)
{
    for (size_t i = 0; i < m->p->nnodes; i++) {
        const struct ct_mon_cell *cell = &m->cells[m->p->node_cells[i]];
        if (cell->stamp == m->stamp && cell_err(cell) == m->error)
            return m->spec->order.nodes[i];
    }
    return NULL;
}

static const struct ct_mon_elab_output *output_of(const struct ct_mon_elab *e, const struct ct_mon_node *s)
{
    for (size_t i = 0; i < e->noutputs; i++)
        if (e->outputs[i].node == s)
            return &e->outputs[i];
    return NULL;
}

/* Returns the first stream that reads a stream; NULL: none does. */
static const struct ct_mon_node *reader_of(const struct ct_mon_order *order, const struct ct_mon_node *s)
{
    for (size_t i = s->order + 1; i < order->n; i++)
        for (uint32_t k = 0; k < order->nodes[i]->n; k++)
            if (order->nodes[i]->args[k] == s)
                return order->nodes[i];
    return NULL;
}

/* Tells the name and the place of a stream; of an expression without a name, those of what it is a part of.
 */
static void tell_stream(const struct ct_monitor_spec *spec, const struct ct_mon_node *s, char *text,
                        size_t size)
{
    const struct ct_mon_elab_output *output = NULL;
    unsigned line, column;
    const char *begin;
    size_t length;
    while (s && !(s->name && s->span.source) && !(output = output_of(&spec->elab, s)))
        s = reader_of(&spec->order, s);
    if (!s)
        return;
    const struct ct_mon_span at = output ? output->span : s->span;
    if (!at.source)
        return;
    ct_mon_source_place(at.source, at.from, &line, &column, &begin, &length);
    snprintf(text, size, " in '%.80s' (%.200s:%u:%u)", output ? output->name : s->name, at.source->name, line,
             column);
}

int ct_mon_run_fail_value(struct ct_monitor *m)
{
    char text[500], limit[80] = "", stream[320] = "";
    if (!m->error)
        m->error = m->heap.exhausted;
    if (m->error == E_BUDGET)
        snprintf(limit, sizeof limit, " of %llu units; raise the limit with --event-budget",
                 (unsigned long long)m->budget);
    else if (m->error == E_MEMORY)
        snprintf(limit, sizeof limit, " of %.1f MiB; raise the limit with --monitor-memory",
                 (double)m->memory / (1 << 20));
    else
        tell_stream(m->spec, find_stream(m), stream, sizeof stream);
    m->nresults = m->instant_first; /* drops the results of the failed instant */
    snprintf(text, sizeof text, "%s%s (t = %lld)%s", ct_mon_value_error_text(m->error), limit,
             (long long)m->now, stream);
    return ct_mon_run_fail(m, *limit || m->error == E_STOPPED ? CT_ERR_LIMIT : CT_ERR_FORMAT, text);
}
