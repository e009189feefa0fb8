/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the code of a program by following it from functions along branches and calls. Code after a call is
 * explored only once the called function is known to return, so that code after a call of abort is never
 * taken for part of the caller. Data between code is not touched, because nothing leads there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/name_suffix.h"
#include "base/ctx.h"
#include "base/search.h"
#include "program/cfg.h"

static const char *label_of(const struct ct_cfg *cfg, const struct ct_symbol *symbol, const char *name)
{
    return symbol && symbol->name == name ? ct_symbols_label(cfg->symbols, symbol) : name;
}

/* Returns whether the file names any function. Bounds without a name, and PLT entries, do not count. */
static bool has_names(const struct ct_cfg *cfg)
{
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(cfg->symbols, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i].source < CT_SYMBOL_PLT || all[i].source == CT_SYMBOL_GO)
            return true;
    return false;
}

int ct_cfg_function_make(struct ct_cfg *cfg, uint64_t entry, enum ct_isa isa, const char *name, uint32_t *out)
{
    struct ct_cfg_here *here = ct_cfg_here(cfg, entry);
    *out = here ? here->function - 1 : CT_CFG_NONE;
    if (*out != CT_CFG_NONE || !here)
        return CT_OK;
    bool found = !name;
    if (found)
        name =
            ct_arena_printf(&cfg->arena, "%s+0x%" PRIx64, ct_symbols_module(cfg->symbols), entry - cfg->bias);
    const struct ct_symbol *symbol = found ? NULL : ct_symbols_at(cfg->symbols, entry, NULL);
    if (!name || CT_CFG_ROOM(cfg, &cfg->funcs) != CT_OK)
        return ct_fail_nomem(cfg->ctx, cfg->name);
    *out = (uint32_t)cfg->funcs.count;
    here->function = *out + 1;
    cfg->funcs.at[cfg->funcs.count++] = (struct ct_cfg_func){.entry = entry,
                                                             .name = name,
                                                             .label = label_of(cfg, symbol, name),
                                                             .part_of = CT_CFG_NONE,
                                                             .waits = CT_CFG_NONE,
                                                             .isa = (uint8_t)isa,
                                                             .found = found};
    return CT_OK;
}

static int push(struct ct_cfg *cfg, struct ct_cfg_work work)
{
    int rc = CT_CFG_ROOM(cfg, &cfg->work);
    if (!rc)
        cfg->work.at[cfg->work.count++] = work;
    return rc;
}

/* Returns whether T32 code enters A32 code at `addr`, within one function: a veneer of the linker. */
static bool is_behind_bx_pc(const struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa)
{
    struct ct_insn insn;
    for (uint64_t before = addr - 4; isa == CT_ISA_A32 && before < addr; before += 2)
        if (ct_cfg_insn(cfg, before, CT_ISA_T32, &insn, NULL) && insn.type == CT_INSN_BR &&
            insn.isa == CT_ISA_A32 && insn.target == addr)
            return true;
    return false;
}

int ct_cfg_leader(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, uint64_t owner)
{
    uint8_t *mark = ct_cfg_mark(cfg, addr);
    struct ct_cfg_work work = {.addr = addr, .owner = owner, .isa = (uint8_t)isa};
    const struct ct_symbol *symbol = ct_symbols_at(cfg->symbols, addr, NULL);
    if (!mark || (isa != CT_ISA_T32 && addr & 3) || isa > CT_ISA_T32 ||
        (symbol && symbol->isa != isa && !is_behind_bx_pc(cfg, addr, isa)))
        return CT_OK;
    bool explored = *mark & CT_CFG_MARK_INSN;
    if (explored && (*mark & CT_CFG_MARK_ISA) >> CT_CFG_MARK_SHIFT != isa)
        return CT_OK; /* the same bytes in two instruction sets: the first one wins */
    if (!(*mark & CT_CFG_MARK_LEADER)) {
        int rc = CT_CFG_ROOM(cfg, &cfg->leaders);
        if (rc)
            return rc;
        cfg->leaders.at[cfg->leaders.count++] = work;
        *mark |= CT_CFG_MARK_LEADER;
    }
    return explored ? CT_OK : push(cfg, work);
}

/* Records that the function at `owner` returns. */
static int make_ready(struct ct_cfg *cfg, uint64_t owner)
{
    uint32_t function = ct_cfg_function_at(cfg, owner);
    if (function == CT_CFG_NONE || cfg->funcs.at[function].returns || cfg->funcs.at[function].never)
        return CT_OK;
    int rc = CT_CFG_ROOM(cfg, &cfg->ready);
    if (rc)
        return rc;
    cfg->funcs.at[function].returns = true;
    cfg->ready.at[cfg->ready.count++] = function;
    return CT_OK;
}

/* Queues the code after a call, because the called function returns. */
static int release_call(struct ct_cfg *cfg, const struct ct_cfg_wait *wait)
{
    int rc = CT_CFG_ROOM(cfg, &cfg->behind);
    if (rc)
        return rc;
    cfg->behind.at[cfg->behind.count++] =
        (struct ct_cfg_work){.addr = wait->addr, .owner = wait->owner, .isa = wait->isa};
    if (!cfg->built)
        return CT_OK;
    rc = CT_CFG_ROOM(cfg, &cfg->late);
    if (!rc)
        cfg->late.at[cfg->late.count++] = (struct ct_cfg_pair){wait->call, wait->addr};
    return rc;
}

/* Records that the function at `owner` returns, and so do the functions that end with a jump to it. */
static int returns(struct ct_cfg *cfg, uint64_t owner)
{
    int rc = make_ready(cfg, owner);
    while (!rc && cfg->ready.count) {
        struct ct_cfg_func *func = &cfg->funcs.at[cfg->ready.at[--cfg->ready.count]];
        uint32_t next = func->waits;
        func->waits = CT_CFG_NONE;
        while (!rc && next != CT_CFG_NONE) {
            const struct ct_cfg_wait wait = cfg->waits.at[next];
            rc = wait.is_tail ? make_ready(cfg, wait.addr) : release_call(cfg, &wait);
            next = wait.next;
        }
    }
    return rc;
}

static int wait_for(struct ct_cfg *cfg, uint32_t function, struct ct_cfg_wait wait)
{
    int rc = CT_CFG_ROOM(cfg, &cfg->waits);
    if (rc)
        return rc;
    wait.next = cfg->funcs.at[function].waits;
    cfg->funcs.at[function].waits = (uint32_t)cfg->waits.count;
    cfg->waits.at[cfg->waits.count++] = wait;
    return CT_OK;
}

/* Handles a jump to another function: the function that jumps returns when the other one does. */
static int jump_out(struct ct_cfg *cfg, uint64_t owner, uint32_t to)
{
    struct ct_cfg_func *func = &cfg->funcs.at[to];
    uint32_t from = ct_cfg_function_at(cfg, owner);
    if (from != CT_CFG_NONE && from != to && ct_is_cold_part(func->name, cfg->funcs.at[from].name))
        func->part_of = from;
    if (func->returns)
        return returns(cfg, owner);
    return wait_for(cfg, to, (struct ct_cfg_wait){.addr = owner, .is_tail = true});
}

/* Returns the entry of the function whose symbol contains `addr`, or else `owner`. */
static uint64_t owner_of(const struct ct_cfg *cfg, uint64_t addr, uint64_t owner)
{
    const struct ct_symbol *symbol = ct_symbols_at(cfg->symbols, addr, NULL);
    return symbol ? symbol->addr : owner;
}

/* Handles a function whose code was explored before as part of another function: Go calls into the middle of
 * runtime.duffzero. It returns if the other one does; when no symbol says which one that is, it is assumed to
 * return. */
static int share_returns(struct ct_cfg *cfg, uint64_t entry)
{
    const uint32_t around = ct_cfg_function_at(cfg, owner_of(cfg, entry, entry));
    const bool is_told = around != CT_CFG_NONE && cfg->funcs.at[around].entry != entry;
    return is_told ? jump_out(cfg, entry, around) : returns(cfg, entry);
}

static int enter(struct ct_cfg *cfg, uint32_t function)
{
    struct ct_cfg_func *func = &cfg->funcs.at[function];
    if (func->queued)
        return CT_OK;
    func->queued = true;
    const uint64_t entry = func->entry;
    const uint8_t *mark = ct_cfg_mark(cfg, entry);
    const bool explored = mark && *mark & CT_CFG_MARK_INSN;
    const int rc = ct_cfg_leader(cfg, entry, (enum ct_isa)func->isa, entry);
    return rc || !explored ? rc : share_returns(cfg, entry);
}

static int jump(struct ct_cfg *cfg, const struct ct_cfg_work *at, uint64_t target, enum ct_isa isa)
{
    uint64_t owner = owner_of(cfg, target, at->owner);
    uint32_t to = ct_cfg_function_at(cfg, target);
    if (to == CT_CFG_NONE)
        to = ct_cfg_function_at(cfg, owner);
    if (to != CT_CFG_NONE && cfg->funcs.at[to].entry != at->owner) {
        int rc = jump_out(cfg, at->owner, to);
        if (rc)
            return rc;
        if (cfg->funcs.at[to].entry == target)
            return enter(cfg, to);
    }
    return ct_cfg_leader(cfg, target, isa, owner);
}

/* Continues into `addr`. If another function starts there, this one returns when that one does. */
static int run_on(struct ct_cfg *cfg, const struct ct_cfg_work *at, uint64_t addr)
{
    return jump(cfg, at, addr, (enum ct_isa)at->isa);
}

static int direct_call(struct ct_cfg *cfg, const struct ct_cfg_work *at, const struct ct_insn *insn)
{
    uint32_t callee;
    uint64_t behind = at->addr + insn->size;
    int rc = ct_cfg_function_make(cfg, insn->target, (enum ct_isa)insn->isa, NULL, &callee);
    if (rc)
        return rc;
    if (callee == CT_CFG_NONE || cfg->funcs.at[callee].returns || insn->cond)
        rc = run_on(cfg, at, behind);
    else
        rc = wait_for(
            cfg, callee,
            (struct ct_cfg_wait){.addr = behind, .call = at->addr, .owner = at->owner, .isa = at->isa});
    return rc || callee == CT_CFG_NONE ? rc : enter(cfg, callee);
}

static int computed(struct ct_cfg *cfg, const struct ct_cfg_work *at, const struct ct_insn *insn)
{
    if (insn->sub == CT_INSN_SUB_LINK)
        return run_on(cfg, at, at->addr + insn->size);
    if (insn->sub != CT_INSN_SUB_NONE)
        return returns(cfg, at->owner);
    int rc = CT_CFG_ROOM(cfg, &cfg->computed);
    if (!rc)
        cfg->computed.at[cfg->computed.count++] = *at;
    return rc;
}

static int end_of_block(struct ct_cfg *cfg, const struct ct_cfg_work *at, const struct ct_insn *insn)
{
    int rc;
    bool falls = insn->cond;
    if (insn->type == CT_INSN_IBR) {
        rc = computed(cfg, at, insn);
    } else if (insn->type != CT_INSN_BR) {
        rc = CT_OK;
        falls = true;
    } else if (insn->sub == CT_INSN_SUB_LINK) {
        rc = direct_call(cfg, at, insn);
        falls = false;
    } else {
        rc = jump(cfg, at, insn->target, (enum ct_isa)insn->isa);
    }
    return rc || !falls ? rc : run_on(cfg, at, at->addr + insn->size);
}

/* Records a code address that the code computes. Without symbols this may be the only hint to a function. */
static int note_address(struct ct_cfg *cfg, uint64_t value, enum ct_isa isa)
{
    uint32_t function;
    bool t32 = !cfg->is_a64 && (value & 1);
    uint64_t entry = value & ~(uint64_t)t32;
    const uint8_t *mark = ct_cfg_mark(cfg, entry);
    if (!mark || *mark & CT_CFG_MARK_INSN || (!t32 && entry & 3))
        return CT_OK;
    enum ct_isa as = cfg->is_a64         ? CT_ISA_A64
                     : t32               ? CT_ISA_T32
                     : isa == CT_ISA_T32 ? CT_ISA_UNKNOWN
                                         : CT_ISA_A32;
    if (as == CT_ISA_UNKNOWN)
        return CT_OK;
    int rc = ct_cfg_function_make(cfg, entry, as, NULL, &function);
    return rc || function == CT_CFG_NONE ? rc : enter(cfg, function);
}

/* Looks for an address in an instruction: the sum of an ADRP and the following ADD, or the word that a
 * PC-relative load reads. */
static int look_for_address(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct ct_lift *page)
{
    struct ct_lift lift;
    if (!ct_cfg_lift(cfg, addr, isa, &lift))
        return CT_OK;
    if (isa == CT_ISA_A64) {
        struct ct_lift before = *page;
        *page = lift;
        if (lift.kind == CT_LIFT_ADDI && before.kind == CT_LIFT_CONST && before.rd == lift.rn)
            return note_address(cfg, (uint64_t)(before.imm + lift.imm), isa);
        return CT_OK;
    }
    if (lift.kind != CT_LIFT_FETCH || lift.rn != 15)
        return CT_OK;
    uint64_t at = ((addr + (isa == CT_ISA_A32 ? 8 : 4)) & ~UINT64_C(3)) + (uint64_t)lift.imm;
    size_t size;
    const uint8_t *bytes = ct_memory_at(cfg->memory, at, CT_SPACE_ANY, &size);
    return bytes && size >= 4 ? note_address(cfg, ct_load32(bytes), isa) : CT_OK;
}

/* Follows one straight piece of code, up to its end or to code explored before. */
static int follow(struct ct_cfg *cfg, struct ct_cfg_work at, bool take_addresses)
{
    unsigned conditional = 0; /* instructions left in an IT block */
    struct ct_lift page = {0};
    for (;;) {
        uint8_t *mark = ct_cfg_mark(cfg, at.addr);
        struct ct_insn insn;
        if (!mark || *mark & CT_CFG_MARK_INSN || !ct_cfg_insn(cfg, at.addr, (enum ct_isa)at.isa, &insn, NULL))
            return CT_OK;
        *mark |= (uint8_t)(CT_CFG_MARK_INSN | at.isa << CT_CFG_MARK_SHIFT);
        if (conditional) {
            conditional--;
            *mark |= CT_CFG_MARK_COND;
            insn.cond = 1;
        }
        if (insn.it)
            conditional = insn.it;
        if (take_addresses) {
            int rc = look_for_address(cfg, at.addr, (enum ct_isa)at.isa, &page);
            if (rc)
                return rc;
        }
        if (ct_cfg_ends_block(&insn))
            return end_of_block(cfg, &at, &insn);
        at.addr += insn.size;
        if (ct_cfg_function_at(cfg, at.addr) != CT_CFG_NONE)
            return run_on(cfg, &at, at.addr);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct ct_cfg_work *x = a, *y = b;
    return ct_order(x->addr, y->addr);
}

/* Looks for the tables of the computed branches found since the last call, after everything else was
 * explored. */
static int find_tables(struct ct_cfg *cfg)
{
    int rc = CT_OK;
    size_t count = cfg->computed.count;
    qsort(cfg->computed.at, count, sizeof *cfg->computed.at, by_address);
    for (size_t i = 0; !rc && i < count; i++) {
        const struct ct_cfg_work at = cfg->computed.at[i];
        uint32_t first = (uint32_t)cfg->targets.count;
        uint32_t targets;
        rc = ct_cfg_table_find(cfg, at.addr, (enum ct_isa)at.isa, at.owner, &targets);
        if (!rc && !targets)
            rc = returns(cfg, at.owner); /* the branch may go anywhere, including to the caller */
        if (rc || !targets)
            continue;
        rc = CT_CFG_ROOM(cfg, &cfg->tables);
        if (!rc)
            rc = ct_addr_map_put(&cfg->table_at, at.addr, (uint32_t)cfg->tables.count);
        if (!rc)
            cfg->tables.at[cfg->tables.count++] = (struct ct_cfg_table){at.addr, first, targets};
        for (uint32_t k = 0; !rc && k < targets; k++) {
            uint64_t target = cfg->targets.at[first + k];
            rc = jump(cfg, &at, target, (enum ct_isa)at.isa);
        }
    }
    if (cfg->computed.count > count)
        memmove(cfg->computed.at, cfg->computed.at + count,
                (cfg->computed.count - count) * sizeof *cfg->computed.at);
    cfg->computed.count -= count;
    return rc;
}

int ct_cfg_explore(struct ct_cfg *cfg)
{
    const bool named = has_names(cfg);
    int rc = CT_OK;
    while (!rc && (cfg->work.count || cfg->behind.count || cfg->computed.count)) {
        while (!rc && cfg->behind.count) {
            const struct ct_cfg_work behind = cfg->behind.at[--cfg->behind.count];
            rc = run_on(cfg, &behind, behind.addr);
        }
        if (!rc && cfg->work.count) {
            rc = follow(cfg, cfg->work.at[--cfg->work.count], !named);
            continue;
        }
        if (!rc && !cfg->behind.count && cfg->computed.count)
            rc = find_tables(cfg);
    }
    return rc;
}

/* Looks for functions in the words of segments without code, such as tables of constructors and of virtual
 * functions. */
static int seed_from_data(struct ct_cfg *cfg)
{
    int rc = CT_OK;
    size_t step = cfg->is_a64 ? 8 : 4;
    for (size_t i = 0; !rc && i < cfg->data_count; i++) {
        const struct ct_cfg_data *data = &cfg->datas[i];
        for (size_t at = 0; !rc && at + step <= data->size; at += step) {
            uint64_t value = cfg->is_a64 ? ct_load64(data->bytes + at) : ct_load32(data->bytes + at);
            rc = note_address(cfg, value + cfg->bias, CT_ISA_A32);
        }
    }
    return rc;
}

int ct_cfg_seed(struct ct_cfg *cfg)
{
    size_t count;
    uint32_t function;
    const struct ct_symbol *all = ct_symbols_all(cfg->symbols, &count);
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = ct_cfg_function_make(cfg, all[i].addr, (enum ct_isa)all[i].isa, all[i].name, &function);
    bool t32 = !cfg->is_a64 && (cfg->start & 1);
    if (!rc)
        rc = ct_cfg_function_make(cfg, cfg->start & ~(uint64_t)t32,
                                  cfg->is_a64 ? CT_ISA_A64
                                  : t32       ? CT_ISA_T32
                                              : CT_ISA_A32,
                                  NULL, &function);
    /* Work is taken from the end, so add it in reverse: the function with the lowest address is explored
     * first. */
    for (size_t i = cfg->funcs.count; !rc && i-- > 0;)
        rc = enter(cfg, (uint32_t)i);
    if (!rc && !has_names(cfg))
        rc = seed_from_data(cfg);
    return rc;
}
