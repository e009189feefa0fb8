/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/fast_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/table_memory.h"

/* Makes room for the links of all blocks. Returns false without memory. */
bool ct_fast_have_links(struct ct_fast *f)
{
    const uint32_t cap = f->blocks.cap;
    if (f->link_cap >= cap)
        return true;
    struct ct_fast_link *links = ct_table_of_records(cap, sizeof *links);
    if (!links) {
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
        return false;
    }
    if (f->links)
        memcpy(links, f->links, f->link_cap * sizeof *links);
    free(f->links);
    memset(links + f->link_cap, 0, (cap - f->link_cap) * sizeof *links);
    f->links = links;
    f->link_cap = cap;
    return true;
}

/* Adds the counts of links to those of their blocks. An indirect branch is counted by its pairs. */
void ct_fast_spend_links(struct ct_fast *f)
{
    for (uint32_t i = 1; i < f->link_cap && i < f->blocks.count; i++)
        for (unsigned exec = 0; exec < 2; exec++) {
            struct ct_fast_link *link = &f->links[i];
            if (!(link->next[exec] & CT_LINK_INDIRECT))
                f->blocks.blocks[i].count[exec] += link->count[exec];
            link->count[exec] = 0;
        }
    f->linked = 0;
}

/* Makes the link of a step of a block. 0: it would meet something new. */
uint32_t ct_fast_make_link(struct ct_fast *f, uint32_t number, unsigned exec)
{
    const struct ct_block *block = &f->blocks.blocks[number];
    const uint32_t push = exec && block->flags & CT_BLOCK_LINK ? CT_LINK_PUSH : 0;
    uint32_t link = 0;
    if (block->node == CT_NO_NUMBER)
        return 0;
    if (exec && block->flags & CT_BLOCK_INDIRECT)
        link = CT_LINK_INDIRECT | push;
    else if (block->next[exec] && block->edge[exec] != CT_NO_NUMBER)
        link = block->next[exec] | push;
    return f->links[number].next[exec] = link;
}

void ct_fast_forget_links(struct ct_fast *f)
{
    if (f->links)
        memset(f->links, 0, f->link_cap * sizeof *f->links);
    f->linked = 0;
}
