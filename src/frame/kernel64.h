/* A frame in two words, for kernel.h on any processor. */
#ifndef CT_FRAME_KERNEL64_H
#define CT_FRAME_KERNEL64_H

#include <string.h>

#include "base/bytes.h"
#include "frame/demux.h"

#define VEC_ID_SHIFT 0

typedef struct {
    uint64_t low, high;
} vec;

#define ID_BITS UINT64_C(0x0001000100010001)

static inline vec vec_load(const uint8_t *from)
{
    return (vec){ct_load64(from), ct_load64(from + 8)};
}

static inline void vec_store(uint8_t *to, vec v)
{
    uint64_t low = ct_le64(v.low);
    uint64_t high = ct_le64(v.high);
    memcpy(to, &low, 8);
    memcpy(to + 8, &high, 8);
}

/* Bits 48, 32, 16, 0 of x to bits 6, 4, 2, 0. */
static inline uint64_t gather(uint64_t x)
{
    return (x & ID_BITS) * UINT64_C(0x0001000400100040) >> 48 & 0x55;
}

static inline uint64_t vec_ids(vec v)
{
    return (v.low | v.high) & ID_BITS ? gather(v.low) | gather(v.high) << 8 : 0;
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
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff), carry = UINT64_C(0x0100010001000100),
                   one = carry >> 8;
    return (((v.low & even) + one) | ((v.high & even) + one)) & carry ? 1 : 0;
}

/* Bits 3..0 of x to bits 48, 32, 16, 0. */
static inline uint64_t spread(uint64_t x)
{
    return (x & 15) * UINT64_C(0x0000200040008001) & ID_BITS;
}

static inline vec vec_restore(vec v)
{
    uint64_t bits = v.high >> 56;
    return (vec){v.low | spread(bits), v.high | spread(bits >> 4)};
}

/* In registers: memory that was just written in two halves could not be read across them without a stall. */
static inline vec vec_skip(vec v, unsigned n)
{
    unsigned __int128 all = (unsigned __int128)v.high << 64 | v.low;
    all >>= 8 * n;
    return (vec){(uint64_t)all, (uint64_t)(all >> 64)};
}

#endif
