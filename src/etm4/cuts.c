/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/cuts.h"

#include <string.h>

#include "base/bytes.h"
#include "etm4/avx512.h"

/* Headers of events, and of the three formats of cycle counts, which bits 4 and 1 distinguish. */
enum {
    FORMAT2 = 0x0c,
    FORMAT1 = 0x0e,
    FORMAT3 = 0x10,
    EVENT = 0x71
};

#ifdef CT_HAVE_VECTORS

/* Returns the mask of all bytes of cycle counts and events, each of which has three bytes at most. carry[]
 * keeps what goes on in the next block. */
CT_VECTOR_INLINE uint64_t others(const struct ct_etm4_masks *m, uint64_t carry[2])
{
    uint64_t first = m->counts | m->events;
    uint64_t second = (first << 1 | carry[0]) & ~m->packets;
    uint64_t third = (second << 1 | carry[1]) & ~m->packets;
    carry[0] = first >> 63;
    carry[1] = second >> 63;
    return first | second | third;
}

/* Appends the bits of a block at bit `at`, behind those of the blocks before. */
CT_VECTOR_INLINE void append(uint64_t *bits, unsigned at, uint64_t more)
{
    unsigned shift = at & 63;
    bits[at >> 6] |= more << shift;
    bits[(at >> 6) + 1] = shift ? more >> (64 - shift) : 0;
}

/* Copies the bytes of a block whose bits are set in a mask. */
CT_VECTOR_INLINE void keep_some(uint8_t *to, const uint8_t *from, uint64_t kept)
{
    for (unsigned i = 0; i < CT_SCAN_BLOCK; i += 8, kept >>= 8)
        to += ct_bytes_keep(to, from + i, (uint8_t)kept);
}

CT_VECTOR_INLINE void keep(uint8_t *to, const uint8_t *from, uint64_t kept)
{
    if (~kept)
        keep_some(to, from, kept);
    else
        memcpy(to, from, CT_SCAN_BLOCK);
}

CT_VECTOR static void keep_all(struct ct_etm4_cuts *c, unsigned blocks, const uint8_t *data)
{
    for (unsigned b = 0; b < blocks; b++)
        keep(c->bytes + c->before[b], data + b * CT_SCAN_BLOCK, c->kept[b]);
}

#ifdef CT_HAVE_AVX512
CT_AVX512 static void keep_all_avx512(struct ct_etm4_cuts *c, unsigned blocks, const uint8_t *data)
{
    for (unsigned b = 0; b < blocks; b++) {
        const __m512i bytes = ct_load_zmm(data + b * CT_SCAN_BLOCK);
        /* storing with compression would be slow on Zen 4 */
        _mm512_storeu_si512(c->bytes + c->before[b], _mm512_maskz_compress_epi8(c->kept[b], bytes));
    }
}
#endif

/* Finds the bytes of each block that are kept, and the atoms and addresses among these. Returns the number of
 * kept bytes. */
CT_VECTOR_INLINE unsigned cut_masks(struct ct_etm4_cuts *c, const struct ct_etm4_chunk *chunk, unsigned raw)
{
    uint64_t carry[2] = {0, 0};
    unsigned n = 0;
    c->atoms[0] = c->addresses[0] = c->starts[0] = 0;
    for (unsigned b = 0; b < chunk->blocks; b++) {
        const struct ct_etm4_masks *m = &chunk->masks[b];
        unsigned left = raw - b * CT_SCAN_BLOCK;
        uint64_t kept = ~others(m, carry);
        if (left < CT_SCAN_BLOCK)
            kept &= (UINT64_C(1) << left) - 1;
        c->before[b] = n;
        c->kept[b] = kept;
        uint64_t atoms = m->atoms;
        uint64_t addresses = m->addresses;
        ct_bits_gather_two(&atoms, &addresses, kept);
        append(c->atoms, n, atoms);
        append(c->addresses, n, addresses);
        append(c->starts, n, atoms | addresses);
        n += (unsigned)__builtin_popcountll(kept);
    }
    return n;
}

CT_VECTOR void ct_etm4_cuts_make(struct ct_etm4_cuts *c, const struct ct_etm4_chunk *chunk,
                                 const uint8_t *data, unsigned raw)
{
    const unsigned n = cut_masks(c, chunk, raw);
    c->atoms[(n >> 6) + 1] = c->addresses[(n >> 6) + 1] = c->starts[(n >> 6) + 1] = 0;
    c->before[chunk->blocks] = n;
    c->count = n;
    c->raw = raw;
#ifdef CT_HAVE_AVX512
    if (chunk->simd == CT_SIMD_AVX512) {
        keep_all_avx512(c, chunk->blocks, data);
        return;
    }
#endif
    keep_all(c, chunk->blocks, data);
}

CT_VECTOR unsigned ct_etm4_cuts_counts(const struct ct_etm4_cuts *c, const struct ct_etm4_chunk *chunk,
                                       const uint8_t *data, const struct ct_count_row rows[64],
                                       struct ct_cut_count counts[CT_SCAN_BYTES])
{
    struct ct_cut_count *out = counts;
    for (unsigned b = 0; b < chunk->blocks; b++) {
        const unsigned first = b * CT_SCAN_BLOCK;
        for (uint64_t left = chunk->masks[b].counts; left; left &= left - 1) {
            unsigned place = first + (unsigned)__builtin_ctzll(left);
            uint64_t before = c->kept[b] & ((left & -left) - 1);
            *out++ = (struct ct_cut_count){
                .cycles = ct_cut_cycles(rows, data + place),
                .at = (uint16_t)(c->before[b] + (unsigned)__builtin_popcountll(before)),
                .place = (uint16_t)place,
            };
        }
    }
    return (unsigned)(out - counts);
}

CT_VECTOR unsigned ct_etm4_cuts_place(const struct ct_etm4_cuts *c, unsigned at)
{
    unsigned b = 0;
    while (c->before[b + 1] <= at)
        b++;
    return b * CT_SCAN_BLOCK + ct_bit_select(c->kept[b], at - c->before[b]);
}

/* Returns a mask of bit `bit` of each of 64 bytes. */
CT_VECTOR_INLINE uint64_t bit_of(const uint8_t *data, int bit)
{
    const ct_bytes wanted = ct_bytes_all((uint8_t)(1 << bit));
    return ct_marks_mask(ct_marks_where_both(ct_bytes_load(data), wanted),
                         ct_marks_where_both(ct_bytes_load(data + CT_SCAN_BLOCK / 2), wanted));
}

CT_VECTOR void ct_etm4_cuts_others(const struct ct_etm4_chunk *chunk, const uint8_t *data, size_t size,
                                   struct ct_cut_others *others)
{
    for (unsigned b = 0; b < chunk->blocks && b * CT_SCAN_BLOCK < size; b++) {
        const struct ct_etm4_masks *m = &chunk->masks[b];
        uint64_t wanted = ct_mask64((unsigned)(size - b * CT_SCAN_BLOCK));
        if (!((m->events | m->counts) & wanted))
            continue;
        uint64_t third = bit_of(data + b * CT_SCAN_BLOCK, 4);
        uint64_t first = bit_of(data + b * CT_SCAN_BLOCK, 1) & ~third;
        others->events += (unsigned)__builtin_popcountll(m->events & wanted);
        others->counts += (unsigned)__builtin_popcountll(m->counts & wanted);
        others->format3 += (unsigned)__builtin_popcountll(m->counts & wanted & third);
        others->format1 += (unsigned)__builtin_popcountll(m->counts & wanted & first);
    }
}

size_t ct_etm4_cuts_tell(struct ct_cut_others *others, uint64_t packets[256])
{
    const size_t count = others->events + others->counts;
    packets[EVENT] += others->events;
    packets[FORMAT1] += others->format1;
    packets[FORMAT2] += others->counts - others->format1 - others->format3;
    packets[FORMAT3] += others->format3;
    *others = (struct ct_cut_others){0};
    return count;
}

#endif
