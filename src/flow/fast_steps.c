/* SPDX-License-Identifier: Apache-2.0 */
/* Makes steps from atoms, along the blocks. */
#include "flow/fast_own.h"

/* Sets the edge of the last step, unless that was done already because many marks came behind it. */
static void settle(struct ct_fast *f, struct ct_branch_target *pair)
{
    struct ct_step_builder *b = &f->builder;
    if (b->timestamp_held && !f->blocks.error)
        f->blocks.error = ct_step_put_timestamp(b);
    if (!b->pending)
        return;
    b->edge[b->count - 1] =
        pair ? ct_pair_edge(&f->blocks, pair) : ct_block_edge(&f->blocks, f->last, f->last_exec);
    b->pending = false;
}

/* Sets the edge of the last step, and returns the block where the next step begins. Returns 0 when the plain
 * walk has to take it. */
static uint32_t begin(struct ct_fast *f, unsigned executed)
{
    struct ct_branch_target *pair = NULL;
    if (!f->quick)
        return ct_fast_enter(f, executed);
    if (f->have_addr || !f->cur) {
        if (!ct_fast_turn(f, &pair))
            return 0;
    }
    if (ct_block_contradicts(&f->blocks.blocks[f->cur], executed))
        return 0;
    settle(f, pair);
    return f->cur;
}

/* Changes the return stack as the executed block does. Returns false when the plain walk has to do it. */
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
        unsigned executed = elem->v >> done & 1;
        uint32_t number = begin(f, executed);
        const struct ct_block *block = &f->blocks.blocks[number];
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

/* The state of the builder and the engine that a burst keeps in registers. */
struct burst {
    size_t count; /* of steps in the builder */
    uint32_t last;
    uint32_t cur;
    uint32_t exec;
    uint32_t waiting; /* number of steps that wait for cycles and that the builder does not know of yet */
    uint64_t addr;
    uint8_t addr_isa;
    bool have_addr;
    uint64_t instructions;
    uint64_t branches;
    uint64_t counted; /* how many of `instructions` are in steps before those that wait */
};

/* Returns the block to which an indirect branch led, by the trace or the return stack, and sets *edge to the
 * edge that leads there. Returns 0 when the pair is new. Changes nothing. */
static inline uint32_t known_turn(const struct ct_fast *f, const struct burst *b, uint32_t *edge)
{
    const struct ct_return_stack *stack = &f->walk->stack;
    uint64_t addr = b->addr;
    uint8_t isa = b->addr_isa;
    if (!b->have_addr) {
        if (!stack->enabled || !stack->count || f->pft)
            return 0;
        addr = stack->entries[stack->top].addr;
        isa = stack->entries[stack->top].isa;
    }
    const struct ct_branch_target *pair = ct_blocks_known_pair(&f->blocks, b->last, addr, isa);
    *edge = pair ? pair->edge : CT_NO_NUMBER;
    return pair ? pair->next : 0;
}

/* Follows atoms along known links. Returns how many, and leaves the state behind the last of them. */
static inline unsigned follow_known(struct ct_fast *f, struct burst *b, const struct ct_elem *elem)
{
    struct ct_step_builder *builder = &f->builder;
    struct ct_return_stack *stack = &f->walk->stack;
    const struct ct_block *blocks = f->blocks.blocks;
    const uint32_t indirect_flags = f->pft ? 0 : CT_BLOCK_INDIRECT;
    size_t at = b->count;
    uint64_t bits = elem->v;
    uint32_t edge = blocks[b->last].edge[b->exec];
    unsigned done;
    if (b->have_addr && b->cur && (blocks[b->cur].addr != b->addr || blocks[b->cur].isa != b->addr_isa))
        return 0;
    for (done = 0; done < elem->n; done++, at++) {
        const uint32_t number = b->cur ? b->cur : known_turn(f, b, &edge);
        const struct ct_block *block = &blocks[number];
        const uint32_t exec = bits & 1;
        const uint32_t next = block->next[exec];
        const uint32_t flags = exec ? block->flags : 0;
        if (edge == CT_NO_NUMBER || block->node == CT_NO_NUMBER || !(next || flags & indirect_flags))
            break;
        if (!b->cur && !b->have_addr) {
            stack->top = (stack->top - 1) % CT_RETURN_STACK_SIZE;
            stack->count--;
        }
        if (flags & CT_BLOCK_LINK)
            ct_return_stack_push(stack, block->end, block->isa);
        builder->edge[at - 1] = edge;
        builder->insns[at] = block->n;
        builder->cycles[at] = CT_STEP_NO_CYCLES;
        b->instructions += block->n;
        b->branches += (flags & CT_BLOCK_BRANCH) != 0;
        b->last = number;
        b->exec = exec;
        b->cur = next;
        b->have_addr = false;
        edge = block->edge[exec];
        bits >>= 1;
    }
    b->waiting += done;
    b->count = at;
    return done;
}

/* Stores the state of the burst in the builder and the engine. */
static void store(struct ct_fast *f, const struct burst *b)
{
    struct ct_step_builder *builder = &f->builder;
    const struct ct_block *last = &f->blocks.blocks[b->last];
    if (b->count != builder->count) {
        builder->node = last->node;
        builder->exec = (uint8_t)b->exec;
        builder->pending_marks = 0;
        f->sums.ranges += b->count - builder->count;
    }
    builder->count = b->count;
    builder->waiting += builder->counts ? b->waiting : 0;
    if (builder->waiting > CT_STEP_WAIT)
        builder->waiting = CT_STEP_WAIT;
    f->sums.instructions += b->instructions;
    f->sums.branches += b->branches;
    f->last = b->last;
    f->last_exec = (uint8_t)b->exec;
    f->cur = b->cur;
    f->addr = b->addr;
    f->addr_isa = b->addr_isa;
    f->have_addr = b->have_addr;
}

static struct burst load(const struct ct_fast *f)
{
    return (struct burst){.count = f->builder.count,
                          .last = f->last,
                          .cur = f->cur,
                          .exec = f->last_exec,
                          .addr = f->addr,
                          .addr_isa = f->addr_isa,
                          .have_addr = f->have_addr};
}

/* Takes a cycle count for the last step or steps. Returns false when no step waits for one, or the case is a
 * rare one. */
static inline bool count_known(struct ct_fast *f, struct burst *b, const struct ct_elem *elem)
{
    struct ct_step_builder *builder = &f->builder;
    uint32_t waiting = builder->waiting + b->waiting;
    if (!waiting || elem->aux || elem->n == CT_CYCLES_UNPLACED || elem->v >= CT_STEP_CYCLES ||
        !builder->counts)
        return false;
    if (builder->waiting || waiting > CT_STEP_WAIT) {
        store(f, b);
        ct_step_count_cycles(builder, elem, 0, 0);
        *b = load(f);
        return true;
    }
    size_t from = b->count - waiting;
    if (waiting == 1)
        builder->cycles[from] = (uint32_t)elem->v;
    else
        ct_step_split(builder->cycles + from, builder->insns + from, waiting, b->instructions - b->counted,
                      (uint32_t)elem->v);
    builder->waiting_marks = 0;
    b->counted = b->instructions;
    b->waiting = 0;
    return true;
}

size_t ct_fast_steps_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    struct burst b = load(f);
    const bool a64 = f->walk->sf;
    unsigned done = f->walk->atoms_done;
    size_t i;
    if (!f->builder.pending || f->builder.timestamp_held || done || (f->pft && !f->cur))
        return 0;
    for (i = 0; i < size; i++) {
        const struct ct_elem *elem = &elems[i];
        if (elem->kind == CT_ELEM_ATOMS) {
            if (b.count + 32 > CT_STEP_BATCH)
                break;
            done = follow_known(f, &b, elem);
            if (done < elem->n)
                break;
            done = 0;
        } else if (elem->kind == CT_ELEM_ADDRESS && !b.have_addr && (a64 || elem->n <= CT_IS1)) {
            b.addr = elem->v;
            b.addr_isa = (uint8_t)(a64 ? CT_ISA_A64 : elem->n == CT_IS0 ? CT_ISA_A32 : CT_ISA_T32);
            b.have_addr = true;
        } else if (elem->kind != CT_ELEM_CYCLES || !count_known(f, &b, elem)) {
            break;
        }
    }
    f->walk->atoms_done = done;
    store(f, &b);
    return i;
}
