/* SPDX-License-Identifier: Apache-2.0 */
/* What the registers of a source say about following its trace along the program. */
#ifndef CT_FLOW_WALK_CONFIG_H
#define CT_FLOW_WALK_CONFIG_H

#include <stdbool.h>

#include "coretap/input.h"

struct ct_walk_config {
    bool wfi_waypoint;   /* WFI and WFE are traced as branches */
    bool dsb_waypoint;   /* DSB and DMB are traced as branches */
    bool return_stack;   /* targets of returns are not traced */
    bool eret_is_return; /* ETE: a taken ERET is the return from an exception, for which there is no packet */
    bool m_profile;
    bool it_conditions; /* instructions in an IT block count as conditional */
    bool worlds;        /* the memory space is that of the security state, whatever the exception level */
    bool atom_returns;  /* PTM: an E atom of an indirect branch says that its target is on the return stack */
};

/* Reads the registers of a source; all members are false when it does not trace instructions. CT_ERR_CONFIG
 * names a register with an impossible value. */
int ct_walk_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config);

#endif
