/* SPDX-License-Identifier: Apache-2.0 */
/* A receiver that stands in front of another one and tells it which threads of the M profile go on. */
#ifndef CT_CHAIN_M_STEPS_H
#define CT_CHAIN_M_STEPS_H

#include <stdbool.h>

#include "coretap/decode.h"

struct ct_m_steps;

/* Tells whether a receiver takes steps in their order, and a source of the buffer is of the M profile. */
bool ct_m_steps_help(const struct ct_buffer *buffer, const struct ct_chain_sink *sink);

/* `sink` is not owned. CT_ERR_NOMEM. */
int ct_m_steps_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_m_steps **out);
void ct_m_steps_free(struct ct_m_steps *m);

/* Returns the sink that gives `sink` all that it is given, borrowed. */
const struct ct_chain_sink *ct_m_steps_sink(const struct ct_m_steps *m);

#endif
