/* SPDX-License-Identifier: Apache-2.0 */
/* Branch stacks follow each other without gap or overlap: each run of instructions between two branches, and
 * each branch, is in exactly one stack. So counts of the stacks are those of the trace. If a run does not
 * begin at a branch of its stack, an entry from CT_PERF_NOWHERE marks its beginning; if it ends without a
 * branch, an entry to CT_PERF_NOWHERE marks its end. */
#include "export/perf_stack.h"

#include "coretap/program.h"

/* Passes the entries to the sink as one sample. */
static int give(struct ct_perf_stack *s)
{
    const int rc = s->count ? s->sample(s->user, s) : CT_OK;
    s->count = 0;
    s->instructions = 0;
    s->joined = false;
    return rc;
}

/* Ends the run: its last instruction is at `from`, and execution continued at `to`, which may be
 * CT_PERF_NOWHERE. */
static int end_run(struct ct_perf_stack *s, uint64_t from, uint64_t to)
{
    const size_t need = s->joined ? 1 : 2;
    int rc = s->count + need > s->room ? give(s) : CT_OK;
    if (!s->joined)
        s->branches[s->count++] = (struct ct_perf_branch){.from = CT_PERF_NOWHERE, .to = s->begin};
    s->branches[s->count++] = (struct ct_perf_branch){.from = from, .to = to};
    s->instructions += s->run;
    s->run = 0;
    s->midway = false;
    s->joined = true;
    s->begin = to;
    if (!rc && s->count == s->room)
        rc = give(s);
    return rc;
}

/* Ends the run at the current place, without a branch. */
static int break_run(struct ct_perf_stack *s)
{
    const int rc = s->midway ? end_run(s, s->last, CT_PERF_NOWHERE) : CT_OK;
    s->running = s->joined = false;
    return rc;
}

int ct_perf_stack_step(struct ct_perf_stack *s, const struct ct_node *node, const struct ct_edge *edge)
{
    int rc = CT_OK;
    if (node->flags & CT_NODE_NOPATH || node->end <= node->start)
        return break_run(s);
    if (!s->running || s->next != node->start) {
        rc = break_run(s);
        s->begin = node->start;
    }
    s->run += node->n;
    s->last = node->last;
    s->midway = true;
    const bool branch =
        (node->type == CT_INSN_BR || node->type == CT_INSN_IBR) && !(node->flags & CT_NODE_CUT) && edge->exec;
    s->next = edge->next;
    s->running = edge->kind == CT_EDGE_NEXT && (branch || edge->next == node->end);
    if (!rc && branch)
        rc = end_run(s, node->last, edge->kind == CT_EDGE_OPEN || !edge->next ? CT_PERF_NOWHERE : edge->next);
    return rc || s->running ? rc : break_run(s);
}

int ct_perf_stack_end(struct ct_perf_stack *s)
{
    return break_run(s) ?: give(s);
}
