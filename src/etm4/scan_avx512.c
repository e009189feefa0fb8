/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/scan_avx512.h"

#include "etm4/avx512.h"

#ifdef CT_HAVE_AVX512

/* the bit that marks a place behind its group of eight bytes; a shuffle gives 0 for it */
#define BEHIND 0x80
/* the place behind a packet that a burst does not decode; all other places are smaller */
#define STOPPED 0xff
/* the bit of the mask `odd` in the kinds of a header */
#define ODD 0x40

/* Constants that the loop keeps in registers. */
struct constants {
    __m512i lengths[4]; /* by header, 64 headers in each */
    __m512i kinds[4];
    __m512i behind;     /* byte i is i | BEHIND */
    __m512i room;       /* adding it to a length sets BEHIND if the length leads out of its eight bytes */
    __m512i lanes;      /* subtracting it turns a place with BEHIND into its index in the lane */
    __m512i own;        /* byte i is 1 << i % 8 */
    __m512i lanes_from; /* lane 0 has its own places, the others lane 0 of three registers in turn */
    __m512i columns;    /* index that moves byte i of each of eight words to word i */
    __m512i stopped;
};

CT_AVX512_INLINE __m512i all(int byte)
{
    return _mm512_set1_epi8((char)byte);
}

CT_AVX512_INLINE struct constants make_constants(const struct ct_etm4_scan_table *t)
{
    const __m512i places = ct_places_zmm();
    const __m512i columns =
        _mm512_set_epi64(0x3f372f271f170f07, 0x3e362e261e160e06, 0x3d352d251d150d05, 0x3c342c241c140c04,
                         0x3b332b231b130b03, 0x3a322a221a120a02, 0x3931292119110901, 0x3830282018100800);
    const __m512i own = _mm512_set1_epi64((long long)UINT64_C(0x8040201008040201));
    const __m512i lanes_from = _mm512_set_epi64(9, 8, 9, 8, 1, 0, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
    struct constants c = {
        .lanes_from = ct_keep_zmm(lanes_from),
        .behind = ct_keep_zmm(_mm512_or_si512(places, all(BEHIND))),
        .room = ct_keep_zmm(_mm512_add_epi8(_mm512_and_si512(places, all(7)), all(BEHIND - 8))),
        .lanes = ct_keep_zmm(_mm512_add_epi8(_mm512_andnot_si512(all(15), places), all(16))),
        .own = ct_keep_zmm(own),
        .columns = ct_keep_zmm(columns),
        .stopped = ct_keep_zmm(all(STOPPED))};
    for (unsigned i = 0; i < 4; i++) {
        c.lengths[i] = ct_load_zmm(t->lengths + i * 64);
        c.kinds[i] = ct_load_zmm(t->kinds + i * 64);
    }
    return c;
}

CT_AVX512_INLINE __m512i look_up(const __m512i table[4], __m512i bytes)
{
    const __m512i lower = _mm512_permutex2var_epi8(table[0], bytes, table[1]);
    const __m512i upper = _mm512_permutex2var_epi8(table[2], bytes, table[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), lower, upper);
}

/* Returns, for each byte, the place that a packet beginning there would lead to. *kinds: the masks that would
 * have that packet. */
CT_AVX512_INLINE __m512i find_next(const struct constants *c, const uint8_t *data, __m512i *kinds)
{
    const __m512i bytes = ct_load_zmm(data);
    const __mmask64 first = _mm512_movepi8_mask(ct_load_zmm(data + 1));
    const __mmask64 second = _mm512_movepi8_mask(ct_load_zmm(data + 2));
    const __m512i lengths = look_up(c->lengths, bytes);
    const __mmask64 limited = _mm512_mask_test_epi8_mask(first, lengths, all(CT_SCAN_LIMIT));
    const __mmask64 more = _mm512_mask_test_epi8_mask(first, lengths, all(CT_SCAN_MORE));
    const __mmask64 stop = _mm512_test_epi8_mask(lengths, all(CT_SCAN_STOP)) | (limited & second);
    __m512i size = _mm512_and_si512(lengths, all(15));
    size = _mm512_mask_add_epi8(size, more, size, all(1));
    size = _mm512_mask_mov_epi8(size, stop, c->stopped);
    *kinds = look_up(c->kinds, bytes);
    *kinds = _mm512_mask_add_epi8(*kinds, limited, *kinds, all(ODD));
    /* BEHIND is set where the eight bytes end before the packet does; STOPPED stays as it is */
    const __m512i next = _mm512_adds_epu8(c->behind, size);
    return _mm512_ternarylogic_epi32(next, _mm512_adds_epu8(c->room, size), all(BEHIND), 0xd8);
}

/* Follows the packets from the byte on that all bytes of *entry hold, and sets *entry for the next block.
 * Returns the mask of the packets of the block, in the lower 64 bits. A block waits for the one before in a
 * single shuffle only: for each possible entry, the places where packets enter the lanes and leave the block
 * are found before. */
CT_AVX512_INLINE __m128i walk(const struct constants *c, __m512i next, __m128i *entry)
{
    const __m128i lanes = _mm_setr_epi8(0, 0, 16, 16, 32, 32, 48, 48, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m128i halves = _mm_setr_epi8(0, 64, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0);
    const __mmask64 upper = UINT64_C(0xff00ff00ff00ff00);
    /* Extends one step to eight, within eight bytes. `by`: the packets on the way. */
    __m512i by = c->own;
    for (int i = 0; i < 3; i++) {
        by = _mm512_or_si512(by, _mm512_shuffle_epi8(by, next));
        next = _mm512_max_epu8(next, _mm512_shuffle_epi8(next, next));
    }
    /* Now all steps lead behind their eight bytes, and those of the upper eight behind the lane. */
    const __m512i inside = _mm512_sub_epi8(next, c->lanes);
    const __m512i low = _mm512_maskz_mov_epi8(~upper, by);
    const __m512i high = _mm512_mask_mov_epi8(_mm512_shuffle_epi8(by, inside), upper, by);
    next = _mm512_max_epu8(next, _mm512_shuffle_epi8(next, inside));
    /* `further` leads behind the next lane. Lane n of `into` gets the place at which lane n is entered, for
     * each entry into the first lane. */
    const __m512i further = _mm512_permutex2var_epi8(next, next, c->stopped);
    __m512i into = _mm512_mask2_permutex2var_epi64(next, c->lanes_from, 0xfc, further);
    const __m512i out = _mm512_permutex2var_epi8(further, into, c->stopped);
    into = _mm512_mask2_permutex2var_epi8(next, into, UINT64_C(0xffff000000000000), c->stopped);
    /* the packets of each lane, from the place at which it is entered */
    const __m512i mine = _mm512_castsi128_si512(_mm_add_epi8(*entry, lanes));
    const __m128i at = _mm512_castsi512_si128(_mm512_permutexvar_epi8(mine, into));
    const __mmask64 there = _mm_cmpneq_epi8_mask(at, _mm_set1_epi8((char)STOPPED));
    const __m512i index = _mm512_castsi128_si512(_mm_xor_si128(at, halves));
    const __m512i packets = _mm512_maskz_permutex2var_epi8(there, low, index, high);
    const __m128i behind = _mm_set1_epi8((char)(BEHIND + CT_SCAN_BLOCK));
    *entry = _mm_shuffle_epi8(_mm_sub_epi8(_mm512_extracti32x4_epi32(out, 2), behind), *entry);
    return _mm512_castsi512_si128(packets);
}

/* Sets mask i to bit i of the kinds of all bytes, for the packets that are there. */
CT_AVX512_INLINE void set_masks(const struct constants *c, __m512i kinds, __m128i packets,
                                struct ct_etm4_masks *m)
{
    _Static_assert(sizeof *m == sizeof kinds, "all masks are stored at once");
    /* transposes each eight bytes as a matrix of bits, upside down; then collects each byte of the columns */
    const __m512i turned = _mm512_gf2p8affine_epi64_epi8(c->own, kinds, 0);
    const __m512i eights = _mm512_gf2p8affine_epi64_epi8(turned, c->own, 0);
    const __m512i masks = _mm512_permutexvar_epi8(c->columns, eights);
    _mm512_storeu_si512(m, _mm512_and_si512(masks, _mm512_broadcastq_epi64(packets)));
}

CT_AVX512 size_t ct_etm4_scan_avx512(const struct ct_etm4_scan_table *t, const uint8_t *data, size_t size,
                                     unsigned *entry, struct ct_etm4_chunk *chunk)
{
    const struct constants c = make_constants(t);
    __m128i from = _mm_set1_epi8((char)*entry);
    size_t at = 0;
    unsigned n = 0;
    while (n < CT_SCAN_BLOCKS && at + CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD <= size) {
        __m512i kinds;
        const __m512i next = find_next(&c, data + at, &kinds);
        __m128i packets = walk(&c, next, &from);
        *entry = (unsigned)_mm_cvtsi128_si32(from) & 0xff;
        at += CT_SCAN_BLOCK;
        if (__builtin_expect(*entry >= 16, 0)) {
            const uint64_t mask = (uint64_t)_mm_cvtsi128_si64(packets);
            const unsigned last = 63 - (unsigned)__builtin_clzll(mask);
            packets = _mm_cvtsi64_si128((long long)(mask ^ UINT64_C(1) << last));
            at = at - CT_SCAN_BLOCK + last;
            *entry = CT_SCAN_STOP;
            size = 0;
        }
        set_masks(&c, kinds, packets, &chunk->masks[n++]);
    }
    chunk->simd = CT_SIMD_AVX512;
    chunk->blocks = n;
    return at;
}

#endif
