/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the source line of each loop: that of the branches that end an iteration. Compilers give these the
 * line of the loop's condition, wherever they put the code of the loop. The first instruction of the loop is
 * no help: it may be of any line of the body, or of the begin of an inner loop. */
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/wcet.h"
#include "base/ctx.h"

#define UNKNOWN (CT_LINE_NONE - 1) /* of a scope: not looked for yet */

struct finder {
    const struct ct_lines *lines;
    const struct ct_line_scope *scopes;
    const struct ct_cfg_block *blocks;
    const struct ct_cfg_edge *edges;
    const struct ct_cfg_loop *loops;
    struct ct_wcet_loop *out;
    size_t block_count, loop_count;
};

/* How a block ends iterations of a loop. */
struct turn {
    bool leaves, goes_back;
};

static bool is_in(const struct finder *f, uint32_t block, uint32_t loop)
{
    uint32_t l = f->blocks[block].loop;
    while (l != CT_CFG_NONE && l != loop)
        l = f->loops[l].parent;
    return l == loop;
}

static struct turn turn_of(const struct finder *f, uint32_t block, uint32_t loop)
{
    struct turn turn = {false, false};
    for (uint32_t e = f->blocks[block].first_out; e != CT_CFG_NONE; e = f->edges[e].next_out) {
        const uint32_t to = f->edges[e].to;
        const uint8_t kind = f->edges[e].kind;
        const bool flows = kind == CT_CFG_NEXT || kind == CT_CFG_BRANCH || kind == CT_CFG_CALLED;
        if (flows && to != CT_CFG_NONE && is_in(f, to, loop))
            turn.goes_back |= f->blocks[to].head && f->blocks[to].loop == loop;
        else
            turn.leaves |= flows || kind == CT_CFG_RETURN;
    }
    return turn;
}

/* Returns whether the branch at the end of a block decides whether the loop goes on. */
static bool decides(const struct finder *f, uint32_t block, uint32_t loop)
{
    const struct turn turn = turn_of(f, block, loop);
    return f->blocks[block].cond && (turn.leaves || turn.goes_back);
}

/* Marks the loops that are left only where they jump back, and counts these places. */
static void find_ends(const struct finder *f)
{
    for (uint32_t l = 0; l < f->loop_count; l++)
        f->out[l].left_at_end = 1;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t l = f->blocks[b].loop; l != CT_CFG_NONE; l = f->loops[l].parent) {
            const struct turn turn = turn_of(f, b, l);
            if (turn.leaves && !turn.goes_back)
                f->out[l].left_at_end = 0;
            f->out[l].backs += turn.goes_back;
        }
}

/* ---- lines ---- */

/* Returns the innermost function or inlined call that contains two others. */
static uint32_t around(const struct finder *f, uint32_t a, uint32_t b)
{
    while (a != b && a != CT_LINE_NONE && b != CT_LINE_NONE)
        if (f->scopes[a].depth >= f->scopes[b].depth)
            a = f->scopes[a].parent;
        else
            b = f->scopes[b].parent;
    return a == b ? a : CT_LINE_NONE;
}

/* Finds the line of an address in `scope`: for code that was inlined into it, the line of the call. */
static bool line_in(const struct finder *f, uint64_t addr, uint32_t scope, uint32_t *file, uint32_t *line)
{
    const struct ct_line *row = ct_lines_at(f->lines, addr);
    *file = row ? row->file : CT_LINE_NONE;
    *line = row ? row->line : 0;
    for (uint32_t s = ct_lines_scope_at(f->lines, addr);
         s != scope && s != CT_LINE_NONE && f->scopes[s].parent != CT_LINE_NONE; s = f->scopes[s].parent) {
        *file = f->scopes[s].call_file;
        *line = f->scopes[s].call_line;
    }
    return *file != CT_LINE_NONE && *line;
}

/* Writes to scopes[loop] the function or inlined call that a loop is in: the one around its deciding
 * branches. */
static void find_scopes(const struct finder *f, uint32_t *scopes)
{
    for (uint32_t l = 0; l < f->loop_count; l++)
        scopes[l] = UNKNOWN;
    for (uint32_t b = 0; b < f->block_count; b++) {
        const uint32_t l = f->blocks[b].loop;
        if (l == CT_CFG_NONE || !decides(f, b, l))
            continue;
        const uint32_t scope = ct_lines_scope_at(f->lines, f->blocks[b].last);
        scopes[l] = scopes[l] == UNKNOWN ? scope : around(f, scopes[l], scope);
    }
}

/* Takes the first line of all branches that end iterations. */
static void find_branches(const struct finder *f, const uint32_t *scopes)
{
    for (uint32_t b = 0; b < f->block_count; b++) {
        const uint32_t l = f->blocks[b].loop;
        uint32_t file, line;
        if (l == CT_CFG_NONE || !decides(f, b, l) || !line_in(f, f->blocks[b].last, scopes[l], &file, &line))
            continue;
        if (f->out[l].line && (f->out[l].file != file || f->out[l].line <= line))
            continue;
        f->out[l].file = file;
        f->out[l].line = line;
    }
}

int ct_wcet_find_lines(struct ct_wcet *w)
{
    size_t count;
    uint32_t *scopes = calloc(w->loop_count + 1, sizeof *scopes);
    if (!scopes)
        return ct_fail_nomem(w->ctx, "wcet");
    struct finder f = {.lines = w->lines,
                       .scopes = ct_lines_scopes(w->lines, &count),
                       .edges = ct_cfg_edges(w->cfg, &count),
                       .loops = ct_cfg_loops(w->cfg, &count),
                       .out = w->loops,
                       .loop_count = w->loop_count};
    f.blocks = ct_cfg_blocks(w->cfg, &f.block_count);
    find_ends(&f);
    if (w->lines) {
        find_scopes(&f, scopes);
        find_branches(&f, scopes);
    }
    for (uint32_t l = 0; w->lines && l < w->loop_count; l++) {
        struct ct_wcet_loop *loop = &w->loops[l];
        const uint64_t head = f.blocks[f.loops[l].head].start;
        if (!loop->line && !line_in(&f, head, ct_lines_scope_at(w->lines, head), &loop->file, &loop->line))
            loop->line = 0;
    }
    free(scopes);
    return CT_OK;
}
