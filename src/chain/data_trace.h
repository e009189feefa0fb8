/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an ETMv4's data trace that are not decoded: its data trace stream, and atoms of loads and
 * stores. docs/losses.md says why. A warning reports each of them. */
#pragma once

#include "coretap/frame.h"
#include "coretap/input.h"

struct ct_ctx;

/* Returns the number of bytes that a buffer has in the data trace of one of its sources. `frames` are the
 * statistics of the buffer, NULL without frames. */
uint64_t ct_data_trace_bytes(const struct ct_buffer *buffer, const struct ct_source *source,
                             const struct ct_frame_stats *frames);

/* Warns of the bytes that ct_data_trace_bytes returned. */
void ct_data_trace_warn(struct ct_ctx *ctx, const struct ct_source *source, uint64_t bytes);

/* Warns that a source with atoms of loads and stores is not followed along the program. `id` is the listed
 * ID. */
void ct_data_atoms_warn(struct ct_ctx *ctx, const struct ct_source *source, uint8_t id);
