/* SPDX-License-Identifier: Apache-2.0 */
/* An index of a buffer: synchronisation points of its streams, with what is known there. */
#ifndef CT_SESSION_INDEX_H
#define CT_SESSION_INDEX_H

#include <stdbool.h>

#include "coretap/decode.h"
#include "coretap/filter.h"
#include "session/sieve.h"

enum {
    CT_INDEX_STREAMS = 128, /* of a buffer: one for each trace ID */
};

/* What a stream has told up to some byte of it. */
struct ct_index_place {
    struct ct_sieve_clock clock;
    uint64_t elements;
    uint64_t counts;    /* elements that are cycle counts */
    uint64_t addresses; /* elements that tell where execution is */
    uint64_t owners;    /* instructions of ETMv3 whose data comes later, nobody knows how much later */
    uint64_t context;   /* hash of the last CONTEXT element and its offset in the capture; 0: there was
                           none */
    uint64_t timestamp; /* the same of the last TIMESTAMP element */
    bool unclear;       /* a path was not traced, so that the clock may lack instructions */
};

struct ct_index_point {
    uint64_t offset; /* of its first byte in the capture */
    uint64_t state;  /* as in struct ct_chain_point */
    struct ct_index_place place;
};

struct ct_index_stream {
    struct ct_index_point *points; /* in the order of their offsets */
    size_t count, room;
    struct ct_index_place end; /* what the stream had told where the look ended */
};

struct ct_index {
    uint8_t framing;       /* enum ct_framing with which the buffer was read */
    bool followed;         /* the look followed the program */
    bool has_instructions; /* the clocks count instructions */
    struct ct_index_stream streams[CT_INDEX_STREAMS];
};

/* What a look at a buffer is for. */
struct ct_index_look {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    uint64_t ids[2];                    /* the wanted IDs, as in struct ct_chain_options */
    const struct ct_filter_point *from; /* each stream is looked at until it reaches this point; NULL: to its
                                           end */
    const struct ct_filter_point *to;
    bool instructions; /* count instructions, for which the program is followed */
    uint64_t align;    /* where the trace has frames, decoding begins at multiples of so many bytes */
    uint64_t apart;    /* the least distance between two points of a stream, in bytes */
    void *user;
    int (*progress)(void *user, uint64_t bytes); /* as in struct ct_session_options; or NULL */
};

void ct_index_free(struct ct_index *index);

/* Moves a place on by elements, as a sieve moves its clock by the steps and marks that follow from them; not
 * by instructions. */
void ct_index_count(struct ct_index_place *place, enum ct_protocol protocol,
                    const struct ct_elem_batch *batch);

/* Returns the instructions that a stream of a chain executed so far. */
uint64_t ct_index_instructions(const struct ct_chain *chain, uint8_t id);

/* Makes an index: decodes the buffer to elements, or along the program. The errors of a chain, and what
 * `progress` returned. */
int ct_index_make(const struct ct_index_look *look, struct ct_index **out);

/* Tells whether a clock has come to a point that is given in ticks, cycles or instructions. */
bool ct_index_is_reached(const struct ct_sieve_clock *clock, const struct ct_filter_point *point);

/* Where decoding begins for a window. */
struct ct_index_begin {
    uint64_t offset; /* of the first byte to decode, in the capture; 0 for the beginning */
    uint8_t framing;
    bool dead[CT_INDEX_STREAMS];                    /* the stream ends before the window */
    struct ct_sieve_clock clocks[CT_INDEX_STREAMS]; /* of the other streams, where their decoding begins */
};

/* Finds the latest place from which decoding gives the same as decoding from the first byte, for all that is
 * at `look->from` or later. The errors of a chain. */
int ct_index_find(const struct ct_index *index, const struct ct_index_look *look,
                  struct ct_index_begin *begin);

/* Lets a new chain begin at that place. The chain must have the framing begin->framing. */
void ct_index_begin_chain(struct ct_chain *chain, const struct ct_index_begin *begin);

#endif
