/* SPDX-License-Identifier: Apache-2.0 */
/* Learns the targets of computed branches from a trace. */
#include "coretap/learn.h"

#include <stdbool.h>

#include "base/addr_map.h"
#include "base/ctx.h"
#include "base/require.h"

/* Returns whether an edge is a computed branch or call that was executed. Excludes returns, because they go
 * to the caller, which the graph knows. */
static bool is_computed(const struct ct_node *node, const struct ct_edge *edge)
{
    bool computed = node->type == CT_INSN_IBR && !node->flags;
    bool tells = node->sub == CT_INSN_SUB_LINK || node->sub == CT_INSN_SUB_NONE;
    return computed && tells && edge->exec && edge->kind == CT_EDGE_NEXT;
}

/* Notes the instruction set of each address of A32 and T32 code that ran. CT_ERR_NOMEM. */
static int note_isas(struct ct_addr_map *map, const struct ct_node *nodes, uint32_t count)
{
    int rc = CT_OK;
    for (uint32_t i = 0; !rc && i < count; i++)
        if (nodes[i].isa != CT_ISA_A64)
            rc = ct_addr_map_put(map, nodes[i].start, nodes[i].isa);
    return rc;
}

static int learn(struct ct_cfg *cfg, const struct ct_graph *graph, uint64_t shift,
                 const struct ct_addr_map *isas)
{
    uint32_t count;
    uint32_t n;
    const struct ct_edge *edges = ct_graph_edges(graph, &count);
    const struct ct_node *nodes = ct_graph_nodes(graph, &n);
    int rc = CT_OK;
    for (uint32_t i = 0; i < count && (!rc || rc == CT_ERR_NOT_FOUND); i++) {
        const struct ct_node *node = &nodes[edges[i].from];
        if (!is_computed(node, &edges[i]))
            continue;
        uint32_t isa = ct_addr_map_get(isas, edges[i].next);
        uint32_t added;
        rc = ct_cfg_add_edge(cfg, node->last + shift, edges[i].next + shift,
                             (enum ct_isa)(isa == CT_ADDR_NONE ? node->isa : isa), CT_CFG_LEARNT, &added);
    }
    return rc == CT_ERR_NOT_FOUND ? CT_OK : rc;
}

int ct_cfg_learn(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_graph *graph, uint64_t shift)
{
    CT_REQUIRE(ctx, cfg, graph);
    struct ct_addr_map isas = {0};
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(graph, &count);
    int rc = note_isas(&isas, nodes, count);
    rc = rc ? ct_fail_nomem(ctx, "learnt edges") : learn(cfg, graph, shift, &isas);
    ct_addr_map_free(&isas);
    return rc ? rc : ct_cfg_update(cfg);
}

int ct_cfg_learn_times(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_timing_found *found,
                       uint32_t program)
{
    CT_REQUIRE(ctx, cfg, found);
    size_t count;
    int rc = CT_OK;
    for (size_t i = 0; i < found->edge_count && (!rc || rc == CT_ERR_NOT_FOUND); i++) {
        const struct ct_timing_edge *e = &found->edges[i];
        uint32_t added;
        const uint32_t block = ct_cfg_block_at(cfg, e->last);
        const bool followed = e->exec && !e->flags && e->kind == CT_EDGE_NEXT;
        if (!followed || e->program != program || e->next_program != program || block == CT_CFG_NONE)
            continue;
        const uint32_t target = ct_cfg_block_at(cfg, e->next);
        const struct ct_cfg_block *blocks = ct_cfg_blocks(cfg, &count);
        rc = ct_cfg_add_edge(cfg, e->last, e->next,
                             (enum ct_isa)blocks[target == CT_CFG_NONE ? block : target].isa, CT_CFG_LEARNT,
                             &added);
    }
    return rc && rc != CT_ERR_NOT_FOUND ? rc : ct_cfg_update(cfg);
}
