/* SPDX-License-Identifier: Apache-2.0 */
/* Trace in frames with an ID of no source. It cannot be decoded, so the user is told that the source is not
 * described. */
#pragma once

#include "coretap/decode.h"

struct ct_ctx;

/* Warns of the trace of a buffer that none of its sources describes, except for IDs that `options` exclude.
 * `frames` are the statistics of the buffer, NULL without any. */
void ct_undescribed_warn(struct ct_ctx *ctx, const struct ct_buffer *buffer,
                         const struct ct_chain_options *options, const struct ct_frame_stats *frames);
