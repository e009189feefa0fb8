/* SPDX-License-Identifier: Apache-2.0 */
/* Converts packets of packet_stm.h to those of OpenCSD. */
#include "opencsd/stm.h"

static const uint8_t types[CT_STM_TYPE_COUNT] = {
    [CT_STM_NOT_SYNC] = STM_PKT_NOTSYNC,
    [CT_STM_INCOMPLETE_EOT] = STM_PKT_INCOMPLETE_EOT,
    [CT_STM_BAD_SEQUENCE] = STM_PKT_BAD_SEQUENCE,
    [CT_STM_RESERVED] = STM_PKT_RESERVED,
    [CT_STM_ASYNC] = STM_PKT_ASYNC,
    [CT_STM_VERSION] = STM_PKT_VERSION,
    [CT_STM_NULL] = STM_PKT_NULL,
    [CT_STM_FREQ] = STM_PKT_FREQ,
    [CT_STM_TRIG] = STM_PKT_TRIG,
    [CT_STM_GERR] = STM_PKT_GERR,
    [CT_STM_MERR] = STM_PKT_MERR,
    [CT_STM_M8] = STM_PKT_M8,
    [CT_STM_C8] = STM_PKT_C8,
    [CT_STM_C16] = STM_PKT_C16,
    [CT_STM_FLAG] = STM_PKT_FLAG,
    [CT_STM_D4] = STM_PKT_D4,
    [CT_STM_D8] = STM_PKT_D8,
    [CT_STM_D16] = STM_PKT_D16,
    [CT_STM_D32] = STM_PKT_D32,
    [CT_STM_D64] = STM_PKT_D64,
};

/* Returns unit `i` of a packet. */
static unsigned unit_at(const struct ct_stm_packet *p, const uint8_t *bytes, unsigned i)
{
    i += p->flags & CT_STM_HALF ? 1 : 0;
    return bytes[i / 2] >> (i & 1 ? 4 : 0) & 15;
}

/* Returns the number of units in a packet's header. */
static unsigned header_units(const struct ct_stm_packet *p, const uint8_t *bytes)
{
    if (unit_at(p, bytes, 0) != 15)
        return 1;
    return unit_at(p, bytes, 1) ? 2 : 3;
}

bool ct_ocsd_stm_is_length_bad(const struct ct_stm_packet *p, const uint8_t *bytes)
{
    static const uint8_t payload_units[CT_STM_TYPE_COUNT] = {
        [CT_STM_TRIG] = 2, [CT_STM_D4] = 1,  [CT_STM_D8] = 2,
        [CT_STM_D16] = 4,  [CT_STM_D32] = 8, [CT_STM_D64] = 16,
    };
    return unit_at(p, bytes, header_units(p, bytes) + payload_units[p->err]) == 15;
}

/* Returns the units of a reserved header, the first in the lowest bits. */
static uint16_t reserved_header(const struct ct_stm_packet *p, const uint8_t *bytes)
{
    unsigned header = 0;
    for (unsigned i = 0; i < header_units(p, bytes); i++)
        header |= unit_at(p, bytes, i) << (4 * i);
    return (uint16_t)header;
}

/* Returns whether the header of a data packet has a marker. */
static bool is_marked(const struct ct_stm_packet *p, const uint8_t *bytes)
{
    const unsigned header = unit_at(p, bytes, 0);
    const unsigned second = unit_at(p, bytes, 1);
    return header == 15 ? second >= 8 && second != 12 : header >= 8 && header != 12;
}

/* Sets the timestamp of a packet. Its bits are all units besides header, payload and length. */
static void set_timestamp(const struct ct_stm_packet *in, const struct ct_ocsd_software_place *place,
                          ocsd_stm_pkt *out)
{
    const unsigned units = 2u * in->size - (in->flags & CT_STM_HALF ? 1 : 0) - (place->ends_inside ? 1 : 0);
    out->pkt_has_ts = 1;
    out->pkt_ts_bits = (uint8_t)(4 * (units - header_units(in, place->bytes) - in->units - 1));
    out->timestamp = in->ts;
}

void ct_ocsd_stm_set_payload(const struct ct_stm_packet *in, ocsd_stm_pkt *out)
{
    if (in->units <= 2)
        out->payload.D8 = (uint8_t)in->value;
    else if (in->units == 4)
        out->payload.D16 = (uint16_t)in->value;
    else if (in->units == 8)
        out->payload.D32 = (uint32_t)in->value;
    else
        out->payload.D64 = in->value;
}

/* Sets the type announced by an invalid or incomplete packet. If no header announced one, 1.3.3 names the
 * previous packet. */
static void set_announced(const struct ct_stm_packet *in, const struct ct_ocsd_software_place *place,
                          ocsd_stm_pkt_type before, ocsd_stm_pkt *out)
{
    const bool is_known = in->err != CT_STM_ASYNC && in->err != CT_STM_RESERVED;
    out->err_type = is_known ? (ocsd_stm_pkt_type)types[in->err] : before;
    if (in->err >= CT_STM_D4 && in->err <= CT_STM_D64)
        out->pkt_has_marker = is_marked(in, place->bytes);
}

void ct_ocsd_stm_begin(struct ct_ocsd_stm *d, ocsd_stm_pkt_type type)
{
    d->packet.type = type;
    d->packet.err_type = STM_PKT_NO_ERR_TYPE;
    d->packet.pkt_has_marker = d->packet.pkt_has_ts = d->packet.pkt_ts_bits = 0;
}

/* Returns whether a packet has a payload other than a master or channel. */
static bool has_payload(const struct ct_stm_packet *p)
{
    return p->units && p->type != CT_STM_M8 && p->type != CT_STM_C8 && p->type != CT_STM_C16;
}

void ct_ocsd_stm_convert(struct ct_ocsd_stm *d, const struct ct_stm_packet *in,
                         const struct ct_ocsd_software_place *place)
{
    ocsd_stm_pkt *out = &d->packet;
    const ocsd_stm_pkt_type before = out->type;
    ct_ocsd_stm_begin(d, (ocsd_stm_pkt_type)types[in->type]);
    out->pkt_has_marker = in->flags & CT_STM_MARKER ? 1 : 0;
    if (in->type == CT_STM_BAD_SEQUENCE || in->type == CT_STM_INCOMPLETE_EOT)
        set_announced(in, place, before, out);
    out->master = (uint8_t)in->master;
    out->channel = in->channel;
    if (in->flags & CT_STM_HAS_TS)
        set_timestamp(in, place, out);
    if (has_payload(in))
        ct_ocsd_stm_set_payload(in, out);
    if (in->type == CT_STM_RESERVED)
        out->payload.D16 = reserved_header(in, place->bytes);
    if (in->type == CT_STM_VERSION)
        out->ts_type = in->value == CT_STM_VERSION_GRAY ? STM_TS_GREY : STM_TS_NATBINARY;
}
