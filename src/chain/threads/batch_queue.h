/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of batches that a thread made, kept until their turn to be delivered. */
#pragma once

#include "coretap/decode.h"

struct ct_batch_queue {
    uint8_t *data;
    size_t size, cap;
};

void ct_batch_queue_free(struct ct_batch_queue *queue);

/* Adds a copy of a batch. The bytes that the run of packets points to must stay valid until they are
 * delivered. CT_ERR_NOMEM. */
int ct_batch_queue_add_packets(struct ct_batch_queue *queue, const struct ct_packet_batch *batch);
int ct_batch_queue_add_elems(struct ct_batch_queue *queue, const struct ct_elem_batch *batch);
int ct_batch_queue_add_flow(struct ct_batch_queue *queue, const struct ct_flow_batch *batch);
int ct_batch_queue_add_steps(struct ct_batch_queue *queue, const struct ct_step_batch *batch);

/* Passes all batches to the receivers, in order, and keeps them in the queue. Returns 0 or what a receiver
 * returned. */
int ct_batch_queue_deliver(const struct ct_batch_queue *queue, const struct ct_chain_sink *sink,
                           const struct ct_stream *stream);
