/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions that may be called from places that the graph does not show: those whose address is in
 * the file or is made by instructions, the entry of the program, and those that bytes branch to which are not
 * known to be code. What only looks like one of these counts, too. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "program/cfg.h"

/* The parts of addresses that instructions make. */
struct parts {
    bool pages[1 << 16]; /* of ADRP: bits 27:12 */
    bool sums[1 << 12];  /* bits 11:0, added to a page */
    bool lows[1 << 16];  /* bits 15:0 of constants */
    bool highs[1 << 16]; /* bits 31:16, put into one */
};

static void take_entry(struct ct_cfg *cfg, uint64_t addr)
{
    const struct ct_cfg_here *here = ct_cfg_here(cfg, addr);
    if (here && here->function && here->function <= cfg->taken.count)
        cfg->taken.at[here->function - 1] = true;
}

/* Takes a number as the address of a function, in T32 with its bit 0 set. */
static void take_number(struct ct_cfg *cfg, uint64_t number)
{
    take_entry(cfg, cfg->is_a64 ? number : number & UINT32_MAX & ~UINT64_C(1));
}

/* Takes the words of a piece of memory as addresses, and as distances from themselves. Tables for unwinding
 * have the distance of each function, and are not for calls. */
static void take_words(struct ct_cfg *cfg, const struct ct_cfg_fixed *piece)
{
    for (uint64_t at = -piece->start & 3; at + 4 <= piece->size; at += 4) {
        const uint32_t word = ct_load32(piece->bytes + at);
        if (!cfg->is_a64)
            take_number(cfg, word + cfg->bias);
        else if (at + 8 <= piece->size)
            take_number(cfg, ct_load64(piece->bytes + at) + cfg->bias);
        if (!piece->unwinds)
            take_number(cfg, piece->start + at + (uint64_t)(int64_t)(int32_t)word);
        if (!piece->unwinds && !cfg->is_a64) /* distances of 31 bits */
            take_number(cfg, piece->start + at + (uint64_t)ct_sext(word, 31));
    }
}

/* Notes what an instruction may contribute to an address. */
static void take_parts(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa, struct parts *parts)
{
    struct ct_lift l;
    if (!ct_cfg_lift(cfg, addr, isa, &l))
        return;
    const uint64_t imm = (uint64_t)l.imm;
    if (l.kind == CT_LIFT_CONST) {
        take_number(cfg, imm);
        parts->lows[imm & 0xffff] = true;
        parts->pages[imm >> 12 & 0xffff] |= cfg->is_a64 && !(imm & 0xfff);
    } else if (l.kind == CT_LIFT_PART && l.shift == 16) {
        parts->highs[imm & 0xffff] = true;
    } else if (l.kind == CT_LIFT_ADDI && cfg->is_a64 && imm < 4096) {
        parts->sums[imm] = true;
    }
}

/* Takes what bytes branch to that are not known to be code. */
static void take_branch(struct ct_cfg *cfg, uint64_t addr, enum ct_isa isa)
{
    struct ct_insn insn;
    if (ct_cfg_insn(cfg, addr, isa, &insn, NULL) && insn.type == CT_INSN_BR)
        take_entry(cfg, insn.target);
}

static void take_code(struct ct_cfg *cfg, const struct ct_cfg_code *code, struct parts *parts)
{
    const uint64_t step = cfg->is_a64 ? 4 : 2;
    for (uint64_t at = 0; at + step <= code->size;) {
        const uint64_t addr = code->start + at;
        const uint8_t mark = code->marks[at / 2];
        const enum ct_isa isa = (enum ct_isa)((mark & CT_CFG_MARK_ISA) >> CT_CFG_MARK_SHIFT);
        struct ct_insn insn;
        if (mark & CT_CFG_MARK_INSN && ct_cfg_insn(cfg, addr, isa, &insn, NULL)) {
            take_parts(cfg, addr, isa, parts);
            at += insn.size;
            continue;
        }
        take_branch(cfg, addr, cfg->is_a64 ? CT_ISA_A64 : CT_ISA_T32);
        if (!cfg->is_a64 && !(addr & 3))
            take_branch(cfg, addr, CT_ISA_A32);
        at += step;
    }
}

/* Takes the functions whose addresses can be made of the parts. */
static void take_made(struct ct_cfg *cfg, const struct parts *parts)
{
    for (uint32_t i = 0; i < cfg->taken.count; i++) {
        const struct ct_cfg_func *f = &cfg->funcs.at[i];
        const uint64_t addr = f->entry | (f->isa == CT_ISA_T32);
        const bool by_page =
            parts->pages[addr >> 12 & 0xffff] && (!(addr & 0xfff) || parts->sums[addr & 0xfff]);
        const bool by_halves = parts->lows[addr & 0xffff] && parts->highs[addr >> 16 & 0xffff];
        cfg->taken.at[i] |= by_page || by_halves;
    }
}

int ct_cfg_taken_find(struct ct_cfg *cfg)
{
    if (cfg->taken.count == cfg->funcs.count && cfg->taken_blocks == cfg->blocks.count)
        return CT_OK;
    struct parts *parts = calloc(1, sizeof *parts);
    if (!parts || !CT_MAKE_ROOM(cfg->taken.at, cfg->taken.room, cfg->funcs.count + 1)) {
        free(parts);
        return ct_fail_nomem(cfg->ctx, cfg->name);
    }
    cfg->taken.count = cfg->funcs.count;
    cfg->taken_blocks = cfg->blocks.count;
    memset(cfg->taken.at, cfg->has_unknown_callers, cfg->taken.count);
    take_number(cfg, cfg->start);
    for (size_t i = 0; i < cfg->fixed.count; i++)
        take_words(cfg, &cfg->fixed.at[i]);
    for (size_t i = 0; i < cfg->written.count; i++)
        take_words(cfg, &cfg->written.at[i]);
    for (size_t i = 0; i < cfg->code_count; i++)
        take_code(cfg, &cfg->codes[i], parts);
    take_made(cfg, parts);
    free(parts);
    return CT_OK;
}
