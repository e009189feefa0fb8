/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stretches. A stretch is the atoms between two addresses. Where it begins, its atoms and the
 * address behind it determine all that it adds to edges, so one look-up in the table counts it, and does not
 * wait for the look-ups before. What it adds to edges is worked out later (stretch_counts.c). With a return
 * stack, a stretch also has the return addresses that it takes off and leaves there (stack_effect.h), and
 * counts only when the stack has those it takes. */
#pragma once

#include <stddef.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/simd.h"
#include "flow/fast_links.h"
#include "flow/stack_effect.h"

/* On x86-64 the code that counts stretches is compiled three times: for all processors, for AVX2 and for
 * AVX-512. The choice is made at run time. What the variants use is inline, so that it is compiled with each.
 */
#if defined(__x86_64__)
#define CT_STRETCH_HAVE_AVX
#define CT_STRETCH_AVX2   __attribute__((target("avx2,bmi,bmi2")))
#define CT_STRETCH_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx2,bmi,bmi2")))
#endif
#define CT_STRETCH_INLINE static inline __attribute__((always_inline))

/* log2 of the number of rows. A row is two stretches and fills a cache line. */
#define CT_STRETCH_ROWS_SHIFT 16u

/* Maximal number of stretches that are collected at a time, and of their addresses. */
#define CT_STRETCH_BATCH  1024u
#define CT_STRETCH_PLACES (CT_STRIP_PLACES > CT_STRETCH_BATCH + 1 ? CT_STRIP_PLACES : CT_STRETCH_BATCH + 1)

/* Minimal number of stretches that are worth a pass. */
#define CT_STRETCH_LEAST 4u

/* Maximal number of stretches of a strip that wait to be followed. */
#define CT_STRETCHES_WAITING 32u

/* Maximal number of replaced stretches whose edges are not counted yet. */
#define CT_STRETCHES_LEFT 512u

/* A stretch of the table. `word` has three fields: 28 bits for how often the stretch came since its edges
 * were counted, 20 for the block where it begins, and 16 for its domain. */
struct ct_stretch {
    uint64_t addr;
    uint64_t next; /* the address behind it */
    uint64_t bits; /* its atoms (CT_STRETCH_ATOMS_MOST) and memory space; 0: the place is free */
    uint64_t word;
};

#define CT_STRETCH_ONCE        (UINT64_C(1) << CT_STRETCH_TIMES_SHIFT)
#define CT_STRETCH_TIMES_SHIFT 36
#define CT_STRETCH_BLOCK_SHIFT 16
#define CT_STRETCH_DOMAIN      UINT64_C(0xffff)

/* Maximal number of atoms of a stretch in the table. A 1 follows the last one. The bits from
 * CT_STRETCH_SPACE_SHIFT on are the memory space. */
#define CT_STRETCH_ATOMS_MOST  55u
#define CT_STRETCH_SPACE_SHIFT 56

/* `bits` of a stretch that is not for the table */
#define CT_STRETCH_NONE UINT64_C(1)

/* The index in the arrays below where a piece of a stretch is put together, and what stands for the address
 * between two pieces (stretch_pieces.h). */
#define CT_STRETCH_PIECE   CT_STRETCH_PLACES
#define CT_STRETCH_GOES_ON UINT64_C(1)

/* One pass over the collected stretches. */
struct ct_stretch_pass {
    struct ct_fast *f;
    struct ct_stretches *c;
    const struct ct_elem *elems; /* NULL in a strip */
    struct ct_fast_at at;        /* the state, unless `counted` */
    bool counted; /* all before the current stretch is counted, with the edge to it; `at` is older */
    const struct ct_stack_effect *effect; /* with a return stack and `counted`: of the stretch before */
};

struct ct_stretches {
    _Alignas(64) struct ct_stretch rows[1u << CT_STRETCH_ROWS_SHIFT][2];
    struct ct_stretch left[CT_STRETCHES_LEFT]; /* replaced ones, whose edges are not counted yet */
    /* with a return stack: the effects of the stretches in `rows` (two for each row) and in `left` */
    struct ct_stack_effect *effects, *left_effects;
    uint8_t *seen; /* for each row: a byte of the hash of the stretch that was last met there */
    unsigned left_count;
    unsigned shift;    /* 64 - log2 of the rows */
    unsigned least;    /* minimal number of elements for a pass */
    unsigned batch;    /* maximal number of stretches to collect next */
    uint32_t looked;   /* look-ups since the last judgement */
    uint32_t missed;   /* how many of these found nothing */
    uint32_t rest;     /* number of elements for which stretches will rest next */
    uint32_t resting;  /* number of elements that are left of a rest */
    enum ct_simd simd; /* the instructions that count */
    bool used;         /* some stretches may have counts */
    unsigned few;      /* number of judgements in a row with few stretches that were not in the table */
    bool repeats;      /* stretches surely recur (ct_stretches_judge) */
    /* the collected stretches: where each begins, its atoms, and the index of the address before it */
    uint64_t addr[CT_STRETCH_PIECE + 2], bits[CT_STRETCH_PIECE + 1];
    uint32_t count[CT_STRETCH_PIECE + 1], at[CT_STRETCH_PIECE + 1];
    uint32_t row[CT_STRETCH_PIECE + 1];
    /* the strip; there `at` is the number of the first atom behind the address */
    struct ct_stretch_pass strip;
    uint32_t waiting[CT_STRETCHES_WAITING]; /* stretches of the strip that are not in the table, in order */
    unsigned waiting_count;
    uint64_t atoms[CT_STRIP_ATOMS / 64 + 2];
};

/* Returns true when `addr`, where a stretch begins, says that it continues another stretch. With a return
 * stack there are fewer addresses, and stretches that are too long for the table are in pieces. Between them
 * stands an odd number (ct_stretch_behind), which is never an address of A64 code. */
static inline bool ct_stretch_is_behind(const struct ct_stretches *c, uint64_t addr)
{
    return c->effects && addr & 1;
}

/* Returns what stands for the address behind a piece with the atoms `bits`, where there is a return stack. It
 * determines the row of the next piece, which thus depends on the piece before. */
static inline uint64_t ct_stretch_behind(uint64_t bits)
{
    const uint64_t mixed = bits * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (mixed ^ mixed >> 32) | 1;
}

static inline uint32_t ct_stretch_block(const struct ct_stretch *s)
{
    return (uint32_t)(s->word >> CT_STRETCH_BLOCK_SHIFT) & CT_LINK_BLOCK;
}

/* Returns the atoms of a stretch of the table, with a 1 behind the last one. */
static inline uint64_t ct_stretch_atoms(uint64_t bits)
{
    return bits & ((UINT64_C(1) << CT_STRETCH_SPACE_SHIFT) - 1);
}

/* Returns the effect of a stretch of the table on the return stack; there must be one. */
static inline struct ct_stack_effect *ct_stretch_effect(const struct ct_stretches *c,
                                                        const struct ct_stretch *s)
{
    return &c->effects[s - c->rows[0]];
}

/* Returns the row in which a stretch is, if it is in the table. */
CT_STRETCH_INLINE uint32_t ct_stretch_row(unsigned shift, uint64_t addr, uint64_t next, uint64_t bits)
{
    const uint64_t mixed = addr * UINT64_C(0x9e3779b97f4a7c15) ^ bits * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                           next * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

/* Returns stretch `s` in the table, or NULL. */
static inline struct ct_stretch *ct_stretch_find_plain(struct ct_stretches *c, unsigned s, uint64_t domain)
{
    struct ct_stretch *row = c->rows[c->row[s]];
    const uint64_t first = (row[0].addr ^ c->addr[s]) | (row[0].next ^ c->addr[s + 1]) |
                           (row[0].bits ^ c->bits[s]) | ((row[0].word ^ domain) & CT_STRETCH_DOMAIN);
    const uint64_t second = (row[1].addr ^ c->addr[s]) | (row[1].next ^ c->addr[s + 1]) |
                            (row[1].bits ^ c->bits[s]) | ((row[1].word ^ domain) & CT_STRETCH_DOMAIN);
    return first && second ? NULL : &row[first != 0];
}

#ifdef CT_STRETCH_HAVE_AVX

/* Does the same, and compares each stretch of the row at once. */
static inline CT_STRETCH_AVX2 struct ct_stretch *ct_stretch_find_avx2(struct ct_stretches *c, unsigned s,
                                                                      uint64_t domain)
{
    struct ct_stretch *row = c->rows[c->row[s]];
    const __m256i compared = _mm256_set_epi64x(CT_STRETCH_DOMAIN, -1, -1, -1);
    const __m128i addresses = _mm_loadu_si128((const void *)&c->addr[s]);
    const __m128i rest = _mm_set_epi64x((int64_t)domain, (int64_t)c->bits[s]);
    const __m256i key = _mm256_set_m128i(rest, addresses);
    const __m256i first = _mm256_xor_si256(_mm256_load_si256((const void *)&row[0]), key);
    const __m256i second = _mm256_xor_si256(_mm256_load_si256((const void *)&row[1]), key);
    const bool not_first = !_mm256_testz_si256(first, compared);
    return (not_first & !_mm256_testz_si256(second, compared)) ? NULL : &row[not_first];
}

/* Does the same, and compares both stretches of the row at once. */
static inline CT_STRETCH_AVX512 struct ct_stretch *ct_stretch_find_avx512(struct ct_stretches *c, unsigned s,
                                                                          uint64_t domain)
{
    struct ct_stretch *row = c->rows[c->row[s]];
    const __m512i compared = _mm512_set_epi64(CT_STRETCH_DOMAIN, -1, -1, -1, CT_STRETCH_DOMAIN, -1, -1, -1);
    const __m128i addresses = _mm_loadu_si128((const void *)&c->addr[s]);
    const __m128i rest = _mm_set_epi64x((int64_t)domain, (int64_t)c->bits[s]);
    const __m512i key = _mm512_broadcast_i64x4(_mm256_set_m128i(rest, addresses));
    const unsigned same = _mm512_testn_epi64_mask(_mm512_xor_si512(_mm512_load_si512(row), key), compared);
    const bool first = (same & 15) == 15;
    return first || same >> 4 == 15 ? &row[!first] : NULL; /* a branch, so that counting need not wait */
}

#endif

/* Returns stretch `s` in the table, or NULL. `simd` is a constant. */
CT_STRETCH_INLINE struct ct_stretch *ct_stretch_find(struct ct_stretches *c, unsigned s, uint64_t domain,
                                                     const enum ct_simd simd)
{
#ifdef CT_STRETCH_HAVE_AVX
    if (simd == CT_SIMD_AVX512)
        return ct_stretch_find_avx512(c, s, domain);
    if (simd == CT_SIMD_AVX2)
        return ct_stretch_find_avx2(c, s, domain);
#endif
    (void)simd;
    return ct_stretch_find_plain(c, s, domain);
}

/* Prefetches the rows, and the effects, of the stretches from `first` below `n`. */
static inline void ct_stretches_fetch(const struct ct_stretches *c, size_t first, size_t n)
{
    for (size_t s = first; s < n; s++)
        __builtin_prefetch(&c->rows[c->row[s]], 1);
    for (size_t s = first; c->effects && s < n; s++)
        __builtin_prefetch(&c->effects[c->row[s] * 2], 1);
}

/* Makes the table unless there is one. Returns false when out of memory. */
bool ct_stretches_have(struct ct_fast *f);

/* Judges, after enough look-ups, whether stretches recur (stretch_table.c). */
void ct_stretches_judge(struct ct_stretches *c);

/* Takes a stretch with its count out of its place; its edges are counted later (stretch_counts.c). */
void ct_stretch_take_out(struct ct_fast *f, struct ct_stretch *s);
