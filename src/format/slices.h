/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the executions of functions to be drawn along time: the longest ones, as many as there is room
 * for. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ct_slice {
    uint32_t lane;
    uint32_t ctxt; /* context ID */
    uint32_t function;
    uint32_t depth;
    uint64_t from, to;
};

/* The kept slices. All zeros before use, except `most` (at least 2), `begin` and `end`. */
struct ct_slices {
    size_t most;         /* number kept in the end */
    uint64_t begin, end; /* a window: slices outside are dropped, others are cut to it */
    struct ct_slice *slices;
    size_t count, room;
    uint64_t shortest; /* shorter slices are dropped */
    uint64_t left_out; /* dropped slices */
};

/* Adds a slice. CT_ERR_NOMEM. */
int ct_slices_add(struct ct_slices *slices, const struct ct_slice *slice);

/* Ends adding: keeps `most` slices, and sorts them by lane, context, begin and depth. */
void ct_slices_end(struct ct_slices *slices);
void ct_slices_free(struct ct_slices *slices);
