/* SPDX-License-Identifier: Apache-2.0 */
#include "format/wcet_view.h"

#include <stdbool.h>
#include <string.h>

const struct ct_cfg_block *ct_wcet_view_block(const struct ct_wcet_view *v, uint32_t number)
{
    size_t count;
    return &ct_cfg_blocks(v->cfg, &count)[number];
}

const char *ct_wcet_view_function(const struct ct_wcet_view *v, uint32_t block)
{
    size_t count;
    uint32_t function = ct_wcet_view_block(v, block)->function;
    return function == CT_CFG_NONE ? CT_SYMBOL_UNKNOWN : ct_cfg_functions(v->cfg, &count)[function].label;
}

static struct ct_wcet_place place_of(const struct ct_wcet_view *v, uint32_t block, uint32_t file,
                                     uint32_t line)
{
    const char *path = file == CT_LINE_NONE ? NULL : ct_lines_file(v->lines, file);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return (struct ct_wcet_place){.block = block, .line = line, .file = slash ? slash + 1 : path};
}

struct ct_wcet_place ct_wcet_view_at_block(const struct ct_wcet_view *v, uint32_t block)
{
    const struct ct_line *row = v->lines ? ct_lines_at(v->lines, ct_wcet_view_block(v, block)->start) : NULL;
    return place_of(v, block, row ? row->file : CT_LINE_NONE, row ? row->line : 0);
}

struct ct_wcet_place ct_wcet_view_at_loop(const struct ct_wcet_view *v, uint32_t loop)
{
    size_t count;
    const struct ct_wcet_loop *l = &ct_wcet_loops(v->wcet, &count)[loop];
    return place_of(v, ct_cfg_loops(v->cfg, &count)[loop].head, l->line ? l->file : CT_LINE_NONE, l->line);
}

struct ct_wcet_place ct_wcet_view_at_assumed(const struct ct_wcet_view *v, const struct ct_wcet_assumed *a)
{
    const bool is_loop = a->kind == CT_WCET_LOOP || a->kind == CT_WCET_TOTAL || a->kind == CT_WCET_LEFT_OUT;
    return is_loop ? ct_wcet_view_at_loop(v, a->what) : ct_wcet_view_at_block(v, a->what);
}

const char *ct_wcet_view_assumed_name(uint32_t kind)
{
    static const char *const names[] = {"cycles", "shared",    "call",     "loop",     "way out",
                                        "total",  "recursion", "uncalled", "left out", "measured"};
    return names[kind];
}

const char *ct_wcet_view_assumed_text(const struct ct_wcet_assumed *a)
{
    static const char *const texts[] = {
        "this was never observed; its cycles are estimated from its instructions at the slowest rate "
        "observed",
        "this was observed only in cycle counts of several steps together",
        "the code that this call leads to is not known, and is not in the bound",
        "the bound of this loop is only the largest observed count; --format bounds writes a file to correct",
        "the code that this branch leads to is not known, and is not in the bound",
        "the total iterations of this loop are only the largest observed count, for each entry of the loop "
        "around it",
        "the runs of this function for each outer call are only the largest observed count",
        ("this function calls itself, was never observed and has no limit; it is not in the bound; give a "
         "limit with 'recursion FUNCTION N' in the file of bounds"),
        ("this loop was never observed and has no bound; it is not in the bound of the program; give one "
         "with 'loop PLACE N' in the file of bounds"),
        "this call is measured, not modelled; its time is the longest measured run of the function that it "
        "calls",
    };
    if (a->kind == CT_WCET_TOTAL && a->within == CT_CFG_NONE)
        return "the total iterations of this loop are only the largest observed count in a run of the entry";
    if (a->kind == CT_WCET_DEPTH && a->within != CT_CFG_NONE)
        return "the total runs of this function are only the largest observed count in a run of the entry";
    return texts[a->kind];
}
