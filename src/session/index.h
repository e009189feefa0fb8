/* SPDX-License-Identifier: Apache-2.0 */
/* An index of a buffer: synchronisation points of its streams, with the state of their clocks. */
#pragma once

#include <stdbool.h>

#include "coretap/decode.h"
#include "coretap/filter.h"
#include "session/sieve.h"

enum {
    CT_INDEX_STREAMS = 128, /* maximal number of streams in a buffer: one for each trace ID */
};

/* The clock of a stream at some byte, and what has come before it. */
struct ct_index_place {
    struct ct_sieve_clock clock;
    uint64_t elements;
    uint64_t counts;    /* number of cycle count elements */
    uint64_t addresses; /* number of elements with an address of execution */
    uint64_t owners;    /* instructions of ETMv3 whose data comes at some later point */
    uint64_t context;   /* hash of the last CONTEXT element and its offset in the capture; 0: none */
    uint64_t timestamp; /* the same for the last TIMESTAMP element */
    bool unclear;       /* a path was not traced, so the clock may lack instructions */
};

struct ct_index_point {
    uint64_t offset; /* of its first byte in the capture */
    uint64_t state;  /* as in struct ct_chain_point */
    struct ct_index_place place;
};

struct ct_index_stream {
    struct ct_index_point *points; /* sorted by offset */
    size_t count, room;
    struct ct_index_place end; /* state at the end of decoding */
};

struct ct_index {
    uint8_t framing;       /* enum ct_framing used for reading the buffer */
    bool followed;         /* the program was followed */
    bool has_instructions; /* the clocks count instructions */
    struct ct_index_stream streams[CT_INDEX_STREAMS];
};

/* What to index, and how far. */
struct ct_index_look {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    uint64_t ids[2];                    /* the wanted IDs, as in struct ct_chain_options */
    const struct ct_filter_point *from; /* each stream is decoded until it reaches this point; NULL: to its
                                           end */
    const struct ct_filter_point *to;
    bool instructions; /* count instructions, which requires following the program */
    uint64_t align;    /* in framed trace, decoding begins at multiples of so many bytes */
    uint64_t apart;    /* minimal distance between two points of a stream, in bytes */
    void *user;
    int (*progress)(void *user, uint64_t bytes); /* as in struct ct_session_options; or NULL */
};

void ct_index_free(struct ct_index *index);

/* Advances a place by elements, like a sieve advances its clock by the steps and marks made from them; not by
 * instructions. */
void ct_index_count(struct ct_index_place *place, enum ct_protocol protocol,
                    const struct ct_elem_batch *batch);

/* Returns the number of instructions that a stream of a chain has executed. */
uint64_t ct_index_instructions(const struct ct_chain *chain, uint8_t id);

/* Makes an index: decodes the buffer to elements, or along the program. The errors of a chain, and what
 * `progress` returned. */
int ct_index_make(const struct ct_index_look *look, struct ct_index **out);

/* Returns whether a clock has reached a point in ticks, cycles or instructions. */
bool ct_index_is_reached(const struct ct_sieve_clock *clock, const struct ct_filter_point *point);

/* Where decoding begins for a window. */
struct ct_index_begin {
    uint64_t offset; /* of the first byte to decode, in the capture; 0 for the beginning */
    uint8_t framing;
    bool dead[CT_INDEX_STREAMS];                    /* the stream ends before the window */
    struct ct_sieve_clock clocks[CT_INDEX_STREAMS]; /* of the other streams, at the start of their decoding */
};

/* Finds the latest offset from which decoding gives the same results as from the first byte, for everything
 * at `look->from` or later. The errors of a chain. */
int ct_index_find(const struct ct_index *index, const struct ct_index_look *look,
                  struct ct_index_begin *begin);

/* Makes a new chain begin there. The chain must have the framing begin->framing. */
void ct_index_begin_chain(struct ct_chain *chain, const struct ct_index_begin *begin);
