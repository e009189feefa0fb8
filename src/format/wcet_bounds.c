/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file of bounds: the loops and recursions of a longest path, with the numbers that were used. What
 * is known without the file is written as comments. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "format/wcet_print.h"

/* The loops of one place, to which one statement applies. */
struct group {
    uint64_t bound; /* the largest one */
    bool observed;  /* the bound of one of them was only observed, or it has none */
    uint8_t origin; /* of the last one with a bound */
};

static bool is_same(const struct ct_wcet_place *a, const struct ct_wcet_place *b)
{
    if (!a->file || !b->file)
        return !a->file && !b->file && a->block == b->block;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Collects the loops of a place. Returns false when an earlier loop has the same place. */
static bool collect(const struct ct_wcet_view *v, uint32_t loop, struct group *out)
{
    size_t count;
    const struct ct_wcet_loop *loops = ct_wcet_loops(v->wcet, &count);
    const struct ct_wcet_place place = ct_wcet_view_at_loop(v, loop);
    *out = (struct group){0};
    for (uint32_t l = 0; l < count; l++) {
        const struct ct_wcet_place other = ct_wcet_view_at_loop(v, l);
        if (!loops[l].used || !is_same(&place, &other))
            continue;
        if (l < loop)
            return false;
        out->observed |= loops[l].origin == CT_WCET_OBSERVED || loops[l].origin == CT_WCET_NOBODY;
        out->origin = loops[l].bound ? loops[l].origin : out->origin;
        out->bound = loops[l].bound > out->bound ? loops[l].bound : out->bound;
    }
    return true;
}

static void print_loop(FILE *out, const struct ct_wcet_view *v, uint32_t loop)
{
    struct group group;
    const struct ct_wcet_place place = ct_wcet_view_at_loop(v, loop);
    if (!collect(v, loop, &group))
        return;
    fputs(group.observed && group.bound ? "loop " : "# loop ", out);
    if (place.file)
        fprintf(out, "%s:%" PRIu32, place.file, place.line);
    else
        fprintf(out, "0x%" PRIx64, ct_wcet_view_block(v, place.block)->start);
    if (group.bound)
        fprintf(out, " %" PRIu64 " # %s", group.bound,
                group.observed ? "observed" : ct_wcet_origin_name((enum ct_wcet_origin)group.origin));
    else
        fputs(" N # never ran, not in the bound", out);
    fprintf(out, "; %s\n", ct_wcet_view_function(v, place.block));
}

static void print_recursion(FILE *out, const struct ct_wcet_view *v, const struct ct_wcet_assumed *a)
{
    size_t count;
    const bool ran = a->kind == CT_WCET_DEPTH && a->within == CT_CFG_NONE;
    if (!ran && a->kind != CT_WCET_UNCALLED)
        return;
    const uint32_t function = ct_wcet_view_block(v, a->what)->function;
    fprintf(out, "%srecursion %s ", ran ? "" : "# ", ct_cfg_functions(v->cfg, &count)[function].name);
    if (ran)
        fprintf(out, "%" PRIu64 " # observed\n", a->value);
    else
        fputs("N # never ran, not in the bound\n", out);
}

void ct_wcet_print_bounds(FILE *out, const struct ct_wcet_view *v)
{
    size_t count;
    const struct ct_wcet_loop *loops = ct_wcet_loops(v->wcet, &count);
    fprintf(
        out,
        "# Bounds for 'coretap wcet --entry %s --bounds FILE'. Replace each number that was only observed "
        "by\n# one that no run exceeds. The number of a loop is how often its head runs for one entry.\n",
        v->entry);
    for (uint32_t l = 0; l < count; l++)
        if (loops[l].used)
            print_loop(out, v, l);
    for (size_t i = 0; i < v->result->assumed_count; i++)
        print_recursion(out, v, &v->result->assumed[i]);
}
