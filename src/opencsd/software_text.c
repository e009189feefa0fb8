/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/software_text.h"

#include <inttypes.h>
#include <string.h>

/* Adds the payload, a number in the client's byte order. */
static void add_payload(struct ct_ocsd_line *line, const void *payload, unsigned bits)
{
    uint8_t byte = 0;
    uint16_t half = 0;
    uint32_t word = 0;
    uint64_t both = 0;
    switch (bits) {
    case 4:
    case 8:
        memcpy(&byte, payload, sizeof byte);
        ct_ocsd_line_add(line, "0x%0*x; ", (int)bits / 4, bits == 4 ? byte & 15u : byte);
        break;
    case 16:
        memcpy(&half, payload, sizeof half);
        ct_ocsd_line_add(line, "0x%04x; ", half);
        break;
    case 32:
        memcpy(&word, payload, sizeof word);
        ct_ocsd_line_add(line, "0x%08x; ", word);
        break;
    case 64:
        memcpy(&both, payload, sizeof both);
        ct_ocsd_line_add(line, "0x%016" PRIx64 "; ", both);
        break;
    default:
        ct_ocsd_line_say(line, "0x{Data Error : unsupported bit width.}; ");
        break;
    }
}

void ct_ocsd_software_text(struct ct_ocsd_line *line, const ocsd_generic_trace_elem *e)
{
    const ocsd_swt_info_t *info = &e->sw_trace_info;
    if (info->swt_global_err) {
        ct_ocsd_line_say(line, "{Global Error.}");
        return;
    }
    if (info->swt_id_valid)
        ct_ocsd_line_add(line, " (Ma:0x%02x; Ch:0x%02x) ", info->swt_master_id, info->swt_channel_id);
    else
        ct_ocsd_line_say(line, "(Ma:0x?\?; Ch:0x?\?) ");
    if (info->swt_payload_pkt_bitsize)
        add_payload(line, e->ptr_extended_data, info->swt_payload_pkt_bitsize);
    if (info->swt_marker_packet)
        ct_ocsd_line_say(line, "+Mrk ");
    if (info->swt_trigger_event)
        ct_ocsd_line_say(line, "Trig ");
    if (info->swt_has_timestamp)
        ct_ocsd_line_add(line, " [ TS=0x%012" PRIx64 "]; ", e->timestamp);
    if (info->swt_frequency)
        ct_ocsd_line_say(line, "Freq");
    if (info->swt_master_err)
        ct_ocsd_line_say(line, "{Master Error.}");
}
