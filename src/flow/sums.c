/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/sums.h"

static void add_up_trouble(struct ct_flow_sums *sums, const struct ct_flow *r)
{
    if (r->stale)
        return;
    if (r->kind == CT_FLOW_NO_ACCESS) {
        sums->no_access++;
        ct_holes_add(&sums->holes, &(struct ct_hole){r->start, r->start, 1});
    } else if (r->elem.n == CT_GAP_BAD_IMAGE) {
        sums->bad_images++;
    }
}

void ct_flow_add_up(struct ct_flow_sums *sums, const struct ct_flow *records, size_t count)
{
    uint64_t ranges = 0;
    uint64_t instructions = 0;
    uint64_t branches = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ct_flow *r = &records[i];
        /* No branch, because it is random which records are ranges, and which branches were taken. */
        const unsigned range = (r->kind == CT_FLOW_RANGE) & !r->stale;
        const unsigned branch = r->type == CT_INSN_BR || r->type == CT_INSN_IBR;
        ranges += range;
        instructions += r->n & -(uint64_t)range;
        branches += range & branch & r->exec;
        if (r->kind == CT_FLOW_NO_ACCESS || (r->kind == CT_FLOW_ELEM && r->elem.kind == CT_ELEM_GAP))
            add_up_trouble(sums, r);
    }
    sums->ranges += ranges;
    sums->instructions += instructions;
    sums->branches += branches;
}
