/* SPDX-License-Identifier: Apache-2.0 */
/* Finds loops that count to a constant by themselves, in A64. They have one back edge, and the block that
 * jumps back otherwise leaves the loop. Their counter is a register that starts with a constant, is
 * incremented once an iteration right before it is compared with a constant, and is not written elsewhere in
 * the loop. Other exits of the loop only make it shorter. */
#include "base/bytes.h"
#include "program/cfg.h"
#include "program/cfg_lift.h"

#define MOST_ROUNDS (UINT32_C(1) << 24)
#define MOST_BACK   8 /* number of predecessor blocks searched for the initial value */
#define ZERO        31

enum condition {
    EQ = 0,
    NE = 1,
    CS = 2,
    CC = 3,
    MI = 4,
    PL = 5,
    HI = 8,
    LS = 9,
    GE = 10,
    LT = 11,
    GT = 12,
    LE = 13,
};

struct counter {
    uint32_t reg;
    int64_t first, step, limit;
    uint32_t goes_on; /* enum condition with which the loop continues */
    bool wide;        /* the register is 64 bits wide */
};

static bool read_op(const struct ct_cfg *cfg, uint64_t addr, struct ct_lift *lift, uint32_t *op)
{
    struct ct_insn insn;
    if (!ct_cfg_insn(cfg, addr, CT_ISA_A64, &insn, op))
        return false;
    ct_lift_a64(*op, addr, lift);
    return true;
}

static bool is_inside(const struct ct_cfg *cfg, uint32_t block, uint32_t loop)
{
    uint32_t l = cfg->blocks.at[block].loop;
    while (l != CT_CFG_NONE && l != loop)
        l = cfg->loops.at[l].parent;
    return l == loop;
}

/* Returns whether a block that jumps back to the head of a loop leads nowhere else in the loop. Otherwise it
 * may run more than once in one iteration. */
static bool leaves(const struct ct_cfg *cfg, uint32_t block, uint32_t loop)
{
    const uint32_t head = cfg->loops.at[loop].head;
    for (uint32_t e = cfg->blocks.at[block].first_out; e != CT_CFG_NONE; e = cfg->edges.at[e].next_out) {
        const uint32_t to = cfg->edges.at[e].to;
        if (to != CT_CFG_NONE && to != head && is_inside(cfg, to, loop))
            return false;
    }
    return true;
}

/* Finds the only block that jumps back, and the block that enters the loop. A computed branch with unknown
 * targets may lead into the loop, or from the loop to code of it that the graph lacks. */
static bool find_ends(const struct ct_cfg *cfg, uint32_t loop, uint32_t *latch, uint32_t *before)
{
    const struct ct_cfg_loop *l = &cfg->loops.at[loop];
    const struct ct_cfg_function *f = &cfg->functions.at[l->function];
    unsigned backs = 0;
    unsigned entries = 0;
    for (uint32_t e = cfg->blocks.at[l->head].first_in; e != CT_CFG_NONE; e = cfg->edges.at[e].next_in) {
        bool inside = is_inside(cfg, cfg->edges.at[e].from, loop);
        *(inside ? latch : before) = cfg->edges.at[e].from;
        backs += inside;
        entries += !inside && cfg->edges.at[e].kind != CT_CFG_CALL;
        if (cfg->edges.at[e].kind == CT_CFG_CALL || cfg->edges.at[e].kind == CT_CFG_TAIL)
            return false;
    }
    return backs == 1 && entries == 1 && !l->irreducible && !f->incomplete && f->block != l->head &&
           leaves(cfg, *latch, loop);
}

/* Finds the condition with which the branch at the end of the latch jumps back. */
static bool find_condition(const struct ct_cfg *cfg, const struct ct_cfg_block *latch, uint64_t head,
                           struct counter *c)
{
    struct ct_lift lift;
    struct ct_insn insn;
    uint32_t op;
    if (!ct_cfg_insn(cfg, latch->last, CT_ISA_A64, &insn, &op) || !read_op(cfg, latch->last, &lift, &op))
        return false;
    if ((op & 0xff000010) != 0x54000000 || (op & 15) > LE)
        return false;
    c->goes_on = insn.target == head ? op & 15 : (op & 15) ^ 1;
    return true;
}

/* Finds the compare in the latch, and the addition before it. */
static bool find_step(const struct ct_cfg *cfg, const struct ct_cfg_block *latch, struct counter *c)
{
    struct ct_lift lift;
    uint32_t op;
    bool compared = false;
    for (uint64_t at = latch->last; at > latch->start;) {
        at -= 4;
        if (!read_op(cfg, at, &lift, &op))
            return false;
        if (!compared) {
            if (lift.kind == CT_LIFT_CMP) {
                c->wide = op >> 31;
                c->reg = lift.rn;
                c->limit = lift.imm;
                compared = true;
                if (lift.rd != lift.rn)
                    continue;
                c->step = -lift.imm; /* SUBS R, R, #n compares with 0 */
                c->limit = 0;
                return lift.rn != ZERO && (c->goes_on == NE || c->goes_on == EQ);
            }
            if (lift.flags)
                return false;
            continue;
        }
        if (!(lift.writes >> c->reg & 1))
            continue;
        c->step = lift.imm;
        return lift.kind == CT_LIFT_ADDI && lift.rd == lift.rn && c->reg != ZERO && (op >> 31) == c->wide;
    }
    return false;
}

static unsigned writers(const struct ct_cfg *cfg, uint32_t loop, uint32_t reg)
{
    const struct ct_cfg_function *f = &cfg->functions.at[cfg->loops.at[loop].function];
    unsigned count = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t number = cfg->members.at[f->first + i];
        const struct ct_cfg_block *block = &cfg->blocks.at[number];
        for (uint64_t at = block->start; is_inside(cfg, number, loop) && at < block->end; at += 4) {
            struct ct_lift lift;
            uint32_t op;
            if (read_op(cfg, at, &lift, &op))
                count += lift.writes >> reg & 1;
        }
    }
    return count;
}

/* Finds the value of the register when the loop is entered. It is written in the block before the loop, or in
 * that block's only predecessors. The entry of a function has its callers as predecessors, too. */
static bool find_first(const struct ct_cfg *cfg, uint32_t block, struct counter *c)
{
    for (unsigned i = 0; i < MOST_BACK; i++) {
        const struct ct_cfg_block *b = &cfg->blocks.at[block];
        struct ct_lift lift;
        uint32_t op;
        for (uint64_t at = b->end; at > b->start;) {
            at -= 4;
            if (!read_op(cfg, at, &lift, &op))
                return false;
            if (!(lift.writes >> c->reg & 1))
                continue;
            bool zero = lift.kind == CT_LIFT_COPY && lift.rn == ZERO;
            c->first = zero ? 0 : lift.imm;
            return zero || lift.kind == CT_LIFT_CONST;
        }
        uint32_t in = b->first_in;
        if (in == CT_CFG_NONE || cfg->edges.at[in].next_in != CT_CFG_NONE ||
            cfg->edges.at[in].kind > CT_CFG_BRANCH || cfg->functions.at[b->function].block == block)
            return false;
        block = cfg->edges.at[in].from;
    }
    return false;
}

static bool holds(uint32_t condition, uint64_t value, uint64_t limit, bool wide)
{
    int64_t a = wide ? (int64_t)value : (int32_t)value;
    int64_t b = wide ? (int64_t)limit : (int32_t)limit;
    uint64_t u = wide ? value : (uint32_t)value;
    uint64_t v = wide ? limit : (uint32_t)limit;
    switch (condition) {
    case EQ:
        return u == v;
    case NE:
        return u != v;
    case CS:
        return u >= v;
    case CC:
        return u < v;
    case HI:
        return u > v;
    case LS:
        return u <= v;
    case GE:
        return a >= b;
    case LT:
        return a < b;
    case GT:
        return a > b;
    case LE:
        return a <= b;
    default:
        return true; /* MI, PL and overflow conditions are not handled */
    }
}

uint32_t ct_cfg_loop_count(const struct ct_cfg *cfg, uint32_t loop)
{
    if (!cfg)
        return 0;
    struct counter c = {0};
    uint32_t latch = CT_CFG_NONE;
    uint32_t before = CT_CFG_NONE;
    if (!cfg->is_a64 || !find_ends(cfg, loop, &latch, &before))
        return 0;
    uint64_t head = cfg->blocks.at[cfg->loops.at[loop].head].start;
    if (!find_condition(cfg, &cfg->blocks.at[latch], head, &c) ||
        !find_step(cfg, &cfg->blocks.at[latch], &c) || writers(cfg, loop, c.reg) != 1 ||
        !find_first(cfg, before, &c))
        return 0;
    uint64_t value = (uint64_t)c.first;
    for (uint32_t rounds = 1; rounds < MOST_ROUNDS; rounds++) {
        value += (uint64_t)c.step;
        if (!holds(c.goes_on, value, (uint64_t)c.limit, c.wide))
            return rounds;
    }
    return 0;
}
