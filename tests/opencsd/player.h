/* SPDX-License-Identifier: Apache-2.0 */
/* A client of OpenCSD's C interface that passes it a trace and writes down all output: elements, packets,
 * messages, results. */
#ifndef CT_TEST_OPENCSD_PLAYER_H
#define CT_TEST_OPENCSD_PLAYER_H

#include <stdio.h>

#include "coretap/input.h"
#include "opencsd/library.h"

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
    int no_end;      /* leaves out the EOT */
    int severity;
    uint8_t past; /* value of bytes put behind those of each call; 0: the bytes are passed as they are */
    /* Reads memory of the target and returns the number of bytes read. */
    uint32_t (*read)(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                     uint8_t *bytes);
    const void *memory;
    /* State: */
    uint32_t elements, texts;
};

/* Decodes a trace. Returns an ocsd_err_t when a decoder cannot be made, else 0. */
int player_play(struct player *player, const uint8_t *trace, size_t size);

#endif
