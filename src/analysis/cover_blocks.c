/* SPDX-License-Identifier: Apache-2.0 */
/* Counts instructions, and finds the basic blocks of each function and the edges between them. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/search.h"

#include <stdlib.h>

size_t ct_cover_find(const struct ct_cover_work *work, uint64_t addr)
{
    return CT_COUNT_WHILE(work->report.insn_count, i, work->insns[i].addr < addr);
}

static struct ct_cover_insn *insn_at(const struct ct_cover_work *work, uint64_t addr)
{
    size_t i = ct_cover_find(work, addr);
    return i < work->report.insn_count && work->insns[i].addr == addr ? &work->insns[i] : NULL;
}

/* Returns the instruction to which a branch goes, or NULL. Tries first the index that the distance suggests:
 * code around a branch mostly has no gaps and instructions of one size. */
static struct ct_cover_insn *target_of(const struct ct_cover_work *work, const struct ct_cover_insn *branch,
                                       uint64_t to)
{
    const int64_t away = (int64_t)(to - branch->addr) / branch->size;
    const uint64_t place = (uint64_t)(branch - work->insns) + (uint64_t)away;
    if (place < work->report.insn_count && work->insns[place].addr == to)
        return &work->insns[place];
    return insn_at(work, to);
}

static bool is_branch(const struct ct_cover_insn *insn)
{
    return insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR;
}

bool ct_cover_decides(const struct ct_cover_insn *insn)
{
    return is_branch(insn) && (insn->cond || insn->not_taken);
}

/* ---- counts ---- */

/* Returns whether the targets of a branch are kept as arcs: those of calls and of branches through a
 * register. Any other branch has a single target, reached each time it was taken. */
static bool has_arcs(const struct ct_cover_insn *insn)
{
    return insn->type == CT_INSN_IBR || insn->sub == CT_INSN_SUB_LINK;
}

static void count_branch(struct ct_cover_work *work, const struct ct_cover_item *item)
{
    struct ct_cover_insn *insn = insn_at(work, item->from);
    if (!insn || !is_branch(insn))
        return;
    if (item->kind == CT_COVER_NOT) {
        insn->not_taken += item->count;
        return;
    }
    insn->taken += item->count;
    if (item->to && has_arcs(insn))
        work->arcs[work->report.arc_count++] =
            (struct ct_cover_arc){.from = item->from, .to = item->to, .count = item->count};
}

int ct_cover_count(struct ct_cover_work *work, const struct ct_cover_item *items, size_t count)
{
    struct ct_cover_report *report = &work->report;
    /* by instruction: its executions minus those of the instruction before it, modulo 2^64 */
    uint64_t *steps = calloc(report->insn_count + 1, sizeof *steps);
    work->arcs = malloc((count + 1) * sizeof *work->arcs);
    if (!steps || !work->arcs) {
        free(steps);
        return ct_fail_nomem(work->ctx, "coverage");
    }
    for (size_t i = 0; i < count; i++) {
        const struct ct_cover_item *item = &items[i];
        if (item->kind != CT_COVER_RUN) {
            count_branch(work, item);
            continue;
        }
        size_t first = ct_cover_find(work, item->from);
        size_t end = ct_cover_find(work, item->to);
        if (end <= first) {
            report->elsewhere += item->to > item->from ? (item->to - item->from) / 4 * item->count : 0;
            continue;
        }
        steps[first] += item->count;
        steps[end] -= item->count;
    }
    uint64_t now = 0;
    for (size_t i = 0; i < report->insn_count; i++)
        work->insns[i].count = now += steps[i];
    free(steps);
    for (size_t i = 0; i < report->function_count; i++) {
        const struct ct_cover_insn *entry = insn_at(work, work->functions[i].addr);
        work->functions[i].count = entry ? entry->count : 0;
    }
    return CT_OK;
}

/* ---- blocks ---- */

static void mark_target(struct ct_cover_work *work, const struct ct_cover_insn *from, uint64_t to)
{
    struct ct_cover_insn *target = target_of(work, from, to);
    if (target && target->function == from->function)
        target->flags |= CT_COVER_LEADER;
}

/* Returns whether an instruction is a jump through a register, such as that of a switch. */
static bool is_jump(const struct ct_cover_insn *insn)
{
    return insn->type == CT_INSN_IBR && insn->sub == CT_INSN_SUB_NONE;
}

/* Returns whether inlined code of `scope` begins at an instruction, rather than continues. `before` is the
 * scope of the instruction before it. */
static bool enters_inlined(const struct ct_line_scope *scopes, uint32_t before, uint32_t scope)
{
    if (scope == before || scope == CT_LINE_NONE || scopes[scope].depth == 0)
        return false;
    while (before != CT_LINE_NONE && before != scope)
        before = scopes[before].parent;
    return before == CT_LINE_NONE;
}

static void mark_leaders(struct ct_cover_work *work)
{
    size_t count;
    const struct ct_line_scope *scopes = ct_lines_scopes(work->source.lines, &count);
    for (size_t i = 0; i < work->report.insn_count; i++) {
        struct ct_cover_insn *insn = &work->insns[i];
        const struct ct_cover_insn *before = i ? insn - 1 : NULL;
        if (!before || before->function != insn->function || before->addr + before->size != insn->addr ||
            is_branch(before) || enters_inlined(scopes, work->scopes[i - 1], work->scopes[i]))
            insn->flags |= CT_COVER_LEADER;
        if (insn->type == CT_INSN_BR && insn->sub != CT_INSN_SUB_LINK)
            mark_target(work, insn, insn->target);
    }
    for (size_t i = 0; i < work->report.arc_count; i++) {
        const struct ct_cover_insn *insn = insn_at(work, work->arcs[i].from);
        if (insn && is_jump(insn))
            mark_target(work, insn, work->arcs[i].to);
    }
}

static int cut_blocks(struct ct_cover_work *work)
{
    struct ct_cover_report *report = &work->report;
    size_t n = 0;
    for (size_t i = 0; i < report->insn_count; i++)
        n += work->insns[i].flags & CT_COVER_LEADER ? 1 : 0;
    work->blocks = calloc(n + 1, sizeof *work->blocks);
    work->entered = calloc(n + 1, sizeof *work->entered);
    work->ways = calloc(3 * n + report->arc_count + 1, sizeof *work->ways);
    if (!work->blocks || !work->entered || !work->ways)
        return ct_fail_nomem(work->ctx, "coverage");
    for (size_t i = 0; i < report->insn_count; i++) {
        struct ct_cover_insn *insn = &work->insns[i];
        if (insn->flags & CT_COVER_LEADER)
            work->blocks[report->block_count++] =
                (struct ct_cover_block){.count = insn->count, .first = (uint32_t)i};
        insn->block = (uint32_t)report->block_count - 1;
        work->blocks[insn->block].end = (uint32_t)i + 1;
    }
    return CT_OK;
}

/* ---- edges ---- */

static void add_way(struct ct_cover_work *work, uint32_t from, uint32_t to, uint64_t count)
{
    if (count)
        work->ways[work->way_count++] = (struct ct_cover_way){.count = count, .from = from, .to = to};
}

/* Adds the edge to the target of a branch, if the target is in the same function. */
static void add_taken(struct ct_cover_work *work, const struct ct_cover_insn *insn, uint64_t to,
                      uint64_t count)
{
    const struct ct_cover_insn *target = target_of(work, insn, to);
    if (target && target->function == insn->function && target->flags & CT_COVER_LEADER)
        add_way(work, insn->block, target->block, count);
}

/* Returns the next block, if it follows without a gap in the same function. CT_COVER_NONE otherwise. */
static uint32_t behind(const struct ct_cover_work *work, uint32_t block)
{
    const struct ct_cover_insn *last = &work->insns[work->blocks[block].end - 1];
    if (block + 1 == work->report.block_count || last[1].function != last->function ||
        last->addr + last->size != last[1].addr)
        return CT_COVER_NONE;
    return block + 1;
}

bool ct_cover_behind_call(const struct ct_cover_work *work, uint32_t block)
{
    const struct ct_cover_insn *first = &work->insns[work->blocks[block].first];
    return block && first[-1].sub == CT_INSN_SUB_LINK && behind(work, block - 1) == block;
}

static void add_ways(struct ct_cover_work *work)
{
    for (uint32_t i = 0; i < work->report.block_count; i++) {
        const struct ct_cover_insn *last = &work->insns[work->blocks[i].end - 1];
        uint32_t next = behind(work, i);
        if (next != CT_COVER_NONE && last->sub != CT_INSN_SUB_LINK)
            add_way(work, i, next, is_branch(last) ? last->not_taken : last->count);
        if (last->type == CT_INSN_BR && last->sub != CT_INSN_SUB_LINK)
            add_taken(work, last, last->target, last->taken);
    }
    for (size_t i = 0; i < work->report.arc_count; i++) {
        const struct ct_cover_insn *insn = insn_at(work, work->arcs[i].from);
        if (insn && is_jump(insn))
            add_taken(work, insn, work->arcs[i].to, work->arcs[i].count);
    }
}

/* Finds the executions of each block that no edge explains. For a block behind a call they are returns of the
 * callee, which become an edge; those of other blocks came from outside. */
static void account(struct ct_cover_work *work)
{
    size_t count = work->report.block_count;
    for (size_t i = 0; i < count; i++)
        work->entered[i] = work->blocks[i].count;
    for (size_t i = 0; i < work->way_count; i++) {
        uint64_t *entered = &work->entered[work->ways[i].to];
        *entered -= *entered < work->ways[i].count ? *entered : work->ways[i].count;
    }
    for (uint32_t i = 1; i < count; i++) {
        if (!ct_cover_behind_call(work, i))
            continue;
        add_way(work, i - 1, i, work->entered[i]);
        work->entered[i] = 0;
    }
}

static int by_end(const void *a, const void *b)
{
    const struct ct_cover_way *x = a;
    const struct ct_cover_way *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

int ct_cover_make_blocks(struct ct_cover_work *work)
{
    mark_leaders(work);
    int result = cut_blocks(work);
    if (result != CT_OK)
        return result;
    add_ways(work);
    account(work);
    if (work->way_count)
        qsort(work->ways, work->way_count, sizeof *work->ways, by_end);
    return CT_OK;
}
