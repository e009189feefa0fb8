/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4_trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "coretap/encode.h"

/* properties of the trace of an early ARMv8 Cortex-A: no speculation, a cycle count threshold of 4 */
#define THRESHOLD   4
#define SYNC_PERIOD 4096

struct ct_source trace_source(enum trace_mode mode)
{
    uint32_t configr = 1;
    if (mode >= TRACE_CYCLES)
        configr |= 1u << 4;
    if (mode == TRACE_BROADCAST)
        configr |= 1u << 3;
    return (struct ct_source){
        .name = "bench",
        .core = "core",
        .protocol = CT_PROTOCOL_ETM4,
        .trace_id = 0x10,
        .arch = {.major = 8, .profile = CT_PROFILE_A},
        .regs = {
            .traceidr = 0x10, .idr0 = 0x28000ea1, .idr1 = 0x4100f402, .idr2 = 0x488, .configr = configr}};
}

/* Makes the elements of one step, at most 4, and returns their number. */
static size_t elements(enum trace_mode mode, const struct path_step *step, unsigned *cycles,
                       struct ct_elem *out)
{
    size_t n = 0;
    bool told = mode == TRACE_BROADCAST || step->kind == PATH_RETURN || step->kind == PATH_INDIRECT;
    if (mode == TRACE_BROADCAST && step->missed & 2)
        out[n++] = (struct ct_elem){.kind = CT_ELEM_EVENT, .n = 2};
    out[n++] = (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = 1, .v = step->taken};
    if (step->taken && told)
        out[n++] = (struct ct_elem){.kind = CT_ELEM_ADDRESS, .aux = 64, .v = step->target};
    *cycles += step->cycles;
    if (mode >= TRACE_CYCLES && *cycles >= THRESHOLD) {
        out[n++] = (struct ct_elem){.kind = CT_ELEM_CYCLES, .v = *cycles};
        *cycles = 0;
    }
    return n;
}

static void give_up(const char *why)
{
    fprintf(stderr, "trace: %s\n", why);
    exit(1);
}

struct trace trace_make(enum trace_mode mode, const struct path_step *steps, size_t count)
{
    struct trace trace = {.source = trace_source(mode)};
    const struct ct_etm4_emit_options options = {
        .size = sizeof options, .sync_period = SYNC_PERIOD, .cc_threshold = THRESHOLD};
    size_t room = 64 * count / 4 + 4096;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_emitter *emitter;
    struct ct_elem elems[8] = {{.kind = CT_ELEM_SYNC, .n = 1},
                               {.kind = CT_ELEM_TRACE_ON},
                               {.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_EL | CT_CONTEXT_SF},
                               {.kind = CT_ELEM_ADDRESS, .aux = 64, .v = 0x400000}};
    trace.bytes = malloc(room);
    if (!trace.bytes || ct_etm4_emitter_new(ctx, &trace.source, &options, &emitter))
        give_up("no memory");
    size_t n = 4;
    unsigned cycles = 0;
    for (size_t i = 0; i <= count; i++) {
        for (size_t at = 0, taken, written; at < n; at += taken, trace.size += written)
            if (ct_etm4_emit(emitter, elems + at, n - at, i == count, &taken, trace.bytes + trace.size,
                             room - trace.size, &written))
                give_up(ct_ctx_error(ctx));
        if (i < count)
            n = elements(mode, &steps[i], &cycles, elems);
    }
    ct_etm4_emitter_free(emitter);
    ct_ctx_free(ctx);
    return trace;
}

void trace_free(struct trace *trace)
{
    free(trace->bytes);
}
