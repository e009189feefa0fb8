/* SPDX-License-Identifier: Apache-2.0 */
/* What an output costs: what it keeps, and what an event of an input makes it do. */
#ifndef CT_MONITOR_COST_H
#define CT_MONITOR_COST_H

#include "coretap/monitor.h"
#include "monitor/program.h"

struct ct_mon_costs {
    struct ct_monitor_cost cost;
    struct ct_mon_span growing; /* where the specification has a stream that may grow, if any may */
    uint64_t *inputs;           /* operations for an event of each input; 0: it is not needed */
};

/* Looks at what an output needs. CT_ERR_NOMEM. */
int ct_mon_costs_of(const struct ct_mon_elab *e, const struct ct_mon_order *order, size_t output,
                    struct ct_mon_costs *out);
void ct_mon_costs_free(struct ct_mon_costs *costs);

#endif
