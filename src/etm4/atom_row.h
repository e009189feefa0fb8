/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the atoms of packets as bits, side by side, and keeps the number of atoms before each packet. So the
 * atoms between two places of the trace are adjacent bits, however they were divided into packets. */
#pragma once

#include "etm4/scan.h"
#include "flow/fast.h"

/* the first header of an atom packet (the upper two bits are set), and the number of such headers */
#define CT_ATOM_HEADER  0xc0u
#define CT_ATOM_HEADERS 64u

/* most packets of a row, and most atoms of each of them */
#define CT_ATOM_PACKETS    5000u
#define CT_ATOMS_OF_PACKET 25u

/* The atoms of up to CT_ATOM_PACKETS packets. */
struct ct_atom_row {
    /* Tables by the lower six bits of a header: its atoms and their number; then, one byte each, the first
     * eight atoms and a mask of those of the eight that exist. */
    uint32_t bits[CT_ATOM_HEADERS];
    uint8_t counts[CT_ATOM_HEADERS];
    uint8_t first[CT_ATOM_HEADERS];
    uint8_t valid[CT_ATOM_HEADERS];
    bool made;
    uint32_t packets; /* number of packets in `headers` */
    uint32_t joined;  /* number of packets whose atoms are in `words` */
    uint32_t atoms;   /* number of atoms in `words` */
    uint64_t *words;  /* the atoms as bits; room for CT_STRIP_ATOMS bits */
    uint8_t headers[CT_ATOM_PACKETS + CT_SCAN_BLOCK];
    uint16_t before[1 + CT_ATOM_PACKETS + CT_SCAN_BLOCK]; /* number of atoms before each packet */
};

/* Begins a row without packets. `words` has room for CT_STRIP_ATOMS bits and stays with the caller. */
void ct_atom_row_begin(struct ct_atom_row *row, const struct ct_etm4_burst *burst, uint64_t *words);

/* Joins the atoms of the packets that the caller added to `headers`. */
void ct_atom_row_join(struct ct_atom_row *row, enum ct_simd simd);
