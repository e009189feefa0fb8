/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_out.h"

#include <stdio.h>

#include "opencsd/layout.h"
#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    TEXT_SIZE = 512, /* longest line */
};

/* Prints a packet, with its bytes unless `bytes` is NULL. */
static void print_packet(const struct ct_ocsd_decoder *decoder, uint8_t id, ocsd_trc_index_t index,
                         const void *packet, const uint8_t *bytes, uint32_t size)
{
    char text[TEXT_SIZE];
    char line_text[2 * TEXT_SIZE];
    struct ct_ocsd_line line = {.text = line_text, .size = sizeof line_text};
    const size_t text_size = decoder->protocol->text(packet, text, sizeof text);
    ct_ocsd_line_add(&line, "Idx:%" OCSD_TRC_IDX_STR "; ID:%x;", index, id);
    if (bytes) {
        ct_ocsd_line_say(&line, " [");
        for (uint32_t i = 0; i < size; i++) {
            ct_ocsd_line_say(&line, "0x");
            ct_ocsd_line_hex(&line, bytes[i], 2, "0123456789abcdef");
            ct_ocsd_line_say(&line, " ");
        }
        ct_ocsd_line_say(&line, "];");
    }
    ct_ocsd_line_say(&line, "\t");
    ct_ocsd_line_put(&line, text, text_size);
    ct_ocsd_line_say(&line, "\n");
    ct_ocsd_print_bytes(line.text, line.used);
}

/* Returns a packet in the layout that the client knows; `late` has room for it. */
static const void *in_layout(const struct ct_ocsd_decoder *decoder, const void *packet,
                             struct ct_ocsd_late_etm4_packet *late)
{
    const bool grew = decoder->kind == OCSD_PROTOCOL_ETMV4I || decoder->kind == OCSD_PROTOCOL_ETE;
    if (!decoder->tree->late || !grew)
        return packet;
    ct_ocsd_late_packet(packet, late);
    return late;
}

void ct_ocsd_packet_show(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index, const void *packet,
                         const uint8_t *bytes, uint32_t size)
{
    struct ct_ocsd_late_etm4_packet late;
    if (decoder->packet_monitor)
        decoder->packet_monitor(decoder->packet_monitor_context, OCSD_OP_DATA, index,
                                in_layout(decoder, packet, &late), size, bytes);
    if (decoder->monitor_prints)
        print_packet(decoder, decoder->monitor_id, index, packet, bytes, size);
}

ocsd_datapath_resp_t ct_ocsd_packet_give(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                         const void *packet)
{
    if (decoder->sink_prints)
        print_packet(decoder, decoder->sink_id, index, packet, NULL, 0);
    struct ct_ocsd_late_etm4_packet late;
    return decoder->packet_sink ? decoder->packet_sink(decoder->packet_sink_context, OCSD_OP_DATA, index,
                                                       in_layout(decoder, packet, &late))
                                : OCSD_RESP_CONT;
}

static void print_operation(uint8_t id, ocsd_datapath_op_t op)
{
    static const char *const words[] = {
        [OCSD_OP_EOT] = "END OF TRACE DATA",
        [OCSD_OP_FLUSH] = "FLUSH operation on trace decode path",
        [OCSD_OP_RESET] = "RESET operation on trace decode path",
    };
    char text[96];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    ct_ocsd_line_add(&line, "ID:%x\t%s\n", id, words[op]);
    ct_ocsd_print(text);
}

ocsd_datapath_resp_t ct_ocsd_operation_out(const struct ct_ocsd_decoder *decoder, ocsd_datapath_op_t op)
{
    const bool is_shown = op != OCSD_OP_FLUSH; /* monitors do not see it */
    if (decoder->sink_prints)
        print_operation(decoder->sink_id, op);
    const ocsd_datapath_resp_t resp = decoder->packet_sink
                                          ? decoder->packet_sink(decoder->packet_sink_context, op, 0, NULL)
                                          : OCSD_RESP_CONT;
    if (decoder->packet_monitor && is_shown)
        decoder->packet_monitor(decoder->packet_monitor_context, op, 0, NULL, 0, NULL);
    if (decoder->monitor_prints && is_shown)
        print_operation(decoder->monitor_id, op);
    return resp;
}
