/* SPDX-License-Identifier: Apache-2.0 */
#include "base/etm4_config.h"

#include "base/bytes.h"
#include "base/ctx.h"

/* Returns the size in TRCIDR2.VMIDSIZE or CIDSIZE: 0 none, 1 one byte, 2 two, 4 four; others are reserved. */
static int size_field(struct ct_ctx *ctx, const struct ct_source *source, const char *field, uint32_t value)
{
    if (value <= 2 || value == 4)
        return (int)value;
    return ct_fail(ctx, CT_ERR_CONFIG,
                   "source %s: TRCIDR2 = 0x%08x: %s is %u, which is not a valid size, so packets cannot be "
                   "decoded; correct the register",
                   source->name, source->regs.idr2, field, value);
}

/* Returns the version as one number. ETE versions start at 0x50 (ETE 1.0), so that versions can be
 * compared. */
static uint8_t version_of(const struct ct_source *source)
{
    if (source->protocol == CT_PROTOCOL_ETE) {
        uint32_t revision = ct_bits(source->regs.devarch, 19, 16);
        return (uint8_t)(0x50 | revision);
    }
    return (uint8_t)(ct_bits(source->regs.idr1, 11, 8) << 4 | ct_bits(source->regs.idr1, 7, 4));
}

int ct_etm4_config_init(struct ct_ctx *ctx, const struct ct_source *source, struct ct_etm4_config *config)
{
    const struct ct_source_regs *r = &source->regs;
    if (source->protocol != CT_PROTOCOL_ETM4 && source->protocol != CT_PROTOCOL_ETE)
        return ct_fail(ctx, CT_ERR_ARG, "source %s: its protocol is %s, not etmv4i or ete", source->name,
                       ct_protocol_name((enum ct_protocol)source->protocol));
    uint8_t version = version_of(source);
    if (source->protocol == CT_PROTOCOL_ETM4 && (version < 0x40 || version > 0x4f))
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "source %s: TRCIDR1 = 0x%08x gives version %u.%u, not 4.x, so it is not an ETMv4; correct the "
            "register or the protocol",
            source->name, r->idr1, version >> 4, version & 15u);
    int vmid_bytes = size_field(ctx, source, "VMIDSIZE", ct_bits(r->idr2, 14, 10));
    int ctxt_bytes = size_field(ctx, source, "CIDSIZE", ct_bits(r->idr2, 9, 5));
    if (vmid_bytes < 0 || ctxt_bytes < 0)
        return CT_ERR_CONFIG;
    bool m_profile = source->arch.profile == CT_PROFILE_M;
    *config = (struct ct_etm4_config){
        .version = version,
        .ete = source->protocol == CT_PROTOCOL_ETE,
        .m_profile = m_profile,
        .v7m = m_profile && source->arch.major < 8,
        .cc_bits = (uint8_t)(12 + ct_bits(r->idr2, 28, 25)),
        .vmid_bytes = (uint8_t)vmid_bytes,
        .ctxt_bytes = (uint8_t)ctxt_bytes,
        .max_spec = r->idr8,
        .comm_opt = ct_bits(r->idr0, 29, 29),
        .q_elements = ct_bits(r->idr0, 16, 15) != 0,
        .conditional = ct_bits(r->idr0, 6, 6) && ct_bits(r->configr, 10, 8) != 0,
        .data_trace = ct_bits(r->idr0, 4, 3) == 3 && ct_bits(r->configr, 17, 16) != 0,
        .cycle_count = ct_bits(r->configr, 4, 4),
        .return_stack = ct_bits(r->configr, 12, 12),
        .wfi_branch = ct_bits(r->idr2, 31, 31) && version >= 0x43,
        .trans_start_p0 = !ct_bits(r->idr0, 30, 30),
        .ts_markers = version >= 0x51 && ct_bits(r->idr0, 23, 23),
    };
    return CT_OK;
}
