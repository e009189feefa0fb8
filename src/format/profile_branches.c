/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles of branches in the text formats of create_llvm_prof (AutoFDO) and perf2bolt (BOLT). */
#include "base/bytes.h"
#include "base/search.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* Ranges and branches in the order of both formats: by kind, from and to. */
struct branches {
    struct ct_cover_item *items; /* runs end at their last instruction; branches out of the program go to 0 */
    size_t count;
    size_t run_count; /* number of runs, which come first */
};

/* Returns the address of the last instruction of a T32 run. Decodes from the first instruction on, because
 * only that tells which ones have 4 bytes. */
static uint64_t last_t32(const struct ct_profile_view *view, const struct ct_cover_item *run)
{
    uint64_t last = run->from;
    for (uint64_t addr = run->from; addr < run->to;) {
        struct ct_insn insn = {.size = 2};
        size_t size;
        const uint8_t *bytes = ct_memory_at(view->source.memory, addr, CT_SPACE_EL1N, &size);
        const struct ct_arch any = {0};
        if (bytes && size >= 2)
            ct_insn_decode_t32((uint32_t)ct_load16(bytes) << 16, addr, &any, &insn);
        last = addr;
        addr += insn.size;
    }
    return last;
}

enum ct_isa ct_profile_isa(const struct ct_profile_view *view, const struct ct_cover_item *run)
{
    return run->isa == CT_ISA_A64 ? ct_symbols_isa_at(view->source.symbols, run->from)
                                  : (enum ct_isa)run->isa;
}

uint64_t ct_profile_last(const struct ct_profile_view *view, const struct ct_cover_item *run)
{
    return ct_profile_isa(view, run) == CT_ISA_T32 ? last_t32(view, run) : run->to - 4;
}

static bool is_code(const struct ct_profile_view *view, uint64_t addr)
{
    size_t count;
    const struct ct_code_range *code = ct_symbols_code(view->source.symbols, &count);
    return ct_code_has(code, count, addr);
}

/* Reads the runs and the taken branches. The caller frees b->items. CT_ERR_NOMEM. */
static int read_items(const struct ct_profile_view *view, struct branches *b)
{
    struct ct_cover_item *runs;
    size_t run_count;
    *b = (struct branches){0};
    if (ct_profile_join(view, &runs, &run_count) != CT_OK)
        return CT_ERR_NOMEM;
    b->items = realloc(runs, (run_count + view->item_count + 1) * sizeof *runs);
    if (!b->items) {
        free(runs);
        return CT_ERR_NOMEM;
    }
    for (; b->count < run_count; b->count++)
        b->items[b->count].to = ct_profile_last(view, &b->items[b->count]);
    for (size_t i = 0; i < view->item_count; i++) {
        if (view->items[i].kind != CT_COVER_TAKEN)
            continue;
        struct ct_cover_item *item = &b->items[b->count++];
        *item = view->items[i];
        if (!is_code(view, item->to))
            item->to = 0;
    }
    for (size_t i = 0; i < b->count; i++)
        b->items[i].isa = 0; /* not part of the formats */
    b->count = ct_cover_add_up(b->items, b->count);
    while (b->run_count < b->count && b->items[b->run_count].kind == CT_COVER_RUN)
        b->run_count++;
    return CT_OK;
}

/* Writes three lists with their lengths: ranges, addresses (of samples, which a complete trace does not
 * need), branches. AutoFDO's tools add the address of the first loaded segment. A branch out of the program
 * goes to 0, as in simpleperf. */
int ct_profile_autofdo(FILE *out, const struct ct_profile_view *view, uint64_t *entries)
{
    const uint64_t base = ct_symbols_base(view->source.symbols);
    struct branches b;
    if (read_items(view, &b) != CT_OK)
        return CT_ERR_NOMEM;
    fprintf(out, "%zu\n", b.run_count);
    for (size_t i = 0; i < b.count; i++) {
        const struct ct_cover_item *item = &b.items[i];
        const uint64_t to = item->to ? item->to - base : 0;
        if (i == b.run_count)
            fprintf(out, "0\n%zu\n", b.count - b.run_count);
        fprintf(out, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", item->from - base,
                item->kind == CT_COVER_RUN ? "-" : "->", to, item->count);
    }
    if (b.count == b.run_count)
        fprintf(out, "0\n0\n");
    *entries += b.count;
    free(b.items);
    return CT_OK;
}

static int by_target(const void *a, const void *b)
{
    const struct ct_cover_item *x = a, *y = b;
    return ct_order(x->to, y->to);
}

static int by_source(const void *a, const void *b)
{
    const struct ct_cover_item *x = a, *y = b;
    return ct_order(x->from, y->from) ?: by_target(a, b);
}

/* An address where runs begin, and the executions there. */
struct start {
    size_t first, end; /* its runs */
    size_t branch;     /* first branch with a higher target */
    uint64_t runs;
    uint64_t branches; /* taken branches to it */
    uint64_t jumps;    /* the same without returns */
};

/* Returns the subtype of the A64 instruction at an address, or CT_INSN_SUB_NONE for missing code and other
 * instruction sets. */
static uint8_t a64_subtype(const struct ct_profile_view *view, uint64_t addr)
{
    struct ct_insn insn = {.sub = CT_INSN_SUB_NONE};
    size_t size;
    const uint8_t *bytes = ct_memory_at(view->source.memory, addr, CT_SPACE_EL1N, &size);
    const struct ct_arch any = {0};
    if (bytes && size >= 4 && ct_symbols_isa_at(view->source.symbols, addr) == CT_ISA_A64)
        ct_insn_decode_a64(ct_load32(bytes), addr, &any, &insn);
    return insn.sub;
}

/* Advances to the next address where runs begin. Branches are sorted by target. Returns false behind the last
 * one. */
static bool next_start(const struct ct_profile_view *view, const struct branches *b, struct start *s)
{
    const struct ct_cover_item *items = b->items;
    *s = (struct start){s->end, s->end, s->branch, 0, 0, 0};
    if (s->first == b->run_count)
        return false;
    const uint64_t at = items[s->first].from;
    for (; s->end < b->run_count && items[s->end].from == at; s->end++)
        s->runs += items[s->end].count;
    for (; b->run_count + s->branch < b->count && items[b->run_count + s->branch].to <= at; s->branch++) {
        const struct ct_cover_item *branch = &items[b->run_count + s->branch];
        if (branch->to != at)
            continue;
        s->branches += branch->count;
        s->jumps += a64_subtype(view, branch->from) == CT_INSN_SUB_RET ? 0 : branch->count;
    }
    return true;
}

/* Writes a run with a count, unless that is 0. Returns the number of lines. */
static uint64_t write_run(FILE *out, char kind, const struct ct_cover_item *run, uint64_t count)
{
    if (count)
        fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", kind, run->from, run->to, count);
    return count != 0;
}

/* Writes the runs as F, and those that begin where a call returned as f: for these, BOLT counts that the
 * block of the call fell through to the next one. Which of several runs from one address they are makes no
 * difference. Returns the number of lines. */
static uint64_t write_runs(FILE *out, const struct ct_profile_view *view, const struct branches *b)
{
    uint64_t lines = 0;
    for (struct start s = {0}; next_start(view, b, &s);)
        for (size_t i = s.first; i < s.end; i++) {
            const uint64_t count = b->items[i].count;
            const uint64_t jumps = s.jumps < count ? s.jumps : count;
            const bool returns = jumps < count && a64_subtype(view, b->items[i].from - 4) == CT_INSN_SUB_LINK;
            lines += write_run(out, 'F', &b->items[i], returns ? jumps : count);
            lines += write_run(out, 'f', &b->items[i], returns ? count - jumps : 0);
            s.jumps -= jumps;
        }
    return lines;
}

/* Writes how often execution came to the beginning of runs from elsewhere: from other programs, or after an
 * exception or a gap. BOLT takes an arrival at the beginning of a function for its execution, and one behind
 * a call for its return. Returns the number of lines. */
static uint64_t write_entries(FILE *out, const struct ct_profile_view *view, const struct branches *b)
{
    uint64_t lines = 0;
    for (struct start s = {0}; next_start(view, b, &s);)
        if (s.runs > s.branches) {
            fprintf(out, "B 0 %" PRIx64 " %" PRIu64 " 0\n", b->items[s.first].from, s.runs - s.branches);
            lines++;
        }
    return lines;
}

int ct_profile_bolt(FILE *out, const struct ct_profile_view *view, uint64_t *entries)
{
    struct branches b;
    if (read_items(view, &b) != CT_OK)
        return CT_ERR_NOMEM;
    struct ct_cover_item *branches = b.items + b.run_count;
    const size_t branch_count = b.count - b.run_count;
    qsort(branches, branch_count, sizeof *branches, by_target);
    *entries += write_runs(out, view, &b) + branch_count;
    qsort(branches, branch_count, sizeof *branches, by_source);
    for (size_t i = 0; i < branch_count; i++)
        fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", branches[i].from, branches[i].to,
                branches[i].count);
    qsort(branches, branch_count, sizeof *branches, by_target);
    *entries += write_entries(out, view, &b);
    free(b.items);
    return CT_OK;
}
