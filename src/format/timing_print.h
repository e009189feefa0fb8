/* SPDX-License-Identifier: Apache-2.0 */
/* Writes times as text and as JSON. */
#pragma once

#include <stdio.h>

#include "coretap/losses.h"
#include "coretap/timing.h"
#include "format/json.h"

/* The times of one stream, or of sums, to be printed. */
struct ct_timing_view {
    const char *buffer; /* of a stream; NULL for sums */
    const char *core;
    uint8_t id;
    const struct ct_timing_sums *sums;           /* NULL for a stream, whose edges have no program */
    const struct ct_analysis_captures *captures; /* captures of the sums */
    struct ct_losses losses;                     /* of the stream; for sums only gaps are known */
    struct ct_timing_found found;
    const struct ct_cfg *cfg; /* NULL: no blocks are printed */
    uint64_t cfg_shift;       /* to be subtracted from addresses of edges to get those of the graph */
    uint32_t cfg_program;     /* number of the graph's program in the edges */
    const struct ct_timing_block *blocks;
};

/* Returns the times of a stream in the form of sums. */
struct ct_timing_found ct_timing_found_in(const struct ct_timing *timing);

struct ct_timing_wish {
    size_t top; /* lines of each table */
    int edges;  /* the tables that are wanted */
    int blocks;
    int longest;
};

/* Writes text. CT_ERR_NOMEM: a table is incomplete. */
int ct_timing_print_text(FILE *out, const struct ct_timing_view *view, const struct ct_timing_wish *wish);

/* Writes an object into the open array. */
void ct_timing_print_json(struct ct_json *json, const struct ct_timing_view *view);
