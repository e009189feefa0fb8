/* SPDX-License-Identifier: Apache-2.0 */
/* Random ETMv4 and ETE: sources, packets of every type that their registers allow, and streams of packets. */
#pragma once

#include "coretap/encode.h"
#include "support/rng.h"
#include "base/etm4_config.h"

/* Kind of a random source. */
enum gen_source_kind {
    GEN_ANY,         /* everything a packet decoder must know, with conditional and data tracing */
    GEN_DECODABLE,   /* no conditional, data or Q tracing: what full decoders accept */
    GEN_UNSPECULATED /* … and MAXSPEC 0 */
};

/* Makes a source with random registers. */
void gen_source(struct rng *rng, enum gen_source_kind kind, struct ct_source *out);

/* A random stream. The generator keeps the state that an encoder has, so that every packet can be encoded. */
struct gen {
    struct rng *rng;
    struct ct_etm4_config config;
    uint64_t history[3];
    uint8_t history_is[3];
    uint64_t ts;
    uint32_t ccthr;
    uint8_t sf;
    uint32_t uncommitted; /* P0 elements that are not committed yet */
    /* Code for addresses to lead to; with no regions, addresses are random. */
    const struct gen_region *regions;
    unsigned region_count;
    uint64_t want; /* next address; 0: a random one */
};

struct gen_region {
    uint64_t addr;
    uint32_t size;
    uint8_t is;                /* enum ct_isa_select of the code in it */
    uint8_t sf;                /* 1 for A64 code */
    const uint16_t *waypoints; /* offsets of instructions that a source address can name; may be NULL */
    unsigned waypoint_count;
};

void gen_init(struct gen *gen, struct rng *rng, const struct ct_source *source);

/* Makes a random packet of type `type`, with the fields that a decoder would set. Returns 0 when the
 * registers do not allow that type. */
int gen_packet(struct gen *gen, unsigned type, struct ct_etm4_packet *out);

/* Makes the next packets of a stream that a trace unit might emit, 1 to 4 that belong together. Returns how
 * many. */
unsigned gen_sensible(struct gen *gen, struct ct_etm4_packet out[4]);

/* Makes the packets that begin every stream: alignment, trace info, trace on, address with context. Returns
 * how many. */
unsigned gen_prologue(struct gen *gen, struct ct_etm4_packet out[4]);

/* Writes the trace of a source along regions of code, with at least `packets` packets. Returns its size, at
 * most `room`. */
size_t gen_trace(struct rng *rng, const struct ct_source *source, const struct gen_region *regions,
                 unsigned region_count, unsigned packets, uint8_t *bytes, size_t room);
