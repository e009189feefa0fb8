/* Atoms to steps along the blocks. */
#include "flow/fast.h"

static void settle(struct ct_fast *f, uint32_t edge)
{
    struct ct_step_builder *b = &f->builder;
    if (b->timestamp_held)
        f->blocks.error = ct_step_put_timestamp(b);
    if (b->pending)
        b->edge[b->count - 1] = edge;
    b->pending = false;
}

/* The block at which the next step begins; the last step gets its edge. 0: plain it must be. */
static uint32_t begin(struct ct_fast *f)
{
    struct ct_pair *pair = NULL;
    if (!f->quick)
        return ct_fast_enter(f);
    if (f->have_addr || !f->cur) {
        if (!ct_fast_turn(f, &pair))
            return 0;
    }
    settle(f, pair ? ct_pair_edge(&f->blocks, pair) : ct_block_edge(&f->blocks, f->last, f->last_exec));
    return f->cur;
}

/* The block was executed, and whatever it is, it is no plain jump. */
static bool execute(struct ct_fast *f, const struct ct_block *block, const struct ct_elem *elem)
{
    if (block->flags & CT_BLOCK_INDIRECT && f->pft)
        return ct_fast_pft_return(f, block, elem->aux & CT_ATOMS_TARGET);
    if (block->flags & CT_BLOCK_LINK)
        ct_return_stack_push(&f->walk->stack, block->end, block->isa);
    return true;
}

unsigned ct_fast_steps_atoms(struct ct_fast *f, const struct ct_elem *elem)
{
    unsigned done = f->walk->atoms_done;
    while (done < elem->n) {
        uint32_t number = begin(f);
        const struct ct_block *block = &f->blocks.blocks[number];
        unsigned executed = elem->v >> done & 1;
        bool special = executed && block->flags & (CT_BLOCK_LINK | CT_BLOCK_INDIRECT);
        if (block->flags & CT_BLOCK_SLOW || (special && !execute(f, block, elem)))
            break;
        uint32_t node = block->node == CT_NO_NUMBER ? ct_block_node(&f->blocks, number) : block->node;
        ct_step_open(&f->builder, node, block->n, (uint8_t)executed);
        f->sums.ranges++;
        f->sums.instructions += block->n;
        f->sums.branches += executed && block->flags & CT_BLOCK_BRANCH;
        f->quick = true;
        f->last = number;
        f->last_exec = (uint8_t)executed;
        done++;
        f->cur = block->next[executed];
        if (executed && block->flags & CT_BLOCK_INDIRECT)
            f->cur = 0;
        else if (!f->cur && !ct_blocks_link(&f->blocks, number, executed))
            break;
        else
            f->cur = f->blocks.blocks[number].next[executed];
    }
    if (done < elem->n || ct_fast_is_lost(f))
        ct_fast_leave(f);
    return done;
}
