/* SPDX-License-Identifier: Apache-2.0 */
#include "format/wcet_view.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

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
    return (struct ct_wcet_place){.block = block, .line = line, .file = path ? ct_base_name(path) : NULL};
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

/* Returns why the code of a loop does not give its bound, to be followed by a place. */
static const char *why_uncounted(uint8_t why)
{
    static const char *const texts[] = {
        "more iterations were observed than it counts, from",
        "no branch that all its iterations pass leaves the loop at",
        "what decides whether it ends is no compare with a number, at",
        "what is compared to end it is no counter, at",
        "what its counter is compared with also changes in the loop, at",
        "its counter is also written in another way in the loop, at",
        "the first value of its counter is not constant, but comes from",
        "what its counter is compared with is not constant, but comes from",
        "its counter does not reach the end that is tested at",
        "a computed branch of its function has unknown targets (see --targets), and may lead to",
        "it is entered in several ways, or together with its function, at",
    };
    return texts[why];
}

/* Writes "FILE:LINE (0x1234)", or the address alone. */
static void write_address(const struct ct_wcet_view *v, uint64_t addr, char *text, size_t size)
{
    const struct ct_line *row = v->lines ? ct_lines_at(v->lines, addr) : NULL;
    const struct ct_wcet_place place = place_of(v, 0, row ? row->file : CT_LINE_NONE, row ? row->line : 0);
    if (place.file && place.line)
        snprintf(text, size, "%.200s:%" PRIu32 " (0x%" PRIx64 ")", place.file, place.line, addr);
    else
        snprintf(text, size, "0x%" PRIx64, addr);
}

/* Writes the meaning of a loop without a bound: why its code has none, and the statement that gives one. */
static void write_loop(const struct ct_wcet_view *v, const struct ct_wcet_assumed *a, char text[CT_WCET_TEXT])
{
    char at[256], place[256];
    struct ct_cfg_count counted;
    const bool ran = a->kind == CT_WCET_LOOP;
    const struct ct_wcet_place head = ct_wcet_view_at_loop(v, a->what);
    const uint64_t start = ct_wcet_view_block(v, head.block)->start;
    if (ct_cfg_loop_counted(v->cfg, a->what, &counted) != CT_OK)
        counted = (struct ct_cfg_count){0};
    write_address(v, counted.at ? counted.at : start, at, sizeof at);
    if (head.file)
        snprintf(place, sizeof place, "%.200s:%" PRIu32, head.file, head.line);
    else
        snprintf(place, sizeof place, "0x%" PRIx64, start);
    snprintf(text, CT_WCET_TEXT,
             "%s, and its code does not show one: %s %s; give it with 'loop %s N' in the file of bounds%s%s",
             ran ? "the bound of this loop is only the largest observed count"
                 : "this loop was never observed and has no bound; it is not in the bound of the program",
             why_uncounted(counted.why), at, place, ran ? ", which --format bounds writes," : "",
             head.file ? " or with a comment 'loop bound: N' on its line" : "");
}

const char *ct_wcet_view_assumed_text(const struct ct_wcet_view *v, const struct ct_wcet_assumed *a,
                                      char text[CT_WCET_TEXT])
{
    static const char *const texts[] = {
        "no run of this block was measured; its cycles are estimated from its instructions at the slowest "
        "rate "
        "observed",
        "this was observed only in cycle counts of several steps together",
        "the code that this call leads to is not known, and is not in the bound",
        "", /* LOOP */
        "the code that this branch leads to is not known, and is not in the bound",
        "the total iterations of this loop are only the largest observed count, for each entry of the loop "
        "around it",
        "the runs of this function for each outer call are only the largest observed count",
        ("this function calls itself, was never observed and has no limit; it is not in the bound; give a "
         "limit with 'recursion FUNCTION N' in the file of bounds"),
        "", /* LEFT_OUT */
        "this call is measured, not modelled; its time is the longest measured run of the function that it "
        "calls",
    };
    if (a->kind == CT_WCET_LOOP || a->kind == CT_WCET_LEFT_OUT) {
        write_loop(v, a, text);
        return text;
    }
    if (a->kind == CT_WCET_CYCLES && a->within != CT_CFG_NONE) {
        char after[64] = "";
        if (a->within != a->what)
            snprintf(after, sizeof after, " when execution came straight from 0x%" PRIx64,
                     ct_wcet_view_block(v, a->within)->start);
        snprintf(
            text, CT_WCET_TEXT,
            "this block ran, but never continued as on the longest path%s; its cycles are estimated from "
            "its instructions at the slowest rate observed",
            after);
        return text;
    }
    if (a->kind == CT_WCET_TOTAL && a->within == CT_CFG_NONE)
        return "the total iterations of this loop are only the largest observed count in a run of the entry";
    if (a->kind == CT_WCET_DEPTH && a->within != CT_CFG_NONE)
        return "the total runs of this function are only the largest observed count in a run of the entry";
    return texts[a->kind];
}
