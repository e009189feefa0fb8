/* SPDX-License-Identifier: Apache-2.0 */
/* A core that runs a random A32 and T32 program, and the trace that a PTM makes of it. */
#pragma once

#include "base/v7_config.h"
#include "support/rng.h"
#include "coretap/flow.h"

enum {
    PTM_CORE_CODE = 4096, /* bytes of code of each instruction set */
    PTM_CORE_BLOCKS = 300,
    PTM_CORE_ELEMS = 8 * PTM_CORE_BLOCKS,
    PTM_CORE_RECORDS = 4 * PTM_CORE_BLOCKS,
    PTM_CORE_ROOM = 32 * PTM_CORE_ELEMS, /* greatest number of bytes of trace */
    PTM_CORE_STACK = 16,                 /* entries of the return stack */
};

struct ptm_place {
    uint32_t addr;
    uint8_t isa; /* CT_ISA_A32 or CT_ISA_T32 */
};

struct ptm_core {
    struct rng *rng;
    struct ct_source source;
    struct ct_v7_config config;
    int broadcast;
    uint32_t base[2]; /* addresses of the A32 code and of the T32 code */
    uint8_t code[2][PTM_CORE_CODE];
    struct ptm_place now;
    unsigned it_left;
    struct ptm_place stack[PTM_CORE_STACK]; /* newest last */
    unsigned depth;
    struct ct_elem elems[PTM_CORE_ELEMS]; /* output of the trace unit */
    unsigned count;
    struct ct_flow want[PTM_CORE_RECORDS]; /* what really ran: ranges, exceptions, reasons for tracing,
                                            * cycles */
    unsigned wanted;
    uint64_t blocks[2];  /* executed in A32 and in T32, summed until a caller sets 0; … */
    uint64_t returns[2]; /* … and those that returned to the top of the return stack */
};

/* Makes a random source and program. */
void ptm_core_init(struct rng *rng, struct ptm_core *core);

/* Runs the program: blocks with exceptions between and inside them, overflows, periodic i-syncs. */
void ptm_core_run(struct ptm_core *core);
