/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of hops share; only etm4/hops*.c include this header. */
#pragma once

#include "etm4/ahead.h"
#include "etm4/atom_row.h"
#include "etm4/hops.h"
#include "etm4/hops_pace.h"
#include "etm4/lane.h"

/* The decision whether hops are worth while. Elements are quicker for a program that seldom repeats what it
 * did. That may hold for a part of the trace only, so the decision is made again and again. While hops rest,
 * elements (or strips) decode. */
struct ct_hops_worth {
    bool begun;         /* the first byte has arrived */
    bool rested;        /* hops rested, and have not been found worth while since */
    uint64_t judged;    /* number of bytes after which hops are judged */
    uint64_t bytes;     /* number of bytes that hops decoded since the last judgement */
    uint64_t missed;    /* ct_hops.missed at the last judgement */
    uint64_t cost;      /* bytes of trace that take as long as one unit of ct_hops.missed */
    unsigned learning;  /* number of judgements still to be skipped, while the tables fill */
    uint64_t rest;      /* length of the next rest, in bytes; 0 at first, then it doubles with each rest */
    uint64_t rest_most; /* limit of `rest`, in bytes */
    uint64_t until;     /* position in the stream up to which hops rest */
    /* Time that hops and elements take; where both are known, time decides. Measured with cycles, and for
     * counts where the trace has cycle counts and many atom packets for each address. */
    bool paced;
    bool resting;          /* hops rest up to `until` */
    bool probed;           /* hops have rested once only to measure elements */
    uint64_t probe;        /* number of bytes of elements that are decoded to measure them */
    uint64_t patience;     /* number of bytes that hops decode before time decides */
    uint64_t hopped;       /* number of bytes that hops decoded up to the last judgement */
    uint64_t measure_from; /* position at which measuring elements begins; 0: it has begun */
    uint64_t probe_from;   /* position from which elements may be measured again */
    double before;         /* pace.hops of the previous judgement; 0 after a rest */
    struct ct_hops_pace pace;
};

/* most blocks of a strip, and most addresses that are written behind its last one */
#define CT_STRIP_BLOCKS 128u
#define CT_STRIP_BEYOND 64u

/* A set of headers from 80 on: a list, with zeros behind it, and tables by the upper and the lower four bits.
 * A header is in the set when its entries in the two tables have a bit in common. */
struct ct_header_set {
    unsigned count;
    uint8_t headers[64];
    uint8_t rows[16];
    uint8_t columns[16];
};

/* A strip: stretches (the atoms between two addresses) that hops_strips.c lists straight from the scan.
 * past[k + 2] is address number k of the strip, with the instruction set in bit 0; past[0] to past[2] are the
 * last three addresses before the strip. */
struct ct_hops_strip {
    struct ct_etm4_chunk chunk;
    struct ct_fast_strip list;
    struct ct_cut_others others;
    struct ct_atom_row atoms;
    struct ct_header_set address_headers; /* of address packets */
    struct ct_header_set atom_headers;    /* of packets with few atoms */
    unsigned blocks;                      /* number of blocks with masks */
    struct {
        uint64_t atoms, addresses, events;
    } masks[CT_STRIP_BLOCKS]; /* first bytes of the packets of each block */
    uint32_t count;           /* number of the last address */
    uint64_t past[2 + CT_STRIP_PLACES + CT_STRIP_BEYOND];
    uint8_t headers[CT_STRIP_PLACES + CT_STRIP_BEYOND]; /* headers of the addresses from number 1 on */
    uint8_t rows[CT_SCAN_BYTES + CT_SCAN_BLOCK];        /* with AVX-512: rows of the addresses of a chunk */
    /* With cycles: the counts of the strip, with the number of atoms before each, and its first byte in the
     * strip. */
    uint32_t counts;
    uint32_t *count_at, *cycles;
    uint16_t count_place[CT_STRIP_COUNTS];
    /* With cycles: strips wait for `wait` bytes from position `since` in the stream on. */
    uint64_t since, wait;
};

_Static_assert(CT_STRIP_BLOCKS *CT_SCAN_BLOCK <= CT_STRIP_COUNTS, "there is room for a count in each byte");

/* The hops of a stream, with their cursors in it. */
struct ct_etm4_hops {
    struct ct_etm4_fast *bytes;
    struct ct_fast *fast;
    uint32_t generation; /* generation of the blocks that the tables refer to */
    struct ct_hops hops;
    struct ct_hops_worth worth;
    uint64_t passed; /* number of bytes decoded since the counts were last added to the edges */
    /* Used without cycles. */
    struct ct_ahead ways[CT_LANES];
    unsigned here; /* index in `ways` of the first lane */
    bool ahead;    /* the second lane is at work too */
    struct ct_ahead_search search;
    size_t asked_at; /* work->at of the last call */
    /* Used with cycles. */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
    struct ct_cut_others others;
    unsigned count;
    struct ct_cut_count counts[CT_SCAN_BYTES];
    /* Used while hops rest. */
    struct ct_hops_strip strip;
};

/* Returns whether the engine is between two steps of known blocks. */
static inline bool ct_etm4_hops_is_ready(const struct ct_etm4_hops *h)
{
    return ct_fast_is_at_place(h->fast);
}

/* Returns the number of the current state of engine and decoder, or 0 when hops cannot begin in it. */
uint32_t ct_etm4_hops_state(struct ct_etm4_hops *h);

/* Returns whether counters, which have 32 bits, might overflow soon and have to be emptied first. Assumes one
 * hop for each byte, which is the most. */
bool ct_etm4_hops_is_long(const struct ct_etm4_hops *h);

/* Moves work->at to byte `to` of the run, up to which packets are decoded, and counts `others`: those of the
 * packets that are neither atoms nor addresses. */
void ct_etm4_hops_pass(struct ct_etm4_hops *h, struct ct_work *work, size_t to, struct ct_cut_others *others);

/* Do what ct_etm4_hops_run does: the first without cycles, the second with them. */
int ct_etm4_hops_counts(struct ct_etm4_hops *h, struct ct_work *work);
int ct_etm4_hops_cycles(struct ct_etm4_hops *h, struct ct_work *work);

/* Count stretches straight from the scan as far as possible, the first without cycles, the second with them.
 * Return an error code or CT_OK. */
int ct_etm4_hops_strips(struct ct_etm4_hops *h, struct ct_work *work);
int ct_etm4_hops_timed_strips(struct ct_etm4_hops *h, struct ct_work *work);

/* a chunk with no more addresses than these is not worth beginning a strip */
#define CT_STRIP_ADDRESSES_LEAST 4u

/* Scans the chunk at byte `at` of the run, whose first packet begins at *entry. Returns the number of bytes
 * scanned. */
size_t ct_etm4_strip_scan(struct ct_etm4_hops *h, const struct ct_run *run, size_t at, unsigned *entry);

/* Decodes trace to elements up to the packet that begins at byte `header` of the chunk, behind which an atom
 * follows at byte `behind`, so that no element is held. Empties the strip. Returns false on errors. */
bool ct_etm4_strip_reach(struct ct_etm4_hops *h, struct ct_work *work, unsigned header, unsigned behind);

/* Lists the addresses and atoms of the chunk at `data`. */
void ct_etm4_strip_list(struct ct_hops_strip *s, const struct ct_etm4_event_tables *tables,
                        const uint8_t *data);

/* Returns whether there is room to list another chunk. */
bool ct_etm4_strip_has_room(const struct ct_hops_strip *s);

/* Adds the first address packets and atom packets of the strip to the counts of packets and elements. */
void ct_etm4_strip_count_packets(struct ct_etm4_hops *h, size_t addresses, size_t atoms);

/* Undoes the counts of the second lane, and ends it. */
void ct_etm4_hops_undo_ahead(struct ct_etm4_hops *h);
