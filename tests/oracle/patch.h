/* SPDX-License-Identifier: Apache-2.0 */
/* Situations in which OpenCSD 1.3.3 cannot be compared with, taken out of a stream by changing the bytes of
 * the packet and no others. Each is counted. */
#ifndef CT_TEST_PATCH_H
#define CT_TEST_PATCH_H

#include "base/etm4_config.h"
#include "coretap/packet.h"

enum patch_kind {
    PATCH_CONTEXT_SIZE,  /* a context that announces an identifier without bytes */
    PATCH_WORLD,         /* a context of root or realm */
    PATCH_SPEC,          /* a trace info with P0 elements from before it */
    PATCH_LONG_FIELD,    /* a continued field that goes on after its last byte, and fields behind it */
    PATCH_CANCEL,        /* a cancel of an ETE with MAXSPEC above 0, where source addresses may be */
    PATCH_MISPREDICT,    /* a mispredict, alone or with a cancel */
    PATCH_TARGET,        /* an exception without the address of its handler */
    PATCH_RETURN,        /* a return with nothing on the return stack and no address */
    PATCH_RETURN_TARGET, /* an exception with E1:E0 = 2 behind a taken branch, with the return stack on */
    PATCH_ERET,          /* execution behind an exception return without an address, return stack on */
    PATCH_M_RETURN,      /* an exception return of v8-M */
    PATCH_COUNT
};

struct patches {
    uint64_t count[PATCH_COUNT];
};

/* Why each is there. */
extern const char *const patch_reasons[PATCH_COUNT];

/* Patches of the kinds in the mask `kinds` (1 << kind). */
void patch_stream(struct patches *patches, unsigned kinds, const struct ct_source *source, uint8_t *bytes,
                  const struct ct_etm4_packet *packets, size_t count);

/* The kind PATCH_TARGET. Result: how many. */
int patch_targets(uint8_t *bytes, const struct ct_etm4_packet *packets, size_t count);

/* A packet that stands for execution. */
int patch_is_execution(const struct ct_etm4_packet *packet);

void patch_report(const struct patches *patches);

#endif
