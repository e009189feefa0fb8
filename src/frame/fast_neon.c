/* Rows of frames on arm64, which always has NEON. */
#include "frame/demux.h"

#ifdef CT_FRAME_NEON

#include <arm_neon.h>

/* One bit of each byte of the mask, a byte a pair. */
#define VEC_ID_SHIFT 2

typedef uint8x16_t vec;

static inline vec vec_load(const uint8_t *from)
{
    return vld1q_u8(from);
}

static inline void vec_store(uint8_t *to, vec v)
{
    vst1q_u8(to, v);
}

static inline uint64_t vec_ids(vec v)
{
    uint8x8_t even = vmovn_u16(vreinterpretq_u16_u8(v));
    return vget_lane_u64(vreinterpret_u64_u8(vand_u8(even, vdup_n_u8(1))), 0);
}

static inline uint64_t vec_four_ids(const uint8_t *frames)
{
    uint64_t with = 0;
    for (unsigned i = 0; i < 4; i++)
        with |= (uint64_t)(vec_ids(vec_load(frames + i * CT_FRAME_SIZE)) != 0) << i;
    return with;
}

static inline int vec_has_ff(vec v)
{
    uint8x8_t even = vmovn_u16(vreinterpretq_u16_u8(v));
    return vget_lane_u64(vreinterpret_u64_u8(vceq_u8(even, vdup_n_u8(0xff))), 0) != 0;
}

/* Byte 15 to all bytes; the even ones look at their own bit, which becomes bit 0. */
static inline vec vec_restore(vec v)
{
    static const uint8_t own[16] = {1, 0, 2, 0, 4, 0, 8, 0, 16, 0, 32, 0, 64, 0, 128, 0};
    vec set = vtstq_u8(vdupq_laneq_u8(v, 15), vld1q_u8(own));
    return vorrq_u8(v, vandq_u8(set, vdupq_n_u8(1)));
}

static inline vec vec_skip(vec v, unsigned n)
{
    static const uint8_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return vqtbl1q_u8(v, vaddq_u8(vld1q_u8(places), vdupq_n_u8((uint8_t)n)));
}

#include "frame/kernel.h"

const struct ct_frame_ops ct_frame_ops_neon = {.pure = take_pure, .mixed = take_mixed};

#endif
