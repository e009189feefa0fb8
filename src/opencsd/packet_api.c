/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the interface that pass packets to the client. */
#include <string.h>

#include "opencsd/layout.h"
#include "opencsd/packet_text.h"
#include "opencsd/tree.h"

/* Sets the receiver of packets: a callback, the library's printer, or none. Replaces the previous one. */
static void set_sink(struct ct_ocsd_decoder *decoder, void *callback, const void *context, bool prints)
{
    memcpy(&decoder->packet_sink, &callback, sizeof decoder->packet_sink);
    decoder->packet_sink_context = context;
    decoder->sink_prints = prints;
}

/* Does the same for the monitor, which receives packets and their bytes. */
static void set_monitor(struct ct_ocsd_decoder *decoder, void *callback, const void *context, bool prints)
{
    memcpy(&decoder->packet_monitor, &callback, sizeof decoder->packet_monitor);
    decoder->packet_monitor_context = context;
    decoder->monitor_prints = prints;
}

ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle, uint8_t cs_id, int monitor)
{
    if (!handle)
        return OCSD_ERR_NOT_INIT;
    struct ct_ocsd_decoder *decoder = ct_ocsd_tree_find(handle, cs_id);
    if (!decoder || !decoder->text)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!monitor && !decoder->only_packets)
        return OCSD_ERR_INVALID_PARAM_TYPE;
    (monitor ? set_monitor : set_sink)(decoder, NULL, NULL, true);
    *(monitor ? &decoder->monitor_id : &decoder->sink_id) = cs_id;
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle, const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type, void *p_fn_callback_data,
                                          const void *p_context)
{
    if (!handle)
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct ct_ocsd_decoder *decoder = ct_ocsd_tree_find(handle, CSID);
    if (!decoder)
        return OCSD_ERR_INVALID_ID;
    switch (callback_type) {
    case OCSD_C_API_CB_PKT_SINK:
        if (!decoder->only_packets && !OCSD_PROTOCOL_IS_CUSTOM(decoder->kind))
            return OCSD_ERR_INVALID_PARAM_TYPE;
        set_sink(decoder, p_fn_callback_data, p_context, false);
        break;
    case OCSD_C_API_CB_PKT_MON:
        set_monitor(decoder, p_fn_callback_data, p_context, false);
        break;
    default:
        return OCSD_ERR_INVALID_PARAM_VAL;
    }
    if (decoder->protocol->watch)
        decoder->protocol->watch(decoder);
    return OCSD_OK;
}

/* Returns the function that prints a protocol's packets, or NULL. 1.3.3 has none for ETE here. */
static ct_ocsd_text_fn *text_of(ocsd_trace_protocol_t protocol)
{
    switch ((int)protocol) {
    case OCSD_PROTOCOL_ETMV4I:
        return ct_ocsd_etm4_text;
    case OCSD_PROTOCOL_PTM:
        return ct_ocsd_ptm_text;
    case OCSD_PROTOCOL_ETMV3:
        return ct_ocsd_etm3_text;
    case OCSD_PROTOCOL_STM:
        return ct_ocsd_stm_text;
    case CT_OCSD_PROTOCOL_ITM: /* the number was unused before */
        return ct_ocsd_version() >= CT_OCSD_ITM_VERSION ? ct_ocsd_itm_text : NULL;
    default:
        return NULL;
    }
}

ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt, char *buffer,
                        const int buffer_size)
{
    if (!buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = 0;
    if (OCSD_PROTOCOL_IS_CUSTOM(pkt_protocol))
        return ocsd_cust_protocol_to_str(pkt_protocol, p_pkt, buffer, buffer_size);
    ct_ocsd_text_fn *const text = text_of(pkt_protocol);
    if (!text)
        return OCSD_ERR_NO_PROTOCOL;
    if (!p_pkt)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ocsd_etmv4_i_pkt early;
    const void *packet = p_pkt;
    if (text == ct_ocsd_etm4_text && ct_ocsd_layout_is_late()) {
        ct_ocsd_early_packet(p_pkt, &early);
        packet = &early;
    }
    text(packet, buffer, (size_t)buffer_size);
    return OCSD_OK;
}
