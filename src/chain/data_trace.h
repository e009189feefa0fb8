/* SPDX-License-Identifier: Apache-2.0 */
/* What an ETMv4 with data trace sends that is not decoded: its data trace stream, and atoms of loads and
 * stores. docs/losses.md says why. Nothing of it is left out silently. */
#ifndef CT_CHAIN_DATA_TRACE_H
#define CT_CHAIN_DATA_TRACE_H

#include "coretap/frame.h"
#include "coretap/input.h"

struct ct_ctx;

/* Returns how many bytes a buffer has of the data trace of one of its sources. `frames` is what was counted
 * of the buffer, NULL where it has no frames. */
uint64_t ct_data_trace_bytes(const struct ct_buffer *buffer, const struct ct_source *source,
                             const struct ct_frame_stats *frames);

/* Warns of the bytes that ct_data_trace_bytes returned. */
void ct_data_trace_warn(struct ct_ctx *ctx, const struct ct_source *source, uint64_t bytes);

/* Warns that a source with atoms of loads and stores is not followed along the program. `id`: as listed. */
void ct_data_atoms_warn(struct ct_ctx *ctx, const struct ct_source *source, uint8_t id);

#endif
