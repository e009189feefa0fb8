/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a recording does not contain. */
#pragma once

#include "record/capture.h"
#include "recorder/trace_stream.h"

/* Warns about events that the recorder could not report, and tells which programs ran beside or after the
 * recorded one. `unplaced`: blocks of which it is unknown how execution left them. */
void ct_record_tell_unseen(struct ct_ctx *ctx, const struct ct_recording *recording,
                           const struct trace_area *area, uint64_t unplaced);
