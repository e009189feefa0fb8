/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenCSD 1.3.3 does otherwise with PTM and ETMv3, taken out of random trace. */
#ifndef CT_TEST_V7_PATCH_H
#define CT_TEST_V7_PATCH_H

#include <stddef.h>

#include "coretap/input.h"

enum {
    V7_ROOM = 404 * 24 + 8, /* bytes of a trace at most */
};

struct v7_trace {
    const struct ct_source *source;
    int elems; /* elements are compared, not packets */
    int thumb; /* the code is T32 */
    uint8_t *bytes;
    size_t size;
};

/* Changes bytes of the trace, and may shorten it. */
void v7_patch(struct v7_trace *trace);

#endif
