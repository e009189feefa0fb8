/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ptm_core.h"

#include <string.h>

#include "base/bytes.h"
#include "support/code_gen.h"
#include "support/ptm_stream.h"

static void add(struct ptm_core *c, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    c->elems[c->count++] =
        (struct ct_elem){.kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .v = v};
}

static void want_elem(struct ptm_core *c, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    c->want[c->wanted++] = (struct ct_flow){
        .kind = CT_FLOW_ELEM, .elem = {.kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .v = v}};
}

static void add_cycles(struct ptm_core *c)
{
    uint64_t cycles = rng_wide(c->rng, 12);
    if (!c->config.cycle_accurate)
        return;
    add(c, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, cycles);
    want_elem(c, CT_ELEM_CYCLES, CT_CYCLES_ATTACHED, 0, cycles);
}

/* Returns IS0 for A32 and IS1 for T32. */
static unsigned select_of(const struct ptm_core *c)
{
    return c->now.isa == CT_ISA_T32 ? CT_IS1 : CT_IS0;
}

static void add_address(struct ptm_core *c)
{
    add(c, CT_ELEM_ADDRESS, select_of(c), 32, c->now.addr);
}

static struct ptm_place anywhere(struct ptm_core *c)
{
    unsigned thumb = rng_below(c->rng, 2);
    uint32_t at = rng_below(c->rng, PTM_CORE_CODE) & (thumb ? ~1u : ~3u);
    return (struct ptm_place){c->base[thumb] + at, thumb ? CT_ISA_T32 : CT_ISA_A32};
}

static void go_to(struct ptm_core *c, struct ptm_place place)
{
    c->now = place;
    c->it_left = 0;
}

/* ---- the program ---- */

/* Decodes the instruction at `place`, which needs four readable bytes. Returns 0 when there is none. */
static int fetch(const struct ptm_core *c, struct ptm_place place, struct ct_insn *insn)
{
    unsigned thumb = place.isa == CT_ISA_T32;
    uint32_t at = place.addr - c->base[thumb];
    if (at > PTM_CORE_CODE - 4)
        return 0;
    const uint8_t *p = c->code[thumb] + at;
    if (thumb)
        ct_insn_decode_t32((uint32_t)ct_load16(p) << 16 | ct_load16(p + 2), place.addr, &c->source.arch,
                           insn);
    else
        ct_insn_decode_a32(ct_load32(p), place.addr, &c->source.arch, insn);
    if (insn->type == CT_INSN_WFI_WFE || (insn->type == CT_INSN_DSB_DMB && !c->config.dsb_waypoint))
        insn->type = CT_INSN_OTHER;
    return 1;
}

/* A block: instructions up to and including a waypoint. */
struct block {
    struct ct_flow range;
    struct ct_insn last;
    uint32_t last_addr;
    int conditional; /* the last instruction may be skipped */
    unsigned it_left;
};

static void step(struct block *b, const struct ct_insn *insn)
{
    b->conditional = insn->cond || b->it_left;
    b->it_left = b->it_left ? b->it_left - 1 : insn->it;
    b->last = *insn;
    b->last_addr = (uint32_t)b->range.end;
    b->range.end += insn->size;
    b->range.n++;
    b->range.type = insn->type;
    b->range.sub = insn->sub;
    b->range.cond = insn->cond;
    b->range.last_size = insn->size;
}

/* Runs at most `most` instructions and returns 1 when they end with a waypoint. */
static int run_block(struct ptm_core *c, unsigned most, struct block *b)
{
    struct ct_insn insn;
    *b = (struct block){.it_left = c->it_left};
    b->range = (struct ct_flow){.kind = CT_FLOW_RANGE,
                                .start = c->now.addr,
                                .end = c->now.addr,
                                .isa = c->now.isa,
                                .exec = 1,
                                .space = CT_SPACE_ANY_NS};
    while (b->range.n < most && fetch(c, (struct ptm_place){(uint32_t)b->range.end, c->now.isa}, &insn)) {
        step(b, &insn);
        if (insn.type != CT_INSN_OTHER)
            return 1;
    }
    return 0;
}

/* ---- output of the trace unit ---- */

/* Emits what is traced where tracing begins, where it resumes elsewhere after an overflow, or at a periodic
 * synchronisation. */
static void sync(struct ptm_core *c, int start, int periodic)
{
    add(c, CT_ELEM_SYNC, (unsigned)start, 0, 0);
    if (!periodic) {
        go_to(c, anywhere(c));
        add(c, CT_ELEM_TRACE_ON, start ? CT_TRACE_ON_FILTER : CT_TRACE_ON_OVERFLOW, !start, 0);
        want_elem(c, CT_ELEM_TRACE_ON, start ? CT_TRACE_ON_FILTER : CT_TRACE_ON_OVERFLOW, !start, 0);
        add_cycles(c);
    }
    unsigned flags = c->config.ctxt_bytes ? CT_CONTEXT_CTXT : 0;
    add(c, CT_ELEM_CONTEXT, 0x10, flags | select_of(c) << CT_CONTEXT_IS_SHIFT, 0);
    add_address(c);
    c->depth = 0;
}

static void exception(struct ptm_core *c)
{
    unsigned number = 1 + rng_below(c->rng, 15);
    add(c, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE, number, 0);
    want_elem(c, CT_ELEM_EXCEPTION, CT_EXCEPTION_HERE | CT_EXCEPTION_HAS_RET, number, c->now.addr);
    add_cycles(c);
    go_to(c, anywhere(c));
    add_address(c);
}

/* Emits the instructions that ran before an exception, none of them a waypoint. */
static void interrupted(struct ptm_core *c, const struct block *b)
{
    if (b->range.n) {
        add(c, CT_ELEM_WAYPOINT, select_of(c), 32, b->last_addr);
        c->want[c->wanted++] = b->range;
    }
    c->now.addr = (uint32_t)b->range.end;
    exception(c);
}

static void push(struct ptm_core *c, struct ptm_place place)
{
    if (c->depth == PTM_CORE_STACK)
        memmove(c->stack, c->stack + 1, (PTM_CORE_STACK - 1) * sizeof(c->stack[0]));
    else
        c->depth++;
    c->stack[c->depth - 1] = place;
}

static int top_is(const struct ptm_core *c, struct ptm_place place)
{
    const struct ptm_place *top = c->depth ? &c->stack[c->depth - 1] : NULL;
    return c->config.return_stack && top && top->addr == place.addr && top->isa == place.isa;
}

static struct ptm_place indirect_target(struct ptm_core *c)
{
    return c->depth && rng_chance(c->rng, 160) ? c->stack[c->depth - 1] : anywhere(c);
}

/* Takes the branch at the end of a block. Emits its target where neither the program nor the return stack
 * gives it, and always with branch broadcast. */
static void taken(struct ptm_core *c, const struct block *b, struct ptm_place target)
{
    struct ptm_place next = {(uint32_t)b->range.end, c->now.isa};
    int indirect = b->last.type == CT_INSN_IBR;
    int popped = indirect && !c->broadcast && top_is(c, target);
    int said = c->broadcast || (indirect && !popped);
    add(c, CT_ELEM_ATOMS, 1, said ? CT_ATOMS_TARGET : 0, 1);
    add_cycles(c);
    c->depth -= (unsigned)popped;
    c->returns[c->now.isa == CT_ISA_T32] += (unsigned)popped;
    if (b->last.sub == CT_INSN_SUB_LINK)
        push(c, next);
    go_to(c, target);
    if (said)
        add_address(c);
}

static void waypoint(struct ptm_core *c, struct block *b)
{
    struct ptm_place target = {(uint32_t)b->last.target, b->last.isa};
    int branch = b->last.type == CT_INSN_BR || b->last.type == CT_INSN_IBR;
    if (b->last.type == CT_INSN_IBR)
        target = indirect_target(c);
    b->range.exec = !b->conditional || rng_below(c->rng, 2);
    c->want[c->wanted++] = b->range;
    c->blocks[c->now.isa == CT_ISA_T32]++;
    if (b->range.exec && branch) {
        taken(c, b, target);
        return;
    }
    add(c, CT_ELEM_ATOMS, 1, 0, b->range.exec);
    add_cycles(c);
    c->now.addr = (uint32_t)b->range.end;
    c->it_left = b->it_left;
}

static void run_one(struct ptm_core *c)
{
    struct block b;
    if (rng_chance(c->rng, 2)) {
        sync(c, 0, 0);
    } else if (rng_chance(c->rng, 4)) {
        sync(c, 0, 1);
    } else if (rng_chance(c->rng, 6)) {
        run_block(c, rng_below(c->rng, 3), &b);
        if (b.range.type == CT_INSN_OTHER)
            interrupted(c, &b);
    } else if (run_block(c, PTM_CORE_CODE, &b)) {
        waypoint(c, &b);
    } else {
        interrupted(c, &b); /* the end of the code was reached */
    }
}

void ptm_core_init(struct rng *rng, struct ptm_core *c)
{
    c->rng = rng;
    c->source = ptm_source(rng);
    ct_v7_config_init(NULL, &c->source, &c->config);
    c->broadcast = c->source.regs.etmcr >> 8 & 1;
    c->base[0] = (uint32_t)rng_below(rng, 1u << 19) << 12;
    c->base[1] = c->base[0] ^ UINT32_C(0x80000000);
    code_fill(rng, CT_ISA_A32, c->code[0], PTM_CORE_CODE);
    code_fill(rng, CT_ISA_T32, c->code[1], PTM_CORE_CODE);
}

void ptm_core_run(struct ptm_core *c)
{
    c->depth = c->count = c->wanted = 0;
    add(c, CT_ELEM_GAP, CT_GAP_INIT, 0, 0);
    sync(c, 1, 0);
    for (unsigned i = 0; i < PTM_CORE_BLOCKS; i++)
        run_one(c);
    add(c, CT_ELEM_END, CT_GAP_END, 0, 0);
}
