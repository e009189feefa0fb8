/* SPDX-License-Identifier: Apache-2.0 */
/* The part of vector.h for arm64; vector_avx2.h says what the functions do. */
#pragma once

#include <arm_neon.h>

#include "base/bytes.h"

typedef struct ct_bytes {
    uint8x16_t low, high;
} ct_bytes;

/* Applies a function of one lane to both lanes. */
#define CT_BOTH_LANES(f, a, b)                                                                               \
    (ct_bytes)                                                                                               \
    {                                                                                                        \
        f((a).low, (b).low), f((a).high, (b).high)                                                           \
    }

CT_VECTOR_INLINE ct_bytes ct_bytes_load(const void *from)
{
    return (ct_bytes){vld1q_u8(from), vld1q_u8((const uint8_t *)from + 16)};
}

CT_VECTOR_INLINE void ct_bytes_store(void *to, ct_bytes v)
{
    vst1q_u8(to, v.low);
    vst1q_u8((uint8_t *)to + 16, v.high);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_all(uint8_t value)
{
    return (ct_bytes){vdupq_n_u8(value), vdupq_n_u8(value)};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_both(const uint8_t table[16])
{
    return (ct_bytes){vld1q_u8(table), vld1q_u8(table)};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_and(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vandq_u8, a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_or(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vorrq_u8, a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_add(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vaddq_u8, a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_times_4(ct_bytes v)
{
    return (ct_bytes){vshlq_n_u8(v.low, 2), vshlq_n_u8(v.high, 2)};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_sub(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vsubq_u8, a, b);
}

CT_VECTOR_INLINE uint32_t ct_bytes_total(ct_bytes v)
{
    return (uint32_t)vaddlvq_u8(v.low) + vaddlvq_u8(v.high);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_upper(ct_bytes v)
{
    return (ct_bytes){vshrq_n_u8(v.low, 4), vshrq_n_u8(v.high, 4)};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_equal(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vceqq_u8, a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_less(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vcltq_u8, a, b);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_top(ct_bytes v)
{
    return (ct_bytes){vcltzq_s8(vreinterpretq_s8_u8(v.low)), vcltzq_s8(vreinterpretq_s8_u8(v.high))};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_pick(ct_bytes table, ct_bytes index)
{
    return CT_BOTH_LANES(vqtbl1q_u8, table, index);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_pick_inside(ct_bytes v, ct_bytes index)
{
    return CT_BOTH_LANES(vqtbl1q_u8, v, index);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_pick_64(const uint8_t table[64], ct_bytes index)
{
    const uint8x16x4_t all = vld1q_u8_x4(table);
    return (ct_bytes){vqtbl4q_u8(all, index.low), vqtbl4q_u8(all, index.high)};
}

CT_VECTOR_INLINE ct_bytes ct_bytes_follow(ct_bytes v)
{
    return (ct_bytes){vqtbx1q_u8(v.low, v.low, v.low), vqtbx1q_u8(v.high, v.high, v.high)};
}

CT_VECTOR_INLINE void ct_bytes_store_pairs(void *to, ct_bytes low, ct_bytes high)
{
    ct_bytes_store(to, (ct_bytes){vzip1q_u8(low.low, high.low), vzip2q_u8(low.low, high.low)});
    ct_bytes_store((uint8_t *)to + 32,
                   (ct_bytes){vzip1q_u8(low.high, high.high), vzip2q_u8(low.high, high.high)});
}

/* Returns the vector whose byte i is 1 << i % 8. */
CT_VECTOR_INLINE uint8x16_t ct_own_bits(void)
{
    return vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
}

CT_VECTOR_INLINE ct_marks ct_marks_of(ct_bytes v)
{
    return v;
}

CT_VECTOR_INLINE ct_marks ct_marks_of_top(ct_bytes v)
{
    return ct_bytes_top(v);
}

CT_VECTOR_INLINE ct_marks ct_marks_where_both(ct_bytes a, ct_bytes b)
{
    return CT_BOTH_LANES(vtstq_u8, a, b);
}

CT_VECTOR_INLINE uint64_t ct_marks_mask(ct_marks low, ct_marks high)
{
    const uint8x16_t own = ct_own_bits();
    const uint8x16_t front = vpaddq_u8(vandq_u8(low.low, own), vandq_u8(low.high, own));
    const uint8x16_t back = vpaddq_u8(vandq_u8(high.low, own), vandq_u8(high.high, own));
    const uint8x16_t all = vpaddq_u8(front, back);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

CT_VECTOR_INLINE ct_bytes ct_bytes_of_mask(uint32_t mask)
{
    const uint8x16_t own = ct_own_bits();
    const uint8x16_t places = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
    const uint8x16_t v = vreinterpretq_u8_u32(vdupq_n_u32(mask));
    return (ct_bytes){vtstq_u8(vqtbl1q_u8(v, places), own),
                      vtstq_u8(vqtbl1q_u8(v, vaddq_u8(places, vdupq_n_u8(2))), own)};
}

CT_VECTOR_INLINE ct_bytes ct_pair_sums(ct_bytes v)
{
    return (ct_bytes){vreinterpretq_u8_u16(vpaddlq_u8(v.low)), vreinterpretq_u8_u16(vpaddlq_u8(v.high))};
}

CT_VECTOR_INLINE ct_bytes ct_signed_pair_sums(ct_bytes v)
{
    return (ct_bytes){vreinterpretq_u8_s16(vpaddlq_s8(vreinterpretq_s8_u8(v.low))),
                      vreinterpretq_u8_s16(vpaddlq_s8(vreinterpretq_s8_u8(v.high)))};
}

CT_VECTOR_INLINE ct_bytes ct_words_low(ct_bytes v)
{
    return (ct_bytes){vreinterpretq_u8_u16(vmovl_u8(vget_low_u8(v.low))),
                      vreinterpretq_u8_u16(vmovl_high_u8(v.low))};
}

CT_VECTOR_INLINE ct_bytes ct_words_high(ct_bytes v)
{
    return (ct_bytes){vreinterpretq_u8_u16(vmovl_u8(vget_low_u8(v.high))),
                      vreinterpretq_u8_u16(vmovl_high_u8(v.high))};
}

CT_VECTOR_INLINE ct_bytes ct_words_all(uint16_t value)
{
    const uint8x16_t all = vreinterpretq_u8_u16(vdupq_n_u16(value));
    return (ct_bytes){all, all};
}

CT_VECTOR_INLINE ct_bytes ct_words_add(ct_bytes a, ct_bytes b, uint16_t factor)
{
    return (ct_bytes){
        vreinterpretq_u8_u16(vmlaq_n_u16(vreinterpretq_u16_u8(a.low), vreinterpretq_u16_u8(b.low), factor)),
        vreinterpretq_u8_u16(
            vmlaq_n_u16(vreinterpretq_u16_u8(a.high), vreinterpretq_u16_u8(b.high), factor))};
}

/* Uses assembly because the instruction gives 64 for 0, while the result of the compiler's built-in function
 * is undefined there. */
CT_VECTOR_INLINE unsigned ct_clear_above(uint64_t mask)
{
    uint64_t count;
    __asm__("clz %0, %1" : "=r"(count) : "r"(mask));
    return (unsigned)count;
}

CT_VECTOR_INLINE unsigned ct_lowest_or_64(uint64_t mask)
{
    uint64_t mirrored;
    __asm__("rbit %0, %1" : "=r"(mirrored) : "r"(mask));
    return ct_clear_above(mirrored);
}

CT_VECTOR_INLINE uint64_t ct_bits_low(uint64_t x, unsigned count)
{
    return x & ct_mask64(count);
}

/* Moves bits of each byte of x down by `by` places: those with an odd number of set bits of `out` at or below
 * them, which a carry-less product finds as parities. Afterwards `out` keeps every other of its bits, for
 * twice `by`. */
#define CT_MOVE_BITS(x, kept, out, by)                                                                       \
    do {                                                                                                     \
        const poly8x16_t product = vmulq_p8(vreinterpretq_p8_u8(out), vdupq_n_p8(0xff));                     \
        const uint8x16_t odd = vreinterpretq_u8_p8(product);                                                 \
        const uint8x16_t moved = vandq_u8(odd, kept);                                                        \
        const uint8x16_t bits = vandq_u8(x, moved);                                                          \
        (kept) = vsraq_n_u8(veorq_u8(kept, moved), moved, by);                                               \
        (x) = vsraq_n_u8(veorq_u8(x, bits), bits, by);                                                       \
        (out) = vbicq_u8(out, odd);                                                                          \
    } while (0)

/* Joins the lowest bits of each eight bytes, of each byte as many as `count` says. Neighbours are joined
 * three times: bytes to words of 16 bits, these to 32, these to 64. *sizes: how many bits each eight bytes
 * have. */
CT_VECTOR_INLINE uint64x2_t ct_join_bytes(uint8x16_t x, uint8x16_t count, uint64x2_t *sizes)
{
    /* a shift only reads the lowest byte of its lane: the count of the lower neighbour */
    const uint16x8_t count16 = vpaddlq_u8(count);
    const uint32x4_t count32 = vpaddlq_u16(count16);
    const uint16x8_t x8 = vreinterpretq_u16_u8(x);
    const uint16x8_t up8 = vshlq_u16(vshrq_n_u16(x8, 8), vreinterpretq_s16_u8(count));
    const uint32x4_t x16 = vreinterpretq_u32_u16(vorrq_u16(vandq_u16(x8, vdupq_n_u16(0xff)), up8));
    const uint32x4_t up16 = vshlq_u32(vshrq_n_u32(x16, 16), vreinterpretq_s32_u16(count16));
    const uint64x2_t x32 = vreinterpretq_u64_u32(vorrq_u32(vandq_u32(x16, vdupq_n_u32(0xffff)), up16));
    const uint64x2_t up32 = vshlq_u64(vshrq_n_u64(x32, 32), vreinterpretq_s64_u32(count32));
    *sizes = vpaddlq_u32(count32);
    return vorrq_u64(vandq_u64(x32, vdupq_n_u64(0xffffffff)), up32);
}

CT_VECTOR_INLINE void ct_bits_join(ct_bytes v, ct_bytes counts, uint64_t joined[4], uint32_t sizes[4])
{
    uint64x2_t low, high;
    vst1q_u64(joined, ct_join_bytes(v.low, counts.low, &low));
    vst1q_u64(joined + 2, ct_join_bytes(v.high, counts.high, &high));
    vst1q_u32(sizes, vuzp1q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high)));
}

/* Gathers bits without an instruction for it. First the chosen bits of each byte come together: each moves
 * down by the number of bits left out below it, one binary digit of that number after the other (H. S.
 * Warren, Hacker's Delight, 7-4). Then the bytes are joined. */
CT_VECTOR_INLINE void ct_bits_gather_two(uint64_t *one, uint64_t *other, uint64_t chosen)
{
    uint8x16_t kept = vreinterpretq_u8_u64(vdupq_n_u64(chosen));
    uint8x16_t x = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(*one), vcreate_u64(*other)));
    uint8x16_t out = vshlq_n_u8(vmvnq_u8(kept), 1);
    const uint8x16_t count = vcntq_u8(kept);
    x = vandq_u8(x, kept);
    CT_MOVE_BITS(x, kept, out, 1);
    CT_MOVE_BITS(x, kept, out, 2);
    CT_MOVE_BITS(x, kept, out, 4);
    uint64x2_t sizes;
    const uint64x2_t x64 = ct_join_bytes(x, count, &sizes);
    *one = vgetq_lane_u64(x64, 0);
    *other = vgetq_lane_u64(x64, 1);
}

CT_VECTOR_INLINE unsigned ct_bit_select(uint64_t mask, unsigned n)
{
    while (n--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctzll(mask);
}

/* Returns the numbers of the set bits of `kept`, a byte each, and sets *count to how many there are. */
CT_VECTOR_INLINE uint8x8_t ct_places_of(uint8_t kept, unsigned *count)
{
    /* by a mask of four bits: the places of the set bits, a byte each, and eight times their number */
    static const uint32_t places[16] = {0x0, 0x0,   0x1,   0x100,   0x2,   0x200,   0x201,   0x20100,
                                        0x3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100};
    static const uint8_t bits[16] = {0, 8, 8, 16, 8, 16, 16, 24, 8, 16, 16, 24, 16, 24, 24, 32};
    const unsigned low = kept & 15u;
    const unsigned high = kept >> 4;
    *count = (unsigned)(bits[low] + bits[high]) / 8;
    return vcreate_u8(places[low] | (places[high] + UINT64_C(0x04040404)) << bits[low]);
}

CT_VECTOR_INLINE unsigned ct_bytes_keep(uint8_t *to, const uint8_t *from, uint8_t kept)
{
    unsigned count;
    vst1_u8(to, vtbl1_u8(vld1_u8(from), ct_places_of(kept, &count)));
    return count;
}

CT_VECTOR_INLINE unsigned ct_places_keep(uint16_t *to, uint8_t kept, uint16_t first)
{
    unsigned count;
    vst1q_u16(to, vaddq_u16(vmovl_u8(ct_places_of(kept, &count)), vdupq_n_u16(first)));
    return count;
}

/* Returns the running sums of eight numbers of 16 bits. */
CT_VECTOR_INLINE uint16x8_t ct_lane_running(uint8x16_t lane)
{
    const uint16x8_t zero = vdupq_n_u16(0);
    uint16x8_t v = vreinterpretq_u16_u8(lane);
    v = vaddq_u16(v, vextq_u16(zero, v, 7));
    v = vaddq_u16(v, vextq_u16(zero, v, 6));
    return vaddq_u16(v, vextq_u16(zero, v, 4));
}

CT_VECTOR_INLINE ct_bytes ct_words_running(ct_bytes v, ct_bytes *carry)
{
    const uint16x8_t low = vaddq_u16(ct_lane_running(v.low), vreinterpretq_u16_u8(carry->low));
    const uint16x8_t high = vaddq_u16(ct_lane_running(v.high), vdupq_laneq_u16(low, 7));
    carry->low = carry->high = vreinterpretq_u8_u16(vdupq_laneq_u16(high, 7));
    return (ct_bytes){vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)};
}

CT_VECTOR_INLINE uint16_t ct_first_word(ct_bytes v)
{
    return vgetq_lane_u16(vreinterpretq_u16_u8(v.low), 0);
}
