/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/ocsd_config.h"

static ocsd_arch_version_t arch_of(const struct ct_source *source)
{
    const struct ct_arch *arch = &source->arch;
    return arch->newest                           ? ARCH_AA64
           : arch->major == 8 && arch->minor >= 3 ? ARCH_V8r3
           : arch->major == 8                     ? ARCH_V8
                                                  : ARCH_V7;
}

static ocsd_core_profile_t profile_of(const struct ct_source *source)
{
    return source->arch.profile == CT_PROFILE_M   ? profile_CortexM
           : source->arch.profile == CT_PROFILE_R ? profile_CortexR
                                                  : profile_CortexA;
}

static ocsd_etmv4_cfg etm4_config(const struct ct_source *source)
{
    const struct ct_source_regs *r = &source->regs;
    int ete = source->protocol == CT_PROTOCOL_ETE;
    return (ocsd_etmv4_cfg){
        .reg_idr0 = r->idr0,
        .reg_idr1 = ete ? (r->idr1 & ~0xff0u) | 0x500u | (r->devarch >> 16 & 15) << 4 : r->idr1,
        .reg_idr2 = r->idr2,
        .reg_idr8 = r->idr8,
        .reg_configr = r->configr,
        .reg_traceidr = r->traceidr,
        .arch_ver = arch_of(source),
        .core_prof = profile_of(source),
    };
}

static ocsd_ete_cfg ete_config(const struct ct_source *source)
{
    const struct ct_source_regs *r = &source->regs;
    return (ocsd_ete_cfg){
        .reg_idr0 = r->idr0,
        .reg_idr1 = r->idr1,
        .reg_idr2 = r->idr2,
        .reg_idr8 = r->idr8,
        .reg_devarch = r->devarch,
        .reg_configr = r->configr,
        .reg_traceidr = r->traceidr,
        .arch_ver = arch_of(source),
        .core_prof = profile_of(source),
    };
}

const char *ocsd_config(const struct ct_source *source, int as_etm4, union ocsd_config *out)
{
    const struct ct_source_regs *r = &source->regs;
    const ocsd_core_profile_t profile =
        source->arch.profile == CT_PROFILE_M ? profile_CortexM : profile_CortexA;
    switch (source->protocol) {
    case CT_PROTOCOL_ETE:
        if (!as_etm4) {
            out->ete = ete_config(source);
            return OCSD_BUILTIN_DCD_ETE;
        }
        /* fall through */
    case CT_PROTOCOL_ETM4:
        out->etm4 = etm4_config(source);
        return OCSD_BUILTIN_DCD_ETMV4I;
    case CT_PROTOCOL_PTM:
        out->ptm = (ocsd_ptm_cfg){r->etmidr, r->etmcr, r->etmccer, r->etmtraceidr, ARCH_V7, profile};
        return OCSD_BUILTIN_DCD_PTM;
    case CT_PROTOCOL_ETM3:
        out->etm3 = (ocsd_etmv3_cfg){r->etmidr, r->etmcr, r->etmccer, r->etmtraceidr, ARCH_V7, profile};
        return OCSD_BUILTIN_DCD_ETMV3;
    case CT_PROTOCOL_STM:
        out->stm = (ocsd_stm_cfg){.reg_tcsr = r->stmtcsr, .reg_feat3r = 0x7f, .reg_devid = 0xff};
        return OCSD_BUILTIN_DCD_STM;
    default:
        return NULL;
    }
}
