/* SPDX-License-Identifier: Apache-2.0 */
/* The plain engine for steps: makes them from the records of the walk. */
#include "coretap/steps.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "flow/step_builder.h"

struct ct_steps {
    struct ct_step_builder builder;
};

int ct_steps_new(struct ct_ctx *ctx, const struct ct_source *source, struct ct_steps **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
    struct ct_steps *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "steps");
    int rc = ct_step_builder_init(&s->builder, ctx, source);
    if (!rc)
        rc = ct_graph_new(ctx, &s->builder.graph);
    if (rc) {
        ct_steps_free(s);
        return rc;
    }
    *out = s;
    return CT_OK;
}

void ct_steps_free(struct ct_steps *s)
{
    if (!s)
        return;
    ct_graph_free(s->builder.graph);
    free(s);
}

const struct ct_graph *ct_steps_graph(const struct ct_steps *s)
{
    if (!s)
        return NULL;
    return s->builder.graph;
}

void ct_steps_set_memory(struct ct_steps *s, uint32_t number)
{
    if (!s)
        return;
    s->builder.memory = number;
}

int ct_steps_run(struct ct_steps *s, const struct ct_flow *records, size_t size, size_t *taken,
                 struct ct_step_batch *batch)
{
    CT_REQUIRE(NULL, s, records || !size, taken, batch);
    struct ct_step_builder *b = &s->builder;
    int rc = CT_OK;
    ct_step_drop_given(b);
    *taken = 0;
    *batch = (struct ct_step_batch){.graph = b->graph};
    while (!rc && *taken < size && !ct_step_is_full(b))
        rc = ct_step_add_flow(b, &records[(*taken)++]);
    if (!rc && ct_step_is_full(b))
        ct_step_give(b, batch);
    return rc;
}

void ct_steps_flush(struct ct_steps *s, struct ct_step_batch *batch)
{
    if (!s || !batch)
        return;
    ct_step_drop_given(&s->builder);
    ct_step_give(&s->builder, batch);
}
