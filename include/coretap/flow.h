/* SPDX-License-Identifier: Apache-2.0 */
/* coretap flow: elements and the program give the instructions that ran. This is the plain walk: one
 * record a range, everything in order, the reference that faster ones are held to. */
#ifndef CORETAP_FLOW_H
#define CORETAP_FLOW_H

#include "coretap/base.h"
#include "coretap/elem.h"
#include "coretap/program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_flow_kind {
    CT_FLOW_RANGE,        /* instructions from start up to end, n of them */
    CT_FLOW_RANGE_NOPATH, /* n instructions from start on, in an order that is not known; execution is at end
                           */
    CT_FLOW_NO_ACCESS,    /* memory at start cannot be read in the spaces of `space` */
    CT_FLOW_ELEM,         /* an element passed on: `elem` */
};

struct ct_flow {
    uint64_t offset; /* of the packet in the capture */
    uint64_t start;  /* RANGE: address of the first instruction; ELEM, data transfers: of the instruction that
                        they belong to; TRACE_ON, GAP, END: where execution was (the target of the last
                        branch), if `n` is 1 */
    uint64_t end;    /* RANGE: address behind the last instruction */
    uint32_t n;      /* RANGE: number of instructions; TRACE_ON, GAP, END: 1 when `start` is known */
    uint8_t kind;    /* enum ct_flow_kind */
    uint8_t isa;     /* enum ct_isa: of the range, or after a context */
    uint8_t type;    /* of the last instruction: enum ct_insn_type */
    uint8_t sub;     /* enum ct_insn_sub */
    uint8_t cond;    /* 1: the last instruction is conditional */
    uint8_t exec;    /* 1: the last instruction was executed (a branch: taken) */
    uint8_t last_size;
    uint8_t space; /* of what was read, or could not be: enum ct_space */
    /* RANGE, NO_ACCESS, ELEM of a RETURN: 1 when nothing says that these instructions ran. The branch before
     * went where the trace does not tell, or the trace contradicts the program, and no address came since.
     * Listings have such records (docs/listing.md says where execution is counted from), nothing else may. */
    uint8_t stale;
    uint8_t unlisted; /* 1: no line in a listing: the GAP of a contradiction that listings pass over */
    uint8_t loop;     /* 1: ends with the branch of a low-overhead loop, which listings print with cond=0 */
    uint8_t pad[1];   /* 0, so that equal records have equal bytes */
    struct ct_elem elem;
};

struct ct_walk;

struct ct_walk_options {
    size_t size;                 /* sizeof(struct ct_walk_options) */
    uint8_t split_source_ranges; /* waypoints inside a source address range end a range of their own */
};

/* Makes a walk along one stream of `source` in `memory` (not owned). Elements of a source that does not trace
 * instructions are passed on. CT_ERR_CONFIG for registers that cannot be, CT_ERR_NOMEM. */
CT_API int ct_walk_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                       const struct ct_walk_options *options, struct ct_walk **out);
CT_API void ct_walk_free(struct ct_walk *walk);

/* Says that instructions are read in `memory` (not owned) from the next element on. */
CT_API void ct_walk_set_memory(struct ct_walk *walk, const struct ct_memory *memory);

/* Takes elements and gives records. `out` has room for `cap`, at least 16; *count is how many were given.
 * `end` is the offset up to which packets were decoded (see ct_elem_offset). Call again while elements are
 * left. Result: elements taken. */
CT_API size_t ct_walk_run(struct ct_walk *walk, const struct ct_elem *elems, size_t size, uint64_t end,
                          struct ct_flow *out, size_t cap, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
