/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the amounts of trace: bytes, packets, instructions and losses. */
#include "analysis/counts.h"

#include <stdlib.h>

struct stream {
    struct ct_counts_stream stream; /* must be the first member */
    struct ct_stream_totals totals;
};

static int take(struct ct_counts *c, struct ct_counts_stream *stream, const struct ct_analysis_batch *batch)
{
    (void)c;
    ((struct stream *)stream)->totals = *batch->totals;
    return CT_OK;
}

static int end(struct ct_counts *c, struct ct_counts_stream *stream)
{
    const struct ct_stream_totals *t = &((const struct stream *)stream)->totals;
    const struct ct_count all[] = {
        {"streams", !t->goes_on},          {"bytes", t->bytes},   {"packets", t->packets},
        {"elements", t->elements},         {"atoms", t->atoms},   {"branches", t->branches},
        {"instructions", t->instructions}, {"ranges", t->ranges},
    };
    int rc = CT_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        rc = ct_counts_add(c, all[i].name, all[i].count);
    return rc;
}

static const struct ct_counts_way way = {sizeof(struct stream), take, NULL, end, NULL};

static const struct ct_analysis_kind kind =
    CT_COUNTS_KIND("statistics", "coretap merge --kind statistics", CT_INPUT_TOTALS);

const struct ct_analysis_kind *ct_total_counts_kind(void)
{
    return &kind;
}

int ct_total_counts_new(struct ct_ctx *ctx, struct ct_counts **out)
{
    return ct_counts_new(ctx, &kind, &way, out);
}
