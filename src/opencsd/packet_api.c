/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the interface that give packets to the client. */
#include <string.h>

#include "opencsd/etm3_text.h"
#include "opencsd/etm4_text.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"
#include "opencsd/ptm_text.h"
#include "opencsd/stm_text.h"
#include "opencsd/tree.h"

static struct ct_ocsd_decoder *find(dcd_tree_handle_t handle, uint8_t id)
{
    return handle ? ct_ocsd_tree_find(handle, id) : NULL;
}

ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle, uint8_t cs_id, int monitor)
{
    struct ct_ocsd_decoder *decoder = find(handle, cs_id);
    if (!decoder || (!monitor && !decoder->only_packets))
        return OCSD_ERR_INVALID_PARAM_TYPE;
    decoder->prints = true;
    decoder->prints_bytes = monitor != 0;
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle, const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type, void *p_fn_callback_data,
                                          const void *p_context)
{
    struct ct_ocsd_decoder *decoder = find(handle, CSID);
    if (!decoder)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (callback_type == OCSD_C_API_CB_PKT_SINK) {
        memcpy(&decoder->packet_sink, &p_fn_callback_data, sizeof decoder->packet_sink);
        decoder->packet_sink_context = p_context;
    } else {
        memcpy(&decoder->packet_monitor, &p_fn_callback_data, sizeof decoder->packet_monitor);
        decoder->packet_monitor_context = p_context;
    }
    return OCSD_OK;
}

/* Returns what writes the text of a protocol's packets, or NULL. */
static size_t (*text_of(ocsd_trace_protocol_t protocol))(const void *packet, char *text, size_t size)
{
    switch (protocol) {
    case OCSD_PROTOCOL_ETMV4I:
    case OCSD_PROTOCOL_ETE:
        return ct_ocsd_etm4_text;
    case OCSD_PROTOCOL_PTM:
        return ct_ocsd_ptm_text;
    case OCSD_PROTOCOL_ETMV3:
        return ct_ocsd_etm3_text;
    case OCSD_PROTOCOL_STM:
        return ct_ocsd_stm_text;
    default:
        return NULL;
    }
}

ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt, char *buffer,
                        const int buffer_size)
{
    if (!p_pkt || !buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = 0;
    size_t (*const text)(const void *, char *, size_t) = text_of(pkt_protocol);
    if (!text) {
        ct_ocsd_log("DCD_TREE", OCSD_ERR_SEV_ERROR, OCSD_ERR_NO_PROTOCOL, OCSD_BAD_TRC_INDEX,
                    OCSD_BAD_CS_SRC_ID,
                    "coretap's libopencsd has words for packets of ETMv4, ETE, PTM, ETMv3 and STM only");
        return OCSD_ERR_NO_PROTOCOL;
    }
    ocsd_etmv4_i_pkt early;
    const void *packet = p_pkt;
    if (text == ct_ocsd_etm4_text && ct_ocsd_layout_is_late()) {
        ct_ocsd_early_packet(p_pkt, &early);
        packet = &early;
    }
    text(packet, buffer, (size_t)buffer_size);
    return OCSD_OK;
}
