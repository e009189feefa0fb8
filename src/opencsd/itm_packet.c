/* SPDX-License-Identifier: Apache-2.0 */
/* Converts packets of packet_itm.h to those of OpenCSD. */
#include "opencsd/itm.h"

static const uint8_t types[CT_ITM_TYPE_COUNT] = {
    [CT_ITM_NOT_SYNC] = CT_OCSD_ITM_NOTSYNC,
    [CT_ITM_INCOMPLETE_EOT] = CT_OCSD_ITM_INCOMPLETE_EOT,
    [CT_ITM_BAD_SEQUENCE] = CT_OCSD_ITM_BAD_SEQUENCE,
    [CT_ITM_RESERVED] = CT_OCSD_ITM_RESERVED,
    [CT_ITM_ASYNC] = CT_OCSD_ITM_ASYNC,
    [CT_ITM_OVERFLOW] = CT_OCSD_ITM_OVERFLOW,
    [CT_ITM_SWIT] = CT_OCSD_ITM_SWIT,
    [CT_ITM_DWT] = CT_OCSD_ITM_DWT,
    [CT_ITM_TS_LOCAL] = CT_OCSD_ITM_TS_LOCAL,
    [CT_ITM_GTS_1] = CT_OCSD_ITM_TS_GLOBAL_1,
    [CT_ITM_GTS_2] = CT_OCSD_ITM_TS_GLOBAL_2,
    [CT_ITM_EXTENSION] = CT_OCSD_ITM_EXTENSION,
};

/* Returns the `source` field of a packet. */
static uint8_t source_of(const struct ct_itm_packet *in)
{
    unsigned bits = 0;
    switch (in->type) {
    case CT_ITM_GTS_1:
        bits |= in->flags & CT_ITM_CLOCK_CHANGED ? CT_OCSD_ITM_CLOCK_CHANGED : 0;
        bits |= in->flags & CT_ITM_WRAP ? CT_OCSD_ITM_WRAP : 0;
        return (uint8_t)bits;
    case CT_ITM_EXTENSION:
        bits |= in->flags & CT_ITM_HARDWARE ? CT_OCSD_ITM_HARDWARE : 0;
        return (uint8_t)(bits | (in->bits - 1u));
    default:
        return in->source;
    }
}

/* Returns the number of bytes of a packet's value: those of its payload, except for a timestamp or extension
 * inside the header, and for the high part of a global timestamp, whose 38 bits are five bytes. */
static uint8_t size_of(const struct ct_itm_packet *in)
{
    enum {
        LONGEST = 5,
    };
    switch (in->type) {
    case CT_ITM_SWIT:
    case CT_ITM_DWT:
        return in->bits / 8;
    case CT_ITM_TS_LOCAL:
    case CT_ITM_GTS_1:
    case CT_ITM_GTS_2:
    case CT_ITM_EXTENSION: {
        const unsigned payload = in->size > 1 ? in->size - 1u : 1;
        return (uint8_t)(payload < LONGEST ? payload : LONGEST);
    }
    default:
        return 0;
    }
}

void ct_ocsd_itm_convert(const struct ct_itm_packet *in, struct ct_ocsd_itm_packet *out)
{
    enum {
        TOP = 0x3f, /* bits 63:58 of a global timestamp; the packet has room for more */
    };
    *out = (struct ct_ocsd_itm_packet){.type = CT_OCSD_ITM_NOTSYNC, .err = CT_OCSD_ITM_NO_ERR_TYPE};
    if (!in)
        return;
    out->type = types[in->type];
    out->source = source_of(in);
    out->value = (uint32_t)in->value;
    out->value_high = in->value >> 32 & TOP;
    out->size = size_of(in);
    if (in->type == CT_ITM_BAD_SEQUENCE || in->type == CT_ITM_INCOMPLETE_EOT)
        out->err = types[in->err];
}
