/* SPDX-License-Identifier: Apache-2.0 */
/* Stops decoding one stream of a chain when its rest is not needed. */
#pragma once

#include "coretap/decode.h"

/* Leaves a stream: its later bytes are not decoded. Receivers may still get what was read before the call,
 * and may make the call themselves. Returns how many streams of the chain are still decoded. */
size_t ct_chain_leave(struct ct_chain *chain, uint8_t id);
