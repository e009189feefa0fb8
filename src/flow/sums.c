/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/sums.h"

#include <stdbool.h>

void ct_flow_add_up(struct ct_flow_sums *sums, const struct ct_flow *records, size_t count)
{
    uint64_t ranges = 0;
    uint64_t instructions = 0;
    uint64_t branches = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ct_flow *r = &records[i];
        if (r->kind == CT_FLOW_RANGE && !r->stale) {
            const unsigned branch = r->type == CT_INSN_BR || r->type == CT_INSN_IBR;
            ranges++;
            instructions += r->n;
            branches += branch & r->exec; /* no branch: which were taken is at random */
        } else if (r->kind == CT_FLOW_NO_ACCESS && !r->stale) {
            sums->no_access++;
            ct_holes_add(&sums->holes, &(struct ct_hole){r->start, r->start, 1});
        } else if (r->kind == CT_FLOW_ELEM && !r->stale && r->elem.kind == CT_ELEM_GAP &&
                   r->elem.n == CT_GAP_BAD_IMAGE) {
            sums->bad_images++;
        }
    }
    sums->ranges += ranges;
    sums->instructions += instructions;
    sums->branches += branches;
}
