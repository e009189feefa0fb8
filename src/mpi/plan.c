/* SPDX-License-Identifier: Apache-2.0 */
/* Decides in which order captures are handed out, and which of them in parts. */
#include <stdlib.h>

#include "mpi/ranks.h"

/* Parts that each rank has to do when there are several captures, so that a slow one does not delay the end.
 * One more if contents are compared, which one rank does meanwhile. A single capture has one part for each
 * rank: each part decodes the program's code again, which costs more than the ranks differ by. */
#define SHARES 2u

/* While more captures than that are left for each rank, a rank may get one ahead. */
#define LEFT 4u

/* Least bytes of a part, roughly: starting a process and decoding the program's code again take as long as
 * decoding about 30 MB. */
#define PART_LEAST (UINT64_C(64) << 20)

struct ct_ranks_plan {
    const struct ct_ranks *ranks;
    size_t turn;             /* of the next capture */
    uint32_t shard;          /* the next part of that capture */
    uint32_t *shards;        /* by number of a capture: its parts; 0: not split */
    uint32_t *left;          /* by number of a capture: its parts that are not done */
    size_t *joins;           /* captures with all parts done */
    size_t join, join_count; /* `joins` from `join` on are not handed out yet */
    size_t cut;              /* split captures that are not joined yet */
};

/* Returns how many parts each rank has to do. */
static unsigned count_shares(const struct cli_fleet *f)
{
    return ct_manifest_count(f->manifest) == 1 ? 1 : SHARES + !cli_fleet_trusts(f);
}

/* Returns the size of a part, or UINT64_MAX when nothing is split. */
static uint64_t part_size(const struct ct_ranks *r)
{
    const struct cli_fleet *f = r->fleet;
    if (r->cut->given)
        return f->adds_up && r->cut->number ? r->cut->number : UINT64_MAX;
    if (!f->adds_up || r->count < 2 || f->own.values[CLI_FLEET_THREADS].number > 1)
        return UINT64_MAX;
    const uint64_t share = f->bytes / ((uint64_t)r->count * count_shares(f));
    return share > PART_LEAST ? share : PART_LEAST;
}

/* Returns the number of parts of a capture; 0: not split. */
static uint32_t count_parts(uint64_t size, uint64_t part)
{
    const uint64_t count = size / part + (size % part > part / 2);
    return count < 2 ? 0 : count < CT_FLEET_SHARDS ? (uint32_t)count : CT_FLEET_SHARDS;
}

/* Returns the number of the first part of a capture: 0, which compares its contents, or 1 without that. */
static uint32_t first_part(const struct ct_ranks_plan *p)
{
    return cli_fleet_trusts(p->ranks->fleet);
}

struct ct_ranks_plan *ranks_plan_new(const struct ct_ranks *r)
{
    const size_t count = ct_manifest_count(r->fleet->manifest);
    const uint64_t part = part_size(r);
    struct ct_ranks_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    *plan = (struct ct_ranks_plan){.ranks = r,
                                   .shards = calloc(count, sizeof *plan->shards),
                                   .left = calloc(count, sizeof *plan->left),
                                   .joins = calloc(count, sizeof *plan->joins)};
    if (!plan->shards || !plan->left || !plan->joins) {
        ranks_plan_free(plan);
        return NULL;
    }
    plan->shard = first_part(plan);
    const bool resumes = r->fleet->own.values[CLI_FLEET_RESUME].given;
    for (size_t i = 0; i < count; i++) {
        if (resumes && ct_fleet_job_has(r->fleet->job, i))
            ct_fleet_job_drop_shards(r->fleet->job, i); /* a killed job may have left some */
        else
            plan->shards[i] = count_parts(ct_manifest_at(r->fleet->manifest, i)->size, part);
        plan->left[i] = plan->shards[i] + 1 - plan->shard;
        plan->cut += plan->shards[i] > 0;
    }
    return plan;
}

void ranks_plan_free(struct ct_ranks_plan *plan)
{
    if (!plan)
        return;
    free(plan->shards);
    free(plan->left);
    free(plan->joins);
    free(plan);
}

/* Returns whether joining one capture is all that is left to hand out. */
static bool is_last_join(const struct ct_ranks_plan *p)
{
    return p->cut == 1 && ct_fleet_job_order(p->ranks->fleet->job, p->turn) == SIZE_MAX;
}

bool ranks_plan_is_long(const struct ct_ranks_plan *p)
{
    const size_t left = ct_manifest_count(p->ranks->fleet->manifest) - p->turn;
    return !p->cut && left > LEFT * (size_t)p->ranks->count;
}

bool ranks_plan_is_over(const struct ct_ranks_plan *p)
{
    return !p->cut && ct_fleet_job_order(p->ranks->fleet->job, p->turn) == SIZE_MAX;
}

struct ct_ranks_unit ranks_plan_next(struct ct_ranks_plan *p, int rank)
{
    struct ct_ranks_unit unit = {.number = RANKS_NONE, .shard = RANKS_WHOLE};
    if (p->join < p->join_count && (!rank || !is_last_join(p))) {
        unit.number = p->joins[p->join++];
        unit.shards = p->shards[unit.number];
        p->cut--;
        return unit;
    }
    const size_t number = ct_fleet_job_order(p->ranks->fleet->job, p->turn);
    if (number == SIZE_MAX)
        return unit;
    unit.number = number;
    unit.shards = p->shards[number];
    if (unit.shards)
        unit.shard = p->shard++;
    if (!unit.shards || unit.shard == unit.shards) {
        p->turn++;
        p->shard = first_part(p);
    }
    return unit;
}

void ranks_plan_done(struct ct_ranks_plan *p, const struct ct_ranks_unit *unit)
{
    if (unit->shard != RANKS_WHOLE && !--p->left[unit->number])
        p->joins[p->join_count++] = unit->number;
}

uint64_t ranks_plan_bytes(const struct ct_ranks_plan *p, const struct ct_ranks_unit *unit)
{
    const uint64_t size = ct_manifest_at(p->ranks->fleet->manifest, unit->number)->size;
    if (!unit->shards)
        return size;
    if (unit->shard == RANKS_WHOLE || !unit->shard)
        return 0;
    /* the last part has the remainder */
    return size / unit->shards + (unit->shard == unit->shards ? size % unit->shards : 0);
}
