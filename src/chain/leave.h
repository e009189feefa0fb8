/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of a chain that nobody wants any more. */
#ifndef CT_CHAIN_LEAVE_H
#define CT_CHAIN_LEAVE_H

#include "coretap/decode.h"

/* Leaves a stream: bytes of it that come later are not decoded. Receivers may still get what was read before
 * the call. May be called by a receiver. Returns how many streams are not left. */
size_t ct_chain_leave(struct ct_chain *chain, uint8_t id);

#endif
