/* SPDX-License-Identifier: Apache-2.0 */
/* Random ETMv4 and ETE: sources, packets of every type that their registers allow, streams of them. */
#ifndef CT_TEST_ETM4_GEN_H
#define CT_TEST_ETM4_GEN_H

#include "coretap/encode.h"
#include "support/rng.h"
#include "base/etm4_config.h"

/* What kind of source is wanted. */
enum gen_source_kind {
    GEN_ANY,         /* everything a packet decoder must know, conditional and data tracing included */
    GEN_DECODABLE,   /* no conditional, data and Q tracing: what full decoders take */
    GEN_UNSPECULATED /* … and MAXSPEC 0 */
};

/* A source with random registers. */
void gen_source(struct rng *rng, enum gen_source_kind kind, struct ct_source *out);

/* One random stream: the generator keeps the state that an encoder has, so that the packets can be said. */
struct gen {
    struct rng *rng;
    struct ct_etm4_config config;
    uint64_t history[3];
    uint8_t history_is[3];
    uint64_t ts;
    uint32_t ccthr;
    uint8_t sf;
    uint32_t uncommitted; /* P0 elements that are not committed */
    /* Where code is, for addresses that lead somewhere; none: addresses are random. */
    const struct gen_region *regions;
    unsigned region_count;
    uint64_t want; /* not 0: the next address */
};

struct gen_region {
    uint64_t addr;
    uint32_t size;
    uint8_t is;                /* enum ct_isa_select of the code in it */
    uint8_t sf;                /* it is A64 code */
    const uint16_t *waypoints; /* offsets of instructions that a source address can name; may be none */
    unsigned waypoint_count;
};

void gen_init(struct gen *gen, struct rng *rng, const struct ct_source *source);

/* A random packet of type `type`; fields are as a decoder would show them. 0: not with these registers. */
int gen_packet(struct gen *gen, unsigned type, struct ct_etm4_packet *out);

/* The next packets of a stream that a trace unit might emit: 1 to 4 that belong together. */
unsigned gen_sensible(struct gen *gen, struct ct_etm4_packet out[4]);

/* Packets every stream begins with: alignment, trace info, trace on, address with context. */
unsigned gen_prologue(struct gen *gen, struct ct_etm4_packet out[4]);

#endif
