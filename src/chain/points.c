/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/points.h"

#include "chain/stream.h"

static uint64_t sum_up(const struct ct_seam *seam)
{
    uint64_t sum = seam->overflow;
    for (uint32_t i = 0; i < seam->count; i++) {
        sum = (sum ^ seam->numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static int reach(const struct ct_stream_chain *c, const struct ct_chain_points *points, uint64_t offset)
{
    struct ct_seam seam;
    seam.count = 0;
    seam.overflow = false;
    c->ops->decoder_seam(c->decoder, &seam);
    c->ops->resolver_seam(c->resolver, &seam);
    const struct ct_chain_point point = {.offset = offset, .state = sum_up(&seam)};
    return points->reach(points->user, &c->stream, &point);
}

int ct_stream_chain_run_points(struct ct_stream_chain *c, const struct ct_run *run, enum ct_behind behind,
                               enum ct_level level, struct ct_batches *batches,
                               const struct ct_chain_sink *sink, const struct ct_chain_points *points,
                               size_t *used)
{
    int rc = 0;
    *used = 0;
    while (!rc && c->ops && c->ops->find_sync) {
        const uint64_t from = c->next_point > run->pos ? c->next_point - run->pos : 0;
        const size_t found =
            from < run->size ? c->ops->find_sync(run->data, run->size, (size_t)from) : SIZE_MAX;
        if (found == SIZE_MAX)
            break;
        rc = ct_stream_chain_run_part(c, run, used, found, CT_BEHIND_MORE, level, batches, sink);
        c->next_point = run->pos + found + 1;
        if (rc || *used != found) /* the bytes only look like a synchronisation point */
            continue;
        c->next_point += points->apart;
        rc = reach(c, points, ct_run_offset(run, run->pos + found));
    }
    return rc ? rc : ct_stream_chain_run_part(c, run, used, run->size, behind, level, batches, sink);
}
