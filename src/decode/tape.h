/* SPDX-License-Identifier: Apache-2.0 */
/* Batches that are kept, to be handed on later in the same order. */
#ifndef CT_DECODE_TAPE_H
#define CT_DECODE_TAPE_H

#include "coretap/decode.h"

struct ct_tape {
    uint8_t *data;
    size_t size, cap;
};

void ct_tape_free(struct ct_tape *tape);

/* Each adds a batch. What its run points to must stay until it is played. CT_ERR_NOMEM. */
int ct_tape_packets(struct ct_tape *tape, const struct ct_packet_batch *batch);
int ct_tape_elems(struct ct_tape *tape, const struct ct_elem_batch *batch);
int ct_tape_flow(struct ct_tape *tape, const struct ct_flow_batch *batch);

/* Hands all batches on, in order. Result: 0 or what a receiver returned. */
int ct_tape_play(const struct ct_tape *tape, const struct ct_chain_sink *sink,
                 const struct ct_stream *stream);

#endif
