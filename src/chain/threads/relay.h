/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes and follows in a separate thread, ahead of a receiver of steps, which is called in the caller's
 * thread. Batches wait in a short queue between the two, in order, so that the receiver gets the same as from
 * one thread. The receiver reads the program graph while following adds to it; therefore it has a copy, which
 * is extended with the batch that needs the new parts. */
#pragma once

#include "coretap/decode.h"

struct ct_relay;

/* Makes the queue to a receiver of steps, frame marks and bytes; the sink is not owned. CT_ERR_NOMEM. */
int ct_relay_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_relay **out);

/* Frees the queue, and the graphs that the receiver got. */
void ct_relay_free(struct ct_relay *relay);

/* Returns the receivers for the decoding thread, instead of the sink. */
const struct ct_chain_sink *ct_relay_sink(const struct ct_relay *relay);

/* Runs `decode` in another thread, or in this one when none can be started, and passes its results to the
 * receiver. Returns what the receiver returned when it was not 0, else that of `decode`. */
int ct_relay_run(struct ct_relay *relay, int (*decode)(void *user), void *user);
