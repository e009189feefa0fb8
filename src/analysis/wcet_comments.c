/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bounds from comments of the source: "loop bound: N" on the line of a loop or on the one above. For
 * a line that the source repeats N times, the code may run the head once more, to find that the loop is
 * over. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/wcet.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define WORDS "loop bound"

/* The bounds in one file. */
struct source {
    uint64_t *bounds; /* by line; 0 for none */
    uint32_t count;
};

/* Returns the bound in a line, or 0 without one up to 2^31. */
static uint64_t bound_in(const char *line, const char *end)
{
    const size_t words = sizeof WORDS - 1;
    const char *at = memmem(line, (size_t)(end - line), WORDS, words);
    uint64_t bound = 0;
    if (!at)
        return 0;
    for (at += words; at < end && (*at == ':' || *at == '=' || *at == ' ');)
        at++;
    for (; at < end && isdigit((unsigned char)*at) && bound <= INT32_MAX; at++)
        bound = bound * 10 + (uint64_t)(*at - '0');
    return bound <= INT32_MAX ? bound : 0;
}

int ct_wcet_comment_bounds(const char *text, size_t size, uint64_t **bounds, uint32_t *count)
{
    const char *end = text + size;
    size_t room = 0;
    *bounds = NULL;
    *count = 0;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        if (!CT_MAKE_ROOM(*bounds, room, *count + (size_t)1))
            return CT_ERR_NOMEM;
        (*bounds)[(*count)++] = bound_in(text, line_end);
        text = line_end + (line_end < end);
    }
    return CT_OK;
}

/* Reads the bounds of one file. A file that ct_lines_source cannot read has none. CT_ERR_NOMEM. */
static int read_source(const struct ct_lines *lines, uint32_t file, struct source *out)
{
    char *text;
    size_t size;
    *out = (struct source){0};
    int rc = ct_lines_source(lines, file, &text, &size);
    if (rc)
        return rc == CT_ERR_NOMEM ? rc : CT_OK;
    rc = ct_wcet_comment_bounds(text, size, &out->bounds, &out->count);
    free(text);
    return rc;
}

/* Finds the first line with a bound, among the lines of the block and those directly above them. */
static void look_at_block(const struct ct_wcet *w, const struct ct_cfg_block *block,
                          const struct source *sources, uint32_t *line, uint64_t *bound)
{
    for (uint64_t at = block->start; at < block->end;) {
        const struct ct_line *row = ct_lines_at(w->lines, at);
        if (!row)
            break;
        at = row->end > at ? row->end : at + 2;
        const struct source *source = row->file == CT_LINE_NONE ? NULL : &sources[row->file];
        for (uint32_t l = row->line; source && l > 0 && l + 1 >= row->line && l <= source->count; l--)
            if (source->bounds[l - 1] && l <= *line) {
                *line = l;
                *bound = source->bounds[l - 1];
                break;
            }
    }
}

/* Returns whether a loop is left only where it jumps back: its head runs once each round. The head of other
 * loops may run once more. */
static bool is_left_at_end(const struct ct_wcet *w, uint32_t loop)
{
    size_t count;
    const struct ct_cfg_loop *loops = ct_cfg_loops(w->cfg, &count);
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_function *f = &ct_cfg_functions(w->cfg, &count)[loops[loop].function];
    const uint32_t *members = ct_cfg_members(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct ct_cfg_block *block = &blocks[members[f->first + i]];
        uint32_t l = block->loop;
        bool leaves = false;
        bool goes_back = false;
        while (l != CT_CFG_NONE && l != loop)
            l = loops[l].parent;
        for (uint32_t e = l == loop ? block->first_out : CT_CFG_NONE; e != CT_CFG_NONE;
             e = edges[e].next_out) {
            uint32_t inner = edges[e].to == CT_CFG_NONE ? CT_CFG_NONE : blocks[edges[e].to].loop;
            while (inner != CT_CFG_NONE && inner != loop)
                inner = loops[inner].parent;
            bool flows = edges[e].kind == CT_CFG_NEXT || edges[e].kind == CT_CFG_BRANCH;
            leaves |= inner != loop && (flows || edges[e].kind == CT_CFG_RETURN);
            goes_back |= flows && edges[e].to != CT_CFG_NONE && blocks[edges[e].to].head &&
                         blocks[edges[e].to].loop == loop;
        }
        if (leaves && !goes_back)
            return false;
    }
    return true;
}

static void look_at_loop(struct ct_wcet *w, uint32_t loop, const struct source *sources)
{
    size_t count;
    const struct ct_cfg_loop *l = &ct_cfg_loops(w->cfg, &count)[loop];
    const struct ct_cfg_block *blocks = ct_cfg_blocks(w->cfg, &count);
    const struct ct_cfg_edge *edges = ct_cfg_edges(w->cfg, &count);
    uint32_t line = UINT32_MAX;
    uint64_t bound = 0;
    look_at_block(w, &blocks[l->head], sources, &line, &bound);
    for (uint32_t e = blocks[l->head].first_in; e != CT_CFG_NONE; e = edges[e].next_in)
        if (edges[e].back)
            look_at_block(w, &blocks[edges[e].from], sources, &line, &bound);
    if (!bound || w->loops[loop].origin == CT_WCET_USER)
        return;
    w->loops[loop].bound = bound + !is_left_at_end(w, loop);
    w->loops[loop].origin = CT_WCET_COMMENT;
}

int ct_wcet_comments(struct ct_wcet *w)
{
    CT_REQUIRE(NULL, w);
    int rc = ct_wcet_make_loops(w);
    uint32_t count = w->lines ? ct_lines_file_count(w->lines) : 0;
    struct source *sources = calloc(count + 1, sizeof *sources);
    if (!sources)
        rc = CT_ERR_NOMEM;
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = read_source(w->lines, i, &sources[i]);
    for (uint32_t l = 0; !rc && count && l < w->loop_count; l++)
        look_at_loop(w, l, sources);
    for (uint32_t i = 0; sources && i < count; i++)
        free(sources[i].bounds);
    free(sources);
    return rc ? ct_fail_nomem(w->ctx, "wcet") : CT_OK;
}
