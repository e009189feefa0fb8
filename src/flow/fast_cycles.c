/* SPDX-License-Identifier: Apache-2.0 */
/* Counts cycles by legs. A leg is the steps that share a cycle count. Steps are followed along links of four
 * bytes. Each edge has its sums in half a cache line, which is prefetched while later steps are followed.
 * When something in a leg is new or rare, all of the leg is made of single steps (fast_steps.c). */
#include "flow/fast_legs.h"

/* Maximal number of elements that make marks between two steps. It is less than the builder lets a step wait
 * for. */
#define MARKS_MOST (CT_STEP_WAIT_MARKS / 2)

/* Minimal number of elements that are worth counting by legs: between hops there are 48 at a time. */
#define ELEMS_LEAST 128u

/* A flag in the instructions of the last step of a leg. */
#define LEG_END (UINT32_C(1) << 31)

/* ---- following ---- */

/* Returns the block at the address `addr` to which the indirect branch of block `from`, which ends a step,
 * led; 0 when it is new. Lists the address, so that the pair of both can be found later. */
static inline uint32_t turn(struct ct_fast *f, const struct ct_block *like, uint32_t from, uint64_t addr,
                            uint32_t step)
{
    struct ct_legs *g = f->legs;
    const uint32_t known = ct_fast_known_target(f, addr, CT_ISA_A64, like);
    g->address[g->address_count++] = (struct ct_leg_address){.addr = addr, .from = from, .step = step};
    __builtin_prefetch(&g->turns[ct_leg_turn_place(g, from, addr)], 1);
    if (known)
        return known;
    const struct ct_leg_turn *there = ct_legs_turn(f, from, addr);
    if (!there)
        return 0;
    ct_fast_remember_target(f, addr, CT_ISA_A64, there->next);
    return there->next;
}

/* Returns true for a cycle count that legs cannot take. */
static inline bool is_rare(const struct ct_elem *count)
{
    return count->aux || count->n == CT_CYCLES_UNPLACED || count->v > CT_LEG_CYCLES_MOST;
}

/* Returns whether a pending address differs from where the program leads. Links are quicker to read than
 * blocks; a link that is not known yet has address 0. */
static inline bool is_astray(const struct ct_fast *f, const struct ct_leg_place *p)
{
    return p->have_addr && p->cur && (f->legs->links[p->cur].addr != p->addr || !p->addr) &&
           f->blocks.blocks[p->cur].addr != p->addr;
}

/* Follows elements as long as all is known, and lists the legs. */
static void follow(struct ct_fast *f, struct ct_leg_place p, const struct ct_elem *elems, size_t size)
{
    struct ct_legs *g = f->legs;
    struct ct_leg_links *const links = g->links;
    const struct ct_block *like = &f->blocks.blocks[p.last];
    uint32_t steps = 1; /* including the one before */
    uint32_t begin = 1; /* first step of the leg */
    uint32_t insns = 0; /* of the leg so far */
    g->address_count = g->count = 0;
    g->step[0] = &g->sums[p.last][p.exec];
    for (size_t i = 0; i < size; i++) {
        const struct ct_elem *elem = &elems[i];
        if (elem->kind == CT_ELEM_ATOMS) {
            uint64_t bits = elem->v;
            if (steps + elem->n > CT_LEGS_STEPS || is_astray(f, &p))
                return;
            p.have_addr = p.have_addr && !p.cur;
            p.marks = 0;
            for (unsigned n = elem->n; n; n--, bits >>= 1) {
                const unsigned exec = bits & 1;
                if (!p.cur) {
                    p.cur = p.have_addr ? turn(f, like, p.last, p.addr, steps - 1) : 0;
                    p.have_addr = false;
                }
                uint32_t link = links[p.cur].next[exec];
                if (__builtin_expect(!link, 0)) {
                    link = ct_legs_link(f, p.cur, exec);
                    if (!link)
                        return;
                }
                const uint32_t n_insns = link >> CT_LEG_INSNS_SHIFT & CT_LEG_INSNS_MOST;
                insns += n_insns;
                g->insns[steps] = n_insns;
                g->step[steps] = &g->sums[p.cur][exec];
                __builtin_prefetch(g->step[steps++], 1);
                p.last = p.cur;
                p.exec = exec;
                p.cur = link & CT_LEG_BLOCK;
            }
        } else if (elem->kind == CT_ELEM_ADDRESS) {
            if (p.have_addr)
                return;
            p.addr = elem->v;
            p.have_addr = true;
        } else if (elem->kind == CT_ELEM_CYCLES) {
            if (steps == begin || is_rare(elem))
                return;
            g->leg[g->count++] =
                (struct ct_leg){steps, insns, (uint32_t)elem->v, (uint32_t)i + 1, p.last << 1 | p.exec};
            g->insns[steps - 1] |= LEG_END;
            begin = steps;
            insns = 0;
        } else if (elem->kind != CT_ELEM_EVENT || ++p.marks > MARKS_MOST) {
            return;
        }
    }
}

/* Finds the pairs of indirect branches and addresses. Drops the legs from the first new pair on. */
static void find_turns(struct ct_fast *f)
{
    struct ct_legs *g = f->legs;
    const uint32_t last = g->leg[g->count - 1].end - 1;
    for (uint32_t i = 0; i < g->address_count && g->address[i].step < last; i++) {
        struct ct_leg_address *a = &g->address[i];
        a->turn = ct_legs_turn(f, a->from, a->addr);
        if (a->turn)
            continue;
        while (g->count && g->leg[g->count - 1].end > a->step + 1)
            g->count--;
        break;
    }
}

/* ---- counting ---- */

/* Makes the steps that an indirect branch ends use the sums of its pairs. */
static void take_turns(struct ct_legs *g)
{
    const uint32_t last = g->leg[g->count - 1].end - 1;
    for (uint32_t i = 0; i < g->address_count && g->address[i].step < last; i++)
        g->step[g->address[i].step] = &g->address[i].turn->sums;
}

/* Computes the rates of all legs. */
static void find_rates(struct ct_legs *g)
{
    uint32_t cycles = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct ct_leg *leg = &g->leg[i];
        g->rate[i] = ct_leg_rate(leg->cycles, leg->insns);
        g->until[i] = cycles += leg->cycles;
    }
    g->cycles += cycles;
}

/* Adds all legs to the sums, each divided among its steps as ct_step_split does. Where legs end cannot be
 * predicted, so nothing branches on it. Returns the cycles of the last step, which is not added. */
static uint32_t add_legs(struct ct_legs *g)
{
    const uint32_t last = g->leg[g->count - 1].end - 1;
    uint32_t sum = 0;
    uint32_t leg = 0;
    find_rates(g);
    for (uint32_t i = 1; i < last; i++) {
        const uint32_t ends = g->insns[i] >> 31;
        const uint64_t insns = g->insns[i] & CT_LEG_INSNS_MOST;
        const uint32_t before = sum;
        sum += ct_leg_part(insns, g->rate[leg]);
        sum += (g->until[leg] - sum) & -ends; /* the last step gets the remainder */
        leg += ends;
        ct_leg_add(g->step[i], sum - before);
    }
    g->counted += last + 1;
    return g->until[leg] - sum;
}

/* Gives the step before the legs its edge: in the builder, or by adding its cycles to the sums. */
static void settle(struct ct_fast *f, const struct ct_leg_place *p)
{
    struct ct_step_builder *b = &f->builder;
    const struct ct_legs *g = f->legs;
    const bool is_turn = g->address_count && g->address[0].step == 0;
    if (!p->given) {
        ct_leg_add(g->step[0], p->cycles & CT_STEP_CYCLES);
        return;
    }
    b->edge[b->count - 1] = is_turn ? g->address[0].turn->edge : f->blocks.blocks[p->last].edge[p->exec];
    b->pending = false;
}

/* Sets the position behind the last leg, whose last step has `cycles` cycles. */
static void come_to(const struct ct_legs *g, struct ct_leg_place *p, const struct ct_elem *elems,
                    uint32_t cycles)
{
    const struct ct_leg *leg = &g->leg[g->count - 1];
    const uint32_t begin = g->count > 1 ? leg[-1].end : 1;
    p->last = leg->last >> 1;
    p->exec = leg->last & 1;
    p->cur = g->links[p->last].next[p->exec] & CT_LEG_BLOCK;
    p->cycles = ct_leg_last_cycles(cycles, leg->end - begin);
    p->given = false;
    p->marks = 0;
    p->have_addr = false;
    for (size_t i = leg->elems - 1; elems[i].kind != CT_ELEM_ATOMS || !elems[i].n; i--) {
        p->marks += elems[i].kind == CT_ELEM_EVENT;
        if (elems[i].kind == CT_ELEM_ADDRESS) {
            p->have_addr = true;
            p->addr = elems[i].v;
        }
    }
}

/* Counts some legs. Returns how many elements are done; 0 when something is new. */
static size_t count_some(struct ct_fast *f, struct ct_leg_place *p, const struct ct_elem *elems, size_t size)
{
    struct ct_legs *g = f->legs;
    if (ct_legs_are_many(g))
        f->blocks.error = ct_fast_spend_legs(f);
    if (f->blocks.error)
        return 0;
    follow(f, *p, elems, size);
    if (g->count)
        find_turns(f);
    if (!g->count)
        return 0;
    take_turns(g);
    settle(f, p);
    come_to(g, p, elems, add_legs(g));
    return g->leg[g->count - 1].elems;
}

void ct_legs_put_place(struct ct_fast *f, const struct ct_leg_place *p)
{
    struct ct_step_builder *b = &f->builder;
    const struct ct_block *last = &f->blocks.blocks[p->last];
    ct_step_open(b, last->node, last->n, (uint8_t)p->exec);
    ct_step_stop_waiting(b);
    b->cycles[b->count - 1] = p->cycles;
    b->pending_marks = p->marks;
    f->sums.ranges++;
    f->sums.instructions += last->n;
    f->sums.branches += p->exec && last->flags & CT_BLOCK_BRANCH;
    f->last = p->last;
    f->last_exec = (uint8_t)p->exec;
    f->cur = p->cur;
    f->have_addr = p->have_addr;
    f->addr = p->addr;
    f->addr_isa = CT_ISA_A64;
}

/* Counts legs as long as all is known. The builder's last step must have its cycles. Returns how many
 * elements are done. */
static size_t count_legs(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    if (!ct_fast_settle_step(f) || !ct_legs_have(f))
        return 0;
    struct ct_leg_place p = {.last = f->last,
                             .exec = f->last_exec,
                             .given = true,
                             .cur = f->cur,
                             .marks = f->builder.pending_marks,
                             .addr = f->addr,
                             .have_addr = f->have_addr};
    size_t done = 0;
    size_t some;
    if (!f->legs->links[p.last].next[p.exec] && !ct_legs_link(f, p.last, p.exec))
        return 0;
    do {
        some = count_some(f, &p, elems + done, size - done);
        done += some;
    } while (some && done < size);
    if (!p.given)
        ct_legs_put_place(f, &p);
    return done;
}

/* Returns how many elements there are up to and including the next cycle count. */
static size_t next_count(const struct ct_elem *elems, size_t size)
{
    size_t i = 0;
    while (i < size && elems[i].kind != CT_ELEM_CYCLES)
        i++;
    return i < size ? i + 1 : size;
}

size_t ct_fast_cycles_burst(struct ct_fast *f, const struct ct_elem *elems, size_t size)
{
    size_t done = 0;
    if (!ct_legs_are_possible(f) || size < ELEMS_LEAST)
        return ct_fast_steps_burst(f, elems, size);
    while (done < size && !f->blocks.error) {
        if (!f->builder.waiting && f->builder.pending && !f->walk->atoms_done)
            done += count_legs(f, elems + done, size - done);
        const size_t most = next_count(elems + done, size - done);
        const size_t some = ct_fast_steps_burst(f, elems + done, most);
        done += some;
        if (some < most)
            break;
    }
    return done;
}
