/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of the client: registered by name, created in trees like built-in ones. They use the library's
 * elements, logger, memory and instruction decoder by callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/code.h"
#include "opencsd/element_text.h"
#include "opencsd/kinds.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/path.h"

enum {
    MOST_FACTORIES = OCSD_PROTOCOL_END - OCSD_PROTOCOL_CUSTOM_0,
    TEXT_SIZE = 576,   /* longest message */
    CACHED_READ = 256, /* a read of up to so many bytes succeeds completely or not at all; in 1.5.5 every read
                        * does */
};

static struct {
    struct factory {
        char *name;
        ocsd_extern_dcd_fact_t calls;
    } factories[MOST_FACTORIES];
    unsigned count;
    unsigned numbers; /* protocol numbers assigned so far, including those of removed decoders */
} registry;

struct custom {
    struct ct_ocsd_decoder base;
    ocsd_extern_dcd_fact_t calls;
    ocsd_extern_dcd_inst_t instance;
};

static const struct factory *find(const char *name)
{
    for (unsigned i = 0; i < registry.count; i++)
        if (!strcmp(registry.factories[i].name, name))
            return &registry.factories[i];
    return NULL;
}

/* ---- callbacks for a decoder ---- */

static ocsd_datapath_resp_t take_element(const void *lib_context, const ocsd_trc_index_t index_sop,
                                         const uint8_t trc_chan_id, const ocsd_generic_trace_elem *elem)
{
    const struct custom *d = lib_context;
    const struct ct_ocsd_tree *tree = d->base.tree;
    if (!d->base.attached)
        return OCSD_RESP_FATAL_NOT_INIT;
    if (tree->take_element)
        return tree->take_element(tree->element_context, index_sop, trc_chan_id, elem);
    ocsd_generic_trace_elem room;
    ct_ocsd_element_print(index_sop, trc_chan_id, ct_ocsd_own_element(elem, &room));
    return OCSD_RESP_CONT;
}

static void log_error(const void *lib_context, const ocsd_err_severity_t filter_level, const ocsd_err_t code,
                      const ocsd_trc_index_t idx, const uint8_t chan_id, const char *pMsg)
{
    const struct custom *d = lib_context;
    ct_ocsd_log(d->base.name, filter_level, code, idx, chan_id, pMsg ? pMsg : "");
}

static void log_message(const void *lib_context, const ocsd_err_severity_t filter_level, const char *msg)
{
    const struct custom *d = lib_context;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%s : %s", d->base.name, msg ? msg : "");
    ct_ocsd_log_text(filter_level, text);
}

static ocsd_err_t decode_instruction(const void *lib_context, ocsd_instr_info *info)
{
    static const uint8_t isas[] = {
        [ocsd_isa_arm] = CT_ISA_A32, [ocsd_isa_thumb2] = CT_ISA_T32, [ocsd_isa_aarch64] = CT_ISA_A64};
    const struct custom *d = lib_context;
    struct ct_insn insn;
    if (d->base.only_packets)
        return OCSD_ERR_ATTACH_INVALID_PARAM;
    if ((unsigned)info->isa >= sizeof isas)
        return OCSD_ERR_UNSUPPORTED_ISA;
    const struct ct_ocsd_core core = {.arch = ct_ocsd_arch(info->pe_type.arch, info->pe_type.profile),
                                      .wfi_waypoint = info->wfi_wfe_branch,
                                      .dsb_waypoint = info->dsb_dmb_waypoints,
                                      .late = ct_ocsd_version() >= CT_OCSD_LATE_VERSION};
    ct_ocsd_insn_decode(&core, info->opcode, info->instr_addr, (enum ct_isa)isas[info->isa], &insn);
    if (info->isa == ocsd_isa_thumb2) /* from here on the first halfword is the upper one */
        info->opcode = info->opcode << 16 | info->opcode >> 16;
    info->type = ct_ocsd_types[insn.type];
    info->sub_type = ct_ocsd_subtypes[insn.sub];
    info->branch_addr = insn.type == CT_INSN_BR ? insn.target : 0;
    info->next_isa = insn.type == CT_INSN_BR ? ct_ocsd_isas[insn.isa] : info->isa;
    info->instr_size = insn.size;
    info->is_conditional = insn.cond;
    info->is_link = insn.sub == CT_INSN_SUB_LINK;
    info->thumb_it_conditions = insn.it;
    return OCSD_OK;
}

static ocsd_err_t read_memory(const void *lib_context, const ocsd_vaddr_t address, const uint8_t cs_trace_id,
                              const ocsd_mem_space_acc_t mem_space, uint32_t *num_bytes, uint8_t *p_buffer)
{
    const struct custom *d = lib_context;
    const struct ct_ocsd_memory *memory = &d->base.tree->memory;
    const uint32_t size = *num_bytes;
    const bool is_whole = size <= CACHED_READ || ct_ocsd_version() >= CT_OCSD_LATE_VERSION;
    if (!memory->used)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (d->base.only_packets)
        return OCSD_ERR_ATTACH_INVALID_PARAM;
    uint8_t few[CACHED_READ];
    uint8_t *bytes = !is_whole ? p_buffer : size <= CACHED_READ ? few : malloc(size);
    if (!bytes)
        return OCSD_ERR_MEM;
    *num_bytes = ct_ocsd_memory_read(memory, address, (uint32_t)mem_space, cs_trace_id, size, bytes);
    if (is_whole && *num_bytes < size)
        *num_bytes = 0;
    if (is_whole)
        memcpy(p_buffer, bytes, *num_bytes);
    if (bytes != few && bytes != p_buffer)
        free(bytes);
    return OCSD_OK;
}

static void show_packet(const void *lib_context, const ocsd_datapath_op_t op,
                        const ocsd_trc_index_t index_sop, const void *pkt, const uint32_t size,
                        const uint8_t *p_data)
{
    const struct ct_ocsd_decoder *d = lib_context;
    if (d->packet_monitor)
        d->packet_monitor(d->packet_monitor_context, op, index_sop, pkt, size, p_data);
}

static ocsd_datapath_resp_t give_packet(const void *lib_context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index_sop, const void *pkt)
{
    const struct ct_ocsd_decoder *d = lib_context;
    return d->packet_sink ? d->packet_sink(d->packet_sink_context, op, index_sop, pkt) : OCSD_RESP_CONT;
}

/* ---- operations of a decoder in a tree ---- */

static ocsd_datapath_resp_t data(struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                 const uint8_t *bytes, uint32_t size, uint32_t *used)
{
    const ocsd_extern_dcd_inst_t *instance = &((struct custom *)decoder)->instance;
    *used = 0;
    const ocsd_datapath_resp_t resp =
        instance->fn_data_in(instance->decoder_handle, OCSD_OP_DATA, index, size, bytes, used);
    if (OCSD_DATA_RESP_IS_CONT(resp) || *used > size)
        *used = size;
    return resp;
}

static ocsd_datapath_resp_t operate(struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op)
{
    const ocsd_extern_dcd_inst_t *instance = &((struct custom *)decoder)->instance;
    uint32_t used = 0;
    return instance->fn_data_in(instance->decoder_handle, op, 0, 0, NULL, &used);
}

static ocsd_datapath_resp_t flush(struct ct_ocsd_decoder *decoder)
{
    return operate(decoder, OCSD_OP_FLUSH);
}

static ocsd_datapath_resp_t reset(struct ct_ocsd_decoder *decoder)
{
    return operate(decoder, OCSD_OP_RESET);
}

static ocsd_datapath_resp_t finish(struct ct_ocsd_decoder *decoder)
{
    return operate(decoder, OCSD_OP_EOT);
}

static void watch(struct ct_ocsd_decoder *decoder)
{
    const ocsd_extern_dcd_inst_t *instance = &((struct custom *)decoder)->instance;
    instance->fn_update_pkt_mon(instance->decoder_handle,
                                (decoder->packet_monitor ? OCSD_CUST_DCD_PKT_CB_USE_MON : 0) |
                                    (decoder->packet_sink ? OCSD_CUST_DCD_PKT_CB_USE_SINK : 0));
}

static void free_custom(struct ct_ocsd_decoder *decoder)
{
    struct custom *d = (struct custom *)decoder;
    d->calls.destroyDecoder(d->instance.decoder_handle);
    free(d);
}

static const struct ct_ocsd_protocol protocol = {
    .data = data, .flush = flush, .reset = reset, .finish = finish, .watch = watch, .free = free_custom};

/* Lets the factory create the instance of a decoder. */
static ocsd_err_t make_instance(struct custom *d, int create_flags, const void *config)
{
    const ocsd_extern_dcd_cb_fns callbacks = {.fn_gen_elem_out = take_element,
                                              .fn_log_error = log_error,
                                              .fn_log_msg = log_message,
                                              .fn_arm_instruction_decode = decode_instruction,
                                              .fn_memory_access = read_memory,
                                              .fn_packet_mon = show_packet,
                                              .fn_packet_data_sink = give_packet,
                                              .lib_context = d};
    const ocsd_err_t err = d->calls.createDecoder(create_flags, config, &callbacks, &d->instance);
    const ocsd_extern_dcd_inst_t *instance = &d->instance;
    if (err)
        return err;
    const bool whole = instance->fn_data_in && instance->fn_update_pkt_mon && instance->decoder_handle &&
                       instance->p_decoder_name && instance->cs_id;
    return whole ? OCSD_OK : OCSD_ERR_INVALID_PARAM_VAL;
}

bool ct_ocsd_custom_is_known(const char *name)
{
    return find(name) != NULL;
}

ocsd_err_t ct_ocsd_custom_create(struct ct_ocsd_tree *tree, const char *name, int create_flags,
                                 const void *config, unsigned char *id)
{
    const struct factory *factory = find(name);
    unsigned char got = 0;
    ocsd_err_t err = factory->calls.csidFromConfig(config, &got);
    if (err)
        return err;
    if (got >= CT_OCSD_IDS)
        return OCSD_ERR_INVALID_ID;
    struct ct_ocsd_decoder **place = &tree->decoders[tree->framed ? got : 0];
    if (*place)
        return OCSD_ERR_ATTACH_TOO_MANY;
    struct custom *d = calloc(1, sizeof *d);
    if (!d)
        return OCSD_ERR_MEM;
    d->base = (struct ct_ocsd_decoder){.protocol = &protocol,
                                       .tree = tree,
                                       .kind = factory->calls.protocol_id,
                                       .id = got,
                                       .attached = tree->attaches,
                                       .only_packets = !(create_flags & OCSD_CREATE_FLG_FULL_DECODER)};
    d->calls = factory->calls;
    err = make_instance(d, create_flags | (tree->framed ? OCSD_CREATE_FLG_INST_ID : 0), config);
    if (err) {
        free(d);
        return err;
    }
    snprintf(d->base.name, sizeof d->base.name, "%.48s_%04u", d->instance.p_decoder_name, got);
    *place = &d->base;
    *id = got;
    return OCSD_OK;
}

/* ---- the registry ---- */

ocsd_err_t ocsd_register_custom_decoder(const char *name, ocsd_extern_dcd_fact_t *p_dcd_fact)
{
    if (!name || !p_dcd_fact)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (ct_ocsd_kind_is_built_in(name) || find(name))
        return OCSD_ERR_DCDREG_NAME_REPEAT;
    if (!p_dcd_fact->createDecoder || !p_dcd_fact->destroyDecoder || !p_dcd_fact->csidFromConfig)
        return OCSD_ERR_INVALID_PARAM_VAL;
    p_dcd_fact->protocol_id = OCSD_PROTOCOL_END;
    if (registry.numbers == MOST_FACTORIES)
        return OCSD_ERR_DCDREG_TOOMANY;
    struct factory *factory = &registry.factories[registry.count];
    factory->name = strdup(name);
    if (!factory->name)
        return OCSD_ERR_MEM;
    p_dcd_fact->protocol_id = (ocsd_trace_protocol_t)(OCSD_PROTOCOL_CUSTOM_0 + registry.numbers++);
    factory->calls = *p_dcd_fact;
    registry.count++;
    return OCSD_OK;
}

ocsd_err_t ocsd_deregister_decoders(void)
{
    while (registry.count)
        free(registry.factories[--registry.count].name);
    return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol, const void *trc_pkt,
                                     char *buffer, const int buflen)
{
    for (unsigned i = 0; i < registry.count; i++) {
        const ocsd_extern_dcd_fact_t *calls = &registry.factories[i].calls;
        if (calls->protocol_id != pkt_protocol)
            continue;
        if (calls->pktToString)
            return calls->pktToString(trc_pkt, buffer, buflen);
        if (!buffer || buflen <= 0)
            return OCSD_ERR_INVALID_PARAM_VAL;
        snprintf(buffer, (size_t)buflen, "CUSTOM_PKT[]: print unsupported; protocol(%d).", (int)pkt_protocol);
        return OCSD_OK;
    }
    return OCSD_ERR_NO_PROTOCOL;
}
