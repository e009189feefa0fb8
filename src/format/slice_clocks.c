/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a capture's streams, which map slices to the axis of timestamps. */
#include "format/slice_clocks.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

int ct_slice_clocks_new(struct ct_ctx *ctx, uint8_t cycles, struct ct_slice_clocks **out)
{
    CT_REQUIRE_OUT(ctx, out);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ct_fail_nomem(ctx, "clocks");
    (*out)->ctx = ctx;
    (*out)->cycles = cycles;
    return CT_OK;
}

void ct_slice_clocks_free(struct ct_slice_clocks *clocks)
{
    if (!clocks)
        return;
    for (size_t i = 0; i < clocks->count; i++)
        ct_report_clock_free(&clocks->lanes[i]);
    free(clocks->lanes);
    free(clocks);
}

int ct_slice_clocks_add(struct ct_slice_clocks *clocks, uint32_t lane, const struct ct_step_batch *batch)
{
    CT_REQUIRE_OF(clocks, batch);
    if (lane >= CT_STACK_LANES)
        return ct_fail(clocks->ctx, CT_ERR_LIMIT, "%s: stream %u is above the limit; nothing was written",
                       __func__, lane);
    if (!CT_MAKE_ZEROED_ROOM(clocks->lanes, clocks->count, (size_t)lane + 1))
        return ct_fail_nomem(clocks->ctx, "clocks");
    return ct_report_clock_take(&clocks->lanes[lane], batch, clocks->cycles)
               ? ct_fail_nomem(clocks->ctx, "clocks")
               : CT_OK;
}

/* Returns the ticks of a stream's clock after `at` cycles or instructions. Behind a single timestamp each of
 * these counts as one tick. */
static uint64_t ticks_at(const struct ct_report_clock *clock, uint64_t at, bool ends)
{
    if (ct_report_clock_is_known(clock))
        return ct_report_clock_time(clock, at, ends);
    const struct ct_report_anchor none = {0};
    const struct ct_report_anchor *one = clock->count ? clock->anchors : &none;
    return at > one->at ? one->time + (at - one->at) : one->time;
}

uint64_t ct_slice_clocks_time(const struct ct_slice_clocks *clocks, uint32_t lane, uint64_t at, bool ends)
{
    static const struct ct_report_clock none = {0};
    return ticks_at(lane < clocks->count ? &clocks->lanes[lane] : &none, at, ends);
}
