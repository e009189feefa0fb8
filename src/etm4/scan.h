/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where packets begin, without walking from one to the next. First finds, for each byte, the length of
 * a packet that would begin there; then, by doubling, all bytes that such packets reach from each of 16
 * bytes; then one look-up for every 16 bytes selects the packets that are there. Paper 1 also works out the
 * header of every byte in advance. The result is bit masks for 64 bytes. Needs the vectors of vector.h, or
 * AVX-512 (scan_avx512.c); burst.c does the same without vectors. */
#pragma once

#include "base/simd.h"
#include "etm4/burst.h"

#define CT_SCAN_BLOCK  64u /* bytes of a block, one for each bit of a mask */
#define CT_SCAN_BLOCKS 16u /* most blocks of a chunk */
#define CT_SCAN_BYTES  (CT_SCAN_BLOCK * CT_SCAN_BLOCKS)

/* What the scan knows of the packets of a header: their length in bytes in bits 3:0, then flags. */
enum {
    CT_SCAN_MORE = 0x10,  /* the packet is one byte longer when the first byte of payload has bit 7 set */
    CT_SCAN_LIMIT = 0x20, /* with CT_SCAN_MORE: a burst does not decode the packet when the second byte has
                             bit 7 set too */
    CT_SCAN_STOP = 0x40,  /* a burst does not decode the packet */
    CT_SCAN_ODD = 0x80,   /* a burst decodes the packet, with more work than others of its kind */
};

/* Look-up tables for headers. A row is the 16 headers with the same upper four bits. */
struct ct_etm4_scan_table {
    uint8_t rows[16];     /* by the upper four bits: the length; 0 for rows with several lengths */
    uint8_t mixed[3][16]; /* by the lower four bits: the length, for rows 0, 7 and 9 */
    /* A header is that of atoms that end with an E if its entries in the two tables have a bit in common. */
    uint8_t taken_row[16];
    uint8_t taken_low[16];
    uint8_t count[16]; /* for row 0, by the lower four bits: the bits of the next byte that belong to the
                          cycle count */
    enum ct_simd simd; /* the instructions that scan */
    /* for AVX-512, by header: the length, and one bit for each mask of struct ct_etm4_masks that has the
     * packet */
    uint8_t lengths[256];
    uint8_t kinds[256];
};

/* Masks of one block. Bit i of each is about a packet that begins at byte i. */
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

/* The number of the row, of 64, that a packet uses in a table: the lower five bits of its header, and bit 7
 * of the next byte, which says whether another byte follows. CT_SCAN_ROW_BITS is the mask of these bits in
 * the bytes of a packet. */
#define CT_SCAN_ROWS              64u
#define CT_SCAN_ROW(header, more) (((header)&31u) | (more) << 5)
#define CT_SCAN_ROW_BITS          0x801fu

/* A chunk of trace that was scanned. */
struct ct_etm4_chunk {
    enum ct_simd simd; /* the instructions that scanned it */
    unsigned blocks;
    struct ct_etm4_masks masks[CT_SCAN_BLOCKS];
    uint8_t before;                /* makes values[-1] readable */
    uint8_t values[CT_SCAN_BYTES]; /* made by ct_etm4_scan_values: the cycle count that begins at each byte,
                                      if it has up to seven bits */
};

/* Returns whether this machine can scan, and does so quickly. */
static inline bool ct_etm4_scan_there(void)
{
    return ct_simd() != CT_SIMD_NONE;
}

void ct_etm4_scan_init(struct ct_etm4_scan_table *table, const struct ct_etm4_burst *burst);

/* Scans blocks from data[0] on; the first packet begins at byte *entry (0 to 15). Returns the number of bytes
 * before a packet that a burst does not decode, with *entry CT_SCAN_STOP, or the number of bytes of whole
 * blocks, with *entry for the next block. At least one block is scanned when `size` is CT_SCAN_BLOCK +
 * CT_ETM4_BURST_AHEAD or more. */
size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk);

/* Does what ct_etm4_scan does, and also reads the values of cycle counts, less the threshold. Does not use
 * AVX-512. */
size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk);
