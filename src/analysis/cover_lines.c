/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the executions of source lines as gcov does (docs/analysis.md): by the blocks of a line and the
 * edges that lead into them. */
#include "analysis/cover.h"
#include "base/ctx.h"
#include "base/padding.h"
#include "base/room.h"
#include "base/search.h"

#include <stdlib.h>

#define SPACE CT_SPACE_EL1N /* any space will do: images are added in all of them */

/* A line in a block. */
struct part {
    uint32_t file, line;
    uint32_t block;
    uint32_t function;
    uint32_t last; /* 1 when no other line appears in the block for the first time after this one */
    uint32_t insns, insns_run;
    uint32_t hidden, hidden_run; /* instructions with CT_COVER_HIDDEN */
    uint32_t bare;               /* instructions at its beginning that only lead on: NOPs and jumps */
};

struct parts {
    struct ct_cover_work *work;
    struct part *parts;
    size_t count, room;
    size_t block_first; /* index of the first part of the current block */
};

static struct part *find_part(struct parts *p, uint32_t block, uint32_t file, uint32_t line)
{
    for (size_t i = p->block_first; i < p->count; i++)
        if (p->parts[i].file == file && p->parts[i].line == line)
            return &p->parts[i];
    if (!CT_MAKE_ROOM(p->parts, p->room, p->count + 1))
        return NULL;
    p->parts[p->count] = (struct part){.file = file, .line = line, .block = block, .function = CT_COVER_NONE};
    return &p->parts[p->count++];
}

/* Adds lines without instructions of their own: the declaration of a function, at its entry, and labels.
 * Returns false when out of memory. */
static bool add_bare(struct parts *p, const struct ct_cover_insn *insn, size_t *label)
{
    const struct ct_cover_function *function = &p->work->functions[insn->function];
    if (function->addr == insn->addr && function->line && function->file != CT_LINE_NONE) {
        struct part *part = find_part(p, insn->block, function->file, function->line);
        if (!part)
            return false;
        part->function = insn->function;
    }
    size_t count;
    const struct ct_line *labels = ct_lines_labels(p->work->source.lines, &count);
    while (*label < count && labels[*label].addr < insn->addr)
        ++*label;
    for (; *label < count && labels[*label].addr == insn->addr; ++*label)
        if (!find_part(p, insn->block, labels[*label].file, labels[*label].line))
            return false;
    return true;
}

/* Returns whether an instruction does nothing but lead to another one. */
static bool leads_on(const struct ct_cover_work *work, const struct ct_cover_insn *insn)
{
    if (insn->type == CT_INSN_BR)
        return !insn->cond && !insn->not_taken && insn->sub == CT_INSN_SUB_NONE;
    size_t size;
    const uint8_t *bytes = ct_memory_at(work->source.memory, insn->addr, SPACE, &size);
    return bytes && insn->type == CT_INSN_OTHER && ct_padding(bytes, size, insn->isa == CT_ISA_A64) != 0;
}

static int read_parts(struct parts *p)
{
    const struct ct_cover_work *work = p->work;
    size_t label = 0;
    for (size_t i = 0; i < work->report.insn_count; i++) {
        const struct ct_cover_insn *insn = &work->insns[i];
        if (insn->flags & CT_COVER_LEADER)
            p->block_first = p->count;
        if (insn->line == 0)
            continue;
        struct part *part =
            add_bare(p, insn, &label) ? find_part(p, insn->block, insn->file, insn->line) : NULL;
        if (!part)
            return ct_fail_nomem(work->ctx, "coverage");
        part->function = insn->function;
        part->bare += part->bare == part->insns && leads_on(work, insn);
        part->insns++;
        part->insns_run += insn->count > 0;
        part->hidden += (insn->flags & CT_COVER_HIDDEN) != 0;
        part->hidden_run += insn->flags & CT_COVER_HIDDEN && insn->count;
    }
    for (size_t i = 0; i < p->count; i++)
        p->parts[i].last = i + 1 == p->count || p->parts[i + 1].block != p->parts[i].block;
    return CT_OK;
}

static int by_line(const void *a, const void *b)
{
    const struct part *x = a;
    const struct part *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* ---- loops that stay on a line ---- */

/* The edges between blocks of one line. */
struct ring {
    struct ct_cover_way *ways; /* sorted by `from`; their counts are used up by circles */
    size_t count, room, path_room, seen_room;
    uint32_t *path; /* indices of edges, while a circle is searched */
    uint8_t *seen;  /* by edge: 1 on the path, 2 when it leads into no circle */
};

static void ring_free(struct ring *ring)
{
    free(ring->ways);
    free(ring->path);
    free(ring->seen);
}

static size_t first_from(const struct ring *ring, uint32_t block)
{
    return CT_COUNT_WHILE(ring->count, i, ring->ways[i].from < block);
}

/* Returns the next edge that begins where edge `at` ends: the first one, or the one behind edge `after`.
 * SIZE_MAX when there is none. */
static size_t next_way(const struct ring *ring, uint32_t at, size_t after)
{
    uint32_t block = ring->ways[at].to;
    for (size_t i = after == SIZE_MAX ? first_from(ring, block) : after + 1;
         i < ring->count && ring->ways[i].from == block; i++)
        if (ring->ways[i].count && ring->seen[i] != 2)
            return i;
    return SIZE_MAX;
}

/* Removes the circle path[from..depth) as often as its rarest edge was taken. Returns that number. */
static uint64_t take_circle(struct ring *ring, size_t from, size_t depth)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = from; i < depth; i++)
        if (ring->ways[ring->path[i]].count < least)
            least = ring->ways[ring->path[i]].count;
    for (size_t i = from; i < depth; i++)
        ring->ways[ring->path[i]].count -= least;
    return least;
}

/* Returns the index on the path at which edge `next` closes a circle, or `depth` when it closes none. */
static size_t closes(const struct ring *ring, size_t depth, size_t next)
{
    size_t i = depth;
    while (i > 0 && ring->ways[ring->path[i - 1]].from != ring->ways[next].to)
        i--;
    return i > 0 ? i - 1 : depth;
}

/* Follows edges from `start` until a circle closes, and removes the circle. Returns how often it was taken, 0
 * when there is none. */
static uint64_t find_circle(struct ring *ring, size_t start)
{
    size_t depth = 0;
    size_t after = SIZE_MAX;
    ring->path[depth++] = (uint32_t)start;
    ring->seen[start] = 1;
    if (ring->ways[start].from == ring->ways[start].to)
        return take_circle(ring, 0, 1);
    while (depth) {
        size_t next = next_way(ring, ring->path[depth - 1], after);
        if (next == SIZE_MAX) {
            after = ring->path[--depth];
            ring->seen[after] = 2;
            if (depth == 0)
                return 0;
            continue;
        }
        ring->path[depth] = (uint32_t)next;
        size_t from = ring->ways[next].to == ring->ways[next].from ? depth : closes(ring, depth, next);
        if (from < depth || ring->ways[next].to == ring->ways[next].from)
            return take_circle(ring, from, depth + 1);
        ring->seen[next] = 1;
        depth++;
        after = SIZE_MAX;
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct ct_cover_way *x = a;
    const struct ct_cover_way *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Returns how often loops went round without leaving the line. The search ends because each circle uses up an
 * edge. */
static uint64_t go_round(struct ring *ring)
{
    uint64_t total = 0;
    if (ring->count)
        qsort(ring->ways, ring->count, sizeof *ring->ways, by_start);
    for (size_t i = 0; i < ring->count;) {
        for (size_t k = 0; k < ring->count; k++)
            ring->seen[k] = 0;
        uint64_t taken = ring->ways[i].count ? find_circle(ring, i) : 0;
        total += taken;
        i += taken == 0;
    }
    return total;
}

/* ---- the count of a line ---- */

static bool is_bare(const struct part *part)
{
    return part->insns && part->bare == part->insns;
}

struct lines {
    struct parts parts;
    struct ring ring;
    uint32_t *stamp; /* by block: the number, from 1, of the last line that the block belonged to */
    uint32_t now;
};

static bool ring_push(struct ring *ring, const struct ct_cover_way *way)
{
    if (!CT_MAKE_ROOM(ring->path, ring->path_room, ring->count + 2) ||
        !CT_MAKE_ROOM(ring->seen, ring->seen_room, ring->count + 1) ||
        !CT_MAKE_ROOM(ring->ways, ring->room, ring->count + 1))
        return false;
    ring->ways[ring->count++] = *way;
    return true;
}

static size_t first_way(const struct ct_cover_work *work, uint32_t block)
{
    return CT_COUNT_WHILE(work->way_count, i, work->ways[i].to < block);
}

/* Returns whether a block is entered from a block of the current line. */
static bool is_entered_within(const struct lines *l, uint32_t block)
{
    const struct ct_cover_work *work = l->parts.work;
    for (size_t k = first_way(work, block); k < work->way_count && work->ways[k].to == block; k++)
        if (l->stamp[work->ways[k].from] == l->now)
            return true;
    return false;
}

/* Moves the parts of a line that count to the front of [first, end), and returns their end. A part that only
 * leads on does not count, unless it leads from one place of the line to another or the line has no other
 * parts: compilers give the join behind a statement (a NOP, a jump) the line where the statement begins,
 * which does not run again there. */
static size_t leave_bare(struct lines *l, size_t first, size_t end)
{
    struct part *parts = l->parts.parts;
    size_t kept = first, before = end;
    l->now++;
    while (kept != before) {
        before = kept;
        for (size_t i = kept; i < end; i++) {
            const struct part part = parts[i];
            if (is_bare(&part) && (kept == first || !part.last || !is_entered_within(l, part.block)))
                continue;
            parts[i] = parts[kept];
            parts[kept++] = part;
            l->stamp[part.block] = l->now;
        }
    }
    return kept > first ? kept : end;
}

/* Finds how often a block was entered from blocks that do not end with the line, or from outside of the
 * function. Keeps the edges from blocks that end with it for go_round(), if this block does, too. Returns
 * false when out of memory. */
static bool count_entries(struct lines *l, const struct part *part, uint64_t *entries)
{
    const struct ct_cover_work *work = l->parts.work;
    *entries = work->entered[part->block];
    for (size_t k = first_way(work, part->block); k < work->way_count; k++) {
        const struct ct_cover_way *way = &work->ways[k];
        if (way->to != part->block)
            break;
        if (l->stamp[way->from] != l->now)
            *entries += way->count;
        else if (part->last && !ring_push(&l->ring, way))
            return false;
    }
    return true;
}

/* Adds up the executions of the blocks that end with a line: the edges into them from other blocks, and the
 * rounds of loops among themselves. The count is at least that of a block with the line in its middle, unless
 * that block goes on with the line behind a call. Returns false when out of memory. */
static bool count_ends(struct lines *l, size_t first, size_t end, uint64_t *count)
{
    const struct ct_cover_work *work = l->parts.work;
    const struct part *parts = l->parts.parts;
    uint64_t within = 0;
    l->now++;
    l->ring.count = 0;
    for (size_t i = first; i < end; i++)
        if (parts[i].last)
            l->stamp[parts[i].block] = l->now;
    for (size_t i = first; i < end; i++) {
        const uint64_t runs = work->blocks[parts[i].block].count;
        uint64_t entries;
        if (!count_entries(l, &parts[i], &entries))
            return false;
        if (parts[i].last)
            *count += entries;
        else if (entries && runs > within)
            within = runs;
    }
    *count += go_round(&l->ring);
    if (*count < within)
        *count = within;
    return true;
}

/* Returns whether a block goes on with a line behind calls: the part before `part` is of the same line, and
 * its block leads to this one through calls only. */
static bool goes_on(const struct ct_cover_work *work, const struct part *part)
{
    uint32_t block = part->block;
    while (block > part[-1].block && ct_cover_behind_call(work, block))
        block--;
    return block == part[-1].block;
}

/* Adds up the executions of the blocks of a line that ends none of them. Blocks that calls divide count once:
 * as often as the one that ran most. */
static uint64_t count_blocks(const struct ct_cover_work *work, const struct part *parts, size_t first,
                             size_t end)
{
    uint64_t total = 0;
    uint64_t most = 0;
    for (size_t i = first; i < end; i++) {
        const uint64_t count = work->blocks[parts[i].block].count;
        if (i > first && !goes_on(work, &parts[i]))
            most = 0;
        if (count > most) {
            total += count - most;
            most = count;
        }
    }
    return total;
}

/* Adds the line of parts [first, end). Returns false when out of memory. */
static bool add_line(struct lines *l, size_t first, size_t end)
{
    struct ct_cover_work *work = l->parts.work;
    const struct part *parts = l->parts.parts;
    struct ct_cover_line line = {
        .file = parts[first].file, .line = parts[first].line, .function = CT_COVER_NONE};
    bool ends = false;
    uint64_t most = 0;
    for (size_t i = first; i < end; i++) {
        uint64_t count = work->blocks[parts[i].block].count;
        most = count > most ? count : most;
        line.insns += parts[i].insns;
        line.insns_run += parts[i].insns_run;
        line.hidden += parts[i].hidden;
        line.hidden_run += parts[i].hidden_run;
        if (line.function == CT_COVER_NONE)
            line.function = parts[i].function;
    }
    end = leave_bare(l, first, end);
    for (size_t i = first; i < end; i++)
        ends |= parts[i].last;
    if (!ends)
        line.count = count_blocks(work, parts, first, end);
    else if (!count_ends(l, first, end, &line.count))
        return false;
    if (line.count == 0 && line.insns_run)
        line.count = most ? most : 1; /* entered in the middle of a block, behind a gap in the trace */
    work->lines[work->report.line_count++] = line;
    return true;
}

static int add_lines(struct lines *l)
{
    struct ct_cover_work *work = l->parts.work;
    const struct part *parts = l->parts.parts;
    size_t count = l->parts.count;
    l->stamp = calloc(work->report.block_count + 1, sizeof *l->stamp);
    work->lines = calloc(count + 1, sizeof *work->lines);
    bool good = l->stamp && work->lines;
    for (size_t first = 0; first < count && good;) {
        size_t end = first;
        while (end < count && parts[end].file == parts[first].file && parts[end].line == parts[first].line)
            end++;
        good = add_line(l, first, end);
        first = end;
    }
    return good ? CT_OK : ct_fail_nomem(work->ctx, "coverage");
}

int ct_cover_make_lines(struct ct_cover_work *work)
{
    struct lines l = {.parts.work = work};
    int result = read_parts(&l.parts);
    if (result == CT_OK && l.parts.count)
        qsort(l.parts.parts, l.parts.count, sizeof *l.parts.parts, by_line);
    if (result == CT_OK)
        result = add_lines(&l);
    free(l.parts.parts);
    free(l.stamp);
    ring_free(&l.ring);
    return result == CT_OK ? ct_cover_make_conditions(work) : result;
}
