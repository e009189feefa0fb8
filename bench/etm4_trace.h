/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the trace that an ETMv4 would make of a path. */
#pragma once

#include "coretap/input.h"
#include "path.h"

enum trace_mode {
    TRACE_PLAIN,     /* atoms, addresses of indirect branches */
    TRACE_CYCLES,    /* atoms, addresses of indirect branches, cycle counts */
    TRACE_BROADCAST, /* atoms, cycle counts, an address for each branch taken, events */
};

struct trace {
    struct ct_source source;
    uint8_t *bytes;
    size_t size;
};

/* Returns a source with the registers of the trace unit. */
struct ct_source trace_source(enum trace_mode mode);

/* Returns the trace of steps[0..count). Exits with a message when it cannot be made. trace_free frees it. */
struct trace trace_make(enum trace_mode mode, const struct path_step *steps, size_t count);
void trace_free(struct trace *trace);
