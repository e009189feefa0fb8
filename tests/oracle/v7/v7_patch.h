/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from random PTM and ETMv3 trace what OpenCSD 1.3.3 handles differently. */
#pragma once

#include <stddef.h>

#include "coretap/input.h"

enum {
    V7_ROOM = 404 * 24 + 8, /* greatest number of bytes of a trace */
};

struct v7_trace {
    const struct ct_source *source;
    int elems; /* 1: elements are compared; 0: packets */
    int thumb; /* 1: T32 code */
    uint8_t *bytes;
    size_t size;
};

/* Changes bytes of the trace, and may shorten it. */
void v7_patch(struct v7_trace *trace);
