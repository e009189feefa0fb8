/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the edges of a report, those with the most time, and names how execution left them. */
#include <stdlib.h>

#include "base/search.h"
#include "format/report_page.h"

#define EDGES 64

const char *ct_report_way(const struct ct_timing_edge *edge)
{
    static const char *const taken[] = {"taken", "on", "taken", "jump", "call", "return"};
    if (edge->kind == CT_EDGE_INTERRUPTED)
        return "interrupted";
    if (edge->kind == CT_EDGE_OPEN)
        return "into a gap";
    if (!edge->exec)
        return "not taken";
    return edge->flags & CT_NODE_CUT ? "on" : taken[edge->branch];
}

struct weighed {
    uint64_t weight;
    size_t edge;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return ct_order(y->weight, x->weight) ?: ct_order(x->edge, y->edge);
}

size_t *ct_report_choose_edges(const struct ct_timing_edge *all, size_t count, bool cycles, size_t *used,
                               uint64_t *left_out)
{
    struct weighed *order = calloc(count + 1, sizeof *order);
    size_t *chosen = calloc(EDGES, sizeof *chosen);
    size_t ran = 0;
    for (size_t i = 0; order && i < count; i++)
        if (all[i].count)
            order[ran++] = (struct weighed){cycles ? all[i].cycles.sum : all[i].count, i};
    if (ran)
        qsort(order, ran, sizeof *order, by_weight);
    *used = order && chosen ? ran < EDGES ? ran : EDGES : 0;
    for (size_t i = 0; i < *used; i++)
        chosen[i] = order[i].edge;
    *left_out += ran > EDGES ? ran - EDGES : 0;
    if (!order) {
        free(chosen);
        chosen = NULL;
    }
    free(order);
    return chosen;
}
