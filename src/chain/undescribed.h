/* SPDX-License-Identifier: Apache-2.0 */
/* Trace in frames whose ID no source has: it cannot be decoded, and whoever forgot to describe the source is
 * to hear of it. */
#ifndef CT_CHAIN_UNDESCRIBED_H
#define CT_CHAIN_UNDESCRIBED_H

#include "coretap/decode.h"

struct ct_ctx;

/* Warns of the trace of a buffer that no source of it describes, but for IDs that `options` leave out.
 * `frames` is what was counted of the buffer, NULL where nothing was. */
void ct_undescribed_warn(struct ct_ctx *ctx, const struct ct_buffer *buffer,
                         const struct ct_chain_options *options, const struct ct_frame_stats *frames);

#endif
