/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the hop of one atom packet or, with cycles, of one cycle count. */
#pragma once

#include "base/bytes.h"
#include "etm4/vector.h"
#include "etm4/hop_table.h"

#ifdef CT_HAVE_VECTORS

/* Returns the place of a quick hop, as an offset in bytes into the quick table. */
CT_VECTOR_INLINE size_t ct_quick_place(uint64_t bytes, uint32_t link)
{
    return ((uint32_t)(bytes * CT_HOP_MIX >> (60 - CT_QUICK_SHIFT)) ^ link) & CT_LINK_PLACE;
}

CT_VECTOR_INLINE uint64_t ct_quick_key(uint64_t bytes, uint32_t link)
{
    return bytes | (uint64_t)(link >> 24) << 56;
}

CT_VECTOR_INLINE struct ct_quick_hop *ct_quick_at(struct ct_quick_hop *quick, size_t place)
{
    return (struct ct_quick_hop *)(void *)((char *)quick + place);
}

/* Returns the wide hop of `size` bytes, and makes it when it is new; with cycles, a new hop is made for
 * `cycles`. Returns NULL when these bytes cannot be a hop. *place is set to the place of the hop. */
CT_VECTOR_INLINE struct ct_hop *ct_hops_wide(struct ct_hops *h, uint32_t state, const uint8_t *data,
                                             unsigned size, uint32_t cycles, size_t *place)
{
    if (__builtin_expect(size > CT_HOP_BYTES, 0))
        return NULL;
    const struct ct_hop_bytes bytes = ct_hop_bytes_at(data, size);
    const uint64_t *words = bytes.words;
    const uint64_t mixed = words[0] ^ (words[1] ^ words[2] * CT_HOP_MIX) * UINT64_C(0xc2b2ae3d27d4eb4f);
    *place = (mixed * CT_HOP_MIX >> (64 - CT_WIDE_SHIFT)) ^ (state & ((1u << CT_WIDE_SHIFT) - 1));
    struct ct_hop *hop = &h->wide[*place];
    if (__builtin_expect(hop->state == state && !memcmp(&hop->bytes, &bytes, sizeof bytes), 1))
        return hop;
    return ct_hops_make_wide(h, *place, (struct ct_hop){.bytes = bytes, .state = state, .cycles = cycles},
                             size);
}

#endif
