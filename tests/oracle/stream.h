/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams of ETMv4 and ETE along random programs. */
#pragma once

#include "oracle/ocsd.h"
#include "support/etm4_gen.h"
#include "support/rng.h"

enum {
    STREAM = 1000, /* number of packets */
    ROOM = STREAM * 24,
    REGIONS = 6,
    REGION_SIZE = 4096,
};

struct stream {
    struct ct_source source;
    uint8_t code[REGIONS][REGION_SIZE];
    struct ocsd_region regions[REGIONS];
    struct gen_region gen_regions[REGIONS];
    uint16_t waypoints[REGIONS][REGION_SIZE / 2];
    unsigned region_count;
    uint8_t bytes[ROOM];
    size_t size;
    size_t packets;
    int damaged;
};

/* Makes code of one state (64-bit or 32-bit) for s->source, in several places, near each other or not. */
void stream_fill_program(struct rng *rng, struct stream *s);

/* Makes a trace of s->source along its program. */
void stream_fill_trace(struct rng *rng, struct stream *s);
