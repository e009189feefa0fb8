/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a stream lost. Losses are counted only here. */
#pragma once

#include <stdbool.h>

#include "coretap/decode.h"
#include "flow/sums.h"

/* Counts the elements of a batch, and the losses that they report. `whole`: the last reset was between two
 * recordings; its GAP (reset) is marked with CT_GAP_WHOLE and is no loss. */
void ct_losses_count_elems(struct ct_stream_stats *stats, bool whole, struct ct_elem *elems, size_t count);

/* Takes the losses along the program from the sums of the walk. */
void ct_losses_take_flow(struct ct_stream_stats *stats, const struct ct_flow_sums *sums);

/* Returns the losses of a stream, including those that are in other members of its statistics. */
struct ct_losses ct_losses_of(const struct ct_stream_stats *stats, enum ct_protocol protocol);
