/* SPDX-License-Identifier: Apache-2.0 */
/* Trace remembered as hops: from one state of decoding, a few bytes of trace lead to another state, whatever
 * came before. How often each hop was made is all that is counted; what it adds to the edges is added when it
 * makes room for another one, or at the end. A state is the last step and the addresses that the next packets
 * may be said relative to. For ETMv4 and ETE without speculation and without a return stack. */
#ifndef CT_ETM4_HOP_TABLE_H
#define CT_ETM4_HOP_TABLE_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/places.h"
#include "etm4/burst.h"
#include "flow/fast.h"

#define CT_HOP_BYTES    24u /* longest hop, in bytes */
#define CT_HOP_QUICK    7u  /* longest hop in the quick table, in bytes */
#define CT_QUICK_SHIFT  16  /* log2 of the entries of the quick table */
#define CT_WIDE_SHIFT   15  /* log2 of the entries of the wide table, for hops of any length */
#define CT_CYCLES_SHIFT 15  /* log2 of the entries of the cycle table */

/* What hashes are made with: 2^64 by the golden ratio. */
#define CT_HOP_MIX UINT64_C(0x9e3779b97f4a7c15)

/* A state in the form that look-ups use: the part that chooses a place, shifted by 4 for places of 16 bytes,
 * and the rest << 24. */
#define CT_LINK_PLACE ((UINT32_C(1) << (CT_QUICK_SHIFT + 4)) - 16)

static inline uint32_t ct_hop_link(uint32_t state)
{
    return (state << 4 & CT_LINK_PLACE) | state >> CT_QUICK_SHIFT << 24;
}

static inline uint32_t ct_hop_linked(uint32_t link)
{
    return (link & CT_LINK_PLACE) >> 4 | link >> 24 << CT_QUICK_SHIFT;
}

/* 16 bytes: what is looked at for each atom packet. */
struct ct_quick_hop {
    uint64_t key;   /* bytes, 0 behind the last, and the rest of the link where it begins << 56 */
    uint32_t next;  /* link of the state where it leads */
    uint32_t count; /* how often it was made and the edges do not know it yet */
};

/* The key of a place without a hop. */
#define CT_HOP_EMPTY UINT64_MAX

/* The bytes of a hop; zeros follow the last one. */
struct ct_hop_bytes {
    uint64_t words[CT_HOP_BYTES / 8];
};

/* Gives `size` bytes of CT_HOP_BYTES that can be read. */
static inline struct ct_hop_bytes ct_hop_bytes_at(const uint8_t *data, unsigned size)
{
    struct ct_hop_bytes b;
    for (unsigned i = 0; i < CT_HOP_BYTES / 8; i++)
        b.words[i] = ct_load64(data + i * 8) & ct_mask64(size > i * 8 ? (size - i * 8) * 8 : 0);
    return b;
}

/* 40 bytes: any hop. */
struct ct_hop {
    struct ct_hop_bytes bytes;
    uint32_t state;  /* where it begins; 0: none */
    uint32_t next;   /* where it leads */
    uint32_t count;  /* as above */
    uint32_t cycles; /* of the times that are counted here; times with others are in the cycle table */
};

/* An entry of the cycle table: how often a hop took so many cycles, where its own entry counts another
 * number. */
struct ct_hop_cycles {
    uint32_t record; /* of the hop; 0: none */
    uint32_t cycles;
    uint32_t count;
};

struct ct_hop_state {
    uint64_t recent_addresses[3]; /* addresses, newest first, with the instruction set in bit 0 */
    uint32_t last; /* block of the last step << 2 | an address came behind it << 1 | executed */
    uint32_t cur;  /* block where execution is by the program; 0: behind an indirect branch */
    uint32_t next_same;
    uint32_t edge; /* of the last step, when a hop from here on is known; else CT_NO_NUMBER */
};

struct ct_hops {
    struct ct_ctx *ctx;
    struct ct_blocks *blocks;    /* blocks of the engine */
    struct ct_edges *edges;      /* edges that the engine counts */
    struct ct_flow_sums *sums;   /* what the engine adds up */
    struct ct_etm4_burst *burst; /* counts the packets of hops by header */
    uint64_t elements;           /* counts the elements of hops */
    struct ct_etm4_burst reader; /* of the packets of one hop, in 32- or 64-bit state as its first block is */
    struct ct_quick_hop *quick;
    uint32_t *quick_records; /* by place */
    uint32_t *quick_cycles;  /* those that are counted there, by place; NULL: cycles are not counted */
    struct ct_hop *wide;
    uint32_t *wide_records;            /* by place */
    struct ct_places counted;          /* without cycles: wide hops with a count */
    struct ct_hop_cycles *cycle_table; /* NULL: cycles are not counted */
    struct ct_hop_state *states;       /* 0 is none */
    uint32_t *heads;                   /* index of states: twice as many as there is room */
    uint32_t state_count, state_cap;
    uint32_t *records; /* 0 is none */
    uint32_t record_size, record_cap;
    uint64_t missed; /* cost of look-ups that found something else, in moves of a hop to the quick table */
    uint64_t enough; /* the most that `missed` may be: beyond it lanes end at what is not found */
    bool timed;
    bool known_only; /* hops that are made must not meet anything new in the program */
    int error;
};

/* Prepares an object without memory, which remembers nothing. */
void ct_hops_init(struct ct_hops *h, struct ct_ctx *ctx, struct ct_fast *fast, struct ct_etm4_burst *burst);

/* Makes the tables unless they are there. CT_ERR_NOMEM. */
int ct_hops_have_tables(struct ct_hops *h);

void ct_hops_deinit(struct ct_hops *h);

/* Returns the number of a state, which is added when it is new; 0 without memory. */
uint32_t ct_hops_state(struct ct_hops *h, const uint64_t recent_addresses[3], uint32_t last, uint32_t cur);

/* Returns the state behind some packets, the last of which has atoms, when execution goes on at the newest of
 * the recent addresses. It does not depend on what came before. 0: they lead to a block that is not known. */
uint32_t ct_hops_land(struct ct_hops *h, const uint64_t recent_addresses[3], uint16_t domain,
                      const struct ct_hop_bytes *bytes, unsigned size);

/* What it costs to make a hop, and to put another number of cycles into the cycle table, as in `missed`. */
#define CT_HOP_MADE   3u
#define CT_HOP_CYCLES 2u

/* Adds `times` traversals of a hop, by its record, to the edges; each took `cycles`. */
void ct_hops_spend(struct ct_hops *h, uint32_t record, uint32_t cycles, uint64_t times);

/* Makes the hop of the `size` bytes in hop.bytes from hop.state on, and puts it into the wide table in the
 * place of another one. NULL when they are no hop, or h->error says why. */
struct ct_hop *ct_hops_make_wide(struct ct_hops *h, size_t place, struct ct_hop hop, unsigned size);

/* Puts a hop that takes `cycles` into the quick table, in the place of another one. */
struct ct_quick_hop *ct_hops_put_quick(struct ct_hops *h, size_t place, uint64_t key, uint32_t next,
                                       uint32_t record, uint32_t cycles);

/* Adds what was counted to the edges. */
int ct_hops_sync(struct ct_hops *h);

bool ct_hops_are_full(const struct ct_hops *h);

/* Forgets all hops and states; their counts are added to the edges before. */
int ct_hops_clear(struct ct_hops *h);

#endif
