/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a packet of an ITM or of its DWT to bytes. Encodings: ARMv7-M ARM DDI 0403E, appendix D4. */
#include <stdbool.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/encode.h"

/* Sizes of the shortest and of the longest alignment packet that a decoder recognises. */
#define LEAST_ASYNC 6
#define MOST_ASYNC  (CT_ITM_PACKET_MAX - 1)

/* Returns the number of seven-bit groups in `value`: at least one. */
static unsigned groups(uint64_t value)
{
    unsigned count = 1;
    while (value >>= 7)
        count++;
    return count;
}

/* Writes `value` in `count` bytes of seven bits, lowest first, with bit 7 set in all but the last. */
static void put_continued(uint8_t *out, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        out[i] = (uint8_t)((value >> (7 * i) & 0x7f) | (i + 1 < count ? 0x80 : 0));
}

/* Returns the size of a packet with variable length, from `least` to `most`; 0 when it cannot have the
 * requested size. */
static unsigned sized(const struct ct_itm_packet *p, unsigned least, unsigned most)
{
    const unsigned size = p->size ? p->size : least;
    return size >= least && size <= most ? size : 0;
}

static unsigned put_async(uint8_t *out, const struct ct_itm_packet *p)
{
    const unsigned size = sized(p, LEAST_ASYNC, MOST_ASYNC);
    if (size) {
        memset(out, 0, size - 1);
        out[size - 1] = 0x80;
    }
    return size;
}

/* Writes a local timestamp (DDI 0403E D4.2.4), in the header alone if possible. */
static unsigned put_local(uint8_t *out, const struct ct_itm_packet *p)
{
    const bool is_short = !p->source && p->value >= 1 && p->value <= 6;
    const unsigned size = sized(p, is_short ? 1 : 1 + groups(p->value), 5);
    if (p->source > 3)
        return 0;
    if (size == 1) {
        out[0] = (uint8_t)(p->value << 4);
    } else if (size) {
        out[0] = (uint8_t)(0xc0u | (unsigned)p->source << 4);
        put_continued(out + 1, p->value, size - 1);
    }
    return size;
}

/* Writes the low part of a global timestamp (DDI 0403E D4.2.5), whose flags are in its fourth byte. */
static unsigned put_global_low(uint8_t *out, const struct ct_itm_packet *p)
{
    const unsigned least = p->flags || p->value >> 21 ? 5 : 1 + groups(p->value);
    const unsigned size = p->value >> 26 ? 0 : sized(p, least, 5);
    if (!size)
        return 0;
    out[0] = 0x94;
    put_continued(out + 1, p->value, size - 1);
    if (size == 5)
        out[4] = (uint8_t)(out[4] | (p->flags & CT_ITM_CLOCK_CHANGED ? 0x20 : 0) |
                           (p->flags & CT_ITM_WRAP ? 0x40 : 0));
    return size;
}

/* Writes the high part: four bytes for a timestamp of 48 bits, six for one of 64. */
static unsigned put_global_high(uint8_t *out, const struct ct_itm_packet *p)
{
    const unsigned size = p->value >> 38 ? 0 : sized(p, p->value >> 22 ? 7 : 5, 7);
    if (size != 5 && size != 7)
        return 0;
    out[0] = 0xb4;
    put_continued(out + 1, p->value, size - 1);
    return size;
}

/* Writes an extension packet (DDI 0403E D4.2.6): three bits in the header, seven in each byte after it, eight
 * in the fourth. */
static unsigned put_extension(uint8_t *out, const struct ct_itm_packet *p)
{
    const unsigned more = p->bits == 32 ? 4 : (p->bits - 3u) / 7;
    if (p->bits != 32 && (p->bits < 3 || p->bits > 24 || (p->bits - 3) % 7))
        return 0;
    if (p->value >> p->bits)
        return 0;
    out[0] = (uint8_t)(0x08 | (p->flags & CT_ITM_HARDWARE ? 4 : 0) | (p->value & 7) << 4 | (more ? 0x80 : 0));
    put_continued(out + 1, p->value >> 3, more);
    if (more == 4) {
        out[3] |= 0x80;
        out[4] = (uint8_t)(p->value >> 24);
    }
    return 1 + more;
}

/* Writes a packet of software or of the DWT (DDI 0403E D4.2.8 and D4.3). */
static unsigned put_source(uint8_t *out, const struct ct_itm_packet *p)
{
    const unsigned bytes = p->bits / 8u;
    if ((p->bits != 8 && p->bits != 16 && p->bits != 32) || p->source > 31 || p->value >> p->bits)
        return 0;
    out[0] =
        (uint8_t)((unsigned)p->source << 3 | (p->type == CT_ITM_DWT ? 4u : 0) | (bytes == 4 ? 3 : bytes));
    for (unsigned i = 0; i < bytes; i++)
        out[1 + i] = (uint8_t)(p->value >> (8 * i));
    return 1 + bytes;
}

static unsigned put(uint8_t *out, const struct ct_itm_packet *p)
{
    switch (p->type) {
    case CT_ITM_ASYNC:
        return put_async(out, p);
    case CT_ITM_OVERFLOW:
        out[0] = 0x70;
        return 1;
    case CT_ITM_RESERVED:
        out[0] = 0x24;
        return 1;
    case CT_ITM_SWIT:
    case CT_ITM_DWT:
        return put_source(out, p);
    case CT_ITM_TS_LOCAL:
        return put_local(out, p);
    case CT_ITM_GTS_1:
        return put_global_low(out, p);
    case CT_ITM_GTS_2:
        return put_global_high(out, p);
    case CT_ITM_EXTENSION:
        return put_extension(out, p);
    default:
        return 0;
    }
}

int ct_itm_encode_packet(struct ct_ctx *ctx, const struct ct_itm_packet *packet, uint8_t *out, size_t cap,
                         size_t *len)
{
    uint8_t bytes[CT_ITM_PACKET_MAX];
    CT_REQUIRE(ctx, packet, out, len);
    *len = 0;
    const unsigned size = put(bytes, packet);
    if (!size)
        return ct_fail(ctx, CT_ERR_ARG,
                       "ITM packet of type %u: there is no packet with these members; it was not encoded; "
                       "correct the packet",
                       packet->type);
    if (size > cap)
        return ct_fail(ctx, CT_ERR_LIMIT,
                       "ITM packet of %u bytes: there is room for %zu; it was not encoded; give it more room",
                       size, cap);
    memcpy(out, bytes, size);
    *len = size;
    return CT_OK;
}
