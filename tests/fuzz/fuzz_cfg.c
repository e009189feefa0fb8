/* Control flow of ELF files, with seeds of the ELF target. One byte that chooses the load bias and what is added, then the
 * file. What must hold: blocks are in their order, edges join blocks that are there, loops have heads, and the graph of a
 * file is always the same. */
#include <stdlib.h>
#include <string.h>

#include "coretap/cfg.h"
#include "fuzz.h"

/* More is not a better test. */
#define MOST_BYTES 65536

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_edges(const struct ct_cfg *cfg)
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

static void check(const struct ct_cfg *cfg)
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

/* Targets from anywhere: the file's own bytes say which. */
static void add_edges(struct ct_cfg *cfg, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < 8 && 4 * i + 4 <= size; i++) {
        size_t count;
        uint32_t word, edge;
        const struct ct_cfg_block *blocks = ct_cfg_blocks(cfg, &count);
        memcpy(&word, data + size - 4 * i - 4, sizeof word);
        if (!count)
            return;
        const struct ct_cfg_block from = blocks[word % count];
        const struct ct_cfg_block to = blocks[(word >> 8) % count];
        ct_cfg_add_edge(cfg, from.last, to.start + 4 * (word >> 28), (enum ct_isa)to.isa, CT_CFG_LEARNT,
                        &edge);
    }
    require(ct_cfg_update(cfg) == CT_OK);
    check(cfg);
}

static void check_same(const struct ct_cfg *a, const struct ct_cfg *b)
{
    size_t n, m;
    const struct ct_cfg_edge *x = ct_cfg_edges(a, &n);
    const struct ct_cfg_edge *y = ct_cfg_edges(b, &m);
    require(n == m && (n == 0 || memcmp(x, y, n * sizeof *x) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST_BYTES)
        return 0;
    const struct ct_cfg_options options = {.size = sizeof options, .bias = (uint64_t)(data[0] & 0xf0) << 52};
    uint8_t *file = malloc(size); /* a copy: it has to begin at an aligned address, as a mapped one does */
    struct ct_cfg *cfg, *again;
    if (!file)
        exit(1);
    size--;
    memcpy(file, data + 1, size);
    if (ct_cfg_load_bytes(NULL, "fuzz", file, size, &options, &cfg) == CT_OK) {
        check(cfg);
        require(ct_cfg_load_bytes(NULL, "fuzz", file, size, &options, &again) == CT_OK);
        check_same(cfg, again);
        add_edges(cfg, file, size);
        ct_cfg_free(again);
        ct_cfg_free(cfg);
    }
    free(file);
    return 0;
}
