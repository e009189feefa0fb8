/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_out.h"

#include <stdio.h>

#include "opencsd/etm4_packet.h"
#include "opencsd/etm4_text.h"
#include "opencsd/line.h"
#include "opencsd/log.h"

enum {
    TEXT_SIZE = 512, /* longest line */
};

/* Says that a header cannot be. Who makes elements of packets says so by itself. */
static void log_header(const struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet)
{
    if (d->base.only_packets && (packet->type == CT_ETM4_RESERVED || packet->type == CT_ETM4_RESERVED_CFG))
        ct_ocsd_log(d->base.packet_name, OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR, d->index, d->base.id,
                    "");
}

static void print_packet(const struct ct_ocsd_etm4 *d, const uint8_t *bytes, uint32_t size)
{
    char text[TEXT_SIZE];
    char line_text[2 * TEXT_SIZE];
    struct ct_ocsd_line line = {.text = line_text, .size = sizeof line_text};
    ct_ocsd_etm4_text(&d->packet, text, sizeof text);
    ct_ocsd_line_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x;", d->index, d->base.id);
    if (d->base.prints_bytes) {
        ct_ocsd_line_say(&line, " [");
        for (uint32_t i = 0; i < size; i++) {
            ct_ocsd_line_say(&line, "0x");
            ct_ocsd_line_hex(&line, bytes[i], 2, "0123456789abcdef");
            ct_ocsd_line_say(&line, " ");
        }
        ct_ocsd_line_say(&line, "];");
    }
    ct_ocsd_line_say(&line, "\t");
    ct_ocsd_line_say(&line, text);
    ct_ocsd_line_say(&line, "\n");
    ct_ocsd_print(line_text);
}

ocsd_datapath_resp_t ct_ocsd_etm4_packet_out(struct ct_ocsd_etm4 *d, const struct ct_etm4_packet *packet,
                                             const uint8_t *bytes, uint32_t size)
{
    const struct ct_ocsd_decoder *base = &d->base;
    log_header(d, packet);
    ct_ocsd_etm4_convert(packet, d->version, d->m_profile, &d->packet);
    if (base->packet_monitor)
        base->packet_monitor(base->packet_monitor_context, OCSD_OP_DATA, d->index, &d->packet, size, bytes);
    if (base->prints)
        print_packet(d, bytes, size);
    return base->packet_sink
               ? base->packet_sink(base->packet_sink_context, OCSD_OP_DATA, d->index, &d->packet)
               : OCSD_RESP_CONT;
}

static void print_operation(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op)
{
    static const char *const words[] = {
        [OCSD_OP_EOT] = "END OF TRACE DATA",
        [OCSD_OP_FLUSH] = "FLUSH operation on trace decode path",
        [OCSD_OP_RESET] = "RESET operation on trace decode path",
    };
    char line[96];
    snprintf(line, sizeof line, "ID:%x\t%s\n", decoder->id, words[op]);
    ct_ocsd_print(line);
}

ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op)
{
    if (decoder->packet_monitor)
        decoder->packet_monitor(decoder->packet_monitor_context, op, 0, NULL, 0, NULL);
    if (decoder->prints)
        print_operation(decoder, op);
    return decoder->packet_sink ? decoder->packet_sink(decoder->packet_sink_context, op, 0, NULL)
                                : OCSD_RESP_CONT;
}
