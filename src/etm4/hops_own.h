/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of hops; only etm4/hops*.c include it. */
#ifndef CT_ETM4_HOPS_OWN_H
#define CT_ETM4_HOPS_OWN_H

#include "etm4/ahead.h"
#include "etm4/atom_row.h"
#include "etm4/hops.h"
#include "etm4/hops_pace.h"
#include "etm4/lane.h"

/* Whether hops are worth while: a program that seldom does the same again is followed faster by elements. It
 * may be so for a part of the trace, so hops are judged again and again. */
struct ct_hops_worth {
    bool begun;         /* the first byte came */
    bool rested;        /* they did, and were not found worth while since */
    uint64_t judged;    /* bytes after which they are judged */
    uint64_t bytes;     /* bytes that hops went over since they were judged last */
    uint64_t missed;    /* ct_hops.missed when hops were judged last */
    uint64_t cost;      /* bytes of trace that one of these costs */
    unsigned learning;  /* how often they are not judged: the tables fill first */
    uint64_t rest;      /* bytes for which they rest when they are not worth while; 0 at first, then twice
                           as many each time */
    uint64_t rest_most; /* the most that `rest` becomes */
    uint64_t until;     /* position in the stream up to which they rest */
    /* What hops and elements take, which decides where it is known: with cycles, and for counts where the
     * trace has cycle counts and many packets of atoms for each address. */
    bool paced;
    bool resting;          /* elements are followed, up to `until` */
    bool probed;           /* elements were followed for nothing but to be measured */
    uint64_t probe;        /* bytes for which elements are followed to be measured */
    uint64_t patience;     /* bytes of hops before time decides */
    uint64_t hopped;       /* bytes of hops up to the last judgement */
    uint64_t measure_from; /* position from which elements are measured; 0: they are already */
    uint64_t probe_from;   /* position from which they are measured once more */
    double before;         /* pace.hops of the judgement before; 0 behind a rest */
    struct ct_hops_pace pace;
};

/* blocks of a strip, and addresses that are written behind the last one, at most */
#define CT_STRIP_BLOCKS 128u
#define CT_STRIP_BEYOND 64u

/* Stretches that are listed from the scan (hops_strips.c), with their addresses, bit 0 the instruction set,
 * behind the three before number 0. */
struct ct_hops_strip {
    struct ct_etm4_chunk chunk;
    struct ct_fast_strip list;
    struct ct_cut_others others;
    struct ct_atom_row atoms;
    uint8_t address_headers[256];          /* the headers of addresses */
    unsigned address_kinds;                /* how many headers of addresses there are */
    uint8_t atom_headers[CT_ATOM_HEADERS]; /* the headers of packets of few atoms */
    unsigned atom_kinds;                   /* how many headers of such packets there are */
    unsigned blocks;                       /* how many blocks have masks */
    struct {
        uint64_t atoms, addresses;
    } masks[CT_STRIP_BLOCKS]; /* where the packets of each block begin */
    uint32_t count;           /* the number of the last address */
    uint64_t past[2 + CT_STRIP_PLACES + CT_STRIP_BEYOND];
    uint8_t headers[CT_STRIP_PLACES + CT_STRIP_BEYOND]; /* of the addresses from number 1 on */
    uint8_t rows[CT_SCAN_BYTES + CT_SCAN_BLOCK];        /* with AVX-512: rows of those of a chunk */
};

struct ct_etm4_hops {
    struct ct_etm4_fast *bytes;
    struct ct_fast *fast;
    uint32_t generation; /* of the blocks */
    struct ct_hops hops;
    struct ct_hops_worth worth;
    uint64_t passed; /* bytes since the edges got what was counted */
    /* Without cycles. */
    struct ct_ahead ways[CT_LANES];
    unsigned here; /* index of the first lane */
    bool ahead;    /* the other one is at work, too */
    struct ct_ahead_search search;
    size_t asked_at; /* where the run was the last time */
    /* With cycles. */
    struct ct_etm4_chunk chunk;
    struct ct_etm4_cuts cuts;
    struct ct_cut_others others;
    unsigned count;
    struct ct_cut_count counts[CT_SCAN_BYTES];
    /* While hops without cycles rest. */
    struct ct_hops_strip strip;
};

/* Tells whether the engine is between two steps whose blocks are known. */
static inline bool ct_etm4_hops_is_ready(const struct ct_etm4_hops *h)
{
    return ct_fast_is_at_place(h->fast);
}

/* Gives the number of the state of engine and decoder. 0: hops cannot begin there. */
uint32_t ct_etm4_hops_state(struct ct_etm4_hops *h);

/* Tells whether counters, which have 32 bits, might overflow and are to be emptied first. No hop is shorter
 * than a byte. */
bool ct_etm4_hops_is_long(const struct ct_etm4_hops *h);

/* Passes the packets up to place `to` of the run, which are done. `others` are those of them that are neither
 * atoms nor addresses. */
void ct_etm4_hops_pass(struct ct_etm4_hops *h, struct ct_work *work, size_t to, struct ct_cut_others *others);

/* Do what ct_etm4_hops_run does: without cycles, and with them. */
int ct_etm4_hops_counts(struct ct_etm4_hops *h, struct ct_work *work);
int ct_etm4_hops_cycles(struct ct_etm4_hops *h, struct ct_work *work);

/* Counts stretches straight from the scan, without cycles, as far as they go. */
int ct_etm4_hops_strips(struct ct_etm4_hops *h, struct ct_work *work);

/* Undoes what the second lane counted. */
void ct_etm4_hops_undo_ahead(struct ct_etm4_hops *h);

#endif
