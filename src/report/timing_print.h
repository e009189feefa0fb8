/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text and as JSON. */
#ifndef CT_REPORT_TIMING_PRINT_H
#define CT_REPORT_TIMING_PRINT_H

#include <stdio.h>

#include "coretap/losses.h"
#include "coretap/timing.h"
#include "report/json.h"

/* What there is to print of one stream. */
struct ct_timing_view {
    const char *buffer;
    const char *core;
    uint8_t id;
    const struct ct_timing *timing;
    struct ct_losses losses; /* of the stream; without a stream only gaps are known */
    const struct ct_graph *graph;
    const struct ct_cfg *cfg; /* or NULL: no blocks */
    const struct ct_timing_block *blocks;
};

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
