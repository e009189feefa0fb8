/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the atoms of packets as bits, one behind the other, and keeps how many are before each packet. So the
 * atoms between two places of the trace are bits side by side, however these are cut into packets. */
#ifndef CT_ETM4_ATOM_ROW_H
#define CT_ETM4_ATOM_ROW_H

#include "etm4/scan.h"
#include "flow/fast.h"

/* Headers of atom packets have their upper two bits set: the first one, and how many there are. */
#define CT_ATOM_HEADER  0xc0u
#define CT_ATOM_HEADERS 64u

/* packets of a row, and atoms of each of them, at most */
#define CT_ATOM_PACKETS    5000u
#define CT_ATOMS_OF_PACKET 25u

struct ct_atom_row {
    /* by the lower six bits of a header: its atoms and how many they are; and, as a byte each, the first
     * eight of them, and a bit for each of these */
    uint32_t bits[CT_ATOM_HEADERS];
    uint8_t counts[CT_ATOM_HEADERS];
    uint8_t first[CT_ATOM_HEADERS];
    uint8_t valid[CT_ATOM_HEADERS];
    bool made;
    uint32_t packets; /* whose headers are in `headers` */
    uint32_t joined;  /* how many of them are in `words` */
    uint32_t atoms;   /* and how many atoms these have */
    uint64_t *words;  /* room for CT_STRIP_ATOMS */
    uint8_t headers[CT_ATOM_PACKETS + CT_SCAN_BLOCK];
    uint16_t before[1 + CT_ATOM_PACKETS + CT_SCAN_BLOCK]; /* atoms before each packet */
};

/* Begins a row without packets. */
void ct_atom_row_begin(struct ct_atom_row *row, const struct ct_etm4_burst *burst, uint64_t *words);

/* Joins the atoms of the packets that were put into `headers`. */
void ct_atom_row_join(struct ct_atom_row *row, enum ct_simd simd);

#endif
