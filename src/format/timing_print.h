/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text and as JSON. */
#ifndef CT_FORMAT_TIMING_PRINT_H
#define CT_FORMAT_TIMING_PRINT_H

#include <stdio.h>

#include "coretap/losses.h"
#include "coretap/timing.h"
#include "format/json.h"

/* What there is to print of one stream, or of sums. */
struct ct_timing_view {
    const char *buffer; /* of a stream; NULL: sums */
    const char *core;
    uint8_t id;
    const struct ct_timing_sums *sums;           /* or NULL: a stream, whose edges are of no program */
    const struct ct_analysis_captures *captures; /* that the sums are of */
    struct ct_losses losses;                     /* of the stream; without a stream only gaps are known */
    struct ct_timing_found found;
    const struct ct_cfg *cfg; /* or NULL: no blocks */
    uint64_t cfg_shift;       /* its addresses are those of the edges less this */
    uint32_t cfg_program;     /* the number that edges in it have */
    const struct ct_timing_block *blocks;
};

/* What a stream has, as sums have it. */
struct ct_timing_found ct_timing_found_in(const struct ct_timing *timing);

struct ct_timing_wish {
    size_t top; /* lines of each table */
    int edges;  /* tables that are wanted */
    int blocks;
};

/* CT_ERR_NOMEM: a table is not whole. */
int ct_timing_print_text(FILE *out, const struct ct_timing_view *view, const struct ct_timing_wish *wish);

/* An object in the array that is open. */
void ct_timing_print_json(struct ct_json *json, const struct ct_timing_view *view);

#endif
