/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from a stream the situations in which it cannot be compared with OpenCSD 1.3.3, by changing bytes
 * of the packet that causes them. Counts each of them. */
#pragma once

#include "base/etm4_config.h"
#include "coretap/packet.h"

enum patch_kind {
    PATCH_CONTEXT_SIZE,  /* a context that announces an identifier of no bytes */
    PATCH_WORLD,         /* a context of root or realm */
    PATCH_SPEC,          /* a trace info with P0 elements of before */
    PATCH_LONG_FIELD,    /* a continued field that continues after its last byte, and fields after it */
    PATCH_CANCEL,        /* a cancel of an ETE with MAXSPEC above 0, which may have source addresses */
    PATCH_MISPREDICT,    /* a mispredict, alone or with a cancel */
    PATCH_TARGET,        /* an exception without the address of its handler */
    PATCH_RETURN,        /* a return without an address when the return stack is empty */
    PATCH_RETURN_TARGET, /* an exception with E1:E0 = 2 after a taken branch, with the return stack on */
    PATCH_ERET,          /* execution after an exception return without an address, return stack on */
    PATCH_M_RETURN,      /* an exception return of v8-M */
    PATCH_COUNT
};

struct patches {
    uint64_t count[PATCH_COUNT];
};

/* The reason for each kind. */
extern const char *const patch_reasons[PATCH_COUNT];

/* Patches the kinds in the mask `kinds` (1 << kind). */
void patch_stream(struct patches *patches, unsigned kinds, const struct ct_source *source, uint8_t *bytes,
                  const struct ct_etm4_packet *packets, size_t count);

/* Patches PATCH_TARGET. Returns how many were patched. */
int patch_targets(uint8_t *bytes, const struct ct_etm4_packet *packets, size_t count);

/* Returns whether a packet stands for execution. */
int patch_is_execution(const struct ct_etm4_packet *packet);

void patch_report(const struct patches *patches);
