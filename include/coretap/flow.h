/* SPDX-License-Identifier: Apache-2.0 */
/* coretap flow: the instructions that ran, from elements and the program. This is the plain walk: one record
 * for each range, all in order. Faster engines are tested against it.
 *
 *     ct_walk_new(ctx, source, memory, NULL, &walk);
 *     taken = ct_walk_run(walk, elems, elem_count, end, records, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         if (records[i].kind == CT_FLOW_RANGE)
 *             printf("%u instructions from 0x%llx\n", records[i].n, (unsigned long long)records[i].start);
 *     ct_walk_free(walk); */
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
    CT_FLOW_RANGE_NOPATH, /* n instructions from start on, in an unknown order; afterwards execution is at
                             end */
    CT_FLOW_NO_ACCESS,    /* memory at start cannot be read in the address spaces of `space` */
    CT_FLOW_ELEM,         /* an element that is passed on: `elem` */
};

struct ct_flow {
    uint64_t offset; /* of the packet in the capture */
    uint64_t start;  /* RANGE: address of the first instruction; ELEM with a data transfer: the instruction it
                        belongs to; TRACE_ON, GAP, END: where execution was (the target of the last branch),
                        if `n` is 1 */
    uint64_t end;    /* RANGE: address after the last instruction */
    uint32_t n;      /* RANGE: number of instructions; TRACE_ON, GAP, END: 1 when `start` is known */
    uint8_t kind;    /* enum ct_flow_kind */
    uint8_t isa;     /* of the range, or after a context: enum ct_isa */
    uint8_t type;    /* of the last instruction: enum ct_insn_type */
    uint8_t sub;     /* enum ct_insn_sub */
    uint8_t cond;    /* 1: the last instruction is conditional */
    uint8_t exec;    /* 1: the last instruction was executed (a branch: taken) */
    uint8_t last_size;
    uint8_t space; /* of the memory that was read, or could not be read: enum ct_space */
    /* RANGE, NO_ACCESS, ELEM of a RETURN: 1 when it is not certain that these instructions ran: the target of
     * the branch before is unknown, or the trace contradicts the program, and no address has come since. Only
     * listings use such records (docs/listing.md says from where execution is counted). */
    uint8_t stale;
    uint8_t unlisted; /* 1: listings have no line for it: the GAP of a contradiction that they do not show */
    uint8_t loop;     /* 1: ends with the branch of a low-overhead loop, which listings print with cond=0 */
    uint8_t pad[1];   /* 0, so that equal records have equal bytes */
    struct ct_elem elem;
};

struct ct_walk;

struct ct_walk_options {
    size_t size;                 /* sizeof(struct ct_walk_options) */
    uint8_t split_source_ranges; /* waypoints inside a source address range end a range */
};

/* Makes a walk along one stream of `source` in `memory` (not owned). Elements of a source that does not trace
 * instructions are passed on. CT_ERR_CONFIG for impossible register values, CT_ERR_NOMEM. */
CT_API int ct_walk_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                       const struct ct_walk_options *options, struct ct_walk **out);
CT_API void ct_walk_free(struct ct_walk *walk);

/* Changes the memory (not owned) that instructions are read from, from the next element on. */
CT_API void ct_walk_set_memory(struct ct_walk *walk, const struct ct_memory *memory);

/* Turns elements into records. `out` has room for `cap`, at least 16; *count receives the number of records.
 * `end` is the offset up to which packets were decoded (see ct_elem_offset). Call again while elements are
 * left. Returns the number of elements taken. */
CT_API size_t ct_walk_run(struct ct_walk *walk, const struct ct_elem *elems, size_t size, uint64_t end,
                          struct ct_flow *out, size_t cap, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
