/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/packet_out.h"

#include "opencsd/feed.h"
#include "opencsd/layout.h"
#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    TEXT_SIZE = 512, /* longest line, not counting packet bytes */
    BYTE_SIZE = 5,   /* characters per byte */
};

static const char digits[] = "0123456789abcdef";

/* Adds the bytes of a packet. */
static void add_bytes(struct ct_ocsd_line *line, const uint8_t *bytes, uint32_t size)
{
    ct_ocsd_line_say(line, " [");
    for (uint32_t i = 0; i < size; i++) {
        const char text[] = {'0', 'x', digits[bytes[i] >> 4], digits[bytes[i] & 15], ' '};
        ct_ocsd_line_put(line, text, sizeof text);
    }
    ct_ocsd_line_say(line, "];");
}

void ct_ocsd_packet_print(const struct ct_ocsd_decoder *decoder, uint8_t id, ocsd_trc_index_t index,
                          const void *packet, const uint8_t *bytes, uint32_t size)
{
    char text[2 * TEXT_SIZE + BYTE_SIZE * CT_OCSD_FEED_ROOM];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    ct_ocsd_line_say(&line, "Idx:");
    ct_ocsd_line_decimal(&line, index);
    ct_ocsd_line_say(&line, "; ID:");
    ct_ocsd_line_hex(&line, id, 1, digits);
    ct_ocsd_line_say(&line, ";");
    if (bytes)
        add_bytes(&line, bytes, size);
    ct_ocsd_line_say(&line, "\t");
    const size_t room = line.size - line.used;
    line.used += decoder->text(packet, text + line.used, room < TEXT_SIZE ? room : TEXT_SIZE);
    ct_ocsd_line_say(&line, "\n");
    ct_ocsd_print_bytes(line.text, line.used);
}

/* Returns a packet in the client's layout; `late` has room for a converted packet. */
static const void *in_layout(const struct ct_ocsd_decoder *decoder, const void *packet,
                             struct ct_ocsd_late_etm4_packet *late)
{
    const bool grew = decoder->kind == OCSD_PROTOCOL_ETMV4I || decoder->kind == OCSD_PROTOCOL_ETE;
    if (!decoder->tree->late || !grew)
        return packet;
    ct_ocsd_late_packet(packet, late);
    return late;
}

void ct_ocsd_packet_to_monitor(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                               const void *packet, const uint8_t *bytes, uint32_t size)
{
    struct ct_ocsd_late_etm4_packet late;
    decoder->packet_monitor(decoder->packet_monitor_context, OCSD_OP_DATA, index,
                            in_layout(decoder, packet, &late), size, bytes);
}

ocsd_datapath_resp_t ct_ocsd_packet_to_sink(const struct ct_ocsd_decoder *decoder, ocsd_trc_index_t index,
                                            const void *packet)
{
    struct ct_ocsd_late_etm4_packet late;
    return decoder->packet_sink(decoder->packet_sink_context, OCSD_OP_DATA, index,
                                in_layout(decoder, packet, &late));
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
