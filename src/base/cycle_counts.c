/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cycle_counts.h"

#include "base/etm4_config.h"
#include "base/v7_config.h"

int ct_cycle_counts_of(struct ct_ctx *ctx, const struct ct_source *source, struct ct_cycle_counts *out)
{
    struct ct_etm4_config etm4;
    struct ct_v7_config v7;
    int rc = CT_OK;
    *out = (struct ct_cycle_counts){0};
    switch (source->protocol) {
    case CT_PROTOCOL_ETM4:
    case CT_PROTOCOL_ETE:
        rc = ct_etm4_config_init(ctx, source, &etm4);
        out->there = !rc && etm4.cycle_count;
        break;
    case CT_PROTOCOL_PTM:
    case CT_PROTOCOL_ETM3:
        rc = ct_v7_config_init(ctx, source, &v7);
        out->there = !rc && v7.cycle_accurate;
        out->timestamps_add = true;
        break;
    default:
        break;
    }
    return rc;
}
