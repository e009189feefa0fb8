/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of functions to draw along time: the longest ones, as many as there is room for. */
#ifndef CT_FORMAT_SLICES_H
#define CT_FORMAT_SLICES_H

#include <stddef.h>
#include <stdint.h>

struct ct_slice {
    uint32_t lane;
    uint32_t ctxt; /* context ID */
    uint32_t function;
    uint32_t depth;
    uint64_t from, to;
};

/* Start with all zero, `most` (at least 2), `begin` and `end` set. */
struct ct_slices {
    size_t most;         /* kept at most, in the end */
    uint64_t begin, end; /* what is not in this window is dropped, the rest cut to it */
    struct ct_slice *slices;
    size_t count, room;
    uint64_t shortest; /* shorter ones than this are left out … */
    uint64_t left_out; /* … so many */
};

/* CT_ERR_NOMEM. */
int ct_slices_add(struct ct_slices *slices, const struct ct_slice *slice);

/* The last one was added: sorts them by lane, context, begin and depth, `most` at most. */
void ct_slices_end(struct ct_slices *slices);
void ct_slices_free(struct ct_slices *slices);

#endif
