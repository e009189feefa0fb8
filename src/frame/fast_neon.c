/* SPDX-License-Identifier: Apache-2.0 */
/* Handles rows of frames on arm64, which always has NEON. */
#include "frame/demux.h"

#ifdef CT_FRAME_NEON

#include <arm_neon.h>

static inline void copy_32(uint8_t *to, const uint8_t *from)
{
    vst1q_u8_x2(to, vld1q_u8_x2(from));
}

static inline void copy_64(uint8_t *to, const uint8_t *from)
{
    vst1q_u8_x4(to, vld1q_u8_x4(from));
}

/* Returns one bit for each of 64 bytes, which are all ones or all zeros. */
static inline uint64_t bits_of_64(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t own = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const uint8x16_t low = vpaddq_u8(vandq_u8(a, own), vandq_u8(b, own));
    const uint8x16_t high = vpaddq_u8(vandq_u8(c, own), vandq_u8(d, own));
    const uint8x16_t both = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(both, both)), 0);
}

static inline uint64_t equal_64(const uint8_t *bytes, uint8_t byte)
{
    const uint8x16_t wanted = vdupq_n_u8(byte);
    return bits_of_64(vceqq_u8(vld1q_u8(bytes), wanted), vceqq_u8(vld1q_u8(bytes + 16), wanted),
                      vceqq_u8(vld1q_u8(bytes + 32), wanted), vceqq_u8(vld1q_u8(bytes + 48), wanted));
}

/* Restores one frame. Returns a bit for each pair that begins with an ID byte. */
static inline uint64_t restore_one(const uint8_t *frame, uint8_t *to)
{
    const uint8x16_t own = vreinterpretq_u8_u16(
        (uint16x8_t){1, 2, 4, 8, 16, 32, 64, 128}); /* each even byte tests its own bit of byte 15 */
    const uint8x16_t one = vreinterpretq_u8_u16(vdupq_n_u16(1));
    const uint8x16_t v = vld1q_u8(frame);
    const uint8x16_t ids = vtstq_u8(v, one);
    const uint8x16_t set = vtstq_u8(vdupq_laneq_u8(v, 15), own);
    const uint8x16_t data = vorrq_u8(v, vandq_u8(set, one));
    const uint8x16_t next = vreinterpretq_u8_u16(vshrq_n_u16(vreinterpretq_u16_u8(v), 8));
    vst1q_u8(to, vbslq_u8(vandq_u8(ids, set), next, data));
    return vaddvq_u8(vandq_u8(ids, own));
}

#include "frame/row_single.h"

#include "frame/row_bits.h"

#include "frame/kernel.h"

const struct ct_frame_ops ct_frame_ops_neon = {.name = "NEON", .pure = take_pure, .mixed = take_mixed};

#endif
