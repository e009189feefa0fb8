/* SPDX-License-Identifier: Apache-2.0 */
/* Finds loops that count to a constant by themselves. A loop has a counter when the same block decides in
 * each iteration whether it ends, by comparing a value that changes by the same operation each time, from a
 * constant on, with a constant. Both may also be constant differences to the same value, such as an address,
 * or depend on a counter of a loop around; then the rounds are counted for each number that it can have.
 * Other exits of the loop only make it shorter. */
#include "base/bytes.h"
#include "base/require.h"
#include "program/cfg_counted.h"

#define MOST_ROUNDS (UINT32_C(1) << 24)
#define MOST_TURNS  (UINT32_C(1) << 25) /* iterations that are tried for one loop */
#define MOST_STEPS  20000               /* instructions that are looked at for one loop */
#define MOST_NESTED 6                   /* loops and calls around a loop on which its rounds may depend */
#define MOST_SHIFTS 130                 /* rounds in which a counter is shifted to zero */
#define MOST_TESTS  8                   /* tests of a loop that limit the numbers of its counter */

struct search {
    struct ct_values values;
    const struct ct_cfg *cfg;
    const struct ct_cfg_block *head;
    uint32_t head_number, loop;
    struct ct_effort *effort;
    struct ct_cfg_count *out;
};

/* How a block decides whether the loop continues: while the condition holds for a compared with b. */
struct test {
    uint32_t block;
    uint32_t goes_on; /* enum ct_lift_cond */
    bool is_wide;     /* 64 bits are compared */
    struct ct_value a, b;
    bool ends_loop; /* it is the end of a low-overhead loop, which also changes the counter */
};

/* Notes why a loop is not counted, unless an earlier test failed at a later question. */
static void note(struct search *s, enum ct_cfg_uncounted why, uint64_t at)
{
    if ((uint8_t)why <= s->out->why)
        return;
    s->out->why = (uint8_t)why;
    s->out->at = at ? at : s->head->start;
}

static bool is_inside(const struct search *s, uint32_t block)
{
    uint32_t l = block == CT_CFG_NONE ? CT_CFG_NONE : s->cfg->blocks.at[block].loop;
    while (l != CT_CFG_NONE && l != s->loop)
        l = s->cfg->loops.at[l].parent;
    return l == s->loop;
}

/* ---- the test ---- */

/* Returns the condition of an instruction in an IT block, whose first one is not before the block. */
static uint32_t condition_of_it(const struct search *s, const struct ct_cfg_block *block)
{
    struct ct_insn insn;
    uint32_t op;
    uint64_t at = block->last;
    for (unsigned i = 0; i < 4 && at > block->start; i++) {
        at = ct_cfg_before(s->cfg, at, CT_ISA_T32);
        if (!ct_cfg_insn(s->cfg, at, CT_ISA_T32, &insn, &op))
            break;
        if (insn.it) /* bits 23:20 are the condition of the first one; below are the lowest bits of others */
            return i == 0 ? ct_bits(op, 23, 20) : (op >> 20 & 14) | (op >> (20 - i) & 1);
    }
    return CT_COND_ALWAYS;
}

/* Finds the condition with which the branch at the end of a block continues the loop. False when the branch
 * does not leave it. */
static bool find_condition(const struct search *s, const struct ct_cfg_block *block, const struct ct_lift *l,
                           uint32_t *goes_on)
{
    bool next_inside = false, taken_inside = false, has_next = false;
    const bool is_plain = l->kind == CT_LIFT_SKIP || l->kind == CT_LIFT_ZERO || block->isa == CT_ISA_A32;
    for (uint32_t e = block->first_out; e != CT_CFG_NONE; e = s->cfg->edges.at[e].next_out) {
        const struct ct_cfg_edge *edge = &s->cfg->edges.at[e];
        const bool inside = ct_cfg_stays(s->cfg, edge) && is_inside(s, edge->to);
        if (edge->kind == CT_CFG_NEXT) {
            next_inside = inside;
            has_next = true;
        } else {
            taken_inside |= inside;
        }
    }
    if (!block->cond || !has_next || next_inside == taken_inside || block->sub == CT_INSN_SUB_LINK)
        return false;
    const uint32_t cond = l->kind == CT_LIFT_LEAVE   ? CT_COND_HI
                          : is_plain                 ? l->cond
                          : block->isa == CT_ISA_T32 ? condition_of_it(s, block)
                                                     : CT_COND_ALWAYS;
    *goes_on = taken_inside ? cond : cond ^ 1;
    return cond < CT_COND_ALWAYS;
}

/* Finds what the flags at the end of a block are the result of. */
static bool find_compare(struct search *s, struct test *t, uint64_t addr)
{
    const struct ct_cfg_block *block = &s->cfg->blocks.at[t->block];
    struct ct_lift l = {0};
    uint64_t after = addr;
    while (addr > block->start && !l.flags) {
        after = addr;
        addr = ct_cfg_before(s->cfg, addr, (enum ct_isa)block->isa);
        if (!ct_cfg_lift(s->cfg, addr, (enum ct_isa)block->isa, &l))
            return false;
    }
    const bool adds = l.kind == CT_LIFT_ADDI && l.imm != 0; /* the same flags as a compare with -imm */
    const bool is_same = l.kind == CT_LIFT_SAME && t->goes_on <= CT_COND_NE;
    const bool is_tested = l.kind == CT_LIFT_MASK || l.kind == CT_LIFT_COPY || l.kind == CT_LIFT_SHIFT ||
                           l.kind == CT_LIFT_RIGHT;
    const bool tests =
        is_tested && (t->goes_on <= CT_COND_NE || t->goes_on == CT_COND_MI || t->goes_on == CT_COND_PL);
    if (!l.flags || l.is_maybe ||
        (!adds && !is_same && !tests && l.kind != CT_LIFT_CMP && l.kind != CT_LIFT_CMPR))
        return false;
    t->is_wide = s->cfg->is_a64 && !l.is_narrow;
    t->a = ct_value_of_register(&s->values, t->block, addr, l.rn, t->is_wide);
    if (l.kind == CT_LIFT_MASK)
        t->a = ct_value_extend(t->a, (unsigned)__builtin_popcountll((uint64_t)l.imm), false);
    else if (l.kind == CT_LIFT_SHIFT) /* the bits that are shifted out do not count */
        t->a = ct_value_extend(t->a, 32u - l.shift, true);
    else if (l.kind == CT_LIFT_RIGHT)
        t->a = ct_value_of_register(&s->values, t->block, after, l.rd, t->is_wide);
    if (tests) {
        t->b = ct_value_constant(0);
        return true;
    }
    t->b = l.kind == CT_LIFT_CMPR ? ct_value_of_register(&s->values, t->block, addr, l.rm, t->is_wide)
                                  : ct_value_constant(adds ? 0 - (uint64_t)l.imm : (uint64_t)l.imm);
    return true;
}

/* Finds the test at the end of a block that may leave the loop. */
static bool find_test(struct search *s, uint32_t number, struct test *t)
{
    const struct ct_cfg_block *block = &s->cfg->blocks.at[number];
    struct ct_lift l;
    *t = (struct test){.block = number};
    if (!ct_cfg_lift(s->cfg, block->last, (enum ct_isa)block->isa, &l) ||
        !find_condition(s, block, &l, &t->goes_on))
        return false;
    if (l.kind != CT_LIFT_ZERO && l.kind != CT_LIFT_LEAVE) {
        if (find_compare(s, t, block->last))
            return true;
        note(s, CT_CFG_NO_COMPARE, block->last);
        return false;
    }
    t->ends_loop = l.kind == CT_LIFT_LEAVE;
    t->is_wide = s->cfg->is_a64 && !l.is_narrow;
    t->a = ct_value_of_register(&s->values, number, block->last, l.rn, t->is_wide);
    if (l.bits)
        t->a = ct_value_extend(t->a, l.bits, true);
    t->b = ct_value_constant(t->ends_loop);
    return true;
}

/* ---- the counter ---- */

static bool is_counter(const struct search *s, const struct ct_value *v)
{
    return v->from == CT_VALUE_BLOCK && v->block == s->head_number;
}

static bool is_fixed(const struct search *s, const struct ct_value *v)
{
    return v->from == CT_VALUE_CONST || (v->from != CT_VALUE_UNKNOWN && !is_inside(s, v->block));
}

/* Puts the counter on the left side of the compare. */
static bool find_counter(struct search *s, struct test *t)
{
    static const uint8_t swapped[16] = {CT_COND_EQ,     CT_COND_NE,     CT_COND_LS,     CT_COND_HI,
                                        CT_COND_ALWAYS, CT_COND_ALWAYS, CT_COND_ALWAYS, CT_COND_ALWAYS,
                                        CT_COND_CC,     CT_COND_CS,     CT_COND_LE,     CT_COND_GT,
                                        CT_COND_LT,     CT_COND_GE,     CT_COND_ALWAYS, CT_COND_ALWAYS};
    if (!is_counter(s, &t->a) && is_counter(s, &t->b)) {
        const struct ct_value b = t->b;
        t->b = t->a;
        t->a = b;
        t->goes_on = swapped[t->goes_on];
    }
    if (!is_counter(s, &t->a)) {
        const bool is_loaded = t->a.from == CT_VALUE_INSN && is_inside(s, t->a.block);
        note(s, CT_CFG_NO_COUNTER, is_loaded ? t->a.at : s->cfg->blocks.at[t->block].last);
        return false;
    }
    if (is_fixed(s, &t->b))
        return true;
    note(s, CT_CFG_LIMIT_CHANGES, t->b.from == CT_VALUE_INSN ? t->b.at : s->cfg->blocks.at[t->block].last);
    return false;
}

/* Finds what one iteration does to the counter: the same on all ways back to the head. */
static bool find_step(struct search *s, const struct test *t, struct ct_value *step)
{
    bool found = false;
    for (uint32_t e = s->head->first_in; e != CT_CFG_NONE; e = s->cfg->edges.at[e].next_in) {
        const uint32_t from = s->cfg->edges.at[e].from;
        if (!is_inside(s, from))
            continue;
        const struct ct_cfg_block *latch = &s->cfg->blocks.at[from];
        const bool decrements = t->ends_loop && from == t->block;
        struct ct_value v =
            ct_value_before(&s->values, from, decrements ? latch->last : latch->end, t->a.place, t->is_wide);
        if (decrements)
            v.outer--;
        if (!ct_value_is_alike(&v, &t->a) ||
            (found && (v.scale != step->scale || v.inner != step->inner || v.outer != step->outer ||
                       v.bits != step->bits || v.right != step->right || v.is_signed != step->is_signed))) {
            note(s, CT_CFG_STEP_CHANGES, v.from == CT_VALUE_INSN ? v.at : latch->last);
            return false;
        }
        *step = v;
        found = true;
    }
    return found;
}

static bool holds(uint32_t condition, uint64_t value, uint64_t limit, bool wide)
{
    int64_t a = wide ? (int64_t)value : (int32_t)value;
    int64_t b = wide ? (int64_t)limit : (int32_t)limit;
    uint64_t u = wide ? value : (uint32_t)value;
    uint64_t v = wide ? limit : (uint32_t)limit;
    const uint64_t difference = value - limit;
    const bool negative = (wide ? (int64_t)difference : (int32_t)difference) < 0;
    switch (condition) {
    case CT_COND_EQ:
        return u == v;
    case CT_COND_NE:
        return u != v;
    case CT_COND_CS:
        return u >= v;
    case CT_COND_CC:
        return u < v;
    case CT_COND_MI:
        return negative;
    case CT_COND_PL:
        return !negative;
    case CT_COND_HI:
        return u > v;
    case CT_COND_LS:
        return u <= v;
    case CT_COND_GE:
        return a >= b;
    case CT_COND_LT:
        return a < b;
    case CT_COND_GT:
        return a > b;
    case CT_COND_LE:
        return a <= b;
    default:
        return true; /* overflow */
    }
}

/* Counts the rounds from a constant to a constant; 0 when there are too many. */
static uint32_t count_constants(struct search *s, const struct test *t, const struct ct_value *step,
                                uint64_t x, uint64_t limit)
{
    for (uint32_t rounds = 1; rounds < MOST_ROUNDS && s->effort->turns; rounds++) {
        s->effort->turns--;
        if (!holds(t->goes_on, ct_value_for(&t->a, x), limit, t->is_wide))
            return rounds;
        x = ct_value_for(step, x);
    }
    return 0;
}

/* Counts the rounds until the counter equals a limit with a known distance, whatever both are. The sum may
 * pass the end of the address space on the way, so it must meet the limit exactly. */
static uint32_t count_distance(const struct test *t, const struct ct_value *step,
                               const struct ct_value *first)
{
    const unsigned width = t->is_wide ? 64 : 32;
    const bool sums = ct_value_is_sum(first, t->is_wide) && ct_value_is_sum(&t->a, t->is_wide) &&
                      ct_value_is_sum(step, t->is_wide) && ct_value_is_sum(&t->b, t->is_wide);
    const int64_t far =
        ct_sext(t->b.inner + t->b.outer - t->a.inner - t->a.outer - first->inner - first->outer, width);
    const int64_t by = ct_sext(step->inner + step->outer, width);
    if (!sums || !by || holds(t->goes_on, 0, 0, true) || far % by || far / by < 0 ||
        far / by >= MOST_ROUNDS - 1)
        return 0;
    return (uint32_t)(far / by) + 1;
}

/* Counts the rounds until shifts to the right leave too little of the counter, whatever it was. A larger
 * number stays larger, so none lasts longer than the largest. Returns 0 when the test may last for ever. */
static uint32_t count_shifts(const struct test *t, const struct ct_value *step)
{
    const unsigned width = t->is_wide ? 64 : 32;
    const bool is_not_zero = t->goes_on == CT_COND_NE && t->b.constant == 0;
    struct ct_value a = t->a;
    a.is_signed = a.is_signed && !(is_not_zero && !a.right); /* a sign does not make it zero */
    const bool without_sign = t->goes_on == CT_COND_HI || t->goes_on == CT_COND_CS || is_not_zero;
    const bool with_sign = t->goes_on == CT_COND_GT || t->goes_on == CT_COND_GE;
    const bool scales =
        step->scale == 1 && !step->inner && !step->outer && a.scale == 1 && !a.inner && !a.outer;
    const bool a_is_signed = a.is_signed && (a.bits < 64 || a.right);
    const bool is_positive = !a_is_signed && a.bits < width + a.right;
    const unsigned bits = a.bits < width ? a.bits : width;
    const bool same_bits =
        bits == (step->bits < width ? step->bits : width) && (a_is_signed || bits == width);
    const bool fits = step->is_signed ? same_bits : !a_is_signed;
    if (!step->right || t->b.from != CT_VALUE_CONST || !scales || !fits)
        return 0;
    if (!(without_sign && !step->is_signed) && !(with_sign && (step->is_signed || is_positive)))
        return 0;
    uint64_t x = step->is_signed ? ct_mask64(bits - 1) : UINT64_MAX;
    for (uint32_t rounds = 1; rounds < MOST_SHIFTS; rounds++) {
        if (!holds(t->goes_on, ct_value_for(&a, x), t->b.constant, t->is_wide))
            return rounds;
        x = ct_value_for(step, x);
    }
    return 0;
}

/* Counts the rounds for a number on which the first value of the counter depends, and for each one on which
 * its limit does: the same number, when both depend on the same. Returns the most, or 0. */
static uint32_t count_for(struct search *s, const struct test *t, const struct ct_value *step,
                          const struct ct_value *first, uint64_t x, const struct ct_numbers *limits)
{
    uint32_t most = 0;
    if (ct_value_is_alike(first, &t->b))
        return count_constants(s, t, step, ct_value_for(first, x), ct_value_for(&t->b, x));
    for (uint32_t i = 0; i < limits->count; i++)
        for (uint32_t k = 0; k < limits->at[i].count; k++) {
            const uint64_t y = limits->at[i].first + k * limits->at[i].by;
            const uint32_t rounds =
                count_constants(s, t, step, ct_value_for(first, x), ct_value_for(&t->b, y));
            if (!rounds)
                return 0;
            most = rounds > most ? rounds : most;
        }
    return most;
}

/* Counts the rounds from one of the values with which the loop is entered. */
static uint32_t count_from(struct search *s, const struct test *t, const struct ct_value *step,
                           const struct ct_value *first)
{
    struct ct_numbers numbers = {.count = 0}, limits = {.count = 0};
    const bool alike = ct_value_is_alike(first, &t->b);
    uint32_t most = alike ? count_distance(t, step, first) : 0;
    if (most)
        return most;
    if (!ct_numbers_of(s->cfg, first, s->head_number, t->is_wide, s->effort, &numbers)) {
        most = count_shifts(t, step);
        if (most)
            return most;
        note(s, CT_CFG_NO_FIRST, first->at);
        return 0;
    }
    if (!alike && !ct_numbers_of(s->cfg, &t->b, s->head_number, t->is_wide, s->effort, &limits)) {
        note(s, CT_CFG_NO_LIMIT, t->b.at);
        return 0;
    }
    for (uint32_t i = 0; i < numbers.count; i++)
        for (uint32_t k = 0; k < numbers.at[i].count; k++) {
            const uint64_t x = numbers.at[i].first + k * numbers.at[i].by;
            const uint32_t rounds = count_for(s, t, step, first, x, &limits);
            if (!rounds) {
                note(s, CT_CFG_NO_END, s->cfg->blocks.at[t->block].last);
                return 0;
            }
            most = rounds > most ? rounds : most;
        }
    return most;
}

/* Finds the value of a place when the loop is entered along an edge. */
static struct ct_value first_value(struct search *s, uint32_t edge, struct ct_value_place place, bool is_wide)
{
    const uint32_t from = s->cfg->edges.at[edge].from;
    return ct_value_before(&s->values, from, s->cfg->blocks.at[from].end, place, is_wide);
}

/* Counts the rounds that a test allows, from the values with which the loop is entered. */
static uint32_t count_rounds(struct search *s, const struct test *t, const struct ct_value *step)
{
    uint32_t most = 0;
    for (uint32_t e = s->head->first_in; e != CT_CFG_NONE; e = s->cfg->edges.at[e].next_in) {
        if (is_inside(s, s->cfg->edges.at[e].from))
            continue;
        const struct ct_value first = first_value(s, e, t->a.place, t->is_wide);
        const uint32_t rounds = count_from(s, t, step, &first);
        if (!rounds)
            return 0;
        most = rounds > most ? rounds : most;
    }
    return most;
}

/* ---- the loop ---- */

static bool dominates(const struct search *s, uint32_t block, uint32_t other)
{
    while (other != block && other != s->head_number && other != CT_CFG_NONE)
        other = s->cfg->blocks.at[other].dominator;
    return other == block;
}

/* Returns whether each iteration that leads back to the head runs a block once. */
static bool is_passed(const struct search *s, uint32_t block)
{
    if (s->cfg->blocks.at[block].loop != s->loop)
        return false;
    for (uint32_t e = s->head->first_in; e != CT_CFG_NONE; e = s->cfg->edges.at[e].next_in)
        if (is_inside(s, s->cfg->edges.at[e].from) && !dominates(s, block, s->cfg->edges.at[e].from))
            return false;
    return true;
}

/* Refuses loops whose iterations the graph does not show completely: a computed branch with unknown targets
 * may lead into the loop, or from the loop to code of it that the graph lacks. */
static bool is_known(struct search *s)
{
    const struct ct_cfg_loop *loop = &s->cfg->loops.at[s->loop];
    const struct ct_cfg_function *f = &s->cfg->functions.at[loop->function];
    bool stays = f->block != loop->head;
    for (uint32_t e = s->head->first_in; e != CT_CFG_NONE; e = s->cfg->edges.at[e].next_in)
        stays = stays && ct_cfg_stays(s->cfg, &s->cfg->edges.at[e]);
    if (loop->irreducible || !stays)
        note(s, CT_CFG_MANY_ENTRIES, s->head->start);
    else if (f->incomplete)
        note(s, CT_CFG_OPEN, s->head->start);
    return !loop->irreducible && stays && !f->incomplete;
}

/* Finds the fewest rounds that a test of the loop allows. */
static void count_loop(struct search *s)
{
    const struct ct_cfg_function *f = &s->cfg->functions.at[s->values.function];
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t block = s->cfg->members.at[f->first + i];
        struct test t;
        struct ct_value step;
        if (!s->cfg->blocks.at[block].cond || !is_passed(s, block) || !find_test(s, block, &t) ||
            !find_counter(s, &t) || !find_step(s, &t, &step))
            continue;
        const uint32_t rounds = count_rounds(s, &t, &step);
        if (rounds && (!s->out->rounds || rounds < s->out->rounds))
            s->out->rounds = rounds;
    }
}

static struct search search_of(const struct ct_cfg *cfg, uint32_t loop, struct ct_effort *effort,
                               struct ct_cfg_count *out)
{
    const uint32_t head = cfg->loops.at[loop].head;
    *out = (struct ct_cfg_count){.why = CT_CFG_NO_TEST, .at = cfg->blocks.at[head].start};
    return (struct search){
        .values = {.cfg = cfg, .function = cfg->loops.at[loop].function, .budget = MOST_STEPS, .escapes = -1},
        .cfg = cfg,
        .head = &cfg->blocks.at[head],
        .head_number = head,
        .loop = loop,
        .effort = effort,
        .out = out};
}

/* ---- the numbers of a counter ---- */

/* A test of a loop on one of its counters. */
struct limit {
    struct test test;
    uint64_t number;  /* what the counter is compared with */
    bool comes_first; /* iterations in which it fails do not reach the block of interest */
};

/* Finds the tests that compare the counter with one number. */
static uint32_t find_limits(struct search *s, const struct ct_value *counter, uint32_t where, bool is_wide,
                            struct limit limits[MOST_TESTS])
{
    const struct ct_cfg_function *f = &s->cfg->functions.at[s->values.function];
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->count && count < MOST_TESTS; i++) {
        const uint32_t block = s->cfg->members.at[f->first + i];
        struct ct_numbers numbers = {.count = 0};
        struct test t;
        if (!s->cfg->blocks.at[block].cond || !is_passed(s, block) || !find_test(s, block, &t) ||
            !find_counter(s, &t) || t.ends_loop || (t.is_wide && !is_wide) ||
            !ct_value_is_alike(&t.a, counter) ||
            !ct_numbers_of(s->cfg, &t.b, s->head_number, t.is_wide, s->effort, &numbers) ||
            numbers.count != 1 || numbers.at[0].count != 1)
            continue;
        limits[count++] = (struct limit){.test = t,
                                         .number = ct_value_for(&t.b, numbers.at[0].first),
                                         .comes_first = block != where && dominates(s, block, where)};
    }
    return count;
}

/* Returns whether the iteration with a number of the counter reaches the block of interest. *last is set when
 * no further iteration follows. */
static bool reaches(const struct limit *limits, uint32_t count, uint64_t x, bool *last)
{
    bool reached = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct limit *l = &limits[i];
        if (holds(l->test.goes_on, ct_value_for(&l->test.a, x), l->number, l->test.is_wide))
            continue;
        *last = true;
        reached = reached && !l->comes_first;
    }
    return reached;
}

/* Adds the numbers of a counter in at most `rounds` iterations, from its first one on. */
static bool add_series(struct search *s, const struct ct_value *step, uint64_t x, uint32_t rounds,
                       const struct limit *limits, uint32_t limit_count, struct ct_numbers *out)
{
    struct ct_progression run = {.count = 0};
    bool fits = true, last = false;
    for (uint32_t k = 0; k < rounds && fits && !last && s->effort->turns; k++, s->effort->turns--) {
        if (!reaches(limits, limit_count, x, &last))
            break;
        if (run.count == 1)
            run.by = x - run.first;
        if (run.count && x != run.first + run.count * run.by) {
            fits = ct_numbers_add(out, run);
            run.count = 0;
        }
        run.first = run.count ? run.first : x;
        run.count++;
        x = ct_value_for(step, x);
    }
    return fits && s->effort->turns && (!run.count || ct_numbers_add(out, run));
}

bool ct_counter_numbers(const struct ct_cfg *cfg, const struct ct_value *value, uint32_t where, bool is_wide,
                        struct ct_effort *effort, struct ct_numbers *out)
{
    const uint32_t loop = cfg->blocks.at[value->block].loop;
    const struct test t = {.block = CT_CFG_NONE, .is_wide = is_wide, .a = *value};
    struct limit limits[MOST_TESTS];
    struct ct_cfg_count count;
    struct ct_value step;
    if (loop == CT_CFG_NONE || cfg->loops.at[loop].head != value->block)
        return false;
    struct search s = search_of(cfg, loop, effort, &count);
    if (!is_inside(&s, where) || !is_known(&s))
        return false;
    count_loop(&s);
    if (!count.rounds || !find_step(&s, &t, &step))
        return false;
    const uint32_t limit_count = find_limits(&s, value, where, is_wide, limits);
    bool found = true;
    for (uint32_t e = s.head->first_in; found && e != CT_CFG_NONE; e = cfg->edges.at[e].next_in) {
        struct ct_numbers firsts = {.count = 0};
        if (is_inside(&s, cfg->edges.at[e].from))
            continue;
        const struct ct_value first = first_value(&s, e, value->place, is_wide);
        found = ct_numbers_of(cfg, &first, s.head_number, is_wide, effort, &firsts);
        for (uint32_t i = 0; found && i < firsts.count; i++)
            for (uint32_t k = 0; found && k < firsts.at[i].count; k++) {
                const uint64_t x = ct_value_for(&first, firsts.at[i].first + k * firsts.at[i].by);
                found = add_series(&s, &step, x, count.rounds, limits, limit_count, out);
            }
    }
    return found;
}

/* ---- the interface ---- */

int ct_cfg_loop_counted(const struct ct_cfg *cfg, uint32_t loop, struct ct_cfg_count *out)
{
    CT_REQUIRE(NULL, cfg && out && loop < cfg->loops.count);
    struct ct_effort effort = {.turns = MOST_TURNS, .depth = MOST_NESTED};
    struct search s = search_of(cfg, loop, &effort, out);
    if (is_known(&s))
        count_loop(&s);
    if (out->rounds)
        *out = (struct ct_cfg_count){.rounds = out->rounds};
    return CT_OK;
}

uint32_t ct_cfg_loop_count(const struct ct_cfg *cfg, uint32_t loop)
{
    struct ct_cfg_count count;
    return cfg && loop < cfg->loops.count && ct_cfg_loop_counted(cfg, loop, &count) == CT_OK ? count.rounds
                                                                                             : 0;
}
