/* SPDX-License-Identifier: Apache-2.0 */
/* Follows branch lists through their program, as simpleperf does: each waypoint after the start address takes
 * one bit. Waypoints are branches and ISB, as in the trace units of phones. */
#include "branch_list/branch_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"

/* A list that is followed through the program. */
struct following {
    struct ct_branch_list *list;
    const struct ct_memory *memory;
    const struct ct_symbols *symbols;
    uint64_t shift; /* added to the addresses of lists */
    uint64_t addr;  /* the current address */
    enum ct_isa isa;
    unsigned it_left;            /* T32: instructions left in an IT block */
    struct ct_cover_item *items; /* the executed code */
    size_t count, room;
    bool contradicted;
    uint32_t done; /* branches followed */
};

/* ---- instructions ---- */

/* Decodes the instruction at the current address. Returns false when there is none. */
static bool decode(const struct following *f, struct ct_insn *insn)
{
    const struct ct_arch newest = {.major = 9, .profile = CT_PROFILE_A, .newest = 1};
    size_t size;
    const uint8_t *bytes = ct_memory_at(f->memory, f->addr, CT_SPACE_EL1N, &size);
    if (!bytes || size < (f->isa == CT_ISA_T32 ? 2 : 4))
        return false;
    *insn = (struct ct_insn){0};
    if (f->isa == CT_ISA_T32)
        ct_insn_decode_t32((uint32_t)ct_load16(bytes) << 16 | (size < 4 ? 0u : ct_load16(bytes + 2)), f->addr,
                           &newest, insn);
    else if (f->isa == CT_ISA_A32)
        ct_insn_decode_a32(ct_load32(bytes), f->addr, &newest, insn);
    else
        ct_insn_decode_a64(ct_load32(bytes), f->addr, &newest, insn);
    return true;
}

static bool is_waypoint(const struct ct_insn *insn)
{
    return insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR || insn->type == CT_INSN_ISB;
}

static bool is_code(const struct following *f, uint64_t addr)
{
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(f->symbols, &count);
    return ct_code_has(code, count, addr);
}

/* Moves to the next waypoint. *conditional: it may not have been taken. Returns false when the code ends
 * before one. */
static bool find_waypoint(struct following *f, struct ct_insn *insn, bool *conditional)
{
    while (is_code(f, f->addr) && decode(f, insn)) {
        const bool in_it = f->it_left > 0;
        f->it_left = in_it ? f->it_left - 1 : insn->it;
        if (is_waypoint(insn)) {
            /* A list can begin inside an IT block, without any sign of it. */
            *conditional = insn->cond || insn->loop || in_it || f->isa == CT_ISA_T32;
            return true;
        }
        f->addr += insn->size;
    }
    return false;
}

/* ---- executed code ---- */

static int put(struct following *f, struct ct_cover_item item)
{
    if (!CT_MAKE_ROOM(f->items, f->room, f->count + 1))
        return ct_fail_nomem(f->list->ctx, "branch lists");
    f->items[f->count++] = item;
    return CT_OK;
}

/* Records a waypoint and the run from `from` that it ends, and moves behind it. */
static int take_waypoint(struct following *f, const struct ct_insn *insn, uint64_t from, bool taken,
                         uint64_t count)
{
    const bool branch = insn->type != CT_INSN_ISB;
    const bool direct = insn->type == CT_INSN_BR;
    struct ct_cover_item item = {.kind = CT_COVER_RUN,
                                 .from = from,
                                 .to = f->addr + insn->size,
                                 .count = count,
                                 .isa = (uint8_t)f->isa};
    int rc = put(f, item);
    item = (struct ct_cover_item){.kind = taken ? CT_COVER_TAKEN : CT_COVER_NOT,
                                  .from = f->addr,
                                  .to = taken && direct ? insn->target : 0,
                                  .count = count};
    if (!rc && branch)
        rc = put(f, item);
    f->addr = branch && taken ? insn->target : f->addr + insn->size;
    if (direct && taken)
        f->isa = (enum ct_isa)insn->isa;
    if (branch && taken)
        f->it_left = 0;
    return rc;
}

/* Follows one list. Afterwards f->items has the executed code. */
static int follow(struct following *f, const struct ct_branch_entry *e)
{
    const uint8_t *bits = ct_branch_bits(f->list, e);
    const enum ct_isa isa = ct_symbols_isa_at(f->symbols, (e->addr & ~UINT64_C(1)) + f->shift);
    bool open = true; /* the current address is known */
    int rc = CT_OK;
    f->addr = (e->addr & ~UINT64_C(1)) + f->shift;
    f->isa = isa == CT_ISA_A64 ? isa : e->addr & 1 ? CT_ISA_T32 : CT_ISA_A32;
    f->contradicted = isa == CT_ISA_A64 && e->addr & 3;
    f->it_left = 0;
    f->count = 0;
    for (f->done = 0; f->done < e->branches && open && !rc && !f->contradicted; f->done++) {
        const uint64_t from = f->addr;
        const bool taken = bits[f->done / 8] >> f->done % 8 & 1;
        struct ct_insn insn;
        bool conditional = false;
        f->contradicted =
            !find_waypoint(f, &insn, &conditional) || (!taken && !conditional && insn.type != CT_INSN_ISB);
        if (!f->contradicted)
            rc = take_waypoint(f, &insn, from, taken, e->count);
        open = f->contradicted || insn.type != CT_INSN_IBR || !taken;
    }
    return rc;
}

/* ---- all lists of a binary ---- */

/* Sets the shift of addresses: for a kernel, which may be loaded anywhere, and for a kernel module, whose
 * addresses count from the beginning of .text. The section .text gives the address in the file. */
static int find_shift(struct following *f, const struct ct_branch_binary *binary, struct ct_program *program)
{
    const struct ct_layout *layout;
    const bool is_module = binary->kind == CT_BRANCH_LIST_MODULE;
    if (!is_module && (binary->kind != CT_BRANCH_LIST_KERNEL || !binary->kernel_start))
        return CT_OK;
    const int rc = ct_program_layout(program, &layout);
    for (size_t i = 0; !rc && i < layout->section_count; i++)
        if (!strcmp(layout->sections[i].name, ".text"))
            f->shift = layout->sections[i].addr - (is_module ? 0 : binary->kernel_start);
    return rc;
}

/* Multiplies, saturating at 2^64 - 1. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

struct ct_branch_list_counted ct_branch_list_totals(const struct ct_branch_list *list, uint32_t binary)
{
    struct ct_branch_list_counted c = {0};
    for (size_t i = 0; list && i < list->count; i++) {
        const struct ct_branch_entry *e = &list->entries[i];
        if (e->binary != binary)
            continue;
        ct_add_up(&c.lists, e->count);
        ct_add_up(&c.branches, times(e->branches, e->count));
    }
    return c;
}

/* Follows all lists of a binary, and adds the executed code to `cover`, unless it is NULL. */
static int follow_all(struct following *f, uint32_t binary, struct ct_cover *cover, uint32_t program,
                      struct ct_branch_list_counted *c)
{
    const struct ct_edge_context nobody = {0};
    int rc = CT_OK;
    *c = ct_branch_list_totals(f->list, binary);
    for (size_t i = 0; i < f->list->count && !rc; i++) {
        const struct ct_branch_entry *e = &f->list->entries[i];
        if (e->binary != binary)
            continue;
        rc = follow(f, e);
        ct_add_up(&c->contradicted, f->contradicted ? e->count : 0);
        ct_add_up(&c->unfollowed, f->contradicted ? 0 : times(e->branches - f->done, e->count));
        for (size_t k = 0; cover && !f->contradicted && k < f->count && !rc; k++)
            rc = ct_cover_add_item(cover, program, &nobody, &f->items[k]);
    }
    return rc;
}

int ct_branch_list_is_other(const struct ct_branch_list_counted *c)
{
    return c && c->contradicted > c->lists / 100;
}

int ct_branch_list_count(struct ct_branch_list *list, uint32_t binary, struct ct_program *program,
                         struct ct_cover *cover, struct ct_branch_list_counted *counted)
{
    struct ct_branch_list_counted c;
    uint32_t number = 0;
    CT_REQUIRE_OF(list, program, cover);
    if (binary >= list->binary_count)
        return ct_fail(list->ctx, CT_ERR_ARG,
                       "ct_branch_list_count: binary %u is not below %zu; nothing was counted", binary,
                       list->binary_count);
    struct following f = {.list = list};
    int rc = ct_program_symbols(program, &f.symbols)
             ?: ct_program_memory(program, &f.memory)
             ?: find_shift(&f, &list->binaries[binary], program)
             ?: ct_cover_number(cover, program, &number)
             ?: follow_all(&f, binary, NULL, number, &c);
    if (!rc && !ct_branch_list_is_other(&c))
        rc = follow_all(&f, binary, cover, number, &c);
    free(f.items);
    if (!rc && counted)
        *counted = c;
    return rc;
}
