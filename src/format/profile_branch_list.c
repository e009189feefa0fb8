/* SPDX-License-Identifier: Apache-2.0 */
/* Makes branch lists from counts. Each list is a single branch, because counts do not tell which branches
 * followed each other. When several runs end at the same branch, its counts are distributed to them in the
 * order of their addresses; the sums do not depend on the distribution. */
#include "base/bytes.h"
#include "base/elf_look.h"
#include "base/module_name.h"
#include "base/search.h"
#include "format/profile.h"

#include <stdbool.h>
#include <stdlib.h>

/* Executions of a branch, taken and not taken, that are not assigned to a run yet. */
struct left {
    uint64_t at;
    uint64_t taken, not_taken;
};

struct left_list {
    struct left *all; /* sorted by address */
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    return ct_order(x->at, y->at);
}

/* Lists the counts of a program's branches. The caller frees list->all. CT_ERR_NOMEM. */
static int read_branches(const struct ct_profile_view *view, struct left_list *list)
{
    *list = (struct left_list){.all = calloc(view->item_count + 1, sizeof *list->all)};
    if (!list->all)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < view->item_count; i++) {
        const struct ct_cover_item *item = &view->items[i];
        if (item->kind == CT_COVER_RUN)
            continue;
        struct left *left = &list->all[list->count++];
        left->at = item->from;
        *(item->kind == CT_COVER_TAKEN ? &left->taken : &left->not_taken) = item->count;
    }
    qsort(list->all, list->count, sizeof *list->all, by_address);
    size_t n = 0;
    for (size_t i = 1; i < list->count; i++) {
        if (list->all[i].at != list->all[n].at) {
            list->all[++n] = list->all[i];
            continue;
        }
        list->all[n].taken += list->all[i].taken;
        list->all[n].not_taken += list->all[i].not_taken;
    }
    list->count = list->count ? n + 1 : 0;
    return CT_OK;
}

/* Takes up to `wanted` from *left. Returns how much. */
static uint64_t take(uint64_t *left, uint64_t wanted)
{
    const uint64_t taken = *left < wanted ? *left : wanted;
    *left -= taken;
    return taken;
}

static bool is_isb(const struct ct_profile_view *view, enum ct_isa isa, uint64_t at)
{
    struct ct_insn insn = {0};
    size_t size;
    const uint8_t *bytes = ct_memory_at(view->source.memory, at, CT_SPACE_EL1N, &size);
    const struct ct_arch any = {0};
    if (!bytes || size < 4)
        return false;
    if (isa == CT_ISA_T32)
        ct_insn_decode_t32((uint32_t)ct_load16(bytes) << 16 | ct_load16(bytes + 2), at, &any, &insn);
    else if (isa == CT_ISA_A32)
        ct_insn_decode_a32(ct_load32(bytes), at, &any, &insn);
    else
        ct_insn_decode_a64(ct_load32(bytes), at, &any, &insn);
    return insn.type == CT_INSN_ISB;
}

/* Returns the number of instructions of a run. Counts T32 instructions as if each had two bytes. */
static uint64_t insns_of(const struct ct_profile_view *view, const struct ct_cover_item *run)
{
    return (run->to - run->from) / (ct_profile_isa(view, run) == CT_ISA_T32 ? 2 : 4);
}

static int add_run(struct ct_branch_list *list, uint32_t binary, const struct ct_profile_view *view,
                   const struct ct_cover_item *run, struct left_list *branches, uint64_t counts[2])
{
    const uint64_t last = ct_profile_last(view, run);
    const struct left wanted = {.at = last};
    const enum ct_isa isa = ct_profile_isa(view, run);
    const uint64_t from = run->from | (isa == CT_ISA_T32 ? 1 : 0);
    struct left *left = bsearch(&wanted, branches->all, branches->count, sizeof wanted, by_address);
    counts[1] = left ? take(&left->taken, run->count) : is_isb(view, isa, last) ? run->count : 0;
    counts[0] = left ? take(&left->not_taken, run->count - counts[1]) : 0;
    int rc = CT_OK;
    for (uint8_t taken = 0; taken < 2 && !rc; taken++)
        rc = ct_branch_list_add(list, binary, from - view->text, &taken, 1, counts[taken]);
    return rc;
}

/* Adds the binary of a program. */
static int add_binary(struct ct_branch_list *list, const struct ct_profile_view *view, uint32_t *number)
{
    struct ct_branch_list_binary binary = {.path = view->target};
    binary.build_id = ct_symbols_build_id(view->source.symbols, &binary.build_id_size);
    if (binary.build_id_size > CT_BUILD_ID_MAX)
        binary.build_id_size = CT_BUILD_ID_MAX;
    if (ct_module_is_named(view->program))
        binary.kind = CT_BRANCH_LIST_MODULE;
    else if (ct_symbols_base(view->source.symbols) >> 63)
        binary.kind = CT_BRANCH_LIST_KERNEL;
    return ct_branch_list_add_binary(list, &binary, number);
}

int ct_profile_branch_list(struct ct_branch_list *list, const struct ct_profile_view *view, uint64_t *entries,
                           uint64_t *left_out)
{
    struct left_list branches;
    uint32_t binary = 0;
    if (!view->item_count)
        return CT_OK;
    int rc = read_branches(view, &branches) ?: add_binary(list, view, &binary);
    for (size_t i = 0; i < view->item_count && !rc && view->items[i].kind == CT_COVER_RUN; i++) {
        const struct ct_cover_item *run = &view->items[i];
        uint64_t counts[2];
        rc = add_run(list, binary, view, run, &branches, counts);
        *entries += (counts[0] > 0 ? 1u : 0u) + (counts[1] > 0 ? 1u : 0u);
        *left_out += (run->count - counts[0] - counts[1]) * insns_of(view, run);
    }
    free(branches.all);
    return rc;
}
