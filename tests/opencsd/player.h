/* SPDX-License-Identifier: Apache-2.0 */
/* A client of OpenCSD's C interface that feeds a trace and writes down all that it gets back: elements,
 * packets, messages, results. */
#ifndef CT_TEST_OPENCSD_PLAYER_H
#define CT_TEST_OPENCSD_PLAYER_H

#include <stdio.h>

#include "coretap/input.h"
#include "opencsd/library.h"

struct player {
    const struct library *library;
    FILE *out;
    const struct ct_buffer *buffer; /* its sources are decoded */
    uint32_t chunk;                 /* bytes in a call at most */
    uint32_t wait;                  /* 1 in so many elements is answered with WAIT; 0: none */
    int create_flags;
    int tree_flags;
    int single;      /* the trace has no frames */
    int show_memory; /* write down each call of the memory callback */
    int show_raw;    /* write down each member of elements */
    int hides_isa;   /* contexts without their instruction set, which 1.3.3 leaves open for ETMv3 */
    int as_packets;  /* 1: packets alone, printed by the library; 2: with their bytes; 3: members of STM */
    int frames;      /* raw frames to be printed, or 0 */
    uint32_t reset;  /* after each so many calls a RESET; 0: none */
    uint32_t flush;  /* after each so many calls a FLUSH; 0: none */
    int no_end;      /* no EOT */
    int severity;
    /* Reads memory: the bytes that were read. */
    uint32_t (*read)(const struct player *player, uint64_t addr, uint32_t space, uint32_t size,
                     uint8_t *bytes);
    const void *memory;
    /* Its own: */
    uint32_t elements, texts;
};

/* Decodes the trace. Result: an ocsd_err_t when a decoder cannot be made. */
int player_play(struct player *player, const uint8_t *trace, size_t size);

#endif
