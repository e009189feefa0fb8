/* SPDX-License-Identifier: Apache-2.0 */
#include "support/itm_gen.h"

#include <stdbool.h>
#include <stdlib.h>

#include "coretap/encode.h"

size_t itm_put_packet(uint8_t *bytes, size_t at, struct ct_itm_packet *p, unsigned length)
{
    size_t size;
    const bool is_free = p->type == CT_ITM_ASYNC || (p->type >= CT_ITM_TS_LOCAL && p->type <= CT_ITM_GTS_2);
    p->size = (uint16_t)(is_free ? length : 0);
    if (ct_itm_encode_packet(NULL, p, bytes + at, CT_ITM_PACKET_MAX, &size) != CT_OK)
        abort();
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
