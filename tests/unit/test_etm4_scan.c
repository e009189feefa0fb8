/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the scan of ETMv4: the requested version runs, and each version finds the same packets. Without
 * this, a version that is never used would pass all comparisons. Also checks what is built on vectors
 * besides: gathered bits, listed places, and joined atoms. */
#include <stdlib.h>
#include <string.h>

#include "etm4/atom_row.h"
#include "etm4/events_run.h"
#include "support/rng.h"
#include "support/unit.h"

static const struct ct_source source = {
    .name = "etm",
    .protocol = CT_PROTOCOL_ETM4,
    .arch = {.major = 8, .profile = CT_PROFILE_A},
    .regs = {.configr = 0x11, .idr0 = 0x28000ea1, .idr1 = 0x4100f400, .idr2 = 0x488}};

static void scan_as(const char *simd, struct ct_etm4_chunk *chunk)
{
    uint8_t bytes[CT_SCAN_BYTES + CT_ETM4_BURST_AHEAD];
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_burst burst;
    struct ct_etm4_scan_table table;
    unsigned entry = 0;
    setenv("CORETAP_SIMD", simd, 1);
    assert_int_equal(ct_etm4_decoder_new(NULL, &source, &decoder), CT_OK);
    ct_etm4_burst_init(&burst, decoder);
    ct_etm4_scan_init(&table, &burst);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = i % 5 == 3 ? 0x90 : 0xf6 + i % 2; /* atoms, and addresses equal to the last one */
    memset(chunk, 0, sizeof *chunk);
    assert_true(ct_etm4_scan(&table, bytes, sizeof bytes, &entry, chunk) > 0 || !ct_etm4_scan_there());
    assert_int_equal(table.simd, ct_simd());
    assert_int_equal(chunk->simd, ct_simd());
    ct_etm4_decoder_free(decoder);
}

TEST(the_version_asked_for_runs)
{
    static const char *const versions[] = {"", "avx2", "neon"};
    static struct ct_etm4_chunk first, other;
    unsetenv("CORETAP_SIMD");
    if (!ct_etm4_scan_there())
        tap_skip("this processor has none of the instructions");
    scan_as(versions[0], &first);
    for (size_t i = 1; i < sizeof versions / sizeof *versions; i++) {
        scan_as(versions[i], &other);
        assert_int_equal(first.blocks, other.blocks);
        assert_memory_equal(first.masks, other.masks, first.blocks * sizeof *first.masks);
    }
}

#ifdef CT_HAVE_VECTORS
static uint64_t gathered(uint64_t x, uint64_t chosen)
{
    uint64_t bits = 0;
    for (unsigned i = 0, n = 0; i < 64; i++)
        if (chosen >> i & 1)
            bits |= (x >> i & 1) << n++;
    return bits;
}

CT_VECTOR static void hold_gathered(uint64_t one, uint64_t other, uint64_t chosen)
{
    uint64_t first = one;
    uint64_t second = other;
    ct_bits_gather_two(&first, &second, chosen);
    assert_int_equal(first, gathered(one, chosen));
    assert_int_equal(second, gathered(other, chosen));
}
#endif

TEST(the_bits_of_a_mask_come_together)
{
    if (!ct_etm4_scan_there())
        tap_skip("this processor has none of the instructions");
#ifdef CT_HAVE_VECTORS
    struct rng rng = {12};
    hold_gathered(UINT64_MAX, 0, UINT64_MAX);
    hold_gathered(UINT64_MAX, UINT64_MAX, 0);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t chosen = rng_next(&rng);
        for (unsigned more = i % 7; more > 3; more--) /* few bits are left out */
            chosen |= rng_next(&rng);
        for (unsigned less = i % 7; less < 3; less++) /* few bits are left */
            chosen &= rng_next(&rng);
        hold_gathered(rng_next(&rng), rng_next(&rng), chosen);
    }
#endif
}

#ifdef CT_HAVE_VECTORS
CT_VECTOR static unsigned list_places(uint16_t *to, uint64_t mask, unsigned base)
{
    return ct_list_places(to, mask, base);
}
#endif

TEST(the_places_of_a_mask_are_listed)
{
    if (!ct_etm4_scan_there())
        tap_skip("this processor has none of the instructions");
#ifdef CT_HAVE_VECTORS
    struct rng rng = {13};
    for (unsigned i = 0; i < 2000; i++) {
        uint16_t places[CT_SCAN_BLOCK + CT_PLACES_BEYOND];
        uint64_t left = i % 3 ? rng_next(&rng) & rng_next(&rng) : rng_next(&rng) | rng_next(&rng);
        const unsigned count = list_places(places, left, i);
        assert_int_equal(count, __builtin_popcountll(left));
        for (unsigned k = 0; k < count; k++, left &= left - 1)
            assert_int_equal(places[k], i + (unsigned)__builtin_ctzll(left));
    }
#endif
}

#ifdef CT_HAVE_VECTORS
/* Holds the atoms of a row equal to those of its packets, one by one. */
static void hold_joined(const struct ct_atom_row *row, const struct ct_etm4_burst *burst)
{
    uint32_t atoms = 0;
    assert_int_equal(row->joined, row->packets);
    for (uint32_t i = 0; i < row->packets; i++) {
        const struct ct_etm4_row *header = burst->rows[row->headers[i]];
        assert_int_equal(row->before[i], atoms);
        for (unsigned k = 0; k < (uint8_t)(header->head >> 8); k++, atoms++)
            assert_int_equal(row->words[atoms >> 6] >> (atoms & 63) & 1, header->base >> k & 1);
    }
    assert_int_equal(row->before[row->packets], atoms);
    assert_int_equal(row->atoms, atoms);
}

/* Joins packets, of which `rare` of 256 have any number of atoms and the others up to four. */
static void join_some(struct ct_atom_row *row, const struct ct_etm4_burst *burst, enum ct_simd simd,
                      struct rng *rng, uint32_t rare)
{
    static uint64_t words[CT_STRIP_ATOMS / 64 + 2];
    ct_atom_row_begin(row, burst, words);
    for (unsigned piece = 0; piece < 9; piece++) {
        for (uint32_t n = rng_below(rng, 200); n; n--) {
            const unsigned any = CT_ATOM_HEADER + rng_below(rng, CT_ATOM_HEADERS);
            const unsigned short_ones = (rng_chance(rng, 128) ? 0xd8 : 0xf8) + rng_below(rng, 8);
            row->headers[row->packets++] = (uint8_t)(rng_chance(rng, rare) ? any : short_ones);
        }
        ct_atom_row_join(row, simd);
        hold_joined(row, burst);
    }
}
#endif

TEST(atoms_of_packets_are_joined)
{
    unsetenv("CORETAP_SIMD");
    if (!ct_etm4_scan_there())
        tap_skip("this processor has none of the instructions");
#ifdef CT_HAVE_VECTORS
    static struct ct_atom_row row;
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_burst burst;
    struct rng rng = {14};
    assert_int_equal(ct_etm4_decoder_new(NULL, &source, &decoder), CT_OK);
    ct_etm4_burst_init(&burst, decoder);
    for (unsigned i = 0; i < 40; i++) {
        join_some(&row, &burst, CT_VECTORS, &rng, i * 5);
        join_some(&row, &burst, ct_simd(), &rng, i * 5);
    }
    ct_etm4_decoder_free(decoder);
#endif
}
