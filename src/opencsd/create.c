/* SPDX-License-Identifier: Apache-2.0 */
/* Creates decoders by name. */
#include <stdio.h>
#include <string.h>

#include "opencsd/etm3.h"
#include "opencsd/etm4.h"
#include "opencsd/itm.h"
#include "opencsd/kinds.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/ptm.h"
#include "opencsd/stm.h"

static void set_etm4(const void *config, struct ct_source *source)
{
    const ocsd_etmv4_cfg *c = config;
    /* Clients that do not know the registers leave them 0. 1.3.3 ignores the major version. */
    const uint32_t major = UINT32_C(0xf) << 8;
    source->protocol = CT_PROTOCOL_ETM4;
    source->arch = ct_ocsd_arch(c->arch_ver, c->core_prof);
    source->regs = (struct ct_source_regs){.idr0 = c->reg_idr0,
                                           .idr1 = (c->reg_idr1 & ~major) | UINT32_C(4) << 8,
                                           .idr2 = c->reg_idr2,
                                           .idr8 = c->reg_idr8,
                                           .idr9 = c->reg_idr9,
                                           .idr10 = c->reg_idr10,
                                           .idr11 = c->reg_idr11,
                                           .idr12 = c->reg_idr12,
                                           .idr13 = c->reg_idr13,
                                           .configr = c->reg_configr,
                                           .traceidr = c->reg_traceidr};
    source->trace_id = c->reg_traceidr & 0x7f;
}

static void set_ete(const void *config, struct ct_source *source)
{
    const ocsd_ete_cfg *c = config;
    source->protocol = CT_PROTOCOL_ETE;
    source->arch = ct_ocsd_arch(c->arch_ver, c->core_prof);
    source->regs = (struct ct_source_regs){.idr0 = c->reg_idr0,
                                           .idr1 = c->reg_idr1,
                                           .idr2 = c->reg_idr2,
                                           .idr8 = c->reg_idr8,
                                           .devarch = c->reg_devarch,
                                           .configr = c->reg_configr,
                                           .traceidr = c->reg_traceidr};
    source->trace_id = c->reg_traceidr & 0x7f;
}

/* PTM and ETMv3 have the same configuration except for its type. */
static void set_v7(const ocsd_ptm_cfg *c, enum ct_protocol protocol, struct ct_source *source)
{
    source->protocol = (uint8_t)protocol;
    source->arch = ct_ocsd_arch(c->arch_ver, c->core_prof);
    source->regs = (struct ct_source_regs){
        .etmidr = c->reg_idr, .etmcr = c->reg_ctrl, .etmccer = c->reg_ccer, .etmtraceidr = c->reg_trc_id};
    source->trace_id = c->reg_trc_id & 0x7f;
}

static void set_ptm(const void *config, struct ct_source *source)
{
    set_v7(config, CT_PROTOCOL_PTM, source);
}

static void set_etm3(const void *config, struct ct_source *source)
{
    const ocsd_etmv3_cfg *c = config;
    const ocsd_ptm_cfg same = {c->reg_idr,    c->reg_ctrl, c->reg_ccer,
                               c->reg_trc_id, c->arch_ver, c->core_prof};
    set_v7(&same, CT_PROTOCOL_ETM3, source);
}

static void set_stm(const void *config, struct ct_source *source)
{
    const ocsd_stm_cfg *c = config;
    source->protocol = CT_PROTOCOL_STM;
    source->regs = (struct ct_source_regs){.stmtcsr = c->reg_tcsr};
    source->trace_id = c->reg_tcsr >> 16 & 0x7f;
}

static void set_itm(const void *config, struct ct_source *source)
{
    const struct ct_ocsd_itm_cfg *c = config;
    source->protocol = CT_PROTOCOL_ITM;
    source->regs = (struct ct_source_regs){.itmtcr = c->reg_tcr};
    source->trace_id = c->reg_tcr >> 16 & 0x7f;
}

static const struct ct_ocsd_kind {
    const char *name;
    ocsd_trace_protocol_t protocol;
    uint32_t since;          /* version of OpenCSD that introduced it; 0: 1.3.3 or earlier */
    const char *packet_name; /* name of its packet processor in messages */
    const char *decoder_name;
    void (*set)(const void *config, struct ct_source *source);
    ocsd_err_t (*make)(const struct ct_ocsd_tree *tree, const struct ct_source *source, int create_flags,
                       struct ct_ocsd_decoder **out);
} kinds[] = {
    {OCSD_BUILTIN_DCD_ETMV4I, OCSD_PROTOCOL_ETMV4I, 0, "PKTP_ETMV4I", "DCD_ETMV4", set_etm4,
     ct_ocsd_etm4_new},
    {OCSD_BUILTIN_DCD_ETE, OCSD_PROTOCOL_ETE, 0, "PKTP_ETMV4I", "DCD_ETMV4", set_ete, ct_ocsd_etm4_new},
    {OCSD_BUILTIN_DCD_PTM, OCSD_PROTOCOL_PTM, 0, "PKTP_PTM", "DCD_PTM", set_ptm, ct_ocsd_ptm_new},
    {OCSD_BUILTIN_DCD_ETMV3, OCSD_PROTOCOL_ETMV3, 0, "PKTP_ETMV3", "DCD_ETMV3", set_etm3, ct_ocsd_etm3_new},
    {OCSD_BUILTIN_DCD_STM, OCSD_PROTOCOL_STM, 0, "PKTP_STM", "DCD_STM", set_stm, ct_ocsd_stm_new},
    {CT_OCSD_ITM_NAME, (ocsd_trace_protocol_t)CT_OCSD_PROTOCOL_ITM, CT_OCSD_ITM_VERSION, "PKTP_ITM",
     "DCD_ITM", set_itm, ct_ocsd_itm_new},
};

/* Returns the decoder with this name in any version, or NULL. */
static const struct ct_ocsd_kind *find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

bool ct_ocsd_kind_is_built_in(const char *name)
{
    const struct ct_ocsd_kind *kind = find(name);
    return kind && kind->since <= ct_ocsd_version();
}

/* Returns the decoder with this name, or NULL when the program's version of OpenCSD has none. A program that
 * requests a decoder of a later version was built for that version, unless it registered one of this name
 * itself. */
static const struct ct_ocsd_kind *find_for_program(const char *name)
{
    const struct ct_ocsd_kind *kind = find(name);
    if (!kind || ct_ocsd_kind_is_built_in(name))
        return kind;
    return !ct_ocsd_custom_is_known(name) && ct_ocsd_version_raise(kind->since) ? kind : NULL;
}

/* Sets the name of a decoder in messages: with its trace ID if the tree has several. */
static void name_decoder(struct ct_ocsd_decoder *decoder, const struct ct_ocsd_kind *kind, bool numbered)
{
    char suffix[8] = "";
    if (numbered)
        snprintf(suffix, sizeof suffix, "_%04u", decoder->id);
    snprintf(decoder->packet_name, sizeof decoder->packet_name, "%s%s", kind->packet_name, suffix);
    snprintf(decoder->name, sizeof decoder->name, "%s%s", kind->decoder_name, suffix);
}

static ocsd_err_t refuse(ocsd_err_t code, uint8_t id, const char *message)
{
    ct_ocsd_log("DCD_TREE", OCSD_ERR_SEV_ERROR, code, OCSD_BAD_TRC_INDEX, id, message);
    return code;
}

ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle, const char *decoder_name,
                                  const int create_flags, const void *decoder_cfg, unsigned char *pCSID)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree || !decoder_name)
        return OCSD_ERR_INVALID_PARAM_VAL;
    const struct ct_ocsd_kind *kind = find_for_program(decoder_name);
    if (!kind && !ct_ocsd_custom_is_known(decoder_name))
        return OCSD_ERR_DCDREG_NAME_UNKNOWN;
    if (!decoder_cfg || !pCSID)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!kind)
        return ct_ocsd_custom_create(tree, decoder_name, create_flags, decoder_cfg, pCSID);
    if (!(create_flags & (OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER)))
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct ct_source source = {.name = decoder_name};
    kind->set(decoder_cfg, &source);
    struct ct_ocsd_decoder **place = &tree->decoders[tree->framed ? source.trace_id : 0];
    if (*place)
        return OCSD_ERR_ATTACH_TOO_MANY;
    struct ct_ocsd_decoder *decoder = NULL;
    const ocsd_err_t err = kind->make(tree, &source, create_flags, &decoder);
    if (err)
        return refuse(err, source.trace_id, "the decoder was not made");
    decoder->kind = kind->protocol;
    decoder->flags = create_flags;
    decoder->only_packets = !(create_flags & OCSD_CREATE_FLG_FULL_DECODER);
    decoder->attached = tree->attaches;
    name_decoder(decoder, kind, tree->framed);
    *place = decoder;
    *pCSID = source.trace_id;
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (tree->framed && CSID >= CT_OCSD_IDS)
        return OCSD_ERR_INVALID_ID;
    struct ct_ocsd_decoder *decoder = ct_ocsd_tree_find(tree, CSID);
    if (decoder) {
        tree->decoders[tree->framed ? CSID : 0] = NULL;
        decoder->protocol->free(decoder);
    }
    return OCSD_OK;
}
