/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of hops. A hop is a few bytes of trace that lead from one state of decoding to another, whatever
 * came before. A state consists of the last step and of the addresses that later packets may be compressed
 * against. Decoding only counts how often each hop is made; the counts are added to the edges when the hop
 * makes room for another one, or at the end. For ETMv4 and ETE without speculation and without a return
 * stack. */
#pragma once

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

/* multiplier of the hashes: 2^64 divided by the golden ratio */
#define CT_HOP_MIX UINT64_C(0x9e3779b97f4a7c15)

/* A link is the number of a state in the form that look-ups need: the low CT_QUICK_SHIFT bits, which choose a
 * place in the quick table, shifted by 4 because places have 16 bytes, and the other bits << 24. */
#define CT_LINK_PLACE ((UINT32_C(1) << (CT_QUICK_SHIFT + 4)) - 16)

static inline uint32_t ct_hop_link(uint32_t state)
{
    return (state << 4 & CT_LINK_PLACE) | state >> CT_QUICK_SHIFT << 24;
}

static inline uint32_t ct_hop_linked(uint32_t link)
{
    return (link & CT_LINK_PLACE) >> 4 | link >> 24 << CT_QUICK_SHIFT;
}

/* A hop of the quick table, which is read for each atom packet. 16 bytes. */
struct ct_quick_hop {
    uint64_t key;   /* bytes of the hop, zeros behind them, and link >> 24 of its first state << 56 */
    uint32_t next;  /* link of the state that it leads to */
    uint32_t count; /* how often it was made since its count was last added to the edges */
};

/* key of an empty place */
#define CT_HOP_EMPTY UINT64_MAX

/* The bytes of a hop; zeros follow the last one. */
struct ct_hop_bytes {
    uint64_t words[CT_HOP_BYTES / 8];
};

/* Reads CT_HOP_BYTES bytes at `data` and returns the first `size` of them, followed by zeros. */
static inline struct ct_hop_bytes ct_hop_bytes_at(const uint8_t *data, unsigned size)
{
    struct ct_hop_bytes b;
    for (unsigned i = 0; i < CT_HOP_BYTES / 8; i++)
        b.words[i] = ct_load64(data + i * 8) & ct_mask64(size > i * 8 ? (size - i * 8) * 8 : 0);
    return b;
}

/* A hop of the wide table, of any length. 40 bytes. */
struct ct_hop {
    struct ct_hop_bytes bytes;
    uint32_t state;  /* the state in which it begins; 0: the place is empty */
    uint32_t next;   /* the state that it leads to */
    uint32_t count;  /* as in ct_quick_hop */
    uint32_t cycles; /* cycles of those that `count` counts; hops with other cycles are in the cycle table */
};

/* An entry of the cycle table: how often a hop took a number of cycles other than that of its own entry. */
struct ct_hop_cycles {
    uint32_t record; /* record of the hop; 0: the entry is empty */
    uint32_t cycles;
    uint32_t count;
};

/* A state of decoding, in which hops begin and end. */
struct ct_hop_state {
    uint64_t recent_addresses[3]; /* newest first, with the instruction set in bit 0 */
    uint32_t last; /* block of the last step << 2 | whether an address came behind the step << 1 | whether its
                      branch was executed */
    uint32_t cur;  /* the block that execution is at, by the program; 0: it is behind an indirect branch */
    uint32_t next_same;
    uint32_t edge; /* edge of the last step, once a hop from this state on is known; else CT_NO_NUMBER */
};

/* The tables of hops of a stream, and what their counts go to. */
struct ct_hops {
    struct ct_ctx *ctx;
    struct ct_blocks *blocks;    /* blocks of the engine */
    struct ct_edges *edges;      /* edges that the engine counts */
    struct ct_flow_sums *sums;   /* sums of the engine */
    struct ct_etm4_burst *burst; /* has the counts of packets by header */
    uint64_t elements;           /* number of elements of the hops counted */
    struct ct_etm4_burst reader; /* reads packets of one hop, in 32- or 64-bit state as its first block is */
    struct ct_quick_hop *quick;
    uint32_t *quick_records; /* record of each hop in `quick`, by place */
    uint32_t *quick_cycles;  /* cycles of those that `quick` counts, by place; NULL: cycles are not counted */
    struct ct_hop *wide;
    uint32_t *wide_records;            /* record of each hop in `wide`, by place */
    struct ct_places counted;          /* without cycles: places of wide hops whose count is not 0 */
    struct ct_hop_cycles *cycle_table; /* NULL: cycles are not counted */
    struct ct_hop_state *states;       /* states by number; number 0 is no state */
    uint32_t *heads;                   /* hash index of the states; it has 2 * state_cap entries */
    uint32_t state_count, state_cap;
    uint32_t *records; /* records by place; place 0 is no record */
    uint32_t record_size, record_cap;
    uint64_t missed; /* cost of look-ups that missed; moving a hop to the quick table costs 1 */
    uint64_t enough; /* limit of `missed`; beyond it, lanes end at the first miss */
    bool timed;
    bool known_only; /* new hops may only contain steps that the engine has already made */
    int error;
};

/* Prepares the object, without allocating its tables. */
void ct_hops_init(struct ct_hops *h, struct ct_ctx *ctx, struct ct_fast *fast, struct ct_etm4_burst *burst);

/* Allocates the tables unless they exist. Returns CT_ERR_NOMEM when memory runs out. */
int ct_hops_have_tables(struct ct_hops *h);

void ct_hops_deinit(struct ct_hops *h);

/* Returns the number of a state, and adds the state when it is new. Returns 0 when memory runs out. */
uint32_t ct_hops_state(struct ct_hops *h, const uint64_t recent_addresses[3], uint32_t last, uint32_t cur);

/* Returns the state behind the packets in `bytes`, the last of which has atoms, when execution is at the
 * newest of the recent addresses before them. What came before does not matter. Returns 0 when the packets
 * lead to an unknown block. */
uint32_t ct_hops_land(struct ct_hops *h, const uint64_t recent_addresses[3], uint16_t domain,
                      const struct ct_hop_bytes *bytes, unsigned size);

/* cost, as counted in `missed`, of making a hop, and of putting another number of cycles into the cycle
 * table */
#define CT_HOP_MADE   3u
#define CT_HOP_CYCLES 2u

/* Counts that the hop of a record was made `times` more times, each of them in `cycles`. */
void ct_hops_spend(struct ct_hops *h, uint32_t record, uint32_t cycles, uint64_t times);

/* Makes the hop of the `size` bytes in hop.bytes from hop.state on, and puts it into the wide table, where it
 * replaces the hop at `place`. Returns NULL when the bytes cannot be a hop, or when h->error is set. */
struct ct_hop *ct_hops_make_wide(struct ct_hops *h, size_t place, struct ct_hop hop, unsigned size);

/* Puts a hop that takes `cycles` into the quick table, where it replaces the hop at `place`. */
struct ct_quick_hop *ct_hops_put_quick(struct ct_hops *h, size_t place, uint64_t key, uint32_t next,
                                       uint32_t record, uint32_t cycles);

/* Adds all pending counts to the edges. Returns an error code or CT_OK. */
int ct_hops_sync(struct ct_hops *h);

bool ct_hops_are_full(const struct ct_hops *h);

/* Adds all pending counts to the edges, then forgets all hops and states. Returns an error code or CT_OK. */
int ct_hops_clear(struct ct_hops *h);
