/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration of the walk, from the registers of a source. */
#pragma once

#include <stdbool.h>

#include "coretap/input.h"

struct ct_walk_config {
    bool wfi_waypoint;   /* WFI and WFE are traced as branches */
    bool dsb_waypoint;   /* DSB and DMB are traced as branches */
    bool return_stack;   /* targets of returns are not traced */
    bool eret_is_return; /* ETE: a taken ERET is a return from an exception, for which there is no packet */
    bool m_profile;
    bool it_conditions; /* instructions in an IT block count as conditional */
    bool worlds;        /* the memory space depends on the security state only, not on the exception level */
    bool atom_returns; /* PTM: an E atom of an indirect branch means that its target is on the return stack */
};

/* Reads the registers of a source; all members are false when it does not trace instructions. CT_ERR_CONFIG
 * for a register with an impossible value, with a message that names it. */
int ct_walk_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config);
