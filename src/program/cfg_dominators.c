/* SPDX-License-Identifier: Apache-2.0 */
/* The immediate dominator of each block in its function, as Lengauer and Tarjan find them with path
 * compression alone ("A fast algorithm for finding dominators in a flowgraph", 1979): in O(m log n), however
 * deep loops are nested. */
#include <stdlib.h>

#include "base/ctx.h"
#include "program/cfg.h"

#define UNSEEN UINT32_MAX

struct frame {
    uint32_t block;
    uint32_t edge; /* the edge to be looked at next */
};

/* What is known of the block of a number. Numbers count the blocks of a function that its entry reaches, in
 * the order of a visit in depth. */
struct node {
    uint32_t block;
    uint32_t parent;    /* in the tree of the visit */
    uint32_t semi;      /* semidominator */
    uint32_t ancestor;  /* in the forest; UNSEEN: none */
    uint32_t label;     /* that of least semidominator on the compressed path */
    uint32_t dominator; /* until all are known, perhaps a number of the same dominator */
    uint32_t bucket;    /* the first of those that it is the semidominator of; UNSEEN: none */
    uint32_t next;      /* of the same bucket; UNSEEN: none */
};

struct work {
    struct ct_cfg *cfg;
    uint32_t *number; /* by block; UNSEEN: not visited */
    struct node *nodes;
    struct frame *frames;
    uint32_t *path; /* that is compressed */
};

static uint32_t visit(struct work *w, uint32_t count, uint32_t block, uint32_t parent)
{
    w->number[block] = count;
    w->nodes[count] = (struct node){.block = block,
                                    .parent = parent,
                                    .semi = count,
                                    .ancestor = UNSEEN,
                                    .label = count,
                                    .bucket = UNSEEN,
                                    .next = UNSEEN};
    return count + 1;
}

/* Numbers the blocks that the entry reaches. Returns how many. */
static uint32_t visit_all(struct work *w, uint32_t entry)
{
    const struct ct_cfg *cfg = w->cfg;
    uint32_t count = visit(w, 0, entry, 0), depth = 0;
    w->frames[depth++] = (struct frame){entry, cfg->blocks.at[entry].first_out};
    while (depth) {
        struct frame *top = &w->frames[depth - 1];
        if (top->edge == CT_CFG_NONE) {
            depth--;
            continue;
        }
        const struct ct_cfg_edge *edge = &cfg->edges.at[top->edge];
        top->edge = edge->next_out;
        if (!ct_cfg_stays(cfg, edge) || w->number[edge->to] != UNSEEN)
            continue;
        count = visit(w, count, edge->to, w->number[edge->from]);
        w->frames[depth++] = (struct frame){edge->to, cfg->blocks.at[edge->to].first_out};
    }
    return count;
}

/* Returns the node of least semidominator on the path from v to the root of its tree in the forest, without
 * the root, and lets that path be short from now on. */
static uint32_t eval(struct work *w, uint32_t v)
{
    struct node *nodes = w->nodes;
    uint32_t length = 0;
    if (nodes[v].ancestor == UNSEEN)
        return v;
    for (uint32_t at = v; nodes[nodes[at].ancestor].ancestor != UNSEEN; at = nodes[at].ancestor)
        w->path[length++] = at;
    while (length--) {
        struct node *node = &nodes[w->path[length]];
        const struct node *above = &nodes[node->ancestor];
        if (nodes[above->label].semi < nodes[node->label].semi)
            node->label = above->label;
        node->ancestor = above->ancestor;
    }
    return nodes[v].label;
}

/* Finds the semidominator of a node, and puts the node into its bucket. */
static void find_semi(struct work *w, uint32_t at)
{
    const struct ct_cfg *cfg = w->cfg;
    struct node *node = &w->nodes[at];
    for (uint32_t e = cfg->blocks.at[node->block].first_in; e != CT_CFG_NONE; e = cfg->edges.at[e].next_in) {
        const uint32_t from = w->number[cfg->edges.at[e].from];
        if (!ct_cfg_stays(cfg, &cfg->edges.at[e]) || from == UNSEEN)
            continue;
        const uint32_t least = w->nodes[eval(w, from)].semi;
        node->semi = least < node->semi ? least : node->semi;
    }
    node->next = w->nodes[node->semi].bucket;
    w->nodes[node->semi].bucket = at;
}

/* Finds the dominators of the nodes whose semidominator is this one, or who has the same dominator. */
static void empty_bucket(struct work *w, uint32_t semi)
{
    for (uint32_t v = w->nodes[semi].bucket; v != UNSEEN; v = w->nodes[v].next) {
        const uint32_t least = eval(w, v);
        w->nodes[v].dominator = w->nodes[least].semi < w->nodes[v].semi ? least : semi;
    }
    w->nodes[semi].bucket = UNSEEN;
}

static void dominate(struct work *w, uint32_t entry)
{
    struct node *nodes = w->nodes;
    const uint32_t count = visit_all(w, entry);
    for (uint32_t i = count - 1; i > 0; i--) {
        find_semi(w, i);
        nodes[i].ancestor = nodes[i].parent;
        empty_bucket(w, nodes[i].parent);
    }
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].dominator != nodes[i].semi)
            nodes[i].dominator = nodes[nodes[i].dominator].dominator;
        w->cfg->blocks.at[nodes[i].block].dominator = nodes[nodes[i].dominator].block;
    }
}

int ct_cfg_dominators_find(struct ct_cfg *cfg)
{
    const size_t n = cfg->blocks.count + 1;
    struct work w = {.cfg = cfg,
                     .number = malloc(n * sizeof *w.number),
                     .nodes = malloc(n * sizeof *w.nodes),
                     .frames = malloc(n * sizeof *w.frames),
                     .path = malloc(n * sizeof *w.path)};
    const bool fine = w.number && w.nodes && w.frames && w.path;
    for (size_t i = 0; fine && i < cfg->blocks.count; i++) {
        w.number[i] = UNSEEN;
        cfg->blocks.at[i].dominator = CT_CFG_NONE;
    }
    for (size_t i = 0; fine && i < cfg->functions.count; i++)
        if (cfg->functions.at[i].block != CT_CFG_NONE)
            dominate(&w, cfg->functions.at[i].block);
    free(w.number);
    free(w.nodes);
    free(w.frames);
    free(w.path);
    return fine ? CT_OK : ct_fail_nomem(cfg->ctx, cfg->name);
}
