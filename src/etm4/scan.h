/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where packets begin without walking from one to the next. For each byte it works out the length that
 * a packet beginning there would have; from these, by doubling, all bytes that are reached from each of 16;
 * then one look-up for every 16 bytes tells which of these ways the packets took. Paper 1 works out the
 * header of every byte ahead in the same spirit. The result is bit masks for 64 bytes. It needs what
 * vector.h has, or AVX-512 (scan_avx512.c); burst.c does the same in a plain way. */
#ifndef CT_ETM4_SCAN_H
#define CT_ETM4_SCAN_H

#include "base/simd.h"
#include "etm4/burst.h"

#define CT_SCAN_BLOCK  64u /* bytes of a mask */
#define CT_SCAN_BLOCKS 16u /* blocks of a chunk */
#define CT_SCAN_BYTES  (CT_SCAN_BLOCK * CT_SCAN_BLOCKS)

/* What a header tells of the length of its packet: the bytes in bits 3:0, then flags. */
enum {
    CT_SCAN_MORE = 0x10,  /* the packet has one byte more when the first byte of payload has bit 7 set */
    CT_SCAN_LIMIT = 0x20, /* with CT_SCAN_MORE: if the second byte has bit 7 set too, the packet is not for
                             bursts */
    CT_SCAN_STOP = 0x40,  /* the packet is not for bursts */
    CT_SCAN_ODD = 0x80,   /* the packet is for bursts, but needs more work than others of its kind */
};

/* How headers are looked up. A row is the 16 headers with the same upper four bits. */
struct ct_etm4_scan_table {
    uint8_t rows[16];     /* lengths by the upper four bits, 0 for rows with several lengths */
    uint8_t mixed[3][16]; /* lengths by the lower four bits, for rows 0, 7 and 9 */
    /* Atoms that end with an E are the headers for which the two entries have a bit in common. */
    uint8_t taken_row[16];
    uint8_t taken_low[16];
    uint8_t count[16]; /* for headers of row 0, by the lower four bits: the bits of the next byte that are the
                          cycle count */
    enum ct_simd simd; /* which instructions scan */
    /* for AVX-512, by header: the length, and a bit for each mask of struct ct_etm4_masks that the packet is
     * in */
    uint8_t lengths[256];
    uint8_t kinds[256];
};

/* Masks of one block: bit i is for byte i. */
struct ct_etm4_masks {
    uint64_t packets; /* a packet begins here */
    uint64_t atoms;   /* an atom packet begins here */
    uint64_t addresses;
    uint64_t counts;
    uint64_t events;
    uint64_t taken; /* the atom packet ends with an E */
    uint64_t odd;   /* an address of 64 bits, or a count that is unknown or has more than seven bits */
    uint64_t unused;
};

/* Which of 64 rows of a table a packet uses: the lower five bits of its header, and bit 7 of the byte behind,
 * which tells that another one follows. CT_SCAN_ROW_BITS are these bits in the bytes of a packet. */
#define CT_SCAN_ROWS              64u
#define CT_SCAN_ROW(header, more) (((header)&31u) | (more) << 5)
#define CT_SCAN_ROW_BITS          0x801fu

struct ct_etm4_chunk {
    enum ct_simd simd; /* which instructions scanned it */
    unsigned blocks;
    struct ct_etm4_masks masks[CT_SCAN_BLOCKS];
    uint8_t before;                /* makes values[-1] readable */
    uint8_t values[CT_SCAN_BYTES]; /* made by ct_etm4_scan_values: for each byte where a count of up to seven
                                      bits begins, the count */
};

/* Returns true where this machine can scan, and does so quickly. */
static inline bool ct_etm4_scan_there(void)
{
    return ct_simd() != CT_SIMD_NONE;
}

void ct_etm4_scan_init(struct ct_etm4_scan_table *table, const struct ct_etm4_burst *burst);

/* Scans blocks from data[0] on, whose first packet begins at byte *entry (0 to 15). Result: the bytes up to a
 * packet that is not for bursts, with *entry CT_SCAN_STOP; else the bytes of whole blocks, and *entry for the
 * next one. At least one block is scanned when size is CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD or more. */
size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk);

/* Scans, and also reads the values of cycle counts, less the threshold. */
size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk);

#endif
