/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidation Helper: queues what the other modules want done and turns it into commands, one for each line
 * or translation. What a command is in a coherence protocol is wire.h's. */
#ifndef CT_FRACTAL_HELPER_H
#define CT_FRACTAL_HELPER_H

#include "coretap/fractal.h"

struct ct_request {
    uint64_t pa, va;
    uint64_t stride; /* TLBI_VA: bytes between the addresses */
    uint32_t count;  /* CLEAN: consecutive lines from pa on; TLBI_VA: addresses; otherwise 1 */
    uint8_t kind;    /* enum ct_fractal_command_kind */
};

struct ct_helper {
    struct ct_request *queue;
    uint32_t capacity, head, count;
    uint32_t done; /* of the request at the head */
    uint16_t asid;
    uint8_t overflow; /* a request found no place; cannot be as long as the queue is drained */
    uint64_t issued;
};

int ct_helper_init(struct ct_helper *h, uint32_t capacity);
void ct_helper_free(struct ct_helper *h);
void ct_helper_reset(struct ct_helper *h);

void ct_helper_read(struct ct_helper *h, uint64_t pa, int peek);
void ct_helper_clean(struct ct_helper *h, uint64_t pa, uint32_t lines);
void ct_helper_ici(struct ct_helper *h, uint64_t va, uint64_t pa);
/* Queues invalidations of `count` addresses, `stride` bytes apart. Each part of a contiguous mapping can be
 * cached by itself. */
void ct_helper_tlbi(struct ct_helper *h, uint64_t va, uint32_t count, uint64_t stride);
void ct_helper_tlbi_asid(struct ct_helper *h);

/* Takes the next command; returns 0 when the queue is empty. */
int ct_helper_next(struct ct_helper *h, struct ct_fractal_command *out);

#endif
