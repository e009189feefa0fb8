/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what must hold of each control flow graph. */
#pragma once

#include "coretap/cfg.h"
#include "fuzz.h"

static inline void check_edges(const struct ct_cfg *cfg)
{
    size_t blocks, edges;
    const struct ct_cfg_block *block = ct_cfg_blocks(cfg, &blocks);
    const struct ct_cfg_edge *edge = ct_cfg_edges(cfg, &edges);
    for (size_t i = 0; i < edges; i++) {
        require(edge[i].from < blocks && (edge[i].to == CT_CFG_NONE || edge[i].to < blocks));
        require(edge[i].to == CT_CFG_NONE || block[edge[i].to].start == edge[i].target);
        require(edge[i].next_out == CT_CFG_NONE || edge[edge[i].next_out].from == edge[i].from);
        require(edge[i].next_in == CT_CFG_NONE || edge[edge[i].next_in].to == edge[i].to);
    }
}

static inline void check(const struct ct_cfg *cfg)
{
    size_t blocks, functions, loops, members;
    const struct ct_cfg_block *block = ct_cfg_blocks(cfg, &blocks);
    const struct ct_cfg_function *function = ct_cfg_functions(cfg, &functions);
    const struct ct_cfg_loop *loop = ct_cfg_loops(cfg, &loops);
    const uint32_t *member = ct_cfg_members(cfg, &members);
    for (size_t i = 0; i < blocks; i++) {
        require(block[i].n > 0 && block[i].start <= block[i].last && block[i].last < block[i].end);
        require(block[i].loop == CT_CFG_NONE || block[i].loop < loops);
        require(block[i].dominator == CT_CFG_NONE || block[block[i].dominator].function == block[i].function);
        require(ct_cfg_block_at(cfg, block[i].start) == i);
    }
    for (size_t i = 0; i < functions; i++) {
        require(function[i].first + function[i].count <= members);
        for (uint32_t k = 0; k < function[i].count; k++)
            require(block[member[function[i].first + k]].function == i);
        require(ct_cfg_function_at(cfg, function[i].entry) == i);
    }
    for (size_t i = 0; i < loops; i++)
        require(loop[i].head < blocks && loop[i].blocks > 0 &&
                (loop[i].parent == CT_CFG_NONE || loop[i].parent < i));
    check_edges(cfg);
}
