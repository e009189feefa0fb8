/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/etm4_fields.h"

#include <stdbool.h>

#include "coretap/packet.h"
#include "opencsd/feed.h"
#include "proto/etm4_finish.h"

enum {
    MOST = 5,       /* most bytes of a 32-bit field */
    MOST_COUNT = 3, /* most bytes of a cycle count */
    CONTEXT_SIZE = 2,
    CONTEXT_HAS_ID = 0xc0, /* VMID or context ID, in the last byte of a context packet without either */
};

/* Reads a field at *at: seven bits per byte, at most `most` bytes. If it is longer, the rest is read as the
 * next field, although the packet ends where all its fields end. */
static uint32_t read_field(const uint8_t **at, unsigned most)
{
    uint32_t value = 0;
    uint8_t byte = 0x80;
    for (unsigned i = 0; i < most && byte & 0x80; i++) {
        byte = *(*at)++;
        value |= (uint32_t)((uint64_t)(byte & 0x7fu) << 7 * i);
    }
    return value;
}

struct ct_ocsd_trace_info ct_ocsd_etm4_trace_info(const uint8_t *bytes)
{
    const uint8_t *at = bytes + 1;
    struct ct_ocsd_trace_info info = {.sections = *at};
    while (*at++ & 0x80)
        ;
    info.info = info.sections & 1 ? read_field(&at, MOST) : 0;
    if (info.sections & 2)
        read_field(&at, MOST);
    info.spec = info.sections & 4 ? read_field(&at, MOST) : 0;
    info.threshold = info.sections & 8 ? read_field(&at, MOST) : 0;
    return info;
}

void ct_ocsd_etm4_lengthen(struct ct_etm4_decoder *decoder)
{
    decoder->packet_max = CT_OCSD_PACKET_MAX;
}

/* Returns the size of a context packet of `used` bytes; `left` bytes are available. A packet that announces
 * an ID, from a trace unit whose IDs have no size, includes the following byte. Returns 0 when that byte is
 * missing. */
static size_t end_context(struct ct_etm4_packet *packet, const uint8_t *bytes, size_t used, size_t left,
                          int final)
{
    if (used != CONTEXT_SIZE || !(bytes[1] & CONTEXT_HAS_ID))
        return used;
    if (left > used)
        return used + 1;
    if (!final)
        return 0;
    ct_etm4_finish_cut(packet, used, true);
    return used;
}

/* Reads the cycle count of a format 1 packet, which follows the number of committed elements. */
static void set_count(const struct ct_etm4_decoder *decoder, struct ct_etm4_packet *packet,
                      const uint8_t *bytes)
{
    const uint8_t *at = bytes + 1;
    if (!(packet->flags & CT_ETM4_HAS_COMMIT) || !(packet->flags & CT_ETM4_HAS_COUNT))
        return;
    read_field(&at, MOST);
    packet->count = decoder->cc_threshold + read_field(&at, MOST_COUNT);
}

static void set_trace_info(struct ct_etm4_decoder *decoder, struct ct_etm4_packet *packet,
                           const uint8_t *bytes)
{
    const struct ct_ocsd_trace_info info = ct_ocsd_etm4_trace_info(bytes);
    packet->count2 = info.spec;
    packet->count = decoder->cc_threshold = info.threshold;
}

/* Tells whether OpenCSD may read a packet in another way. */
static bool may_differ(const struct ct_etm4_packet *packet)
{
    return packet->type == CT_ETM4_CTXT || packet->type == CT_ETM4_CCNT_F1 ||
           packet->type == CT_ETM4_TRACE_INFO;
}

size_t ct_ocsd_etm4_decode(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,
                           void *packet, size_t *count)
{
    struct ct_etm4_packet *p = packet;
    const size_t used = ct_etm4_decode(decoder, data, size, pos, final, p, 1, count);
    if (!*count || !may_differ(p)) /* others may begin before `data` */
        return used;
    const size_t before = (size_t)(p->pos - pos); /* unsynchronised bytes before the packet */
    const uint8_t *bytes = data + before;
    if (p->type == CT_ETM4_CTXT) {
        const size_t context = end_context(p, bytes, used - before, size - before, final);
        *count = context != 0;
        return before + context;
    }
    if (p->type == CT_ETM4_CCNT_F1)
        set_count(decoder, p, bytes);
    else
        set_trace_info(decoder, p, bytes);
    return used;
}
