/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes and follows in a thread of its own, ahead of a receiver of steps, which is called in the caller's
 * thread. Batches wait in a short queue between the two, in the order in which they were made, so that the
 * receiver gets what it would get of one thread. It reads the program graph while following adds to it;
 * therefore it has a copy, which gets what is new with the batch that needs it. */
#ifndef CT_CHAIN_THREADS_RELAY_H
#define CT_CHAIN_THREADS_RELAY_H

#include "coretap/decode.h"

struct ct_relay;

/* Makes the queue to a receiver of steps, marks of frames and bytes; the sink is not owned. CT_ERR_NOMEM. */
int ct_relay_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_relay **out);

/* Frees the queue, and the graphs that the receiver got. */
void ct_relay_free(struct ct_relay *relay);

/* Returns the receivers that what decodes has to call in place of the sink. */
const struct ct_chain_sink *ct_relay_sink(const struct ct_relay *relay);

/* Runs `decode` in another thread, or in this one when none can be started, and gives the receiver what it
 * made. Result: what the receiver returned when it was not 0, else that of `decode`. */
int ct_relay_run(struct ct_relay *relay, int (*decode)(void *user), void *user);

#endif
