/* What the registers of a source say about the walk along the program. */
#ifndef CT_FLOW_WALK_CONFIG_H
#define CT_FLOW_WALK_CONFIG_H

#include <stdbool.h>

#include "coretap/input.h"

struct ct_walk_config {
    bool wfi_waypoint;   /* WFI and WFE are traced as branches */
    bool dsb_waypoint;   /* … and DSB and DMB */
    bool return_stack;   /* targets of returns are not traced */
    bool eret_is_return; /* ETE: a taken ERET is the return from an exception; there is no packet for it */
    bool m_profile;
};

/* All false for sources that do not trace instructions. CT_ERR_CONFIG names the register that cannot be. */
int ct_walk_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config);

#endif
