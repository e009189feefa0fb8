/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a stream lost. This is the one place where losses are counted. */
#ifndef CT_LOSSES_LOSSES_H
#define CT_LOSSES_LOSSES_H

#include <stdbool.h>

#include "coretap/decode.h"
#include "flow/sums.h"

/* Counts the elements of a batch, and the losses that they tell of. `whole`: the last reset
 * was where one recording ended and another began; the GAP (reset) that tells of it is marked
 * with CT_GAP_WHOLE and is no loss. */
void ct_losses_count_elems(struct ct_stream_stats *stats, bool whole, struct ct_elem *elems, size_t count);

/* Takes from the sums of the walk what was lost along the program. */
void ct_losses_take_flow(struct ct_stream_stats *stats, const struct ct_flow_sums *sums);

/* Returns the losses of a stream, with those that its statistics keep in other members. */
struct ct_losses ct_losses_of(const struct ct_stream_stats *stats, enum ct_protocol protocol);

#endif
