/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of analyses. Checks the arguments of every call before the kind of analysis sees them. */
#include "coretap/analysis.h"

#include "analysis/saved.h"
#include "base/require.h"
#include "base/saturate.h"

#include <stddef.h>

void ct_captures_add(struct ct_analysis_captures *sum, const struct ct_analysis_captures *more)
{
    ct_add_up(&sum->known, more->known);
    ct_add_up(&sum->damaged, more->damaged);
    ct_add_up(&sum->unknown, more->unknown);
    ct_add_up(&sum->failed, more->failed);
    ct_add_up(&sum->losses.gaps, more->losses.gaps);
    ct_add_up(&sum->losses.overflows, more->losses.overflows);
    ct_add_up(&sum->losses.contradictions, more->losses.contradictions);
    ct_add_up(&sum->losses.bad_packets, more->losses.bad_packets);
    ct_add_up(&sum->losses.lost_bytes, more->losses.lost_bytes);
    ct_add_up(&sum->losses.no_access, more->losses.no_access);
}

/* Checks that an object has a kind of sufficient size. A kind compiled against an older header has fewer
 * operations: `cut` is the newest, and its caller checks the size again. CT_ERR_ARG. */
static int check(const struct ct_analysis *analysis)
{
    CT_REQUIRE(NULL, analysis, analysis->kind);
    return analysis->kind->size >= offsetof(struct ct_analysis_kind, cut)
               ? CT_OK
               : ct_fail(analysis->ctx, CT_ERR_ARG,
                         "analysis: the size of its kind is not set, so it cannot be used; set it to "
                         "sizeof(struct ct_analysis_kind)");
}

int ct_analysis_part(const struct ct_analysis *whole, struct ct_analysis **part)
{
    CT_REQUIRE_OUT(whole ? whole->ctx : NULL, part);
    return check(whole) ? CT_ERR_ARG : whole->kind->part(whole, part);
}

void ct_analysis_free(struct ct_analysis *analysis)
{
    if (!analysis)
        return;
    ct_runs_free(analysis);
    if (analysis->kind->free)
        analysis->kind->free(analysis);
}

/* Returns whether a batch has the columns that its input requires. */
static bool is_whole(const struct ct_analysis_batch *batch)
{
    switch (batch->input) {
    case CT_INPUT_COUNTS:
    case CT_INPUT_CYCLES:
        return batch->graph && batch->edges;
    case CT_INPUT_STEPS:
        return batch->steps;
    case CT_INPUT_EVENTS:
        return batch->events;
    case CT_INPUT_TOTALS:
        return batch->totals;
    }
    return false;
}

int ct_analysis_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    CT_REQUIRE_OF(analysis, batch);
    if (check(analysis))
        return CT_ERR_ARG;
    if (!(analysis->kind->inputs & batch->input) || !is_whole(batch))
        return ct_fail(analysis->ctx, CT_ERR_ARG,
                       "%s: the batch does not belong to the inputs of this analysis, so it was not taken",
                       analysis->kind->name);
    return analysis->kind->take(analysis, batch);
}

int ct_analysis_end(struct ct_analysis *analysis, uint32_t lane)
{
    if (check(analysis))
        return CT_ERR_ARG;
    return analysis->kind->end ? analysis->kind->end(analysis, lane) : CT_OK;
}

int ct_analysis_merge(struct ct_analysis *into, struct ct_analysis *from)
{
    if (check(into) || check(from))
        return CT_ERR_ARG;
    if (into == from || into->kind != from->kind)
        return ct_fail(into->ctx, CT_ERR_ARG,
                       "%s: this result cannot be added to %s; only results of the same kind can be added",
                       from->kind->name, into == from ? "itself" : into->kind->name);
    int rc = into->kind->merge(into, from);
    if (!rc)
        rc = ct_runs_add(into, from);
    if (!rc)
        ct_captures_add(&into->captures, &from->captures);
    return rc;
}

/* Doubles what `from` holds: merges it into a copy, then merges the copy back. */
static int double_up(struct ct_analysis *from)
{
    struct ct_analysis *copy;
    int rc = from->kind->part(from, &copy);
    if (rc)
        return rc;
    rc = from->kind->merge(copy, from);
    if (!rc)
        rc = from->kind->merge(from, copy);
    ct_analysis_free(copy);
    return rc;
}

/* Multiplies by repeated doubling, because merging is the only operation known of every kind. */
int ct_analysis_scale(struct ct_analysis *analysis, uint64_t weight)
{
    CT_REQUIRE_OF(analysis, weight);
    if (check(analysis))
        return CT_ERR_ARG;
    struct ct_analysis *power = NULL; /* what was found, times 1, 2, 4, … */
    uint64_t more = weight - 1;
    int rc = more ? analysis->kind->part(analysis, &power) : CT_OK;
    if (!rc && power)
        rc = power->kind->merge(power, analysis);
    for (; power && more && !rc; more >>= 1) {
        if (more & 1)
            rc = analysis->kind->merge(analysis, power);
        if (!rc && more > 1)
            rc = double_up(power);
    }
    ct_analysis_free(power);
    return rc;
}

int ct_analysis_add_captures(struct ct_analysis *analysis, const struct ct_analysis_captures *more)
{
    CT_REQUIRE_OF(analysis, more);
    if (check(analysis))
        return CT_ERR_ARG;
    ct_captures_add(&analysis->captures, more);
    return CT_OK;
}
