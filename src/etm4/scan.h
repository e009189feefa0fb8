/* SPDX-License-Identifier: Apache-2.0 */
/* Where packets are, without walking from one to the next: for each byte what the length would be if a packet
 * began there; from that, by doubling, all places that are reached from each byte of 16; then one look-up for
 * every 16 bytes says which of these ways it was. Paper 1 works the header of every byte out ahead in the
 * same spirit. What is found is kept as bit masks of 64 bytes. x86-64 with AVX2 and BMI2, or with AVX-512
 * (etm4_scan_avx512.c); etm4_burst.c does the same in a plain way. */
#ifndef CT_ETM4_SCAN_H
#define CT_ETM4_SCAN_H

#include "base/simd.h"
#include "etm4/burst.h"

#define CT_SCAN_BLOCK  64u /* bytes of a mask */
#define CT_SCAN_BLOCKS 16u /* blocks of a chunk */
#define CT_SCAN_BYTES  (CT_SCAN_BLOCK * CT_SCAN_BLOCKS)

/* What a header says of the length of its packet: bytes in 3:0, then flags. */
enum {
    CT_SCAN_MORE = 0x10,  /* one more when the first byte of payload has bit 7 set */
    CT_SCAN_LIMIT = 0x20, /* when the second has it too the packet is not for bursts */
    CT_SCAN_STOP = 0x40,  /* the packet is not for bursts */
    CT_SCAN_ODD = 0x80,   /* it is, but wants more than the others of its kind */
};

/* Rows are headers with the same upper four bits. */
struct ct_etm4_scan_table {
    uint8_t rows[16];     /* lengths by the upper four bits, 0 for the rows that are mixed */
    uint8_t mixed[3][16]; /* lengths by the lower four bits, of rows 0, 7 and 9 */
    /* Atoms that end with an E: where both have a bit in common. */
    uint8_t taken_row[16];
    uint8_t taken_low[16];
    uint8_t count[16]; /* headers of row 0, by the lower four bits: what of the next byte is the
                          cycle count */
    enum ct_simd simd; /* what scans */
    /* For AVX-512, by header: lengths, and in which masks of struct ct_etm4_masks it is, from bit 0 on. */
    uint8_t lengths[256];
    uint8_t kinds[256];
};

/* Masks of one block: bit i is byte i. */
struct ct_etm4_masks {
    uint64_t packets; /* a packet begins … */
    uint64_t atoms;   /* … and is this */
    uint64_t addresses;
    uint64_t counts;
    uint64_t events;
    uint64_t taken; /* atoms that end with an E */
    uint64_t odd;   /* addresses of 64 bits; counts of more than seven bits, or unknown */
    uint64_t unused;
};

/* Which of 64 rows of a table is for a packet: the lower five bits of its header, and bit 7 of the byte
 * behind, which says that another one follows. CT_SCAN_ROW_BITS are these of the bytes of the packet. */
#define CT_SCAN_ROWS              64u
#define CT_SCAN_ROW(header, more) (((header)&31u) | (more) << 5)
#define CT_SCAN_ROW_BITS          0x801fu

struct ct_etm4_chunk {
    enum ct_simd simd; /* by what it was scanned */
    unsigned blocks;
    struct ct_etm4_masks masks[CT_SCAN_BLOCKS];
    uint8_t before;                /* so that values[-1] may be read */
    uint8_t values[CT_SCAN_BYTES]; /* ct_etm4_scan_values: of a count that begins there and is not odd */
};

/* True where this machine can do it, and quickly. */
static inline bool ct_etm4_scan_there(void)
{
    return ct_simd() != CT_SIMD_NONE;
}

void ct_etm4_scan_init(struct ct_etm4_scan_table *table, const struct ct_etm4_burst *burst);

/* Blocks from data[0] on, of which the first packet begins at *entry (0 to 15). Result: bytes up to the
 * packet that is not for bursts, with *entry CT_SCAN_STOP; or whole blocks, and *entry for the next. Size
 * from CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD on gives at least one block. */
size_t ct_etm4_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size, unsigned *entry,
                    struct ct_etm4_chunk *chunk);

/* The same with the values of cycle counts, less the threshold. */
size_t ct_etm4_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk);

#endif
