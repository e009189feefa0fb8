/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_log/each.h"

#include <stdlib.h>

#include "base/ctx.h"

#define BATCH 4096 /* events read at a time */

int ct_fractal_each(struct ct_ctx *ctx, struct ct_fractal_reader *reader, int only, ct_fractal_event_fn *fn,
                    void *user)
{
    struct ct_fractal_event *batch = malloc(BATCH * sizeof *batch);
    size_t n;
    int rc = CT_OK;
    if (!batch)
        return ct_fail_nomem(ctx, "events of a log");
    ct_fractal_reader_rewind(reader);
    while (rc == CT_OK && (n = ct_fractal_reader_next(reader, batch, BATCH)))
        for (size_t i = 0; i < n && rc == CT_OK; i++)
            if (only == CT_FRACTAL_ALL || batch[i].target == only)
                rc = fn(user, &batch[i]);
    free(batch);
    return rc;
}
