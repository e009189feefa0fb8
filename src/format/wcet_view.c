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

const struct ct_cfg_loop *ct_wcet_view_loop(const struct ct_wcet_view *v, uint32_t number)
{
    size_t count;
    return &ct_cfg_loops(v->cfg, &count)[number];
}

const char *ct_wcet_view_line(const struct ct_wcet_view *v, uint32_t block, uint32_t *line)
{
    const struct ct_line *row = v->lines ? ct_lines_at(v->lines, ct_wcet_view_block(v, block)->start) : NULL;
    const char *path = row ? ct_lines_file(v->lines, row->file) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    *line = row ? row->line : 0;
    return slash ? slash + 1 : path;
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
        "never observed this way; its cycles are those of its instructions at the slowest rate seen",
        "only observed as a part of counts for several steps",
        "a computed call that was never observed; what it calls is not in the bound",
        "the bound of this loop is only what was observed",
        "a computed branch that was never observed; no path goes there",
        "rounds of this loop in all are only what was observed, each time that a loop around it was entered",
        "runs of this function for a call from outside of its recursion are only what was observed",
        ("this function calls itself, was never seen to run, and nothing says how often; no path goes there: "
         "say 'recursion FUNCTION N' in the file of bounds"),
        ("this loop was never seen to run and has no bound; no path goes there: bound it with 'loop PLACE N' "
         "in the file of bounds"),
        "this call is measured, not modelled: the longest measured run of what it calls stands for it",
    };
    if (a->kind == CT_WCET_TOTAL && a->within == CT_CFG_NONE)
        return "rounds of this loop in all are only what was observed, in a run of the entry";
    if (a->kind == CT_WCET_DEPTH && a->within != CT_CFG_NONE)
        return "runs of this function in all are only what was observed, in a run of the entry";
    return texts[a->kind];
}

uint32_t ct_wcet_view_assumed_block(const struct ct_wcet_view *v, const struct ct_wcet_assumed *a)
{
    bool is_loop = a->kind == CT_WCET_LOOP || a->kind == CT_WCET_TOTAL || a->kind == CT_WCET_LEFT_OUT;
    return is_loop ? ct_wcet_view_loop(v, a->what)->head : a->what;
}
