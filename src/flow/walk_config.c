/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/walk_config.h"

#include "base/etm4_config.h"
#include "base/v7_config.h"

static int init_etm4(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config)
{
    struct ct_etm4_config etm4;
    int rc = ct_etm4_config_init(ctx, source, &etm4);
    if (rc)
        return rc;
    *config = (struct ct_walk_config){
        .wfi_waypoint = etm4.wfi_branch,
        .return_stack = etm4.return_stack,
        .eret_is_return = etm4.ete,
        .m_profile = etm4.m_profile,
        .it_conditions = true,
    };
    return CT_OK;
}

static int init_v7(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config)
{
    struct ct_v7_config v7;
    int rc = ct_v7_config_init(ctx, source, &v7);
    if (rc)
        return rc;
    *config = (struct ct_walk_config){
        .dsb_waypoint = v7.dsb_waypoint,
        .return_stack = v7.return_stack,
        .worlds = true,
        .atom_returns = source->protocol == CT_PROTOCOL_PTM,
    };
    return CT_OK;
}

int ct_walk_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_walk_config *config)
{
    *config = (struct ct_walk_config){0};
    switch (source->protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        return init_etm4(ctx, source, config);
    case CT_PROTOCOL_PTM:
    case CT_PROTOCOL_ETM3:
        return init_v7(ctx, source, config);
    default:
        return CT_OK;
    }
}
