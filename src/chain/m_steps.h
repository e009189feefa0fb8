/* SPDX-License-Identifier: Apache-2.0 */
/* A receiver that is inserted before another one and adds which threads of the M profile continue. */
#pragma once

#include <stdbool.h>

#include "coretap/decode.h"

struct ct_m_steps;

/* Returns whether a receiver takes steps in order, and a source of the buffer is of the M profile. */
bool ct_m_steps_help(const struct ct_buffer *buffer, const struct ct_chain_sink *sink);

/* Makes the receiver; `sink` is not owned. CT_ERR_NOMEM. */
int ct_m_steps_new(struct ct_ctx *ctx, const struct ct_chain_sink *sink, struct ct_m_steps **out);
void ct_m_steps_free(struct ct_m_steps *m);

/* Returns the sink that forwards everything to `sink`, borrowed. */
const struct ct_chain_sink *ct_m_steps_sink(const struct ct_m_steps *m);
