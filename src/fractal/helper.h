/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidation Helper: queues requests of the other modules and turns them into commands, one per line or
 * translation. wire.h encodes the commands for a coherence protocol. */
#pragma once

#include "coretap/fractal.h"

struct ct_request {
    uint64_t pa, va;
    uint64_t stride; /* TLBI_VA: distance between the addresses, in bytes */
    uint32_t count;  /* CLEAN: consecutive lines from pa on; TLBI_VA: addresses; else 1 */
    uint8_t kind;    /* enum ct_fractal_command_kind */
};

struct ct_helper {
    struct ct_request *queue;
    uint32_t capacity, head, count;
    uint32_t done; /* commands of the first request that were issued */
    uint16_t asid;
    uint8_t overflow; /* a request found no room; impossible while the queue is drained */
    uint64_t issued;
};

int ct_helper_init(struct ct_helper *h, uint32_t capacity);
void ct_helper_free(struct ct_helper *h);
void ct_helper_reset(struct ct_helper *h);

void ct_helper_read(struct ct_helper *h, uint64_t pa, int peek);
void ct_helper_clean(struct ct_helper *h, uint64_t pa, uint32_t lines);
void ct_helper_ici(struct ct_helper *h, uint64_t va, uint64_t pa);
/* Queues invalidations of `count` addresses, `stride` bytes apart. Parts of a contiguous mapping can be
 * cached separately. */
void ct_helper_tlbi(struct ct_helper *h, uint64_t va, uint32_t count, uint64_t stride);
void ct_helper_tlbi_asid(struct ct_helper *h);

/* Takes the next command. Returns 0 when the queue is empty. */
int ct_helper_next(struct ct_helper *h, struct ct_fractal_command *out);
