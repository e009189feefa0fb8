/* SPDX-License-Identifier: Apache-2.0 */
/* An ITM whose trace has no synchronisation packet. Probes often do not ask for these, so the user is told
 * how to decode the trace all the same. */
#pragma once

#include "coretap/decode.h"

struct ct_ctx;

/* Warns when a stream of an ITM waited for a synchronisation packet up to its end. */
void ct_never_synced_warn(struct ct_ctx *ctx, const struct ct_stream *stream);
