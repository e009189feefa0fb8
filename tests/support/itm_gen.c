/* SPDX-License-Identifier: Apache-2.0 */
#include "support/itm_gen.h"

#include <string.h>

/* `value` in `count` bytes of seven bits, bit 7 set in all but the last. */
static size_t put_continued(uint8_t *out, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        out[i] = (uint8_t)((value >> (7 * i) & 0x7f) | (i + 1 < count ? 0x80 : 0));
    return count;
}

static size_t put_extension(uint8_t *out, const struct ct_itm_packet *p)
{
    unsigned more = p->bits == 32 ? 4 : (p->bits - 3u) / 7;
    out[0] = (uint8_t)(0x08 | (p->flags & CT_ITM_HARDWARE ? 4 : 0) | (p->value & 7) << 4 | (more ? 0x80 : 0));
    put_continued(out + 1, p->value >> 3, more);
    if (more == 4) {
        out[4] = (uint8_t)(p->value >> 24);
        out[3] |= 0x80;
    }
    return 1 + more;
}

static size_t put_source(uint8_t *out, const struct ct_itm_packet *p)
{
    unsigned size = p->bits / 8u;
    out[0] = (uint8_t)(p->source << 3 | (p->type == CT_ITM_DWT ? 4 : 0) | (size == 4 ? 3u : size));
    for (unsigned i = 0; i < size; i++)
        out[1 + i] = (uint8_t)(p->value >> (8 * i));
    return 1 + size;
}

static size_t put(uint8_t *out, const struct ct_itm_packet *p, unsigned length)
{
    switch (p->type) {
    case CT_ITM_ASYNC:
        memset(out, 0, length - 1);
        out[length - 1] = 0x80;
        return length;
    case CT_ITM_OVERFLOW:
        out[0] = 0x70;
        return 1;
    case CT_ITM_TS_LOCAL:
        out[0] = (uint8_t)(length == 1 ? p->value << 4 : 0xc0u | (unsigned)p->source << 4);
        return 1 + put_continued(out + 1, p->value, length - 1);
    case CT_ITM_GTS_1:
        out[0] = 0x94;
        put_continued(out + 1, p->value, length - 1);
        if (length == 5)
            out[4] |=
                (uint8_t)((p->flags & CT_ITM_CLOCK_CHANGED ? 0x20 : 0) | (p->flags & CT_ITM_WRAP ? 0x40 : 0));
        return length;
    case CT_ITM_GTS_2:
        out[0] = 0xb4;
        return 1 + put_continued(out + 1, p->value, length - 1);
    case CT_ITM_EXTENSION:
        return put_extension(out, p);
    case CT_ITM_RESERVED:
        out[0] = 0x24;
        return 1;
    default:
        return put_source(out, p);
    }
}

size_t itm_put_packet(uint8_t *bytes, size_t at, struct ct_itm_packet *p, unsigned length)
{
    size_t size = put(bytes + at, p, length);
    p->pos = at;
    p->size = (uint16_t)size;
    p->header = bytes[at];
    return size;
}

struct ct_itm_packet itm_gen_packet(struct rng *rng, unsigned *length)
{
    static const uint8_t extension_bits[] = {3, 10, 17, 24, 32};
    struct ct_itm_packet p = {
        .type = (uint8_t)(CT_ITM_RESERVED + rng_below(rng, CT_ITM_TYPE_COUNT - CT_ITM_RESERVED))};
    *length = 1;
    switch (p.type) {
    case CT_ITM_ASYNC:
        *length = rng_chance(rng, 128) ? 6 : 6 + rng_below(rng, 100);
        break;
    case CT_ITM_SWIT:
    case CT_ITM_DWT:
        p.source = (uint8_t)rng_below(rng, 32);
        p.bits = (uint8_t)(8u << rng_below(rng, 3));
        p.value = rng_wide(rng, p.bits);
        break;
    case CT_ITM_TS_LOCAL:
        *length = 1 + rng_below(rng, 5);
        p.source = (uint8_t)(*length > 1 ? rng_below(rng, 4) : 0);
        p.value = *length > 1 ? rng_wide(rng, 7 * (*length - 1)) : 1 + rng_below(rng, 6);
        break;
    case CT_ITM_GTS_1:
        *length = 2 + rng_below(rng, 4);
        p.value = rng_wide(rng, *length == 5 ? 26 : 7 * (*length - 1));
        p.flags = (uint8_t)(*length == 5 ? rng_below(rng, 4) : 0);
        break;
    case CT_ITM_GTS_2:
        *length = rng_chance(rng, 128) ? 5 : 7;
        p.value = rng_wide(rng, *length == 5 ? 22 : 38);
        break;
    case CT_ITM_EXTENSION:
        p.bits = extension_bits[rng_below(rng, 5)];
        p.value = rng_wide(rng, p.bits);
        p.flags = (uint8_t)(rng_chance(rng, 128) ? CT_ITM_HARDWARE : p.bits == 3 ? CT_ITM_PAGE : 0);
        break;
    default:
        break;
    }
    return p;
}
