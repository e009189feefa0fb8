/* SPDX-License-Identifier: Apache-2.0 */
/* Counts atoms. Runs of blocks are remembered by (block, atoms), and only the number of times that each run
 * recurs is counted. That number is added to the edges of the run when another run takes its slot, or at the
 * end. Where runs seldom recur, atoms are followed block by block, along links of 16 bytes per block. */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/table_memory.h"
#include "flow/edge_table.h"
#include "flow/fast_links.h"

/* One of REMEMBER runs that find another run in their slot replaces it. */
#define REMEMBER 8u

/* After JUDGED look-ups of runs it is judged whether they are worthwhile. They are not when more than one of
 * MISSES_BAD look-ups found another run in its slot. Then blocks are followed for ALONG atoms the first time,
 * and for twice as many each next time up to ALONG_MOST. With fewer than one of MISSES_FEW, links are not
 * needed. */
#define JUDGED     (1u << 14)
#define MISSES_BAD 12u
#define MISSES_FEW 64u
#define ALONG      (1u << 21)
#define ALONG_MOST (1u << 25)

/* The state of following a run. */
struct trip {
    uint32_t stack[32]; /* the blocks whose return addresses the run pushed */
    unsigned height;
    unsigned depth; /* maximal height */
    unsigned taken;
    uint32_t last; /* the last block */
    unsigned exec; /* the atom of that block */
    uint32_t next; /* the block that follows */
    bool indirect; /* `last` executed an indirect branch, so the program does not tell what follows */
};

/* Adds `add` to the count of an edge inside a run or, when it is 0, gives the edge its number. */
static void confirm(struct ct_fast *f, uint32_t last, unsigned exec, struct ct_branch_target *pair,
                    uint64_t add)
{
    struct ct_blocks *b = &f->blocks;
    if (add && pair)
        pair->count += add;
    else if (add)
        b->blocks[last].count[exec] += add;
    else if (pair)
        ct_pair_edge(b, pair);
    else
        ct_block_edge(b, last, exec);
}

/* Follows an indirect branch to the return address that the run itself pushed. Returns the pair of both, or
 * NULL when the run pushed none. */
static struct ct_branch_target *internal_return(struct ct_fast *f, struct trip *t)
{
    if (f->pft || !t->height)
        return NULL;
    const struct ct_block *from = &f->blocks.blocks[t->stack[t->height - 1]];
    struct ct_branch_target *pair = ct_blocks_pair(&f->blocks, t->last, from->end, from->isa);
    if (!pair || !pair->next)
        return NULL;
    t->height--;
    t->next = pair->next;
    return pair;
}

/* Takes one step, of block t->next. Returns false when the run has to end before it. */
static bool step(struct ct_fast *f, struct trip *t, unsigned executed, uint64_t add)
{
    uint32_t number = t->next;
    const struct ct_block *block = &f->blocks.blocks[number];
    bool indirect = executed && block->flags & CT_BLOCK_INDIRECT;
    bool push = executed && block->flags & CT_BLOCK_LINK && !(indirect && f->pft);
    if (block->flags & CT_BLOCK_SLOW || ct_block_contradicts(block, executed) ||
        (indirect && f->pft && t->taken) || (push && t->height == CT_RETURN_STACK_SIZE))
        return false;
    if (push)
        t->stack[t->height++] = number;
    if (t->height > t->depth)
        t->depth = t->height;
    if (!add)
        ct_block_node(&f->blocks, number);
    t->last = number;
    t->exec = executed;
    t->indirect = indirect;
    t->next = indirect ? 0 : ct_blocks_link(&f->blocks, number, executed);
    t->taken++;
    return true;
}

/* Follows atoms from `block` on, as far as the program and the run's own return addresses lead. Returns the
 * largest number of atoms after which the run leaves at most as many return addresses as struct ct_memo
 * holds. */
static unsigned travel(struct ct_fast *f, struct trip *t, uint32_t block, uint64_t bits, unsigned count,
                       uint64_t add)
{
    const unsigned room = sizeof((struct ct_memo *)0)->push / sizeof(uint32_t);
    unsigned fitting = 0;
    *t = (struct trip){.next = block};
    while (t->taken < count) {
        struct ct_branch_target *pair = NULL;
        uint32_t last = t->last;
        uint32_t next = t->next;
        unsigned exec = t->exec;
        unsigned height = t->height;
        if (t->taken && t->indirect)
            pair = internal_return(f, t);
        if (!t->next)
            break;
        if (!step(f, t, bits >> t->taken & 1, add)) {
            t->next = next;
            t->height = height;
            break;
        }
        if (t->taken > 1)
            confirm(f, last, exec, pair, add);
        if (t->height <= room)
            fitting = t->taken;
    }
    return fitting;
}

/* Adds the count of a run to the edges in it, and to the last edge when the program tells where it leads. */
static void expand(struct ct_fast *f, struct ct_memo *run)
{
    struct trip t;
    uint64_t bits = run->key & UINT64_C(0x1ffffffff);
    if (!run->count)
        return;
    travel(f, &t, (uint32_t)(run->key >> 33), bits, run->taken, run->count);
    if (!t.indirect)
        f->blocks.blocks[t.last].count[t.exec] += run->count;
    run->count = 0;
}

/* Remembers a run in a slot, after adding up the counts of the run that was there. */
static void build(struct ct_fast *f, struct ct_memo *run, uint64_t key, uint32_t block, uint64_t bits,
                  unsigned count)
{
    struct trip t;
    expand(f, run);
    unsigned fitting = travel(f, &t, block, bits, count, 0);
    if (fitting < t.taken)
        travel(f, &t, block, bits, fitting, 0);
    *run = (struct ct_memo){.key = key,
                            .next = t.next,
                            .last = t.last,
                            .pushes = (uint8_t)t.height,
                            .depth = (uint8_t)t.depth,
                            .taken = (uint8_t)t.taken,
                            .flags =
                                (uint8_t)((t.exec ? CT_MEMO_EXEC : 0) | (t.indirect ? CT_MEMO_INDIRECT : 0))};
    if (t.next || (t.indirect && !f->pft))
        run->flags |= CT_MEMO_KNOWN;
    for (unsigned i = 0; i < t.height; i++)
        run->push[i] = t.stack[i];
    if (t.taken == 0)
        run->key = 0;
}

/* Changes the return stack as the run did. Its calls were `depth` deep, and for each a full stack drops its
 * oldest entry. */
static void apply_stack(struct ct_fast *f, const struct ct_memo *run)
{
    struct ct_return_stack *stack = &f->walk->stack;
    unsigned kept = CT_RETURN_STACK_SIZE - run->depth;
    if (stack->count > kept)
        stack->count = kept;
    if (stack->count + stack->doubted > kept)
        stack->doubted = kept - stack->count;
    for (unsigned i = 0; i < run->pushes; i++) {
        const struct ct_block *block = &f->blocks.blocks[run->push[i]];
        ct_return_stack_push(stack, block->end, block->isa);
    }
}

/* Numbers the edge behind the last step, and counts it when `pair` is its pair of branch and target. */
static void settle(struct ct_fast *f, struct ct_branch_target *pair)
{
    if (!f->open)
        return;
    if (pair) {
        pair->count++;
        if (pair->edge == CT_NO_NUMBER)
            ct_pair_edge(&f->blocks, pair);
    } else if (!(f->tail->flags & CT_MEMO_NUMBERED)) {
        ct_block_edge(&f->blocks, f->last, f->last_exec);
        f->tail->flags |= CT_MEMO_NUMBERED;
    }
    f->open = false;
}

/* Returns the block where the next step begins; 0 when the plain walk has to take it. */
static uint32_t begin(struct ct_fast *f, unsigned executed)
{
    struct ct_branch_target *pair = NULL;
    if (!f->quick)
        return ct_fast_enter(f, executed);
    if ((f->have_addr || !f->cur) && !ct_fast_turn(f, &pair))
        return 0;
    if (ct_block_contradicts(&f->blocks.blocks[f->cur], executed))
        return 0;
    settle(f, pair);
    return f->cur;
}

/* Returns the slot of a run. The numbers of blocks are small and consecutive, so only the bits are hashed;
 * they are known before the block is. */
static inline struct ct_memo *place_of(const struct ct_fast *f, uint32_t block, uint64_t bits)
{
    uint64_t mixed = bits * UINT64_C(0x9e3779b97f4a7c15);
    return &f->runs[(mixed >> (64 - CT_MEMO_SHIFT)) ^ (block & ((1u << CT_MEMO_SHIFT) - 1))];
}

/* Counts one more execution of a run. */
static inline void count_run(struct ct_fast *f, struct ct_memo *run)
{
    if (!run->count++)
        ct_places_add(&f->counted, (size_t)(run - f->runs));
}

static struct ct_memo *find_run(struct ct_fast *f, uint32_t block, uint64_t bits, unsigned count)
{
    uint64_t low = UINT64_C(1) << count;
    uint64_t marked = low | (bits & (low - 1));
    uint64_t key = (uint64_t)block << 33 | marked;
    struct ct_memo *run = place_of(f, block, marked);
    if (run->key != key || !run->taken)
        build(f, run, key, block, bits, count);
    return run;
}

/* PTM: pops the target of the branch that ends the run. Returns false when the stack is empty, so that the
 * plain walk has to do it. */
static bool returns(struct ct_fast *f, const struct ct_memo *run, const struct ct_elem *elem)
{
    return !f->pft || !(run->flags & CT_MEMO_INDIRECT) || run->taken > 1 ||
           ct_fast_pft_return(f, &f->blocks.blocks[run->last], elem->aux & CT_ATOMS_TARGET);
}

/* Makes the table of runs, unless there is one. Returns false when out of memory. */
static bool have_runs(struct ct_fast *f)
{
    if (!f->runs)
        f->runs = ct_table_memory((size_t)1 << CT_MEMO_SHIFT, sizeof *f->runs);
    if (!f->runs)
        f->blocks.error = ct_fail_nomem(f->ctx, "fast walk");
    return f->runs;
}

/* Counts atoms from a block on as a run. Returns how many; 0 when the plain walk has to take them. */
static unsigned count_run_of(struct ct_fast *f, uint32_t block, const struct ct_elem *elem, unsigned done)
{
    if (!have_runs(f))
        return 0;
    struct ct_memo *run = find_run(f, block, elem->v >> done, elem->n - done);
    if (!run->taken || !returns(f, run, elem))
        return 0;
    if (run->count == UINT32_MAX)
        expand(f, run);
    count_run(f, run);
    if (run->depth)
        apply_stack(f, run);
    f->tail = run;
    f->cur = run->next;
    return run->taken;
}

/* Counts atoms from a block on along links. Returns what count_run_of does. */
static unsigned count_links_of(struct ct_fast *f, uint32_t block, const struct ct_elem *elem, unsigned done)
{
    struct ct_memo settled = {0};
    struct ct_fast_at b = {.tail = &settled};
    const unsigned taken = ct_fast_have_links(f) ? ct_fast_follow_links(f, &b, block, NULL, false,
                                                                        elem->v >> done, elem->n - done)
                                                 : 0;
    if (taken)
        f->tail = b.tail;
    f->cur = taken ? b.cur : f->cur;
    return taken;
}

unsigned ct_fast_count_atoms(struct ct_fast *f, const struct ct_elem *elem)
{
    unsigned done = f->walk->atoms_done;
    while (done < elem->n) {
        const uint32_t block = begin(f, elem->v >> done & 1);
        if (!block)
            break;
        const unsigned taken =
            f->along ? count_links_of(f, block, elem, done) : count_run_of(f, block, elem, done);
        if (!taken) {
            if (!f->quick) /* reading code behind the block moved the walk */
                ct_walk_go_to(f->walk, f->blocks.blocks[block].addr, f->blocks.blocks[block].isa);
            break;
        }
        f->last = f->tail->last;
        f->last_exec = f->tail->flags & CT_MEMO_EXEC;
        f->marks = 0;
        f->open = true;
        f->quick = true;
        done += taken;
        if (ct_fast_is_lost(f))
            break;
    }
    if (done < elem->n || ct_fast_is_lost(f))
        ct_fast_leave(f);
    return done;
}

/* Judges whether runs recur often enough. */
static void judge(struct ct_fast *f)
{
    const bool ready = f->missed * MISSES_FEW < f->looked || ct_fast_have_links(f);
    if (ready && f->missed * MISSES_BAD > f->looked) {
        f->along_last = f->along_last ? f->along_last * 2 : ALONG;
        f->along_last = f->along_last < ALONG_MOST ? f->along_last : ALONG_MOST;
        f->along = f->along_last;
    } else {
        f->along_last = 0;
    }
    f->missed = f->looked = 0;
}

/* ---- bursts ---- */

/* Counts atoms along links when their run is not remembered, or something before it is new. Returns how many;
 * 0 when the run is to be remembered, because it came a second time or often enough. */
static __attribute__((noinline)) unsigned count_missed(struct ct_fast *f, struct ct_fast_at *b,
                                                       struct ct_memo *run, uint32_t block,
                                                       struct ct_branch_target *pair, uint64_t bits,
                                                       unsigned count)
{
    const uint64_t low = UINT64_C(1) << count;
    const uint64_t key = (uint64_t)block << 33 | low | (bits & (low - 1));
    if (f->pft || !ct_fast_have_links(f))
        return 0;
    if (block && run->key != key) {
        if (run->taken && ++f->missed % REMEMBER == 0)
            return 0;
        if (!run->taken) /* it will be remembered the next time */
            run->key = key;
    }
    return ct_fast_follow_from(f, b, block, pair, bits, count);
}

/* Counts atoms as long as their runs are remembered, or else along links. Returns how many, and leaves the
 * state behind the last of them. */
static inline unsigned count_known(struct ct_fast *f, struct ct_fast_at *b, uint64_t bits, unsigned count)
{
    unsigned done = 0;
    do {
        struct ct_branch_target *pair;
        uint32_t block = ct_fast_known_begin(f, b, &pair);
        uint64_t low = UINT64_C(1) << (count - done);
        uint64_t marked = low | (bits >> done & (low - 1));
        struct ct_memo *run = place_of(f, block, marked);
        if (__builtin_expect(!block || !(pair || b->tail->flags & CT_MEMO_NUMBERED) ||
                                 run->key != ((uint64_t)block << 33 | marked),
                             0)) {
            struct ct_fast_at at = *b;
            const unsigned followed = count_missed(f, &at, run, block, pair, bits >> done, count - done);
            *b = at;
            done += followed;
            if (!followed)
                break;
            continue;
        }
        if (!(run->flags & CT_MEMO_KNOWN) || run->count == UINT32_MAX)
            break;
        if (pair)
            ct_fast_count_pair(f, pair, b->have_addr);
        count_run(f, run);
        if (run->depth)
            apply_stack(f, run);
        b->tail = run;
        b->cur = run->next;
        b->marks = 0;
        b->have_addr = false;
        done += run->taken;
    } while (done < count);
    return done;
}

/* Counts atoms along links. Returns how many, and leaves the state behind the last of them. */
static inline unsigned count_along(struct ct_fast *f, struct ct_fast_at *b, uint64_t bits, unsigned count)
{
    struct ct_branch_target *pair;
    const uint32_t block = ct_fast_known_begin(f, b, &pair);
    return ct_fast_follow_from(f, b, block, pair, bits, count);
}

/* Takes elements as ct_fast_count_burst does. `along` is a constant. */
static inline __attribute__((always_inline)) size_t
count_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size, const bool along)
{
    struct ct_fast_at b = ct_fast_take_at(f);
    const bool a64 = f->walk->sf;
    unsigned done = f->walk->atoms_done;
    size_t i;
    if (done || (f->pft && !f->cur))
        return 0;
    for (i = 0; i < size; i++) {
        const struct ct_elem *elem = &elems[i];
        if (elem->kind == CT_ELEM_ATOMS) {
            struct ct_elem group;
            size_t taken = ct_fast_group(f, elem, size - i, &group);
            f->looked++;
            done = !group.n ? 0
                   : along  ? count_along(f, &b, group.v, group.n)
                            : count_known(f, &b, group.v, group.n);
            if (done < group.n || !group.n)
                break;
            i += taken - 1;
            done = 0;
        } else if (elem->kind == CT_ELEM_ADDRESS && !b.have_addr && (a64 || elem->n <= CT_IS1)) {
            b.addr = elem->v;
            b.addr_isa = (uint8_t)(a64 ? CT_ISA_A64 : elem->n == CT_IS0 ? CT_ISA_A32 : CT_ISA_T32);
            b.have_addr = true;
        } else if (elem->kind == CT_ELEM_CYCLES || elem->kind == CT_ELEM_EVENT) {
            if (b.marks + 1 == CT_FAST_MARKS)
                break;
            b.marks++;
        } else {
            break;
        }
    }
    for (; done && done >= elems[i].n; i++)
        done -= elems[i].n;
    f->walk->atoms_done = done;
    ct_fast_put_at(f, &b);
    return i;
}

static size_t burst_along(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    const uint32_t linked = f->linked;
    if (!ct_fast_have_links(f))
        return 0;
    const size_t taken = count_burst(f, elems, size, true);
    const uint32_t atoms = f->linked - linked;
    f->along -= atoms < f->along ? atoms : f->along;
    f->looked = 0;
    return taken;
}

size_t ct_fast_count_plainly(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    if (f->along)
        return burst_along(f, elems, size);
    if (!have_runs(f))
        return 0;
    const size_t taken = count_burst(f, elems, size, false);
    if (f->looked > JUDGED)
        judge(f);
    return taken;
}

size_t ct_fast_count_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    if (f->linked > CT_LINKED_MOST) {
        ct_fast_spend_stretches(f);
        ct_fast_spend_links(f);
    }
    return ct_fast_wants_stretches(f, size) ? ct_fast_count_stretches(f, elems, size)
                                            : ct_fast_count_plainly(f, elems, size);
}

void ct_fast_tune(struct ct_fast *f, uint32_t atoms)
{
    f->along = f->counts && !f->pft ? atoms : 0;
}

static int sync_edge(struct ct_fast *f, const struct ct_block *block, uint32_t edge, unsigned exec,
                     uint64_t *count)
{
    struct ct_edge_stats stats = {.count = *count};
    if (!*count)
        return CT_OK;
    f->sums.ranges += *count;
    f->sums.instructions += *count * block->n;
    f->sums.branches += exec && block->flags & CT_BLOCK_BRANCH ? *count : 0;
    *count = 0;
    return ct_edges_add_at(f->edges, f->blocks.domains[block->domain].context, edge, &stats);
}

int ct_fast_count_sync(struct ct_fast *f)
{
    struct ct_blocks *b = &f->blocks;
    int rc = CT_OK;
    const size_t runs = ct_places_count(&f->counted, (size_t)1 << CT_MEMO_SHIFT);
    for (size_t i = 0; i < runs; i++)
        expand(f, &f->runs[ct_places_at(&f->counted, i)]);
    f->counted.count = 0;
    ct_fast_spend_stretches(f);
    ct_fast_spend_links(f);
    for (uint32_t i = 1; i < b->count && !rc; i++)
        for (unsigned exec = 0; exec < 2 && !rc; exec++)
            if (b->blocks[i].count[exec])
                rc = sync_edge(f, &b->blocks[i], ct_block_edge(b, i, exec), exec, &b->blocks[i].count[exec]);
    for (uint32_t i = 0; i < b->pair_cap && !rc; i++)
        if (b->pairs[i].count)
            rc = sync_edge(f, &b->blocks[b->pairs[i].from], ct_pair_edge(b, &b->pairs[i]), 1,
                           &b->pairs[i].count);
    return rc ? rc : b->error;
}
