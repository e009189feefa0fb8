/* SPDX-License-Identifier: Apache-2.0 */
/* What an output costs: the memory it keeps, and the operations that an event of each input causes. */
#pragma once

#include "coretap/monitor.h"
#include "monitor/program.h"

struct ct_mon_costs {
    struct ct_monitor_cost cost;
    struct ct_mon_span growing; /* place of a stream that may grow, if there is one */
    uint64_t *inputs;           /* operations per event, by input; 0: the input is not needed */
};

/* Computes the costs of an output. Error: CT_ERR_NOMEM. */
int ct_mon_costs_of(const struct ct_mon_elab *e, const struct ct_mon_order *order, size_t output,
                    struct ct_mon_costs *out);
void ct_mon_costs_free(struct ct_mon_costs *costs);
