/* SPDX-License-Identifier: Apache-2.0 */
#include "base/v7_config.h"

#include "base/bytes.h"
#include "base/ctx.h"

int ct_v7_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_v7_config *config)
{
    static const uint8_t context_sizes[4] = {0, 1, 2, 4};
    const struct ct_source_regs *r = &source->regs;
    bool ptm = source->protocol == CT_PROTOCOL_PTM;
    if (!ptm && source->protocol != CT_PROTOCOL_ETM3)
        return ct_fail(ctx, CT_ERR_ARG, "source %s: its protocol is %s, not etmv3 or ptm", source->name,
                       ct_protocol_name((enum ct_protocol)source->protocol));
    *config = (struct ct_v7_config){
        .version = (uint8_t)ct_bits(r->etmidr, 7, 4),
        .cycle_accurate = ct_bits(r->etmcr, 12, 12),
        .ctxt_bytes = context_sizes[ct_bits(r->etmcr, 15, 14)],
        .ts_64bit = ct_bits(r->etmccer, 29, 29),
        .alt_branch = !ptm && ct_bits(r->etmidr, 20, 20),
        .data_values = !ptm && ct_bits(r->etmcr, 2, 2),
        .data_addresses = !ptm && ct_bits(r->etmcr, 3, 3),
        .data_only = !ptm && ct_bits(r->etmcr, 20, 20),
        .return_stack = ptm && ct_bits(r->etmcr, 29, 29) && ct_bits(r->etmccer, 23, 23),
        .dsb_waypoint = ptm && ct_bits(r->etmccer, 24, 24),
        .virtualization = ct_bits(r->etmccer, 26, 26),
        .m_profile = source->arch.profile == CT_PROFILE_M,
    };
    return CT_OK;
}
