/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which part of deep stacks is written. Each stack is written with all its functions, so stacks that
 * grow by calls without returns would need space proportional to the square of their depth. */
#include "format/stack_cut.h"

#include "base/ctx.h"
#include "base/require.h"

#include <stdlib.h>

#define FRAMES_WRITTEN (UINT64_C(1) << 25) /* no limit below this total number of functions */
#define MEAN_WRITTEN   256u                /* with more, limit of the mean number of functions */

/* Returns how many functions of a stack of `depth` are written. */
static uint32_t written(uint32_t depth, uint32_t most)
{
    return depth < most ? depth : most;
}

static bool has_weight(const struct ct_stack_place *place)
{
    return place->insns || place->cycles;
}

/* Returns whether the output is small enough when at most `most` functions of each stack are written. */
static bool fits(const struct ct_stack_found *found, const uint32_t *depths, uint32_t most)
{
    uint64_t sum = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < found->place_count; i++) {
        if (!has_weight(&found->places[i]))
            continue;
        sum += written(depths[i], most);
        count++;
    }
    return sum <= FRAMES_WRITTEN || sum <= count * MEAN_WRITTEN;
}

/* Finds the depth of each place, callers first, and the limit of functions to write. */
static void find_depth(const struct ct_stack_found *found, uint32_t *depths, struct ct_stack_depth *out)
{
    *out = (struct ct_stack_depth){.most = CT_STACK_DEPTH};
    for (size_t i = 0; i < found->place_count; i++) {
        const struct ct_stack_place *place = &found->places[i];
        depths[i] = 1 + (place->parent == CT_STACK_NONE ? 0 : depths[place->parent]);
        if (has_weight(place) && depths[i] > out->deepest)
            out->deepest = depths[i];
    }
    while (!fits(found, depths, out->most))
        out->most /= 2;
    for (size_t i = 0; i < found->place_count; i++)
        out->cut += has_weight(&found->places[i]) && depths[i] > out->most;
}

int ct_stack_cut_find(const struct ct_stack_found *found, struct ct_stack_cut *out)
{
    uint32_t *depths = calloc(found->place_count + 1, sizeof *depths);
    uint32_t *outer = calloc(found->place_count + 1, sizeof *outer);
    *out = (struct ct_stack_cut){0};
    if (!depths || !outer) {
        free(depths);
        free(outer);
        return CT_ERR_NOMEM;
    }
    find_depth(found, depths, &out->depth);
    out->outer = outer;
    for (uint32_t i = 0; i < found->place_count; i++)
        outer[i] = depths[i] < out->depth.most ? i : outer[found->places[i].parent];
    free(depths);
    return CT_OK;
}

void ct_stack_cut_free(struct ct_stack_cut *cut)
{
    free(cut->outer);
    cut->outer = NULL;
}

bool ct_stack_is_cut(const struct ct_stack_cut *cut, const struct ct_stack_found *found, uint32_t place)
{
    return cut->outer[place] != place && cut->outer[place] != found->places[place].parent;
}

int ct_stack_sums_depth(struct ct_stack_sums *sums, struct ct_stack_depth *out)
{
    const struct ct_analysis *analysis = ct_stack_sums_analysis(sums);
    struct ct_ctx *ctx = analysis ? analysis->ctx : NULL;
    struct ct_stack_found found;
    struct ct_stack_cut cut;
    CT_REQUIRE(ctx, analysis, out);
    int rc = ct_stack_sums_find(sums, &found);
    if (rc)
        return rc;
    rc = ct_stack_cut_find(&found, &cut);
    *out = cut.depth;
    ct_stack_cut_free(&cut);
    return rc ? ct_fail_nomem(ctx, "stacks") : CT_OK;
}
