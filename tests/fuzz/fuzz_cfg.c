/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes control flow of ELF files, with seeds of the ELF target. One byte that selects the load bias and
 * what is added, then the file. What must hold: blocks are in order, edges join blocks that exist, loops have
 * heads, and the graph of a file is always the same. */
#include <stdlib.h>
#include <string.h>

#include "cfg_check.h"
#include "fuzz.h"

/* Larger inputs are no better test. */
#define MOST_BYTES 65536

/* Adds edges to targets that the bytes of the file give. */
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
    uint8_t *file = fuzz_file(data + 1, --size);
    struct ct_cfg *cfg, *again;
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
