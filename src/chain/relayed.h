/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a chain with threads decode ahead of its receiver of steps. */
#pragma once

#include "coretap/decode.h"

/* Requests decoding ahead; to be called before ct_chain_run. The receiver of steps must not use the chain,
 * nor leave streams, while it runs. With two threads or more a separate thread then decodes and follows
 * (threads/relay.h). Has no effect when there are other receivers, or when memory changes. */
void ct_chain_relay(struct ct_chain *chain);
