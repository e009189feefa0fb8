/* SPDX-License-Identifier: Apache-2.0 */
/* Finds jump tables. From a computed branch it searches backwards for what the target is computed from: the
 * table, the base that is added to its entries, and the compare that bounds the index. All of these must be
 * found, and every target must be code of the same function; otherwise it is no table. The patterns are those
 * that gcc and clang generate for A64, A32 and T32, with and without optimisation. */
#include "base/bytes.h"
#include "base/ctx.h"
#include "program/cfg.h"

#define MOST_BACK    4000 /* instructions searched for an address that was computed much earlier */
#define MOST_SKIPPED 64   /* instructions between a branch and its target */
#define MOST_ENTRIES 4096 /* of one table */
#define MOST_COPIES  16   /* copies from register to register */
#define FEW_TARGETS  ((size_t)1 << 20) /* of all tables together, plus one for each byte of code */
#define ARM_PC       15

/* The search for the table of one branch. */
struct search {
    struct ct_cfg *cfg;
    uint64_t from; /* start of the function; nothing before it is searched */
    enum ct_isa isa;
    unsigned budget; /* instructions that may still be searched */
};

struct table {
    uint64_t base;    /* added to each entry */
    uint64_t address; /* of the first entry */
    uint64_t at;      /* the instruction that uses the index */
    uint32_t index;   /* the register that holds the index */
    uint32_t size;    /* of an entry, in bytes */
    uint32_t bits;    /* bits of an entry that are used */
    uint32_t shift;
    uint32_t count;
    uint8_t above; /* what the condition of the jump itself says about the compare, as in struct ct_lift */
    bool is_signed;
    bool absolute; /* entries are addresses, with the instruction set in bit 0 */
};

static bool lift(const struct search *s, uint64_t addr, struct ct_lift *out)
{
    return ct_cfg_lift(s->cfg, addr, s->isa, out);
}

/* Steps back to the instruction before `addr`. */
static bool step_back(struct search *s, uint64_t *addr)
{
    const uint64_t before = ct_cfg_before(s->cfg, *addr, s->isa);
    if (!before || s->budget == 0 || *addr < s->from + (*addr - before))
        return false;
    s->budget--;
    *addr = before;
    return true;
}

/* Finds the branch to `addr` when the code before does not continue into it. It is a conditional branch
 * shortly before, if `addr` is the code of a table that a compare with LS chose. */
static bool find_branch_to(struct search *s, uint64_t addr, uint64_t *branch)
{
    struct ct_insn insn = {0};
    uint64_t at = addr;
    if (!step_back(s, &at) || !ct_cfg_insn(s->cfg, at, s->isa, &insn, NULL))
        return false;
    bool runs_on = insn.cond || insn.sub == CT_INSN_SUB_LINK || !ct_cfg_ends_block(&insn);
    for (unsigned i = 0; !runs_on && i < MOST_SKIPPED && step_back(s, &at); i++) {
        if (!ct_cfg_insn(s->cfg, at, s->isa, &insn, NULL))
            return false;
        *branch = at;
        if (insn.type == CT_INSN_BR && insn.cond && insn.target == addr)
            return true;
    }
    return false;
}

/* Steps back to the instruction that runs before *addr. */
static bool back(struct search *s, uint64_t *addr, struct ct_lift *out)
{
    uint64_t branch;
    if (find_branch_to(s, *addr, &branch)) {
        *addr = branch;
        if (!lift(s, branch, out))
            return false;
        out->above = out->taken;
        return true;
    }
    return step_back(s, addr) && lift(s, *addr, out);
}

/* Finds the instruction before `addr` that writes `reg`, and its address in *addr. */
static bool writer(struct search *s, uint64_t *addr, uint32_t reg, struct ct_lift *out)
{
    while (back(s, addr, out))
        if (out->writes >> reg & 1)
            return true;
    return false;
}

/* Finds the constant value of `reg` before `addr`; fails when it is not constant. */
static bool constant(struct search *s, uint64_t addr, uint32_t reg, uint64_t *value)
{
    int64_t sum = 0;
    struct ct_lift def;
    if (s->isa != CT_ISA_A64 && reg == ARM_PC) {
        *value = s->isa == CT_ISA_A32 ? addr + 8 : addr + 4;
        return true;
    }
    for (unsigned i = 0; i < MOST_COPIES && writer(s, &addr, reg, &def); i++) {
        if (def.kind == CT_LIFT_CONST) {
            *value = (uint64_t)(def.imm + sum);
            return true;
        }
        if (def.kind != CT_LIFT_ADDI && def.kind != CT_LIFT_COPY)
            return false;
        sum += def.kind == CT_LIFT_ADDI ? def.imm : 0;
        reg = def.rn;
    }
    return false;
}

/* Handles a load of an entry into register `def->rd`, at `at`. */
static bool entry_load(struct search *s, uint64_t at, const struct ct_lift *def, struct table *t)
{
    if (def->kind != CT_LIFT_LOAD || def->rm == CT_LIFT_NO_REG || !constant(s, at, def->rn, &t->address))
        return false;
    if (1u << def->shift != def->size)
        return false;
    t->index = def->rm;
    t->at = at;
    t->size = def->size;
    if (def->bits) {
        t->bits = def->bits;
        t->is_signed = def->is_signed;
    }
    return true;
}

/* Handles base + (entry << shift). */
static bool sum(struct search *s, uint64_t at, const struct ct_lift *add, uint32_t base, uint32_t entry,
                struct table *t)
{
    struct ct_lift def;
    uint64_t from = at;
    *t = (struct table){
        .shift = add->shift, .bits = add->bits, .is_signed = add->is_signed, .above = t->above};
    return constant(s, at, base, &t->base) && writer(s, &from, entry, &def) && entry_load(s, from, &def, t);
}

/* Handles the instruction `def` at `at`, which computes the target. */
static bool value(struct search *s, uint64_t at, const struct ct_lift *def, struct table *t)
{
    if (def->kind == CT_LIFT_LOAD) {
        t->absolute = true;
        return def->size == (s->isa == CT_ISA_A64 ? 8 : 4) && entry_load(s, at, def, t);
    }
    if (def->kind != CT_LIFT_ADD)
        return false;
    if (sum(s, at, def, def->rn, def->rm, t))
        return true;
    return def->shift == 0 && def->bits == 0 && sum(s, at, def, def->rm, def->rn, t);
}

static bool table_of(struct search *s, uint64_t addr, struct table *t)
{
    struct ct_lift branch;
    if (!lift(s, addr, &branch))
        return false;
    *t = (struct table){.above = branch.above, .at = addr, .index = branch.rm};
    switch (branch.kind) {
    case CT_LIFT_JUMP: {
        uint64_t at = addr;
        struct ct_lift def;
        return writer(s, &at, branch.rn, &def) && value(s, at, &def, t);
    }
    case CT_LIFT_ADD:
    case CT_LIFT_LOAD:
        return value(s, addr, &branch, t);
    case CT_LIFT_TABLE:
        t->base = t->address = addr + 4;
        t->size = branch.size;
        t->shift = 1;
        return true;
    case CT_LIFT_STEPS:
        t->base = addr + 8;
        t->shift = 2;
        return true;
    default:
        return false;
    }
}

/* ---- the bound ---- */

/* The value that is followed backwards: in a register, in a memory location where the register was saved, or
 * as the result of an instruction that others may repeat. */
struct trail {
    uint32_t reg;        /* CT_LIFT_NO_REG when the value is not in a register */
    struct ct_lift kept; /* FETCH: the memory location */
    struct ct_lift made; /* the instruction that computed the value */
    bool is_kept, is_made;
    uint32_t most; /* number of entries that a mask leaves; 0 without a mask */
};

/* A compare that was passed: a value equal to `reg` there is below the bound. */
struct bound {
    uint32_t reg;
    uint32_t count; /* 0 when there is none */
};

static bool same_place(const struct ct_lift *a, const struct ct_lift *b)
{
    return a->rn == b->rn && a->imm == b->imm;
}

/* Returns whether the instruction gives the bound's register the value that is followed. */
static bool meets(const struct trail *trail, const struct bound *bound, const struct ct_lift *at)
{
    if (!bound->count)
        return false;
    switch (at->kind) {
    case CT_LIFT_STORE:
    case CT_LIFT_FETCH:
        return trail->is_kept && at->rd == bound->reg && same_place(at, &trail->kept);
    default:
        return trail->is_made && at->rd == bound->reg && at->kind == trail->made.kind &&
               at->imm == trail->made.imm && at->rn == trail->made.rn;
    }
}

/* Continues before an instruction that writes the register. Returns false when nothing more is known. */
static bool leave_register(struct trail *trail, const struct ct_lift *at)
{
    uint32_t reg = trail->reg;
    trail->reg = CT_LIFT_NO_REG;
    switch (at->kind) {
    case CT_LIFT_COPY:
        trail->reg = at->rn;
        return true;
    case CT_LIFT_FETCH:
        trail->kept = *at;
        trail->is_kept = true;
        return true;
    case CT_LIFT_MASK:
        trail->most = at->imm < MOST_ENTRIES ? (uint32_t)at->imm + 1 : 0;
        /* fall through */
    case CT_LIFT_ADDI:
        trail->made = *at;
        trail->is_made = at->rn != reg;
        return trail->is_made || trail->most;
    default:
        return false;
    }
}

/* Finds the number of entries that the index can select; 0 when unknown. `above` is what the condition of the
 * jump itself says. */
static uint32_t find_bound(struct search *s, uint64_t at, uint32_t index, uint8_t above)
{
    struct trail trail = {.reg = index};
    struct bound bound = {0};
    struct ct_lift i;
    while (back(s, &at, &i)) {
        if (meets(&trail, &bound, &i))
            return bound.count;
        if (i.kind == CT_LIFT_STORE && trail.is_kept && same_place(&i, &trail.kept)) {
            trail.reg = i.rd;
            trail.is_kept = false;
        }
        if (i.kind == CT_LIFT_CMP && above && i.imm >= 0 && i.imm < MOST_ENTRIES) {
            bound = (struct bound){i.rn, (uint32_t)i.imm + (above == 1)};
            above = 0;
            if (trail.reg == bound.reg)
                return bound.count;
        } else if (i.kind == CT_LIFT_SKIP && i.above && !bound.count) {
            above = i.above;
        } else if (i.flags) {
            above = 0;
        }
        bool ours = trail.reg != CT_LIFT_NO_REG && i.writes >> trail.reg & 1;
        if (ours && !leave_register(&trail, &i))
            return trail.most;
        if (ours && i.kind == CT_LIFT_COPY && bound.count && i.rn == bound.reg)
            return bound.count;
        if (bound.count && i.writes >> bound.reg & 1 && i.kind != CT_LIFT_CMP)
            bound.count = 0;
    }
    return trail.most;
}

/* ---- the entries ---- */

static bool read_entry(const struct search *s, const struct table *t, uint32_t i, uint64_t *out)
{
    size_t size;
    if (!t->size) { /* a row of branches */
        *out = t->base + ((uint64_t)i << t->shift);
        return true;
    }
    const uint8_t *bytes =
        ct_memory_at(s->cfg->memory, t->address + (uint64_t)i * t->size, CT_SPACE_ANY, &size);
    if (!bytes || size < t->size)
        return false;
    uint64_t entry = t->size == 1   ? bytes[0]
                     : t->size == 2 ? ct_load16(bytes)
                     : t->size == 4 ? ct_load32(bytes)
                                    : ct_load64(bytes);
    if (t->absolute) {
        *out = entry + s->cfg->bias;
        return true;
    }
    if (t->is_signed && t->bits)
        entry = (uint64_t)ct_sext(entry, t->bits);
    *out = t->base + (entry << t->shift);
    if (!s->cfg->is_a64)
        *out &= UINT32_MAX;
    return true;
}

/* Returns whether a target is code of the function that contains the branch. */
static bool is_target(const struct search *s, uint64_t owner, uint64_t target)
{
    uint64_t addr = s->isa == CT_ISA_A64 ? target : target & ~UINT64_C(1);
    const struct ct_symbol *symbol = ct_symbols_at(s->cfg->symbols, addr, NULL);
    uint32_t function = symbol ? ct_cfg_function_at(s->cfg, symbol->addr) : CT_CFG_NONE;
    uint32_t own = ct_cfg_function_at(s->cfg, owner);
    bool part = function != CT_CFG_NONE && own != CT_CFG_NONE &&
                (s->cfg->funcs.at[function].part_of == own || s->cfg->funcs.at[own].part_of == function);
    return ct_cfg_mark(s->cfg, addr) && (s->isa == CT_ISA_T32 || !(addr & 3)) &&
           (!symbol || symbol->addr == owner || part);
}

/* Returns whether the graph may grow by so many targets. Thousands of branches that share a table would make
 * gigabytes of edges for a program of some kilobytes. */
static bool may_grow(struct ct_cfg *cfg, uint32_t count)
{
    size_t most = FEW_TARGETS;
    if (cfg->targets.count + count <= most)
        return true;
    for (size_t i = 0; i < cfg->code_count; i++)
        most += cfg->codes[i].size;
    if (cfg->targets.count + count <= most)
        return true;
    if (!cfg->told_tables)
        ct_log(cfg->ctx, CT_LOG_WARNING,
               "%s: its jump tables have more than %zu entries in all; the targets of the remaining computed "
               "branches are unknown; list them in a file and name it with --targets",
               cfg->name, most);
    cfg->told_tables = true;
    return false;
}

int ct_cfg_table_find(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, uint64_t owner, uint32_t *count)
{
    struct search s = {.cfg = cfg, .from = owner < addr ? owner : addr, .isa = isa, .budget = MOST_BACK};
    struct table t;
    *count = 0;
    if (!table_of(&s, addr, &t))
        return CT_OK;
    s.budget = MOST_BACK;
    t.count = find_bound(&s, t.at, t.index, t.above);
    size_t first = cfg->targets.count;
    if (!may_grow(cfg, t.count))
        return CT_OK;
    for (uint32_t i = 0; i < t.count; i++) {
        uint64_t target;
        int rc = CT_CFG_ROOM(cfg, &cfg->targets);
        if (rc)
            return rc;
        if (!read_entry(&s, &t, i, &target) || !is_target(&s, owner, target)) {
            cfg->targets.count = first;
            return CT_OK;
        }
        cfg->targets.at[cfg->targets.count++] = isa == CT_ISA_A64 ? target : target & ~UINT64_C(1);
    }
    *count = t.count;
    return CT_OK;
}
