/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/lane.h"

#include "base/bytes.h"
#include "etm4/avx512.h"
#include "etm4/hop_find.h"

#ifdef CT_HAVE_VECTORS

#ifdef CT_HAVE_AVX512
/* Writes the places of the set bits of a mask, each plus `first`, and returns the end of the list. Always
 * writes 64 places. */
CT_AVX512_INLINE uint16_t *list_bits_avx512(uint16_t *to, uint64_t bits, unsigned first)
{
    const __m512i places = _mm512_maskz_compress_epi8(bits, ct_places_zmm());
    const __m512i base = _mm512_set1_epi16((short)first);
    const __m256i low = _mm512_castsi512_si256(places);
    const __m256i high = _mm512_extracti64x4_epi64(places, 1);
    _mm512_storeu_si512(to, _mm512_add_epi16(_mm512_cvtepu8_epi16(low), base));
    _mm512_storeu_si512(to + 32, _mm512_add_epi16(_mm512_cvtepu8_epi16(high), base));
    return to + _mm_popcnt_u64(bits);
}
#endif

CT_VECTOR static uint16_t *list(uint16_t *to, const struct ct_etm4_cuts *c)
{
    for (unsigned base = 0; base < c->count; base += 64)
        to += ct_list_places(to, c->atoms[base >> 6], base + 1);
    return to;
}

#ifdef CT_HAVE_AVX512
CT_AVX512 static uint16_t *list_avx512(uint16_t *to, const struct ct_etm4_cuts *c)
{
    for (unsigned base = 0; base < c->count; base += 64)
        to = list_bits_avx512(to, c->atoms[base >> 6], base + 1);
    return to;
}
#endif

static void list_packets(struct ct_etm4_lane *lane)
{
    uint16_t *const first = lane->ends + 1;
    lane->ends[0] = 0;
#ifdef CT_HAVE_AVX512
    if (lane->chunk.simd == CT_SIMD_AVX512) {
        lane->count = (unsigned)(list_avx512(first, &lane->cuts) - first);
        return;
    }
#endif
    lane->count = (unsigned)(list(first, &lane->cuts) - first);
}

bool ct_lane_cut(struct ct_etm4_lane *lane)
{
    const size_t left = lane->run->size - lane->at;
    lane->next = lane->count = lane->entry = 0;
    if (!left) /* an empty run may have no data pointer */
        return false;
    const uint8_t *data = lane->run->data + lane->at;
    const size_t raw = ct_etm4_scan(lane->table, data, left, &lane->entry, &lane->chunk);
    if (lane->chunk.blocks)
        ct_etm4_cuts_make(&lane->cuts, &lane->chunk, data, (unsigned)raw);
    return lane->chunk.blocks;
}

bool ct_lane_scan(struct ct_etm4_lane *lane)
{
    if (!ct_lane_cut(lane))
        return false;
    list_packets(lane);
    /* A rare packet may mean that the last step was not what it seemed to be, so the packet of that step is
     * left to the elements. */
    if (lane->entry == CT_SCAN_STOP && lane->count)
        lane->count--;
    return lane->count;
}

/* Returns the first eight bytes of packet n of the list (with the addresses before it), and zeros behind the
 * last one. A packet with more bytes than a quick hop cannot be mistaken for a quick hop that begins like it:
 * that hop would end earlier. */
CT_VECTOR_INLINE uint64_t bytes_of(const uint8_t *bytes, const uint16_t *ends, size_t n)
{
    return ct_bits_low(ct_load64(bytes + ends[n]), (unsigned)(ends[n + 1] - ends[n]) * 8);
}

/* Follows `count` lanes. `count` is a constant in each call, so that each number has a loop of its own. */
CT_VECTOR_INLINE void follow(struct ct_etm4_lane *const lanes[], const unsigned count)
{
    struct ct_quick_hop *const quick = lanes[0]->hops->quick;
    const uint8_t *bytes[CT_LANES];
    const uint16_t *ends[CT_LANES];
    uint32_t link[CT_LANES];
    size_t left = SIZE_MAX;
    size_t n;
    for (unsigned i = 0; i < count; i++) {
        const size_t more = lanes[i]->count - lanes[i]->next;
        bytes[i] = lanes[i]->cuts.bytes;
        ends[i] = lanes[i]->ends + lanes[i]->next;
        link[i] = lanes[i]->link;
        left = more < left ? more : left;
    }
    for (n = 0; n < left; n++) {
        struct ct_quick_hop *hop[CT_LANES];
        uint64_t different = 0;
        for (unsigned i = 0; i < count; i++) {
            const uint64_t own = bytes_of(bytes[i], ends[i], n);
            hop[i] = ct_quick_at(quick, ct_quick_place(own, link[i]));
            different |= hop[i]->key ^ ct_quick_key(own, link[i]);
        }
        if (__builtin_expect(different != 0, 0))
            break;
        for (unsigned i = 0; i < count; i++) {
            hop[i]->count++;
            link[i] = hop[i]->next;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        lanes[i]->next += (unsigned)n;
        lanes[i]->link = link[i];
    }
}

CT_VECTOR void ct_lanes_follow(struct ct_etm4_lane *const lanes[], unsigned count)
{
    if (count < CT_LANES)
        follow(lanes, 1);
    else
        follow(lanes, CT_LANES);
}

/* Finds or makes the hop of the next packet, puts it into the quick table if it is short enough, and follows
 * it. Returns false when there is none. */
CT_VECTOR static bool step(struct ct_etm4_lane *lane)
{
    struct ct_hops *h = lane->hops;
    const unsigned begin = lane->ends[lane->next];
    const unsigned size = lane->ends[lane->next + 1] - begin;
    const uint64_t bytes = bytes_of(lane->cuts.bytes, lane->ends, lane->next);
    const size_t place = ct_quick_place(bytes, lane->link);
    const uint64_t key = ct_quick_key(bytes, lane->link);
    struct ct_quick_hop *quick = ct_quick_at(h->quick, place);
    size_t wide;
    if (size > CT_HOP_QUICK || quick->key != key) {
        if (h->missed >= h->enough)
            return false;
        struct ct_hop *hop =
            ct_hops_wide(h, ct_hop_linked(lane->link), lane->cuts.bytes + begin, size, 0, &wide);
        if (!hop)
            return false;
        if (size > CT_HOP_QUICK) {
            if (!hop->count++)
                ct_places_add(&h->counted, wide);
            lane->link = ct_hop_link(hop->next);
            return true;
        }
        quick = ct_hops_put_quick(h, place / sizeof *quick, key, hop->next, h->wide_records[wide], 0);
    }
    quick->count++;
    lane->link = quick->next;
    return true;
}

void ct_lane_pass(struct ct_etm4_lane *lane)
{
    if (!lane->next)
        return;
    const unsigned done = ct_etm4_cuts_place(&lane->cuts, lane->ends[lane->next] - 1u) + 1;
    ct_etm4_cuts_others(&lane->chunk, lane->run->data + lane->at, done, &lane->others);
    lane->at += done;
    lane->next = lane->count = 0;
}

bool ct_lane_step(struct ct_etm4_lane *lane)
{
    if (lane->next < lane->count && !lane->stuck) {
        lane->stuck = !step(lane);
        lane->next += !lane->stuck;
        return !lane->stuck;
    }
    const bool ends = lane->stuck || lane->entry == CT_SCAN_STOP || !lane->count;
    ct_lane_pass(lane);
    return !ends && ct_lane_scan(lane);
}

#endif
