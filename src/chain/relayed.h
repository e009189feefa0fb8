/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a chain with threads decode ahead of its receiver of steps. */
#ifndef CT_CHAIN_RELAYED_H
#define CT_CHAIN_RELAYED_H

#include "coretap/decode.h"

/* To be called before ct_chain_run by who has a receiver of steps that does not ask the chain for anything,
 * nor lets it leave streams, while it runs: with two threads or more a thread of its own then decodes and
 * follows (threads/relay.h). It has no effect where there are other receivers, and where memory changes. */
void ct_chain_relay(struct ct_chain *chain);

#endif
