/* SPDX-License-Identifier: Apache-2.0 */
/* A client of OpenCSD's C interface that passes it a trace and writes down all output: elements, packets,
 * messages, results. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/input.h"
#include "opencsd/library.h"
#include "support/rng.h"

/* Operations as bits. */
enum {
    PLAYER_EOT = 1 << OCSD_OP_EOT,
    PLAYER_FLUSH = 1 << OCSD_OP_FLUSH,
    PLAYER_RESET = 1 << OCSD_OP_RESET,
};

struct player {
    const struct library *library;
    FILE *out;
    const struct ct_buffer *buffer; /* whose sources are decoded */
    uint32_t chunk;                 /* greatest number of bytes per call */
    uint32_t wait;                  /* answers WAIT to one element in this many; 0: to none */
    int create_flags;
    int tree_flags;
    int single;      /* the trace has no frames */
    int show_memory; /* prints each call of the memory callback */
    int show_raw;    /* prints every member of elements */
    int hides_isa;   /* contexts without their instruction set, which 1.3.3 does not set for ETMv3 */
    int as_packets;  /* 1: only packets, printed by the library; 2: with their bytes; 3: members of STM
                      * packets */
    int frames;      /* flags for printing raw frames, or 0 */
    uint32_t reset;  /* calls between RESETs; 0: no RESET */
    uint32_t flush;  /* calls between FLUSHes; 0: no FLUSH */
    uint32_t small;  /* calls have a random size up to this number of bytes; 0: `chunk` bytes */
    uint32_t ops;    /* one call in this many is followed by random operations; 0: none is */
    unsigned op_set; /* operations that are made at random: PLAYER_… */
    bool goes_on;    /* random EOTs without a RESET behind them */
    uint64_t seed;   /* of random operations and sizes */
    int no_end;      /* leaves out the EOT */
    int severity;
    uint8_t past; /* value of bytes put behind those of each call; 0: the bytes are passed as they are */
    /* Reads memory of the target and returns the number of bytes read. */
    uint32_t (*read)(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                     uint8_t *bytes);
    const void *memory;
    /* State: */
    uint32_t elements, texts;
    struct rng rng;
};

/* Makes a player cut the trace and make operations of `op_set` at random: in some traces calls of 1 to 17
 * bytes, in some operations after some of the calls. */
void player_vary(struct player *player, struct rng *rng, unsigned op_set);

/* Decodes a trace. Returns an ocsd_err_t when a decoder cannot be made, else 0. */
int player_play(struct player *player, const uint8_t *trace, size_t size);
